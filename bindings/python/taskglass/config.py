# SPDX-License-Identifier: Apache-2.0
"""The settings of a run."""

from __future__ import annotations

import ctypes
import numbers
import os
from dataclasses import dataclass, field, fields
from typing import Any, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import errors
from ._arguments import name as text_of, path, shown
from ._handle import Handle
from ._library import encoded, lib, text

__all__ = ["Config", "Setting", "settings"]

_TYPES = ("text", "count", "bytes", "seconds", "flag", "choice", "list", "counts", "sizes")
_SOURCES = ("default", "environment", "caller")
_Path = Union[str, "os.PathLike[str]"]
_Size = Union[int, str]


@dataclass
class Config:
    """The settings of a run; None keeps the value of the environment or the default.

    The names are those of `taskglass config` with underscores; `settings()` shows them with their
    help and the values in force. Sizes are bytes, or text such as "64M". A setting that this
    package does not know yet goes into `more`, by its own name.
    """

    platform: Optional[str] = None
    runtime: Optional[str] = None
    cores: Optional[int] = None
    schedulers: Optional[int] = None
    device_memory: Optional[_Size] = None
    ranks: Optional[int] = None
    comm: Optional[str] = None
    orchestrator: Optional[str] = None
    schedule: Optional[str] = None
    timeout: Optional[float] = None
    load_timeout: Optional[float] = None
    linger: Optional[float] = None
    output: Optional[_Path] = None
    deps: Optional[bool] = None
    races: Optional[str] = None
    shared: Optional[bool] = None
    live: Optional[bool] = None
    poison: Optional[bool] = None
    dump_tensor: Union[None, bool, str] = None
    dump_args: Optional[bool] = None
    dump_filter: Union[None, str, Sequence[str]] = None
    dump_policy: Optional[str] = None
    dump_arena: Optional[_Size] = None
    dump_buffers: Optional[int] = None
    dump_wait: Optional[float] = None
    dump_transport: Optional[str] = None
    enable_scope_stats: Optional[bool] = None
    ring_task_window: Union[None, int, Sequence[int]] = None
    ring_heap: Union[None, _Size, Sequence[_Size]] = None
    ring_dep_pool: Union[None, int, Sequence[int]] = None
    tensormap: Optional[int] = None
    device_program: Optional[_Path] = None
    sandbox: Optional[str] = None
    workload_path: Union[None, _Path, Sequence[_Path]] = None
    more: Mapping[str, Any] = field(default_factory=dict)

    def items(self) -> Iterator[Tuple[str, str]]:
        """The settings that have a value, in the form that the library takes."""
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name != "more" and value is not None:
                yield each.name.replace("_", "-"), _text_of(each.name, value)
        if not isinstance(self.more, Mapping):
            raise errors.BadType(f"more is a mapping of settings, not {shown(self.more)}")
        for name, value in self.more.items():
            if value is not None:
                yield text_of(name, "the name of a setting").replace("_", "-"), _text_of(name, value)

    def updated(self, **changes: Any) -> "Config":
        """A copy with some settings changed; names that are not members go into `more`."""
        for more in (self.more, changes.get("more", {})):
            if not isinstance(more, Mapping):
                raise errors.BadType(f"more is a mapping of settings, not {shown(more)}")
        known = {each.name for each in fields(self)}
        values = {name: getattr(self, name) for name in known}
        values["more"] = {**self.more, **changes.pop("more", {}),
                          **{name: value for name, value in changes.items() if name not in known}}
        values.update((name, value) for name, value in changes.items() if name in known)
        return Config(**values)


def _text_of(name: str, value: Any) -> str:
    if isinstance(value, bool):
        if name == "dump_tensor":
            return "full" if value else "off"
        return "on" if value else "off"
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        separator = {"dump_filter": ";", "workload_path": ":"}.get(name, ",")
        return separator.join(_word_of(name, item) for item in value)
    return _word_of(name, value)


def _word_of(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return format(float(value), "f")
    if isinstance(value, os.PathLike):
        return path(value)
    raise errors.BadType(f"{name}={shown(value)} is no setting's value")


def config_of(config: Optional[Config]) -> Config:
    """The caller's Config, or an empty one."""
    if config is None:
        return Config()
    if not isinstance(config, Config):
        raise errors.BadType(f"config is a taskglass.Config, not {shown(config)}")
    return config


@dataclass(frozen=True)
class Setting:
    """One setting, with the value in force and where it comes from."""
    name: str
    type: str
    value: str
    source: str
    default: str
    environment: str
    help: str
    choices: Tuple[str, ...]


class SettingsHandle(Handle):
    """The library's table of settings, with a Config applied."""

    def __init__(self, config: Optional[Config] = None) -> None:
        super().__init__(lib().make(lib().tg_settings_create), lib().tg_settings_destroy, "settings")
        for name, value in config_of(config).items():
            self.call(lib().tg_settings_set, encoded(name), encoded(value))


def settings(config: Optional[Config] = None) -> List[Setting]:
    """Every setting and the value in force, with `config` applied."""
    handle, info = SettingsHandle(config), lib().layout.tg_setting_info()
    found: List[Setting] = []
    while handle.get(lib().tg_settings_get, len(found), ctypes.byref(info)):
        found.append(Setting(
            name=text(info.name), type=_TYPES[info.type] if info.type < len(_TYPES) else "text",
            value=text(info.value), source=_SOURCES[info.source], default=text(info.fallback),
            environment=text(info.environment), help=text(info.help),
            choices=tuple(text(info.choices).split())))
    return found
