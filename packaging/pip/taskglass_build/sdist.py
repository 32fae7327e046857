# SPDX-License-Identifier: Apache-2.0
"""Writes the source as an archive from which pip and make build the same. `make deb` takes its copy of the
tree from here too."""

from __future__ import annotations

import gzip
import io
import os
import pathlib
import subprocess
import tarfile
from typing import List

from . import contents
from .native import ROOT

# In a tree without git: what a build or a run leaves behind, anywhere and at the root.
SKIPPED = {".git", ".cache", ".pytest_cache", "__pycache__"}
SKIPPED_AT_ROOT = {"build", "outputs", "PKG-INFO"}
# Holds the commit in a tree without git; git archive fills it in (.gitattributes).
COMMIT = "packaging/commit"


def _git(*arguments: str) -> str:
    """What git says about this tree; "" if it is no checkout, or one that git refuses."""
    if not (ROOT / ".git").exists():
        return ""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def files() -> List[str]:
    """The files of the source, relative to the root."""
    listed = _git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    found = {name for name in listed if name and os.path.lexists(ROOT / name)}
    if not found:
        for folder, folders, names in os.walk(ROOT):
            skipped = SKIPPED | (SKIPPED_AT_ROOT if folder == str(ROOT) else set())
            folders[:] = [name for name in folders if name not in skipped]
            found |= {os.path.relpath(os.path.join(folder, name), ROOT) for name in names
                      if name not in skipped and not name.endswith(".pyc")}
    return sorted(found)


def content(name: str) -> bytes:
    """The bytes of a file of the source, with the commit where it belongs."""
    commit = _git("rev-parse", "HEAD") if name == COMMIT else ""
    return commit.encode() or (ROOT / name).read_bytes()


def _time() -> int:
    """The time of all files: what SOURCE_DATE_EPOCH says, or the last commit's, or the header's."""
    said = os.environ.get("SOURCE_DATE_EPOCH") or _git("log", "-1", "--format=%ct")
    return int(said or (ROOT / "include/taskglass/version.h").stat().st_mtime)


def write(folder: str) -> str:
    stem = f"taskglass-{contents.version()}"
    when = _time()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        def add(name: str, data: bytes, entry: tarfile.TarInfo) -> None:
            entry.name, entry.mtime = f"{stem}/{name}", when
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mode = 0o755 if entry.mode & 0o100 else 0o644
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))

        for name in files():
            entry = archive.gettarinfo(ROOT / name)
            add(name, b"" if entry.issym() else content(name), entry)
        add("PKG-INFO", contents.metadata()["METADATA"], tarfile.TarInfo())
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    target = pathlib.Path(folder, f"{stem}.tar.gz")
    target.write_bytes(gzip.compress(packed.getvalue(), compresslevel=6, mtime=when))
    return target.name
