# SPDX-License-Identifier: Apache-2.0
"""The Debian packages: built without optimisation, looked at by lintian, unpacked and used. clean_root.py
installs them with apt in a new Debian, which takes minutes."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from taskglass_build import contents

from conftest import ROOT, environment, look_at_page, say

DEBIAN = ROOT / "packaging" / "debian"
# Some files of each package, under /usr; * stands for the architecture.
PLACES = {
    "libtaskglass-dev": "lib/*/libtaskglass.so include/taskglass/taskglass.h lib/*/pkgconfig/taskglass.pc "
                        "share/doc/libtaskglass-dev/examples/vector_add/CMakeLists.txt",
    "libtaskglass0": "lib/*/libtaskglass.so.0 lib/*/taskglass/taskglass-device lib/*/taskglass/taskglass-reference",
    "python3-taskglass": "lib/python3/dist-packages/taskglass/py.typed",
    "taskglass": "bin/taskglass lib/*/taskglass/taskglass-serve lib/*/taskglass/workloads/vector_add.so share/man/man1/taskglass-run.1.gz "
                 "share/bash-completion/completions/taskglass share/zsh/vendor-completions/_taskglass "
                 "share/fish/vendor_completions.d/taskglass.fish share/doc/taskglass/copyright",
    "taskglass-mpi": "lib/*/taskglass/taskglass-mpi-openmpi.so lib/*/taskglass/taskglass-mpi-mpich.so",
}


def why_not():
    """Why the packages cannot be built here; None if they can."""
    if not shutil.which("dpkg-checkbuilddeps"):
        return "this is no Debian with dpkg-dev"
    done = subprocess.run(["dpkg-checkbuilddeps", DEBIAN / "control"], capture_output=True, text=True, check=False)
    return done.stderr.strip().rpartition(": ")[2] + " not installed" if done.returncode else None


needs_debhelper = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


@pytest.fixture(scope="session")
def debs(room):
    """The packages by name, and the folder in which they are."""
    folder = room / "debs"
    env = environment(room, DEB_DIR=str(folder), DEB_CFLAGS_APPEND="-g0", CUDA="OFF",
                      DEB_BUILD_OPTIONS="noopt noautodbgsym")
    say([ROOT / "scripts/deb"], cwd=room, env=env)
    return {path.name.partition("_")[0]: path for path in folder.glob("*.deb")}, folder


@pytest.fixture(scope="session")
def root(debs, room):
    """What the packages hold, in an empty folder."""
    for path in debs[0].values():
        subprocess.run(["dpkg-deb", "--extract", path, room / "root"], check=True)
    return room / "root"


@pytest.fixture(scope="session")
def used(root, room):
    """The variables of a user for whom the folder is the machine's root."""
    libraries = next(root.glob("usr/lib/*/libtaskglass.so.0")).parent
    return environment(room, PATH=f"{root / 'usr/bin'}:{os.environ['PATH']}", LD_LIBRARY_PATH=str(libraries),
                       PKG_CONFIG_PATH=str(libraries / "pkgconfig"),
                       PYTHONPATH=str(root / "usr/lib/python3/dist-packages"))


def test_the_changelog_begins_with_the_version_of_the_headers():
    first = (DEBIAN / "changelog").read_text().splitlines()[0]
    assert re.match(r"taskglass \((.*)-", first)[1] == contents.version()


@needs_debhelper
def test_there_is_a_package_for_each_kind_of_user(debs):
    assert set(debs[0]) == set(PLACES)


@needs_debhelper
@pytest.mark.skipif(not shutil.which("lintian"), reason="no lintian")
def test_lintian_finds_nothing(debs, room):
    changes = next(debs[1].glob("*.changes"))
    said = say(["lintian", "--allow-root", "--fail-on", "error,warning", changes], cwd=room, env=environment(room))
    assert not [line for line in said.splitlines() if re.match("[EW]:", line)]
    assert not list(DEBIAN.glob("*overrides*"))


@needs_debhelper
def test_every_installed_file_is_in_one_package(debs, root):
    """And nothing is forgotten: dh_missing fails the build otherwise."""
    seen = {}
    for name, path in debs[0].items():
        listed = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], stdout=subprocess.PIPE, check=True).stdout
        files = subprocess.run(["tar", "-t"], input=listed, stdout=subprocess.PIPE, check=True).stdout.decode()
        for file in files.splitlines():
            if not file.endswith("/"):
                assert file not in seen, f"{file} is in {seen[file]} and in {name}"
                seen[file] = name
    at = {file.replace(f"/{next(root.glob('usr/lib/*/libtaskglass.so.0')).parent.name}/", "/*/"): name
          for file, name in seen.items()}
    for name, files in PLACES.items():
        for file in files.split():
            assert at.get(f"./usr/{file}") == name, file


@needs_debhelper
def test_programs_have_no_run_path_and_no_symbols(root):
    for path in root.rglob("*"):
        if path.is_symlink() or not path.is_file() or path.open("rb").read(4) != b"\x7fELF":
            continue
        said = subprocess.run(["readelf", "-dSW", path], stdout=subprocess.PIPE, text=True, check=True).stdout
        assert "RUNPATH" not in said and "RPATH" not in said, path
        assert " .symtab " not in said, path


@needs_debhelper
def test_the_program_runs(used, room):
    said = say(["taskglass", "--version"], cwd=room, env=used)
    assert said.startswith(f"taskglass {contents.version()}\n")
    say(["taskglass", "run", "matmul_chain", "--dump-tensor", "--output", "deb-run"], cwd=room, env=used)
    say(["taskglass", "check", "deb-run"], cwd=room, env=used)


@needs_debhelper
def test_the_server_finds_the_library_and_the_program(used, room):
    say(["taskglass", "run", "vector_add", "--dump-tensor", "--output", "deb-served"], cwd=room, env=used)
    page, questions = look_at_page("deb-served", cwd=room, env=used)
    assert "app.js" in page and questions


@needs_debhelper
def test_python_loads_the_library_of_its_architecture(used, root, room):
    said = say([sys.executable, "-c", "import taskglass, importlib.metadata as m, taskglass._library as l\n"
                "print(taskglass.run('vector_add', output='deb-python'))\n"
                "print(l.lib().functions._name, m.version('taskglass'), sep='\\n')"], cwd=room, env=used).splitlines()
    assert pathlib.Path(said[-2]).resolve() == next(root.glob("usr/lib/*/libtaskglass.so.0")).resolve()
    assert said[-1] == contents.version()


@needs_debhelper
@pytest.mark.skipif(not shutil.which("pkg-config"), reason="no pkg-config")
def test_a_program_is_built_with_the_dev_package(used, room):
    flags = say(["pkg-config", "--cflags", "--libs", "taskglass"], cwd=room, env=used).strip()
    say(["sh", "-c", f"{os.environ.get('CC', 'cc')} '{ROOT}/tests/install/use.c' -o by-deb {flags} && ./by-deb"],
        cwd=room, env=used)


@needs_debhelper
def test_pytest_finds_the_plugin_and_cmake_the_package(used, room):
    say(["taskglass", "new", "by_deb"], cwd=room, env=used)
    say(["cmake", "-S", "by_deb", "-B", "by_deb/build"], cwd=room, env=used)
    say(["cmake", "--build", "by_deb/build"], cwd=room, env=used)
    said = say([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "by_deb", "--platform", "a5sim"],
               cwd=room, env=used)
    assert "3 passed" in said
