#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# headers.sh INCLUDE_DIR WARNINGS CC [CXX]: each public header compiles alone, as C11 and as C++17,
# with these WARNINGS ("-Wall -Wextra"), and tg_table_i64 takes no more indices than a tensor has dimensions.
# Prints the failing ones.
include=$1
strict="$2 -fsyntax-only -I$include"
cc=$3
cxx=${4:-}
failed=0

[ -n "$cxx" ] || echo "no C++ compiler: C++17 not tried"
for header in $(cd "$include" && find taskglass -name '*.h' | sort); do
    program="#include <$header>
extern int something;"
    if ! echo "$program" | $cc -std=c11 $strict -x c -; then
        echo "$header does not compile alone as C11"
        failed=1
    fi
    if [ -n "$cxx" ] && ! echo "$program" | $cxx -std=c++17 $strict -x c++ -; then
        echo "$header does not compile alone as C++17"
        failed=1
    fi
done
for header in $(cd "$include" && find taskglass -name '*.hpp' | sort); do
    program="#include <$header>
extern int something;"
    if [ -n "$cxx" ] && ! echo "$program" | $cxx -std=c++17 $strict -x c++ -; then
        echo "$header does not compile alone as C++17"
        failed=1
    fi
done

# A ninth index has no place: it must not be dropped, nor be taken for their number.
table() { # INDICES
    $cc -std=c11 $strict -x c - <<END
#include <taskglass/orchestration.h>
extern int64_t look(struct tg_rt *rt, struct tg_tensor t);
int64_t look(struct tg_rt *rt, struct tg_tensor t) { return tg_table_i64(rt, t, $1); }
END
}
if ! table "1, 2, 3, 4, 5, 6, 7, 8"; then
    echo "tg_table_i64 does not compile with eight indices"
    failed=1
fi
if table "1, 2, 3, 4, 5, 6, 7, 8, 9" 2>/dev/null; then
    echo "tg_table_i64 compiles with nine indices"
    failed=1
fi
exit $failed
