# SPDX-License-Identifier: Apache-2.0
"""`make` for a user who may not write somewhere: one line says where, and what to type."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOBODY = 65534


@pytest.fixture
def place():
    """A folder that every user may enter."""
    with tempfile.TemporaryDirectory(prefix="taskglass_test_make_") as folder:
        path = pathlib.Path(folder)
        path.chmod(0o755)
        yield path
        for below in [path, *path.rglob("*")]:
            if below.is_dir():
                below.chmod(0o755)


def as_user(*words, **options):
    """Runs a command as a user whom permissions hold; root is held by none."""
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("root may write everywhere, and there is no setpriv to be another user")
        words = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *words)
    return subprocess.run([*map(str, words)], capture_output=True, text=True, **options)


def can_read_the_tree():
    return as_user("test", "-r", ROOT / "Makefile").returncode == 0


def locked(folder):
    """A folder that the user may not write to."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o555)
    return folder


def refused(result, *words):
    lines = [line for line in result.stderr.splitlines() if not line.startswith("make")]
    assert result.returncode == 2 and len(lines) == 1, result
    for word in words:
        assert str(word) in lines[0], result


@pytest.mark.skipif(not shutil.which("make"), reason="no make")
def test_make_install_without_permission_says_so_before_it_does_anything(place):
    if not can_read_the_tree():
        pytest.skip("another user cannot read this tree")
    prefix = locked(place / "prefix")
    result = as_user("make", "-C", ROOT, "install", f"PREFIX={prefix}")
    refused(result, f"may not write to {prefix}", "'sudo make install'", "PREFIX=$HOME/.local")
    assert "built" not in result.stdout and list(prefix.iterdir()) == []


@pytest.mark.parametrize("part", ["bin", "lib/taskglass", "include", "share/man"])
def test_a_folder_below_the_prefix_is_looked_at_too(place, part):
    folder = place / "prefix" / part
    for above in ("bin", "lib", "include", "share", part):
        (place / "prefix" / above).mkdir(parents=True, exist_ok=True)
    for above in [place / "prefix", *(place / "prefix").rglob("*")]:
        above.chmod(0o777)
    locked(folder)
    refused(as_user("sh", ROOT / "scripts" / "check-prefix", place / "prefix"), folder)


def test_a_prefix_that_can_be_made_or_is_staged_is_good(place):
    (place / "open").mkdir()
    (place / "open").chmod(0o777)
    check = ROOT / "scripts" / "check-prefix"
    for prefix, stage in ((place / "open", ""), (place / "open" / "new" / "one", ""),
                          ("/usr", place / "open" / "stage")):
        result = as_user("sh", check, prefix, stage)
        assert (result.returncode, result.stderr) == (0, ""), result


def test_a_prefix_that_is_a_file_is_named(place):
    (place / "file").write_text("")
    refused(as_user("sh", ROOT / "scripts" / "check-prefix", place / "file"), "is not a folder", "PREFIX=DIR")


@pytest.mark.parametrize("what", ["build", "build/configure.log"])
def test_a_build_folder_of_another_user_is_named_with_its_owner(place, what):
    (place / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "build", place / "scripts" / "build")
    (place / "build").mkdir()
    (place / "build").chmod(0o777)
    if what == "build":
        locked(place / what)
    else:
        (place / what).write_text("")
        (place / what).chmod(0o444)
    result = as_user("sh", place / "scripts" / "build", "release", "product")
    assert result.returncode == 1 and result.stderr.count("\n") == 1, result
    assert f"may not write to {what}, which belongs to " in result.stderr
    assert "sudo chown -R" in result.stderr


@pytest.mark.parametrize("has_apt", [True, False])
def test_missing_packages_are_named_with_the_command_for_an_administrator(place, has_apt):
    tools = place / "bin"
    tools.mkdir()
    for name in ("sh", "id"):
        (tools / name).symlink_to(shutil.which(name))
    if has_apt:
        (tools / "apt-get").symlink_to(shutil.which("true"))
    result = as_user("/bin/sh", ROOT / "scripts" / "install-deps", "demo", env={"PATH": f"{tools}:/nowhere"},
                     cwd=place) if os.geteuid() != 0 else as_user(
        "env", "-i", f"PATH={tools}", "/bin/sh", ROOT / "scripts" / "install-deps", "demo", cwd=place)
    refused(result, "cmake", "gcc", "libc6-dev",
            "ask an administrator to type: apt-get install cmake" if has_apt else "please install what Debian")
