# SPDX-License-Identifier: Apache-2.0
"""What a wheel holds. An installer puts the folder NAME.data/data into the prefix of its Python, which in a
virtual environment is the environment itself, so everything lies as `make install` would have put it:

    bin/taskglass  lib/libtaskglass.so.0  lib/taskglass/  lib/cmake/  include/  share/man/  …
    lib/python3.N/site-packages/taskglass

CMake finds the package because bin/ is on the path, man finds the manual, and nothing holds an absolute path.
"""

from __future__ import annotations

import pathlib
import re
from typing import Dict

from .native import ROOT
from .wheel import Wheel

# Seen from the package: lib/ of the prefix, also where the package itself is in lib64/.
LIBRARY_DIRS = ("../../..", "../../../../lib")


def version() -> str:
    header = (ROOT / "include/taskglass/version.h").read_text()
    return re.search(r'TG_VERSION_STRING "([^"]+)"', header)[1]  # type: ignore[index]


def dist_info() -> str:
    return f"taskglass-{version()}.dist-info"


def metadata() -> Dict[str, bytes]:
    """The files of dist-info that do not depend on what was built."""
    files = {}
    for path in sorted((ROOT / "bindings/python/dist-info").iterdir()):
        text = path.read_text().replace("@PROJECT_VERSION@", version())
        if path.name == "METADATA.in":
            text += "\n" + (ROOT / "README.md").read_text()
        files[path.name.removesuffix(".in")] = text.encode()
    files["LICENSE"] = (ROOT / "LICENSE").read_bytes()
    return files


def add_metadata(wheel: Wheel) -> None:
    for name, data in metadata().items():
        wheel.add(f"{wheel.stem}.dist-info/{name}", data)


def _add_library(wheel: Wheel, lib: pathlib.Path, under: str) -> None:
    """The library under its soname. The name for linkers cannot be a symbolic link in a wheel, so it is a
    text that sends them to the library."""
    real = (lib / "libtaskglass.so").resolve()
    soname = (lib / "libtaskglass.so").readlink().name
    wheel.add(f"{under}{soname}", real.read_bytes(), True)
    wheel.add(f"{under}libtaskglass.so", f"/* GNU ld script */\nINPUT(-l:{soname})\n".encode())
    del wheel.files[f"{under}{real.name}"]
    for path in (lib / "cmake/Taskglass").glob("TaskglassTargets-*.cmake"):
        name = f"{under}cmake/Taskglass/{path.name}"
        wheel.add(name, path.read_bytes().replace(real.name.encode(), soname.encode()))


def add_installation(wheel: Wheel, stage: pathlib.Path) -> None:
    if not (stage / "lib/libtaskglass.so").is_symlink():
        raise SystemExit("taskglass: the build folder installs its library elsewhere than in lib; "
                         "configure it with -DCMAKE_INSTALL_LIBDIR=lib")
    package = next(path.parent for path in stage.rglob("py.typed"))
    wheel.add_tree(package, "taskglass/")
    wheel.add("taskglass/_where.py", "# SPDX-License-Identifier: Apache-2.0\n"
              f'LIBRARY_DIR = "{":".join(LIBRARY_DIRS)}"\n'.encode())

    data = f"{wheel.stem}.data/data/"
    rest = Wheel("rest", "0", "none")
    rest.files.clear()
    rest.add_tree(stage, data)
    python = f"{data}{package.parent.relative_to(stage).as_posix()}/"
    for path, (content, executable) in rest.files.items():
        if path == f"{data}bin/taskglass":
            wheel.add(f"{wheel.stem}.data/scripts/taskglass", content, True)
        elif not path.startswith(python):
            wheel.add(path, content, executable)
    _add_library(wheel, stage / "lib", f"{data}lib/")
    # Where the package lies depends on the Python that installs it.
    pc = (stage / "lib/pkgconfig/taskglass.pc").read_text()
    wheel.add(f"{data}lib/pkgconfig/taskglass.pc", re.sub("^pythondir=.*\n", "", pc, flags=re.M).encode())


def add_links_to_tree(wheel: Wheel) -> None:
    wheel.add("taskglass.pth", f"{ROOT / 'bindings/python'}\n".encode())
    program = str(ROOT / "build/bin/taskglass").replace("'", "'\\''")
    wheel.add(f"{wheel.stem}.data/scripts/taskglass", f"#!/bin/sh\nexec '{program}' \"$@\"\n".encode(), True)
