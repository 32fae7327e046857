/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings for C++17, without devices and graphs: programs that only read recordings need no more. The
 * rules of taskglass.hpp hold here too. */
#ifndef TASKGLASS_RECORDING_HPP
#define TASKGLASS_RECORDING_HPP

#include <taskglass/error.hpp>
#include <taskglass/export.h>
#include <taskglass/query.h>
#include <taskglass/recording.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace taskglass
{

/* ── recordings ────────────────────────────────────────────────────────────────────────────── */

/* Which records are wanted; as the filters of `taskglass view`. */
class query
{
  public:
    query()
    {
        tg_query *made = nullptr;
        detail::call(tg_query_create, &made);
        handle_.reset(made);
    }
    /* query({{"kernel", "mat*"}, {"stage", "after"}}) */
    query(std::initializer_list<std::pair<const char *, std::string>> words) : query()
    {
        for (const auto &word : words)
            add(word.first, word.second);
    }
    query &add(const std::string &option, const std::string &text)
    {
        detail::call(tg_query_add, get(), option.c_str(), text.c_str());
        return *this;
    }

    tg_query *get() const noexcept
    {
        return handle_.get();
    }
    /* Hands the tg_query over to the caller, which destroys it. */
    tg_query *release() noexcept
    {
        return handle_.release();
    }

  private:
    detail::handle<tg_query, tg_query_destroy> handle_;
};

/* One record. Its payload, and the names of its kernels, live as long as the recording. */
class record
{
  public:
    record(const tg_recording *recording, std::uint64_t index, const tg_entry &entry) noexcept
        : recording_(recording), index_(index), entry_(entry)
    {
    }

    std::uint64_t index() const noexcept
    {
        return index_;
    }
    const tg_record &get() const noexcept
    {
        return entry_.record;
    }
    const tg_entry &entry() const noexcept
    {
        return entry_;
    }
    std::uint64_t task() const noexcept
    {
        return get().task_id;
    }
    bool is_scalar() const noexcept
    {
        return get().kind == TG_KIND_SCALAR;
    }
    const char *stage() const noexcept
    {
        return tg_stage_name(get().stage);
    }
    const char *role() const noexcept
    {
        return tg_record_role_name(get().role);
    }
    const char *dtype() const noexcept
    {
        return tg_dtype_name(get().dtype);
    }
    std::vector<std::int64_t> shape() const
    {
        return std::vector<std::int64_t>(get().shape, get().shape + get().ndim);
    }
    /* "add", "mat+add" */
    std::string kernel() const
    {
        std::string names;
        for (const char *name : entry_.kernel)
            if (name)
                names += (names.empty() ? "" : "+") + std::string(name);
        return names;
    }

    /* The stored bytes in the mapped file. */
    const void *data() const noexcept
    {
        return tg_recording_payload(recording_, &entry_);
    }
    std::uint64_t size() const noexcept
    {
        return get().stored;
    }
    /* A copy of the stored elements; T holds one element. */
    template <class T> std::vector<T> values() const
    {
        static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>,
                      "elements are copied as they lie; take std::uint8_t for bool");
        std::vector<T> values(static_cast<std::size_t>(size() / sizeof(T)));
        if (!values.empty())
            std::memcpy(values.data(), data(), values.size() * sizeof(T));
        return values;
    }

  private:
    const tg_recording *recording_;
    std::uint64_t index_;
    tg_entry entry_;
};

/* A recording, opened for reading: a range of records. */
class recording
{
  public:
    /* Opens a run's directory, the recording in it, a journal or a manifest. */
    explicit recording(const std::string &path)
    {
        tg_recording *made = nullptr;
        detail::call(tg_recording_open, path.c_str(), &made);
        handle_.reset(made);
    }

    tg_recording_info info() const noexcept
    {
        tg_recording_info info{};
        tg_recording_get_info(get(), &info);
        return info;
    }
    std::uint64_t size() const noexcept
    {
        return info().records;
    }
    /* Throws NOT_FOUND past the end, IO_ERROR for a damaged record. */
    record at(std::uint64_t index) const
    {
        tg_entry entry{};
        if (!tg_recording_get(get(), index, &entry))
            throw error(index < size() ? TG_IO_ERROR : TG_NOT_FOUND,
                        "there is no record " + std::to_string(index) + ", or it is damaged");
        return record(get(), index, entry);
    }

    /* for (const auto &record : recording.select({{"stage", "after"}})): the selected records that are
     * not damaged. A query that is not a temporary must live as long as the loop. */
    class range;
    inline range select(const query &wanted) const;
    inline range select(query &&wanted) const;
    inline range all() const;

    /* Writes an export. */
    tg_export_result write(const tg_export_config &config) const
    {
        tg_export_result result{};
        detail::call(tg_recording_export, get(), &config, &result);
        return result;
    }

    tg_recording *get() const noexcept
    {
        return handle_.get();
    }

  private:
    detail::handle<tg_recording, tg_recording_close> handle_;
};

/* The records that a query selects. */
class recording::range
{
  public:
    class iterator
    {
      public:
        using iterator_category = std::input_iterator_tag;
        using value_type = record;
        using difference_type = std::ptrdiff_t;
        using pointer = const record *;
        using reference = record;

        iterator() = default;
        iterator(const tg_recording *recording, const tg_query *query)
            : recording_(recording), query_(query)
        {
            find();
        }
        record operator*() const
        {
            return record(recording_, index_, entry_);
        }
        iterator &operator++()
        {
            index_++;
            find();
            return *this;
        }
        void operator++(int)
        {
            ++*this;
        }
        bool operator==(const iterator &other) const
        {
            return recording_ == other.recording_ && (!recording_ || index_ == other.index_);
        }
        bool operator!=(const iterator &other) const
        {
            return !(*this == other);
        }

      private:
        void find()
        {
            if (!tg_query_next(query_, recording_, &index_, &entry_))
                recording_ = nullptr;
        }
        const tg_recording *recording_ = nullptr;
        const tg_query *query_ = nullptr;
        std::uint64_t index_ = 0;
        tg_entry entry_{};
    };

    range(const tg_recording *recording, const tg_query *query) noexcept
        : recording_(recording), query_(query)
    {
    }
    range(const tg_recording *recording, query &&wanted) noexcept
        : recording_(recording), query_(wanted.get()), owned_(wanted.release())
    {
    }
    iterator begin() const
    {
        return iterator(recording_, query_);
    }
    iterator end() const
    {
        return iterator();
    }

  private:
    const tg_recording *recording_;
    const tg_query *query_;
    detail::handle<tg_query, tg_query_destroy> owned_;
};

inline recording::range recording::select(const query &wanted) const
{
    return range(get(), wanted.get());
}

inline recording::range recording::select(query &&wanted) const
{
    return range(get(), std::move(wanted));
}

inline recording::range recording::all() const
{
    return range(get(), nullptr);
}

/* for (const auto &record : recording) */
inline recording::range::iterator begin(const recording &recording)
{
    return recording.all().begin();
}

inline recording::range::iterator end(const recording &)
{
    return recording::range::iterator();
}

} // namespace taskglass

#endif
