#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD_DIR CMAKE CC WARNINGS SANITIZE_FLAGS [CXX [PYTHON]]: installs, moves what was installed,
# and uses it from outside: programs in C and C++ by pkg-config, a program and a workload by
# find_package, the Python package.
set -eu
build=$1
cmake=$2
cc=$3
warnings=$4
flags=$5
cxx=${6:-}
python=${7:-}
here=$(cd "$(dirname "$0")" && pwd)
work=$build/tests/install
prefix="$work/moved here"
rm -rf "$work"
mkdir -p "$work"
cd "$work"
unset TASKGLASS_DEVICE_PROGRAM 2>/dev/null || :

# No test writes into the user's home.
XDG_STATE_HOME=$work/state
export XDG_STATE_HOME

say() {
    echo "install: $*"
}

# From here on neither the configured prefix nor the place of the installation exists.
env -u DESTDIR "$cmake" --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$prefix"
libdir=$(dirname "$(find "$prefix" -name 'libtaskglass.so' | head -n 1)")

say "the installed program finds its workloads"
"$prefix/bin/taskglass" --version
"$prefix/bin/taskglass" list >/dev/null

say "the installed program checks a recording with references"
"$prefix/bin/taskglass" run matmul_chain --dump-tensor --output "$work/run" >/dev/null
"$prefix/bin/taskglass" check "$work/run" >/dev/null

if command -v pkg-config >/dev/null; then
    say "a program by pkg-config"
    # pkg-config quotes the space in the path, as a shell would read it.
    export PKG_CONFIG_PATH="$libdir/pkgconfig"
    eval "$cc -std=c11 $warnings $flags '$here/use.c' -o by-pkg-config \
        $(pkg-config --cflags --libs taskglass)"
    LD_LIBRARY_PATH=$libdir ./by-pkg-config
    if [ -n "$cxx" ]; then
        eval "$cxx -std=c++17 $warnings $flags '$here/use.cpp' -o in-c++ \
            $(pkg-config --cflags --libs taskglass)"
        LD_LIBRARY_PATH=$libdir ./in-c++
    fi
else
    say "no pkg-config: not tried"
fi

# A copy of the user's project, since the test changes a header of it.
say "the completion of each shell is installed where the shell looks for it"
"$prefix/bin/taskglass" completion bash | cmp - "$prefix/share/bash-completion/completions/taskglass"
"$prefix/bin/taskglass" completion zsh | cmp - "$prefix/share/zsh/site-functions/_taskglass"
"$prefix/bin/taskglass" completion fish | cmp - "$prefix/share/fish/vendor_completions.d/taskglass.fish"

mkdir -p "$work/a project"
cp -R "$here"/*.c "$here"/*.h "$here/unit" "$here/CMakeLists.txt" "$work/a project"

build_project() { # FOLDER: builds, and leaves what was compiled or linked in project.done
    "$cmake" --build "$1" >project.log 2>&1 || {
        cat project.log
        exit 1
    }
    grep -e Building -e Compiling -e Linking project.log >project.done || :
}

expect_compiled() { # HOW_OFTEN WHAT WHEN
    compiled=$(grep -c -e "$2" project.done || :)
    [ "$compiled" = "$1" ] || {
        cat project.log
        say "FAILED: $3, $compiled of the steps match \"$2\" instead of $1"
        exit 1
    }
}

for generator in Ninja "Unix Makefiles"; do
    case $generator in
    Ninja) tool=ninja ;;
    *) tool=make ;;
    esac
    if ! command -v $tool >/dev/null; then
        say "no $tool: not tried"
        continue
    fi
    say "a program and a workload by find_package, with $tool"
    folder="by $tool"
    # CMake 3.27 and newer ask the linker for the files that it read, and ld does not escape the blank
    # in a path there. A program that links with a library in such a path would be linked every time.
    "$cmake" -S "a project" -B "$folder" -G "$generator" --log-level=WARNING \
        -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS="$flags" -DCMAKE_PREFIX_PATH="$prefix" \
        -DCMAKE_LINK_DEPENDS_USE_LINKER=OFF >configure.log
    build_project "$folder"
    "./$folder/by-find-package"
    images=0
    [ ! -e "$folder/scale.cubin" ] || images=1
    expect_compiled $images 'kernels.c for the GPU' "the first time"

    say "the workload runs"
    "$prefix/bin/taskglass" run "./$folder/scale.so" --output "$work/output"

    say "a second build has nothing to do"
    build_project "$folder"
    expect_compiled 0 . "the second time"
    "$cmake" "$folder" --log-level=WARNING >configure.log
    build_project "$folder"
    expect_compiled 0 . "after another configuration"

    say "a changed header makes it compile the sources that include it"
    sleep 0.05 # a file system's clock may be as coarse as 10 ms
    touch "a project/unit/unit.h"
    build_project "$folder"
    expect_compiled 1 'Building.*kernels.c' "after unit.h changed"
    expect_compiled 0 'Building.*cases.c' "after unit.h changed"
    expect_compiled $images 'kernels.c for the GPU' "after unit.h changed"
    expect_compiled $images 'scale.cubin' "after unit.h changed"
    build_project "$folder"
    expect_compiled 0 . "right after that"
done

# A Python without sanitizers cannot load a library with them.
if [ -n "$python" ] && [ -z "$flags" ]; then
    say "the Python package"
    package=$(dirname "$(dirname "$(find "$prefix" -name py.typed)")")
    env -u TASKGLASS_LIBRARY PYTHONPATH="$package" PYTHONDONTWRITEBYTECODE=1 "$python" -c '
import taskglass
execution = taskglass.run("vector_add", dump_tensor="full", output="by-python")
print("Python:", execution, execution.recording())'
fi
