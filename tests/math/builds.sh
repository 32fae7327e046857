#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# builds.sh SOURCE_DIR CASES CC...: hash.c prints the same in every build: with each of these compilers, and
# gcc and clang where they are, without and with optimisation, for every machine and for this one, with and
# without contraction. No object needs anything that a device does not have.
source=$1
cases=$2
shift 2
folder=$(mktemp -d /tmp/taskglass_test_math.XXXXXX) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0 first=

native=
echo 'int x;' | ${1:-cc} -march=native -x c -c -o "$folder/x.o" - 2>/dev/null && native=-march=native

build() { # NAME COMMAND...
    name="$*"
    if ! "$@" -I"$source/include" "$source/tests/math/hash.c" -o "$folder/hash"; then
        echo "does not compile: $name"
        failed=1
        return
    fi
    "$folder/hash" "$cases" >"$folder/now" || failed=1
    if [ -z "$first" ]; then
        first=$name
        mv "$folder/now" "$folder/first"
    elif ! diff "$folder/first" "$folder/now" >"$folder/diff"; then
        echo "other bits: $first (<) and $name (>)"
        cat "$folder/diff"
        failed=1
    fi
}

tried=
for cc in "$@" gcc clang; do
    command -v "$cc" >/dev/null || continue
    case " $tried " in *" $($cc --version | sed -n '1s/ /_/gp') "*) continue ;; esac
    tried="$tried $($cc --version | sed -n '1s/ /_/gp')"
    build "$cc" -std=c11 -O0
    build "$cc" -std=gnu11 -O2
    build "$cc" -std=gnu11 -O3 -fno-math-errno $native
    build "$cc" -std=gnu11 -O3 -ffp-contract=fast $native
    # What the objects need: nothing, but what the program itself prints with.
    echo '#include <taskglass/math.h>
#define KEEP(name, ulp32, ulp64) float keep_##name##_f32(float); float keep_##name##_f32(float x) \
{ return tg_##name##_f32(x); } double keep_##name##_f64(double); double keep_##name##_f64(double x) \
{ return tg_##name##_f64(x); }
TG_MATH_MAP(KEEP)
double keep_pow(double, double); double keep_pow(double x, double y)
{ return tg_pow_f64(x, y) + (double)tg_pow_f32((float)x, (float)y); }' >"$folder/keep.c"
    for flags in -O0 -O2 "-O3 $native"; do
        "$cc" -std=c11 -ffreestanding $flags -I"$source/include" -c "$folder/keep.c" -o "$folder/keep.o" || failed=1
        sh "$source/tests/freestanding.sh" nm "$folder/keep.o" || {
            echo "built by $cc $flags"
            failed=1
        }
    done
done
exit $failed
