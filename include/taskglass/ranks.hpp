/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run of several ranks has left, for C++17. The rules of taskglass.hpp hold here too.
 *
 *     taskglass::ranks ranks("outputs/mlp_20260101_120000");
 *     for (std::uint32_t r = 0; r < ranks.size(); r++)
 *         if (ranks[r].is_there)
 *             for (const tg_call &call : ranks.calls(r).all()) …
 *     std::puts(ranks.explain()->root);
 */
#ifndef TASKGLASS_RANKS_HPP
#define TASKGLASS_RANKS_HPP

#include <taskglass/error.hpp>
#include <taskglass/ranks.h>
#include <taskglass/ranks_answers.h>
#include <taskglass/ranks_trace.h>
#include <taskglass/recording.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace taskglass
{

/* The calls of one rank, by the directory of its run. Texts in them live as long as this object. */
class calls
{
  public:
    explicit calls(const std::string &dir)
    {
        tg_calls *made = nullptr;
        detail::call(tg_calls_open, dir.c_str(), &made);
        handle_.reset(made);
    }

    tg_calls_info info() const noexcept
    {
        tg_calls_info info{};
        tg_calls_get_info(get(), &info);
        return info;
    }
    std::uint64_t size() const noexcept
    {
        return info().calls;
    }
    /* In the order of the file. */
    tg_call operator[](std::uint64_t index) const
    {
        tg_call call{};
        if (!tg_calls_get(get(), index, &call))
            throw error(TG_NOT_FOUND, "there is no call " + std::to_string(index));
        return call;
    }
    std::vector<tg_call> all() const
    {
        std::vector<tg_call> found;
        tg_call call{};
        for (std::uint64_t i = 0; tg_calls_get(get(), i, &call); i++)
            found.push_back(call);
        return found;
    }
    /* Sets `found` to the call on the other side of a send or receive of rank `rank`, if these are
     * the calls of its peer. */
    bool other_side(std::uint32_t rank, const tg_call &call, tg_call &found) const noexcept
    {
        return tg_calls_other_side(get(), rank, &call, &found);
    }

    tg_calls *get() const noexcept
    {
        return handle_.get();
    }

  private:
    detail::handle<tg_calls, tg_calls_close> handle_;
};

/* Why a run failed or hung; texts in it live as long as this object. */
class ranks_explanation
{
  public:
    explicit ranks_explanation(tg_ranks_explanation *made) noexcept : handle_(made) {}

    const tg_ranks_explanation *get() const noexcept
    {
        return handle_.get();
    }
    const tg_ranks_explanation *operator->() const noexcept
    {
        return get();
    }
    const tg_ranks_explanation &operator*() const noexcept
    {
        return *get();
    }

  private:
    detail::handle<tg_ranks_explanation, tg_ranks_explanation_free> handle_;
};

/* A directory with ranks.json. */
class ranks
{
  public:
    explicit ranks(const std::string &dir)
    {
        tg_ranks *made = nullptr;
        detail::call(tg_ranks_open, dir.c_str(), &made);
        handle_.reset(made);
    }

    tg_ranks_info info() const noexcept
    {
        tg_ranks_info info{};
        tg_ranks_get_info(get(), &info);
        return info;
    }
    std::uint32_t size() const noexcept
    {
        return info().ranks;
    }
    tg_ranks_rank operator[](std::uint32_t number) const
    {
        tg_ranks_rank rank{};
        if (!tg_ranks_get(get(), number, &rank))
            throw error(TG_NOT_FOUND, "there is no rank " + std::to_string(number) +
                                          "; there are " + std::to_string(size()));
        return rank;
    }
    /* Both throw if the rank's folder is not here, or has the files of another rank. */
    taskglass::recording recording(std::uint32_t number) const
    {
        return taskglass::recording(folder_of(number));
    }
    taskglass::calls calls(std::uint32_t number) const
    {
        return taskglass::calls(folder_of(number));
    }

    /* Whether the messages fit. */
    tg_ranks_messages verify() const
    {
        tg_ranks_messages messages{};
        detail::call(tg_ranks_verify, get(), &messages);
        return messages;
    }
    ranks_explanation explain() const
    {
        tg_ranks_explanation *made = nullptr;
        detail::call(tg_ranks_explain, get(), &made);
        return ranks_explanation(made);
    }
    /* Compares each rank with the same one of a run that is trusted. */
    tg_ranks_difference diff(const ranks &trusted,
                             const tg_diff_options &options = tg_diff_options()) const
    {
        tg_ranks_difference difference{};
        detail::call(tg_ranks_diff, get(), trusted.get(), &options, &difference);
        return difference;
    }
    /* Are tensors the same on all ranks? `tell` gets each; false ends it, and so does an exception,
     * which is thrown on. `wanted` NULL: the results of calls that must be the same. */
    tg_ranks_sameness across(const std::function<bool(const tg_ranks_same &)> &tell,
                             const query *wanted = nullptr,
                             const tg_diff_options &options = tg_diff_options()) const
    {
        teller<tg_ranks_same> told{tell, nullptr};
        tg_ranks_sameness sameness{};
        told.call(tg_ranks_across, get(), wanted ? wanted->get() : nullptr, &options,
                  teller<tg_ranks_same>::pass, &told, &sameness);
        return sameness;
    }
    /* Compares one device with the parts that the ranks have; `shards` as `taskglass diff --shard`
     * takes them. */
    tg_ranks_sameness compare(const taskglass::recording &one,
                              const std::vector<std::string> &shards,
                              const std::function<bool(const tg_shard_result &)> &tell,
                              const tg_diff_options &options = tg_diff_options()) const
    {
        teller<tg_shard_result> told{tell, nullptr};
        std::vector<tg_shard> parsed(shards.size());
        for (std::size_t i = 0; i < shards.size(); i++)
            detail::call(tg_shard_parse, shards[i].c_str(), &parsed[i]);
        tg_ranks_sameness sameness{};
        told.call(tg_ranks_compare, one.get(), get(), parsed.data(), parsed.size(), &options,
                  teller<tg_shard_result>::pass, &told, &sameness);
        return sameness;
    }

    tg_ranks *get() const noexcept
    {
        return handle_.get();
    }

  private:
    std::string folder_of(std::uint32_t number) const
    {
        const std::string dir = (*this)[number].dir;
        detail::call(tg_ranks_check_folder, get(), number);
        return dir;
    }

    /* No exception may pass through C. */
    template <class Told> struct teller {
        const std::function<bool(const Told &)> &tell;
        std::exception_ptr thrown;

        static int pass(void *context, const Told *told)
        {
            teller &self = *static_cast<teller *>(context);
            try {
                return self.tell && !self.tell(*told);
            } catch (...) {
                self.thrown = std::current_exception();
                return 1;
            }
        }
        /* What was thrown goes before the error of the call that ended because of it. */
        template <class Function, class... Arguments>
        void call(Function function, Arguments... arguments)
        {
            tg_error why{};
            why.status = function(arguments..., &why);
            if (thrown)
                std::rethrow_exception(thrown);
            if (why.status != TG_OK)
                throw error(why);
        }
    };

    detail::handle<tg_ranks, tg_ranks_close> handle_;
};

} // namespace taskglass

#endif
