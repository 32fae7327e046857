# SPDX-License-Identifier: Apache-2.0
"""The build backend of `pip install .`: the functions that PEP 517 and PEP 660 name.

It uses the standard library alone, so that pip needs no network. Settings, with pip's option
--config-settings KEY=VALUE:

    cmake-args    options for CMake, such as -DTASKGLASS_CUDA=OFF; the variable CMAKE_ARGS adds more
    build-dir     a build folder that `make` or CMake has made, instead of compiling again
"""

from __future__ import annotations

import pathlib
import shlex
import tempfile
from typing import Any, Dict, List, Mapping, Optional

from . import contents, native, sdist
from .wheel import Wheel, platform_tag

Settings = Optional[Mapping[str, Any]]


def _settings(given: Settings) -> Dict[str, List[str]]:
    """Each setting as a list of words; pip gives a text, or a list if the option is repeated."""
    found: Dict[str, List[str]] = {"cmake-args": [], "build-dir": []}
    for key, value in (given or {}).items():
        if key not in found:
            raise SystemExit(f"taskglass: unknown config setting {key!r}; settings are "
                             f"{', '.join(sorted(found))}")
        for text in value if isinstance(value, list) else [value]:
            found[key] += shlex.split(text) if key == "cmake-args" else [text]
    return found


def get_requires_for_build_wheel(config_settings: Settings = None) -> List[str]:
    """Nothing from an index. The compiler is looked for here, because pip calls this first."""
    if not _settings(config_settings)["build-dir"]:
        native.check_tools()
    return []


def get_requires_for_build_editable(config_settings: Settings = None) -> List[str]:
    return get_requires_for_build_wheel(config_settings)


def get_requires_for_build_sdist(config_settings: Settings = None) -> List[str]:
    return []


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    name = contents.dist_info()
    folder = pathlib.Path(metadata_directory, name)
    folder.mkdir(parents=True, exist_ok=True)
    for file, data in contents.metadata().items():
        (folder / file).write_bytes(data)
    return name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(wheel_directory: str, config_settings: Settings = None,
                metadata_directory: Optional[str] = None) -> str:
    settings = _settings(config_settings)
    with tempfile.TemporaryDirectory(prefix="taskglass_wheel_") as folder:
        stage = pathlib.Path(folder) / "stage"
        if settings["build-dir"]:
            native.install(pathlib.Path(settings["build-dir"][-1]), stage)
        else:
            native.build_and_install(settings["cmake-args"], stage)
        wheel = Wheel("taskglass", contents.version(), f"py3-none-{platform_tag()}")
        contents.add_installation(wheel, stage)
    contents.add_metadata(wheel)
    return wheel.write(wheel_directory)


def build_editable(wheel_directory: str, config_settings: Settings = None,
                   metadata_directory: Optional[str] = None) -> str:
    """The package is that of the source tree, and the library and the program are those that `make`
    builds there: after a change, `make` is enough."""
    settings = _settings(config_settings)
    native.build(native.ROOT / "build", settings["cmake-args"])
    wheel = Wheel("taskglass", contents.version(), f"py3-none-{platform_tag()}")
    contents.add_links_to_tree(wheel)
    contents.add_metadata(wheel)
    return wheel.write(wheel_directory)


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    return sdist.write(sdist_directory)
