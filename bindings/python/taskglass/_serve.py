# SPDX-License-Identifier: Apache-2.0
"""Shows runs in a browser: `serve` starts the server of `taskglass serve`, `Recording.show` puts a page into a cell.

with taskglass.serve("outputs") as server:
    print(server.address)
"""

from __future__ import annotations

import ctypes
import html
import os
import pathlib
import tempfile
from dataclasses import dataclass
from typing import Optional

from . import _html, errors
from ._arguments import flag, integer, name as name_of, path as path_of
from ._callbacks import Progress, pointer, watch
from ._files import read_file
from ._handle import Closing, Handle
from ._html import Shown
from ._interrupt import Interrupts
from ._library import encoded, lib, text
from ._types import Path

__all__ = ["Page", "Server", "WrittenPage", "serve", "show_page", "write_page"]

#: Of a page in a cell, if nothing else is asked for: notebooks keep it in their file.
MOST_BYTES = 32 << 20
_MOST_FILE = 1 << 30


class Server(Shown, Closing):
    """A server that shows runs. It ends with `stop`, at the end of a `with`, and at the latest with this program.
    Whoever has its address can read the runs."""

    def __init__(self, path: Optional[Path] = None, other: Optional[Path] = None, *, host: Optional[str] = None,
                 port: int = 0) -> None:
        if other is not None and path is None:
            raise errors.BadArgument("`other` needs a `path` to compare it with")
        config = lib().layout.tg_server_config(
            path=None if path is None else encoded(path), other=None if other is None else encoded(other),
            host=None if host is None else encoded(name_of(host, "host")), port=integer(port, "port", 0, 65535))
        with Interrupts():
            made = lib().make(lib().tg_server_start, ctypes.byref(config))
        self._handle = Handle(made, lib().tg_server_stop, "server")
        #: The address of the page, with its token.
        self.address: str = text(self._handle.get(lib().tg_server_address))
        self.port: int = self._handle.number(lib().tg_server_port)
        self.pid: int = self._handle.number(lib().tg_server_pid)

    def open_browser(self) -> None:
        """Opens the page in a browser: that of the variable BROWSER, or xdg-open."""
        self._handle.call(lib().tg_server_open)

    def stop(self) -> None:
        """Ends the server. Doing it again does nothing."""
        self.close()

    def __repr__(self) -> str:
        return "<Server, stopped>" if self.closed else f"<Server {self.address}>"

    def _as_html(self) -> str:
        if self.closed:
            return _html.card("Server, stopped", {})
        address = html.escape(self.address, quote=True)
        link = f'<a href="{address}" target="_blank" rel="noopener noreferrer">{address}</a>'
        return _html.card("Server", {"page": _html.Raw(link), "stop": "server.stop()"})


def serve(path: Optional[Path] = None, other: Optional[Path] = None, *, host: Optional[str] = None, port: int = 0,
          open: bool = False) -> Server:
    """Shows the runs under `path` (None: outputs/), one run, or two runs compared, as `taskglass serve` does. It listens
    on loopback, unless `host` is another address of this machine; `port` 0 is any that is free. `open` opens a browser.
    A notebook shows the result as a link."""
    server = Server(path, other, host=host, port=port)
    if flag(open, "open"):
        try:
            server.open_browser()
        except errors.Error:
            server.stop()
            raise
    return server


@dataclass(frozen=True)
class WrittenPage(Shown):
    """What `Recording.write_page` wrote. `left_out` tensors did not fit: the page has no values of them."""
    path: pathlib.Path
    bytes: int
    tensors: int
    left_out: int


def write_page(run: Path, path: Path, *, overwrite: bool = False, most: Optional[int] = None,
               progress: Progress = None) -> WrittenPage:
    name, interrupts, page = path_of(path), Interrupts(), lib().layout.tg_workbench_page()
    show = watch(interrupts, progress)
    config = lib().layout.tg_workbench_page_config(overwrite=flag(overwrite, "overwrite"),
                                                   most=0 if most is None else integer(most, "most", 1),
                                                   progress=pointer(show).value)
    with interrupts:
        lib().call(lib().tg_workbench_write_page, encoded(run), encoded(name), ctypes.byref(config),
                   ctypes.byref(page))
    return WrittenPage(pathlib.Path(name), page.bytes, page.tensors, page.left_out)


class Page(Shown):
    """The page of a recording, for a cell of a notebook. It is complete in itself: it needs no server and no network, and
    its frame keeps it apart from the notebook's own page."""

    def __init__(self, document: str, name: str, height: int) -> None:
        self.document, self._name, self._height = document, name, height

    def __repr__(self) -> str:
        return f"<Page of {self._name!r}: {len(self.document)} characters>"

    def _as_html(self) -> str:
        return (f'<iframe sandbox="allow-scripts" title="{_html.shown(self._name)}" '
                f'style="width: 100%; height: {self._height}px; border: 0;" '
                f'srcdoc="{html.escape(self.document, quote=True)}"></iframe>')


def show_page(run: Path, name: str, height: int, most: Optional[int]) -> Page:
    size = integer(height, "height", 100, 100000)
    with tempfile.TemporaryDirectory(prefix="taskglass_") as folder:
        file = os.path.join(folder, "page.html")
        write_page(run, file, most=MOST_BYTES if most is None else most)
        document = read_file(file, _MOST_FILE).decode()
    return Page(document, name, size)
