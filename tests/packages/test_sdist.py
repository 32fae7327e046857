# SPDX-License-Identifier: Apache-2.0
"""The source archive: complete, the same every time, and with the commit that git would have told."""

import re
import subprocess
import sys
import tarfile

import pytest
from taskglass_build import contents, sdist

from conftest import ROOT, environment, say

MAKE = ("import sys; sys.path.insert(0, 'packaging/pip'); import taskglass_build as b; "
        "print(b.build_sdist(sys.argv[1]))")


@pytest.fixture(scope="module")
def archive(room):
    name = sdist.write(str(room / "first"))
    assert name == f"taskglass-{contents.version()}.tar.gz"
    return room / "first" / name


def test_an_archive_of_an_unpacked_archive_is_the_same(archive, room):
    with tarfile.open(archive) as packed:
        packed.extractall(room / "unpacked")
        names = packed.getnames()
        assert len(names) == len(set(names))
        times = {entry.mtime for entry in packed}
        assert len(times) == 1
    tree = room / "unpacked" / archive.name.removesuffix(".tar.gz")
    env = environment(room, SOURCE_DATE_EPOCH=str(int(times.pop())))
    say([sys.executable, "-c", MAKE, room / "third"], cwd=tree, env=env)
    assert (room / "third" / archive.name).read_bytes() == archive.read_bytes()


def test_it_has_what_a_build_needs_and_nothing_that_was_built(archive):
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert {"pyproject.toml", "CMakeLists.txt", "include/taskglass/version.h", "LICENSE", "PKG-INFO",
            "packaging/pip/taskglass_build/__init__.py", "bindings/python/taskglass/py.typed"} <= names
    assert not [name for name in names if re.match(r"build/|outputs/|\.git/|.*\.pyc$", name)]


def test_the_commit_travels_with_the_source(archive):
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if head.returncode != 0 or not (ROOT / ".git").exists():
        pytest.skip("this tree is no checkout")
    with tarfile.open(archive) as packed:
        name = archive.name.removesuffix(".tar.gz") + "/packaging/commit"
        assert packed.extractfile(name).read().decode() == head.stdout
    attributes = subprocess.run(["git", "check-attr", "export-subst", "packaging/commit"], cwd=ROOT,
                                stdout=subprocess.PIPE, text=True, check=True).stdout
    assert attributes.endswith("export-subst: set\n")
