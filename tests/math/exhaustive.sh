#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# exhaustive.sh [BUILD [JOBS]]: the functions of taskglass/math.h on every float32, pow on 2^32 pairs, and float64
# on 100 million cases each, as lines for bench/math/run.py --errors. Takes an hour of one CPU.
build=${1:-build}
jobs=${2:-$(getconf _NPROCESSORS_ONLN)}
sweep=$build/tests/bin/math-sweep
names=$(sed -n 's/^ *X(\([a-z0-9_]*\), [0-9.]*, [0-9.]*).*/\1/p' "$(dirname "$0")/../../include/taskglass/math.h")
{
    for name in $names; do
        echo "f32 $name 1"
        echo "f64 $name 100000000"
    done
    echo "pow_f32 4294967296"
    echo "pow_f64 100000000"
} | xargs -P "$jobs" -L 1 "$sweep"
