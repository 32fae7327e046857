#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# freestanding.sh NM OBJECT...: checks that the device program
# needs nothing but itself and its target.
#
# Undefined symbols must be defined in another object or belong to the target (tg_target_*). memcpy
# and its kind are allowed: compilers insert calls to them, and every target has them.
nm=$1
shift
missing=$({
    "$nm" --defined-only -g "$@" | awk 'NF == 3 { print "defined", $3 }'
    "$nm" --undefined-only -A "$@" | awk '{ print "wanted", $NF, $1 }'
} | awk '
    $1 == "defined" { have[$2] = 1 }
    $1 == "wanted" { want[++n] = $2; by[n] = $3 }
    END {
        for (i = 1; i <= n; i++) {
            s = want[i]
            if (s in have || s ~ /^tg_target_/ || s ~ /^mem(cpy|set|move|cmp)$/ ||
                s == "_GLOBAL_OFFSET_TABLE_")
                continue
            object = by[i]
            sub(/:.*/, "", object)
            sub(/.*\//, "", object)
            print "  " s " in " object
        }
    }' | sort -u)
if [ -n "$missing" ]; then
    echo "the device program uses what a device does not have:"
    echo "$missing"
    exit 1
fi
