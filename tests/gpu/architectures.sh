#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# architectures.sh SOURCE BUILD NVCC ARCHITECTURES FLAG...:
# checks that an image links for each of these architectures ("80 120"), not only for the one that
# the build is for.
#
# The linker assigns registers, and the number that a function takes differs between architectures.
# So this script compiles the device program and a small workload with the build's own FLAGs,
# without the half for the host's compiler, and links them.
set -eu
source=$1
build=$2
nvcc=$3
architectures=$4
shift 4
names=$build/examples/vector_add/vector_add_cuda/names.cu # written by CMake's configure step
work=$build/tests/architectures
jobs=$(getconf _NPROCESSORS_ONLN)

known=" $("$nvcc" --list-gpu-arch | tr '\n' ' ')"
rm -rf "$work"
tried=0
failed=0
for architecture in $architectures; do
    case $known in
    *" compute_$architecture "*) ;;
    *)
        echo "sm_$architecture: this nvcc does not know it, not tried"
        continue
        ;;
    esac
    tried=1
    folder=$work/$architecture
    mkdir -p "$folder"
    # An object is named after its source's path, because two sources may have the same name.
    if (cd "$source" && find src/device src/orchestrate examples/vector_add/kernels.c \
        examples/vector_add/orchestrate.c "$names" src/platform/cuda/gpu \
        \( -name '*.cu' -o -name '*.c' ! -path 'src/platform/cuda/*' \) -print0 |
        xargs -0 -P "$jobs" -I {} sh -c 'source=$1 folder=$2; shift 2
            exec "$@" -cubin -o "$folder/$(echo "$source" | tr / _).cubin" "$source"' \
            - {} "$folder" "$nvcc" -rdc=true "-arch=sm_$architecture" "$@" -Iinclude -Isrc -Isrc/platform/cuda/gpu) &&
        "$nvcc" -rdc=true "-arch=sm_$architecture" -dlink -cubin -Xnvlink --suppress-stack-size-warning \
            -o "$folder.cubin" "$folder"/*.cubin; then
        echo "sm_$architecture: $(wc -c <"$folder.cubin") bytes"
    else
        echo "sm_$architecture: FAILED"
        failed=1
    fi
done
rm -rf "$work"
[ "$tried" = 1 ] || exit 77
exit "$failed"
