/* SPDX-License-Identifier: Apache-2.0 */
/* What the other C++ headers share: the exception that a failed call throws, handles that close
 * themselves, and the element types of C++ types. Include taskglass.hpp or recording.hpp. */
#ifndef TASKGLASS_ERROR_HPP
#define TASKGLASS_ERROR_HPP

#include <taskglass/dtype.h>
#include <taskglass/status.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace taskglass
{

/* ── errors ────────────────────────────────────────────────────────────────────────────────── */

/* what() returns "KERNEL_FAULT: task 3, kernel …". */
class error : public std::runtime_error
{
  public:
    explicit error(const tg_error &why)
        : std::runtime_error(std::string(tg_status_name(why.status)) + ": " + why.text), why_(why)
    {
    }
    error(tg_status status, const std::string &text) : error(make(status, text)) {}

    tg_status status() const noexcept
    {
        return why_.status;
    }
    const char *name() const noexcept
    {
        return tg_status_name(why_.status);
    }
    /* One line, without the name of the status. */
    const char *text() const noexcept
    {
        return why_.text;
    }
    const char *advice() const noexcept
    {
        return tg_status_advice(why_.status);
    }
    /* 1 differs, 2 usage or input, 3 the device failed. */
    int exit_code() const noexcept
    {
        return tg_status_exit_code(why_.status);
    }
    const tg_error &get() const noexcept
    {
        return why_;
    }

  private:
    static tg_error make(tg_status status, const std::string &text)
    {
        tg_error why{};
        why.status = status;
        text.copy(why.text, sizeof why.text - 1);
        return why;
    }
    tg_error why_;
};

namespace detail
{

/* Calls a C function whose last parameter is a tg_error, and throws if it fails. */
template <class Function, class... Arguments> void call(Function function, Arguments &&...arguments)
{
    tg_error why{};
    tg_status status = function(std::forward<Arguments>(arguments)..., &why);
    if (status != TG_OK) {
        why.status = status;
        throw error(why);
    }
}

template <class Object, void (*Destroy)(Object *)> struct deleter {
    void operator()(Object *object) const noexcept
    {
        Destroy(object);
    }
};

template <class Object, void (*Destroy)(Object *)>
using handle = std::unique_ptr<Object, deleter<Object, Destroy>>;

inline std::string text(const char *text)
{
    return text ? text : "";
}

/* ── element types ─────────────────────────────────────────────────────────────────────────── */

template <class T> struct always_false : std::false_type {
};

template <class T> constexpr tg_dtype dtype_of()
{
    if constexpr (std::is_same_v<T, bool>)
        return TG_BOOL;
    else if constexpr (std::is_same_v<T, double>)
        return TG_FLOAT64;
    else if constexpr (std::is_same_v<T, float>)
        return TG_FLOAT32;
    else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
        return sizeof(T) == 8   ? TG_INT64
               : sizeof(T) == 4 ? TG_INT32
               : sizeof(T) == 2 ? TG_INT16
                                : TG_INT8;
    else if constexpr (std::is_integral_v<T>)
        return sizeof(T) == 8   ? TG_UINT64
               : sizeof(T) == 4 ? TG_UINT32
               : sizeof(T) == 2 ? TG_UINT16
                                : TG_UINT8;
    else
        static_assert(always_false<T>::value, "name the dtype: C++ has no such element type");
}

} // namespace detail

/* The element type of a C++ type; types without one, such as bfloat16, must be named. */
template <class T> inline constexpr tg_dtype dtype_of = detail::dtype_of<T>();

} // namespace taskglass

#endif
