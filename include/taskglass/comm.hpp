/* SPDX-License-Identifier: Apache-2.0 */
/* This process's end of a job of several ranks, for C++17. taskglass.hpp includes it, and its rules
 * hold here too. */
#ifndef TASKGLASS_COMM_HPP
#define TASKGLASS_COMM_HPP

#include <taskglass/comm.h>
#include <taskglass/error.hpp>

#include <cstdint>
#include <vector>

namespace taskglass
{

/*
 * All ranks of the job open one, and their devices join it:
 *
 *     taskglass::comm comm;
 *     taskglass::device device;
 *     device.join(comm);
 *
 * The destructor leaves the job. Devices that have joined must be destroyed before.
 */
class comm
{
  public:
    /* In a process that neither mpirun nor `taskglass run --ranks` started, it is a job of one
     * rank. */
    explicit comm(const tg_comm_config &config = tg_comm_config())
    {
        tg_comm *made = nullptr;
        detail::call(tg_comm_open, &config, &made);
        handle_.reset(made);
    }
    /* The ends of a job whose ranks are all in this process; the first is that of rank 0. */
    static std::vector<comm> local(std::uint32_t ranks)
    {
        if (ranks == 0 || ranks > TG_COMM_MAX_RANKS)
            throw error(TG_BAD_ARGUMENT, std::to_string(ranks) + " ranks; there are from 1 to " +
                                             std::to_string(TG_COMM_MAX_RANKS));
        std::vector<tg_comm *> made(ranks);
        std::vector<comm> ends;
        ends.reserve(ranks);
        detail::call(tg_comm_open_local, ranks, made.data());
        for (tg_comm *each : made)
            ends.push_back(comm(each));
        return ends;
    }

    std::uint32_t rank() const noexcept
    {
        return tg_comm_rank(get());
    }
    /* How many there are. */
    std::uint32_t ranks() const noexcept
    {
        return tg_comm_ranks(get());
    }

    tg_comm *get() const noexcept
    {
        return handle_.get();
    }

  private:
    explicit comm(tg_comm *made) noexcept : handle_(made) {}

    detail::handle<tg_comm, tg_comm_close> handle_;
};

} // namespace taskglass

#endif
