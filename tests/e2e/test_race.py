# SPDX-License-Identifier: Apache-2.0
"""taskglass find race: planted races are found with what orders them, the examples have none, and the
deps.json of the other implementation is read too."""

import json
import pathlib
import shutil

import pytest

from conftest import workload
from recordings import peer

RACY = workload("racy")
GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "peer" / "meta"
EXPLICIT = ("host_build_graph", "aicpu_build_graph")
FOUND = "tensormap_and_ringbuffer"


def recorded(tg, tmp_path, module, runtime, *options, level="meta"):
    folder = tmp_path / "run"
    result = tg("run", module, "--runtime", runtime, f"--dump-tensor={level}", "--output", folder, *options)
    assert result.returncode in (0, 1), result.stderr
    return folder


def find(tg, folder, code, *options):
    result = tg("find", "race", folder, "--json", *options)
    assert result.returncode == code, result.stderr
    return json.loads(result.stdout)


def pairs(document):
    return [(race["first"]["position"], race["second"]["position"], race["pairs"])
            for race in document["findings"]]


@pytest.mark.parametrize("runtime", EXPLICIT)
@pytest.mark.parametrize("case, want", [
    ("war", [(1, 7, 2)]), ("raw", [(0, 6, 1)]), ("commute", [(1, 2, 28)])])
def test_a_planted_race_is_found(tg, tmp_path, runtime, case, want):
    folder = recorded(tg, tmp_path, RACY, runtime, "--case", case, "--set", "length=5")
    document = find(tg, folder, 1)
    assert pairs(document) == want
    assert document["found"] == want[0][2] and document["exact"] and not document["proof"]
    race = document["findings"][0]
    assert race["bytes"] == 128 and race["fix"].startswith(f"tg_args_after(&args, task_{want[0][0]});")
    assert "orchestrate.c:" in race["first"]["line"] and "orchestrate.c:" in race["second"]["line"]


@pytest.mark.parametrize("case, want", [("held", []), ("late", [(0, 1, 1)])])
def test_a_wait_orders_the_tasks_that_a_scope_still_holds_back(tg, tmp_path, case, want):
    folder = recorded(tg, tmp_path, RACY, "aicpu_build_graph", "--case", case, "--set", "length=5")
    assert pairs(find(tg, folder, 1 if want else 0)) == want
    document = json.loads(next(folder.rglob("deps.json")).read_text())
    released, = document["released"]
    assert released["at"] == 2 and released["tasks"] == [document["tasks"][1]["task_id"]]
    assert ("seen" in released) == (not want)


@pytest.mark.parametrize("case", ["clean", "war", "raw", "two", "commute", "branch"])
def test_edges_that_the_runtime_finds_cover_the_accesses(tg, tmp_path, case):
    folder = recorded(tg, tmp_path, RACY, FOUND, "--case", case, "--set", "length=5")
    document = find(tg, folder, 0)
    assert (document["result"], document["found"], document["proof"]) == ("nothing found", 0, True)
    assert "cover all accesses declared" in " ".join(tg("find", "race", folder).stdout.split())


@pytest.mark.parametrize("runtime", [*EXPLICIT, FOUND])
@pytest.mark.parametrize("example", ["bgemm", "cholesky", "dtypes", "matmul_chain", "mix", "mlp", "moe",
                                     "paged_attention", "stencil", "vector_add", "views"])
def test_no_example_has_a_race(tg, tmp_path, example, runtime):
    if (example, runtime) == ("moe", "host_build_graph"):
        pytest.skip("moe reads values back, which a graph of the host cannot")
    document = find(tg, recorded(tg, tmp_path, example, runtime), 0)
    assert document["result"] == "nothing found" and document["proof"]


def test_the_region_is_named_as_the_case_does(tg, tmp_path):
    folder = recorded(tg, tmp_path, "cholesky", "aicpu_build_graph")
    (deps,) = folder.rglob("deps.json")
    document = json.loads(deps.read_text())
    for task in document["tasks"]:
        task["after"], task["kind"] = [], []
        task.pop("seen", None)
    deps.write_text(json.dumps(document))
    answer = find(tg, folder, 1)
    (run,) = folder.rglob("run.json")
    names = {tensor["name"] for tensor in json.loads(run.read_text())["tensors"]}
    for race in answer["findings"]:
        for side in (race["first"], race["second"]):
            name, bracket, rest = side["region"].partition("[")
            assert name in names and bracket and rest.endswith("]"), side
    assert answer["findings"]


