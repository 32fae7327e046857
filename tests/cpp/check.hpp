/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the programs in this folder: each says where it failed, and counts. */
#ifndef TG_TEST_CPP_CHECK_HPP
#define TG_TEST_CPP_CHECK_HPP

#include <cstdio>
#include <taskglass/taskglass.hpp>

inline int failures;

inline void check(bool good, const char *what, const char *file, int line)
{
    if (!good) {
        std::fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
        failures++;
    }
}
#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)

template <class Function> void check_throws(Function function, tg_status status, const char *file, int line)
{
    try {
        function();
        check(false, "it throws", file, line);
    } catch (const taskglass::error &error) {
        if (error.status() != status)
            std::fprintf(stderr, "%s\n", error.what());
        check(error.status() == status, tg_status_name(status), file, line);
    }
}
#define CHECK_THROWS(expression, status) \
    check_throws([&] { (void)(expression); }, (status), __FILE__, __LINE__)

#endif
