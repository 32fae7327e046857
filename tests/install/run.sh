#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD_DIR CMAKE CC SANITIZE_FLAGS: installs, moves what was installed, and uses it from
# outside: a program by pkg-config, a program and a workload by find_package.
set -eu
build=$1
cmake=$2
cc=$3
flags=$4
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
