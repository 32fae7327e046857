# SPDX-License-Identifier: Apache-2.0
"""Packages, built from what the tests have built and used in fresh folders."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TASKGLASS_BUILD", ROOT / "build"))
sys.path.insert(0, str(ROOT / "packaging" / "pip"))


def environment(home, **more):
    """Nothing of the tester's but the compilers: an empty home, no Python paths, no library."""
    kept = {name: value for name, value in os.environ.items()
            if name in ("PATH", "LANG", "TMPDIR", "CC", "CCACHE_DIR") or name.startswith("CMAKE_")}
    return {**kept, "HOME": str(home), "XDG_STATE_HOME": str(home), "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PYTHONDONTWRITEBYTECODE": "1", **more}


def offline():
    """A command that takes away the network, where this user may do that."""
    command = ["unshare", "--net"] + (["--map-root-user"] if os.geteuid() else [])
    if shutil.which("unshare") and subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
        return command
    return []


def say(command, *, code=0, cwd, env):
    """What a command prints, on both outputs."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=env, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == code, f"{command}: exit code {done.returncode}\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="session")
def room():
    """A folder with a blank in its name."""
    import tempfile
    folder = pathlib.Path(tempfile.mkdtemp(prefix="taskglass_test_packages "))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def look_at_page(run, **options):
    """Starts `taskglass serve` for a run and fetches its page and its list of questions."""
    server = subprocess.Popen(["taskglass", "serve", run], stdout=subprocess.PIPE, text=True, **options)
    try:
        address = server.stdout.readline().strip()
        with urllib.request.urlopen(address) as page, urllib.request.urlopen(address + "api/questions") as questions:
            return page.read().decode(), json.loads(questions.read())
    finally:
        server.terminate()
        server.communicate()
