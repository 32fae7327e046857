#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# headers.sh INCLUDE_DIR WARNINGS CC [CXX]: each public header compiles alone, as C11 and as C++17,
# with these WARNINGS ("-Wall -Wextra"). Prints the failing ones.
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
exit $failed
