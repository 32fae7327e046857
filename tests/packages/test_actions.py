# SPDX-License-Identifier: Apache-2.0
"""The example for GitHub Actions: each command of it, on a new workload and an installation of its own."""

import os
import re
import shutil
import subprocess

import pytest

from conftest import BUILD, ROOT, environment, say

yaml = pytest.importorskip("yaml", reason="no yaml: Debian's package is python3-yaml")
WORKFLOW = ROOT / "packaging/github-actions/taskglass.yml"
# A test has installed Taskglass already; what else the step installs is for the machines of GitHub.
NOT_RUN = {"Install Taskglass"}


@pytest.fixture(scope="module")
def workflow():
    return yaml.safe_load(WORKFLOW.read_text())


@pytest.fixture(scope="module")
def desk(room):
    """A checkout of a user with a workload, and a home with Taskglass in .local."""
    home = room / "runner"
    subprocess.run(["cmake", "--install", BUILD, "--prefix", home / ".local"], check=True, stdout=subprocess.DEVNULL,
                   env=environment(room))
    shutil.rmtree(home / ".local/lib/taskglass/cuda", ignore_errors=True)  # nvcc would compile the workload too
    (home / "work").mkdir()
    say([home / ".local/bin/taskglass", "new", "first"], cwd=home / "work", env=environment(home))
    return home / "work"


class Runner:
    """What the machine of GitHub does between steps: variables and paths that a step has added."""

    def __init__(self, desk, variables):
        self.desk, self.home = desk, desk.parent
        self.files = {name: self.home / name for name in ("GITHUB_ENV", "GITHUB_PATH")}
        for path in self.files.values():
            path.write_text("")
        self.variables = {name: str(value) for name, value in variables.items()}

    def environment(self):
        added = dict(line.split("=", 1) for line in self.files["GITHUB_ENV"].read_text().splitlines())
        paths = [*reversed(self.files["GITHUB_PATH"].read_text().splitlines()), os.environ["PATH"]]
        return environment(self.home, PATH=":".join(paths), **self.variables, **added,
                           **{name: str(path) for name, path in self.files.items()})

    def run(self, step):
        return say(["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]], cwd=self.desk,
                   env=self.environment())


def test_every_command_works(workflow, desk):
    runner = Runner(desk, workflow["env"])
    ran = []
    for step in workflow["jobs"]["workload"]["steps"]:
        if "run" in step and step["name"] not in NOT_RUN:
            ran.append((step["name"], runner.run(step)))
    assert len(ran) == 4
    assert re.search(r"\b6 passed", dict(ran)["Run its cases as tests"]), ran
    kept = next(step for step in workflow["jobs"]["workload"]["steps"] if step.get("if") == "failure()")
    for path in kept["with"]["path"].split():
        assert (desk / path).exists(), path


def test_a_wrong_kernel_fails_the_job(workflow, desk, room):
    kernels = desk / "first/kernels.c"
    right = kernels.read_text()
    kernels.write_text(right.replace("y[i] = t[i] + b[i];", "y[i] = t[i] + b[i] + 1;"))
    assert kernels.read_text() != right
    runner = Runner(desk, workflow["env"])
    steps = {step["name"]: step for step in workflow["jobs"]["workload"]["steps"] if "run" in step}
    runner.run(steps["Let the next steps find it"])
    runner.run(steps["Build the workload"])
    with pytest.raises(AssertionError, match="exit code 1"):
        runner.run(steps["Run its cases as tests"])


def test_the_install_step_is_what_the_readme_says(workflow):
    step = next(step for step in workflow["jobs"]["workload"]["steps"] if step["name"] in NOT_RUN)
    assert 'install PREFIX="$HOME/.local"' in step["run"]
    assert "make install PREFIX=$HOME/.local" in (ROOT / "README.md").read_text()


def test_it_keeps_to_what_a_workflow_may_have(workflow):
    """The words of the schema that this file uses; a misspelled one would be ignored or refused by GitHub."""
    assert set(workflow) == {"name", True, "env", "jobs"}  # YAML 1.1 reads `on` as true
    for job in workflow["jobs"].values():
        assert set(job) == {"runs-on", "steps"}
        for step in job["steps"]:
            assert set(step) <= {"name", "uses", "with", "run", "if"}
            assert ("run" in step) != ("uses" in step)
