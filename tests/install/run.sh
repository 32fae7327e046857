#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD_DIR CMAKE CC SANITIZE_FLAGS [CXX [PYTHON]]: installs, moves what was installed, and
# uses it from outside: programs in C and C++ by pkg-config, a program and a workload by find_package,
# the Python package.
set -eu
build=$1
cmake=$2
cc=$3
flags=$4
cxx=${5:-}
python=${6:-}
here=$(cd "$(dirname "$0")" && pwd)
work=$build/tests/install
prefix="$work/moved here"
rm -rf "$work"
mkdir -p "$work"
cd "$work"
unset TASKGLASS_DEVICE_PROGRAM 2>/dev/null || :

say() {
    echo "install: $*"
}

# From here on the place it was configured for, and the place it was installed to, are gone.
env -u DESTDIR "$cmake" --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$prefix"
libdir=$(dirname "$(find "$prefix" -name 'libtaskglass.so' | head -n 1)")

say "the installed program finds its workloads"
"$prefix/bin/taskglass" --version
"$prefix/bin/taskglass" list >/dev/null

if command -v pkg-config >/dev/null; then
    say "a program by pkg-config"
    # pkg-config quotes the blank in the path, as a shell would read it.
    export PKG_CONFIG_PATH="$libdir/pkgconfig"
    eval "$cc -std=c11 -Wall -Wextra -Wpedantic -Werror $flags '$here/use.c' -o by-pkg-config \
        $(pkg-config --cflags --libs taskglass)"
    LD_LIBRARY_PATH=$libdir ./by-pkg-config
    if [ -n "$cxx" ]; then
        eval "$cxx -std=c++17 -Wall -Wextra -Wpedantic -Werror $flags '$here/use.cpp' -o in-c++ \
            $(pkg-config --cflags --libs taskglass)"
        LD_LIBRARY_PATH=$libdir ./in-c++
    fi
else
    say "no pkg-config: not tried"
fi

say "a program and a workload by find_package"
"$cmake" -S "$here" -B project --log-level=WARNING -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_C_FLAGS="$flags" -DCMAKE_PREFIX_PATH="$prefix" >project.log
"$cmake" --build project >>project.log || {
    cat project.log
    exit 1
}
./project/by-find-package

say "the workload runs"
"$prefix/bin/taskglass" run ./project/scale.so --output "$work/output"

# A library with sanitizers does not go into a Python without.
if [ -n "$python" ] && [ -z "$flags" ]; then
    say "the Python package"
    package=$(dirname "$(dirname "$(find "$prefix" -name py.typed)")")
    env -u TASKGLASS_LIBRARY PYTHONPATH="$package" PYTHONDONTWRITEBYTECODE=1 "$python" -c '
import taskglass
execution = taskglass.run("vector_add", dump_tensor="full", output="by-python")
print("Python:", execution, execution.recording())'
fi
