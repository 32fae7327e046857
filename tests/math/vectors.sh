#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vectors.sh SOURCE_DIR CC...: gcc and clang vectorise a loop over each function of taskglass/math.h. Skipped
# where neither is, and on machines other than x86-64.
source=$1
shift
[ "$(uname -m)" = x86_64 ] || exit 77
folder=$(mktemp -d /tmp/taskglass_test_math.XXXXXX) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0 tried=0

names=$(sed -n 's/^ *X(\([a-z0-9_]*\), [0-9.]*, [0-9.]*).*/\1/p' "$source/include/taskglass/math.h")
[ "$(echo "$names" | wc -l)" -ge 13 ] || {
    echo "TG_MATH_MAP was not found in math.h"
    exit 1
}

loop() { # NAME TYPE SUFFIX
    more= argument=
    [ "$1" != pow ] || more=", const $2 *restrict z" argument=", z[i]"
    echo "#include <taskglass/math.h>
void loop(int64_t n, const $2 *restrict x$more, $2 *restrict y);
void loop(int64_t n, const $2 *restrict x$more, $2 *restrict y)
{
    TG_FOR(i, n) y[i] = tg_$1_$3(x[i]$argument);
}"
}

for cc in "$@" gcc clang; do
    command -v "$cc" >/dev/null || continue
    case $("$cc" --version) in
    *clang*) flags="-O2 -Rpass=loop-vectorize" ;;
    *) # gcc before 12 does not take numbers of a table into a vector
        [ "$("$cc" -dumpversion | cut -d. -f1)" -ge 12 ] || continue
        flags="-O3 -fno-math-errno -fopt-info-vec-optimized" ;;
    esac
    case " $done_ " in *" $("$cc" --version | sed -n '1s/ /_/gp') "*) continue ;; esac
    done_="$done_ $("$cc" --version | sed -n '1s/ /_/gp')"
    tried=1
    for name in $names pow; do
        for type in float:f32 double:f64; do
            loop "$name" "${type%:*}" "${type#*:}" >"$folder/loop.c"
            "$cc" -std=c11 $flags -I"$source/include" -c "$folder/loop.c" -o "$folder/loop.o" 2>&1 |
                grep -Eq 'loop vectorized|vectorized loop' && continue
            echo "$cc $flags does not vectorise a loop over tg_${name}_${type#*:}"
            failed=1
        done
    done
done
[ "$tried" = 1 ] || exit 77
exit $failed