def test_filters_choose_pairs_with_a_task(tg, tmp_path):
    folder = recorded(tg, tmp_path, RACY, "aicpu_build_graph", "--case", "commute", "--set", "length=5")
    assert find(tg, folder, 1, "--task", "1")["found"] == 7
    assert find(tg, folder, 0, "--task", "0")["found"] == 0
    assert find(tg, folder, 2, "--task", "99")["result"] == "not known"


def test_a_deps_json_without_edges_or_waits_is_not_trusted(tg, tmp_path):
    folder = recorded(tg, tmp_path, RACY, "aicpu_build_graph", "--case", "war", "--set", "length=5")
    (deps,) = folder.rglob("deps.json")
    text = deps.read_text()
    document = json.loads(text)
    document["lost"] = 3
    deps.write_text(json.dumps(document))
    assert find(tg, folder, 2)["result"] == "not known"
    document["lost"] = 0
    first, second = (document["tasks"][i]["task_id"] for i in (0, 1))
    document["tasks"][0]["after"] = [second]
    document["tasks"][1]["after"] = [first]
    deps.write_text(json.dumps(document))
    result = tg("find", "race", folder)
    assert result.returncode == 2 and "in a circle" in result.stderr
    deps.unlink()
    assert "no deps.json" in find(tg, folder, 2)["reason"]


# --- the other implementation ---------------------------------------------------------------------

@pytest.mark.parametrize("name, races", [("tmr_deps_war", 40), ("tmr_deps_fan", 0)])
def test_the_other_implementations_races_are_found(tg, name, races):
    document = find(tg, peer(name), 1 if races else 0)
    assert document["found"] == races and document["exact"]


def layout(tasks, edges=()):
    """A deps.json as the other implementation writes it: each task a list of (type, tensor, start, count)."""
    ids = [str(2**32 + i) for i in range(len(tasks))]
    tensors = sorted({arg[1] for task in tasks for arg in task})
    return {
        "tasks": [{"task_id": ids[i], "kernel_ids": [-1, 0, -1], "args": [
            {"idx": k, "type": word, "tensor_id": str(tensor), "dtype": "FLOAT32", "shape": [count],
             "start_offset": str(start), "strides": [1]} for k, (word, tensor, start, count) in enumerate(task)]}
            for i, task in enumerate(tasks)],
        "tensors": [{"tensor_id": str(tensor), "buffer_addr": str(4096 * tensor), "dtype": "FLOAT32",
                     "buffer_numel": "64"} for tensor in tensors],
        "edges": [{"pred": ids[a], "succ": ids[b], "source": "tensormap"} for a, b in edges]}


@pytest.fixture
def other(tmp_path):
    def make(document):
        folder = tmp_path / "other"
        shutil.copytree(GOLDEN, folder, dirs_exist_ok=True)
        (folder / "deps.json").write_text(document if isinstance(document, str) else json.dumps(document))
        return folder
    return make


def test_accesses_of_the_other_layout_are_compared_by_tensor(tg, other):
    tasks = [[("OUTPUT", 1, 0, 32)], [("INPUT", 1, 16, 32), ("INOUT", 2, 0, 8)],
             [("OUTPUT_EXISTING", 1, 32, 32)], [("INPUT", 1, 0, 16)]]
    assert pairs(find(tg, other(layout(tasks)), 1)) == [(0, 1, 1), (1, 2, 1), (0, 3, 1)]
    assert find(tg, other(layout(tasks, [(0, 1), (1, 2), (0, 3)])), 0)["result"] == "nothing found"


@pytest.mark.parametrize("change", [
    lambda d: d["tasks"][0].update(args=3), lambda d: d["tasks"][0].update(args=[3]),
    lambda d: d["tasks"][0]["args"][0].update(shape=["x"]),
    lambda d: d["tasks"][0]["args"][0].update(start_offset=[]), lambda d: d.update(tensors={})])
def test_a_broken_argument_is_one_line(tg, other, change):
    document = layout([[("OUTPUT", 1, 0, 32)], [("INPUT", 1, 0, 8)]])
    change(document)
    result = tg("find", "race", other(document))
    assert result.returncode == 2 and result.stderr.count("\n") == 1 and "deps.json" in result.stderr


def test_an_argument_of_an_unknown_kind_is_left_out_and_said(tg, other):
    document = layout([[("OUTPUT", 1, 0, 32)], [("WHATEVER", 1, 0, 8)]])
    answer = find(tg, other(document), 0)
    assert answer["result"] == "nothing found in what was searched" and not answer["proof"]
    assert not answer["exact"]
    assert any("not known" in note for note in answer["left_out"])
