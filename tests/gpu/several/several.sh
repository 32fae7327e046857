#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# several.sh SOURCE BUILD NVCC: what NAME.cubin holds for each list in TASKGLASS_CUDA_ARCHITECTURES, and
# which lists are refused.
set -eu
source=$1
build=$2/tests/several
nvcc=$3
rm -rf "$build"
failed=0

configure() { # LIST
    rm -rf "$build"
    cmake -S "$source/tests/gpu/several" -B "$build" -DTREE="$source" -DTASKGLASS_CUDA=ON -DTASKGLASS_NVCC="$nvcc" \
        -DTASKGLASS_WERROR=ON "-DTASKGLASS_CUDA_ARCHITECTURES=$1" >"$build.log" 2>&1
}

refuses() { # LIST WORDS
    if configure "$1" || ! tr -s ' \n' ' ' <"$build.log" | grep -q -e "$2"; then
        echo "$1: not refused because it $2"
        cat "$build.log"
        failed=1
    fi
}

holds() { # LIST MEMBERS; "" for an image by itself
    if ! { configure "$1" && cmake --build "$build" >>"$build.log" 2>&1; }; then
        cat "$build.log"
        echo "$1: the build failed"
        failed=1
        return 0
    fi
    members=$(ar t "$build/mine.cubin" 2>/dev/null | tr '\n' ' ') || members=
    if [ "$members" != "$2" ]; then
        echo "$1: holds '$members', not '$2'"
        failed=1
    fi
    cmake --build "$build" >"$build.log" 2>&1 || failed=1
    if grep -e Compiling -e Linking -e Packing "$build.log"; then
        echo "$1: a second build had something to do"
        failed=1
    fi
}

refuses '75;90' '8.0 (80) or newer is needed'
refuses '80 90' 'neither a number, as 90, nor a list'
refuses '80-virtual' 'no image for a GPU'
refuses '999' 'cannot compile'
holds '90' ''
holds '80;120' 'sm_80.cubin sm_120.cubin ptx_120.0 ptx_120.1 ptx_120.2 '
holds '90;80-virtual' 'sm_90.cubin ptx_80.0 ptx_80.1 ptx_80.2 '
rm -rf "$build" "$build.log"
exit "$failed"
