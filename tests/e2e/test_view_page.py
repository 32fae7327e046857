# SPDX-License-Identifier: Apache-2.0
"""taskglass view --html: a run as one file that needs no server. tests/web opens such a page in a browser."""

import base64
import html.parser
import json
import resource
import signal
import struct

import numpy
import pytest

from conftest import one_line
from recordings import Recording, peer


class Page(html.parser.HTMLParser):
    """What a browser finds in a page: its elements, and its answers by request."""

    def __init__(self, path):
        super().__init__()
        self.elements, self.inside, self.policy, self.text = [], None, "", ""
        self.feed(path.read_text())
        self.answers = json.loads(self.text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        self.inside = attributes.get("id") if tag == "script" else None
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]

    def handle_data(self, data):
        if self.inside == "answers":
            self.text += data

    def bytes_of(self, request):
        text = self.answers[request]
        return base64.b64decode(text + "=" * (-len(text) % 4))

    def json_of(self, request):
        return json.loads(self.bytes_of(request))

    def columns_of(self, request):
        data = self.bytes_of(request)
        magic, version, size, zero = struct.unpack("<4I", data[:16])
        assert (magic, version, zero) == (0x43574754, 1, 0)
        header, begin = json.loads(data[16:16 + size]), 16 + (size + 7) // 8 * 8
        return header, {c["name"]: numpy.frombuffer(data, c["type"][0] + str(int(c["type"][1:]) // 8),
                                                    c["count"], begin + c["offset"]) for c in header["columns"]}


def page_of(tg, run="run"):
    tg.good("view", run, "--html", "page.html")
    return Page(tg.directory / "page.html")


@pytest.fixture
def recorded(tg):
    tg.good("run", "matmul_chain", "--dump-tensor", "--output", "run")
    return tg


def test_a_page_has_the_tasks_times_and_edges_of_its_run(recorded):
    page = page_of(recorded)
    runs = page.json_of("runs")
    assert runs["static"] and runs["only"] == "run" and [run["key"] for run in runs["runs"]] == ["run"]
    header, column = page.columns_of("timeline?run=run")
    assert header["tasks"] == len(column["id"]) == 20
    assert (column["part_end"] >= column["part_begin"]).all()
    header, column = page.columns_of("edges?run=run")
    deps = json.loads((recorded.directory / "run" / "deps.json").read_text())
    want = [(int(before, 16), int(task["task_id"], 16)) for task in deps["tasks"] for before in task["after"]]
    assert list(zip(column["before"].tolist(), column["after"].tolist())) == want


def test_a_page_has_what_view_shows_of_each_record(recorded):
    page = page_of(recorded)
    records = page.json_of("records?run=run&first=0&count=100")["records"]
    shown = recorded.json("view", "run", "--json", "--limit", 1000)["records"]
    assert len(records) == len(shown) == 74
    for record, want in zip(records, shown):
        for key, other in (("index", "index"), ("stage", "stage"), ("role", "role"), ("arg", "arg_index"),
                           ("dtype", "dtype"), ("shape", "shape"), ("strides", "strides"), ("bytes", "bytes"),
                           ("stored", "bin_size"), ("hash", "hash"), ("data_ptr", "data_ptr"),
                           ("kernels", "kernel"), ("truncated", "truncated")):
            assert record[key] == want[other], (key, record, want)
        assert page.json_of(f"tensor?run=run&record={record['index']}")["index"] == record["index"]


def test_a_page_has_the_values_of_its_tensors(recorded):
    page = page_of(recorded)
    index = next(record["index"] for record in page.json_of("records?run=run&first=0&count=100")["records"]
                 if record["shape"] == [32, 32] and record["stored"])
    recorded.good("view", "run", "--index", index, "--to", "npy", "--output", "x.npy")
    want = numpy.load(recorded.directory / "x.npy")
    plane = f"run=run&record={index}&rows=0&cols=1&at=0%2C0"
    header, column = page.columns_of(f"heatmap?{plane}&level=0&row=0&col=0")
    assert header["plane"] == [32, 32] and (column["mean"].reshape(32, 32) == want).all()
    values = page.json_of(f"values?{plane}&row=0&col=0")
    assert numpy.array_equal(numpy.array(values["decimal"], "f4"), want)


def test_a_page_loads_nothing_and_runs_its_own_script_alone(recorded):
    page = page_of(recorded)
    rules = dict(rule.strip().split(" ", 1) for rule in page.policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"].startswith("'sha256-") and rules["style-src"].startswith("'sha256-")
    assert "unsafe" not in page.policy and "http" not in page.policy
    for tag, attributes in page.elements:
        assert "src" not in attributes, tag
        assert attributes.get("href", "data:").startswith("data:"), attributes
    assert [tag for tag, attributes in page.elements if tag == "script"] == ["script", "script"]


def test_a_request_that_fails_is_in_the_page_with_its_reason(recorded):
    failure = page_of(recorded).answers["rings?run=run"]
    assert failure["http"] == 409 and failure["error"]["status"] == "UNSUPPORTED"
    assert "--enable-scope-stats" in failure["error"]["text"]


def test_names_that_look_like_markup_stay_text(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    recording.add_tensor("float32", numpy.zeros((2, 2), "f4"), kernel=["</script><script>alert(1)</script>"])
    recording.write()
    page = page_of(tg)
    assert [tag for tag, attributes in page.elements if tag == "script"] == ["script", "script"]


@pytest.mark.parametrize("name", ["tmr_deps_fan", "hbg_level2", "tmr_scope250"])
def test_a_page_shows_a_run_of_another_implementation(tg, name):
    tg.good("view", peer(name), "--html", "page.html")
    assert Page(tg.directory / "page.html").columns_of(f"timeline?run={name}")


def test_a_run_that_is_too_large_is_refused_with_the_verb_that_shows_it(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    for task in range(16000):
        recording.add(task_id=f"0x{task:016x}", shape=[1], dtype="float32")
    recording.write()
    result = tg("view", "run", "--html", "page.html")
    assert result.returncode == 2
    assert one_line(result.stderr) and "taskglass serve" in result.stderr
    assert not (tmp_path / "page.html").exists()


def test_a_page_that_exists_is_kept_unless_forced(recorded):
    page_of(recorded)
    before = (recorded.directory / "page.html").read_bytes()
    result = recorded("view", "run", "--html", "page.html")
    assert result.returncode == 2 and one_line(result.stderr) and "--force" in result.stderr
    assert (recorded.directory / "page.html").read_bytes() == before
    recorded.good("view", "run", "--html", "page.html", "--force")


def test_the_newest_run_is_the_default(tg):
    tg.good("run", "vector_add", "--dump-tensor")
    tg.good("view", "--html", "page.html")
    assert Page(tg.directory / "page.html").json_of("runs")["only"].startswith("vector_add_")


@pytest.mark.parametrize("arguments, text", [
    (["--html", "x", "--json"], "--html cannot be combined with"),
    (["--html", "x", "--to", "npy"], "--html cannot be combined with"),
    (["--html", "x", "--task", "1"], "leave the filters out"),
    (["--html", ""], "--html needs the name of a file"),
    (["--html", "no/such/folder/x.html"], "cannot write 'no/such/folder/x.html'"),
    (["--html", "run/run.json", "--force"], "is a file of the recording itself"),
], ids=lambda value: value if isinstance(value, str) else " ".join(value))
def test_what_makes_no_sense_is_refused_in_one_line(recorded, arguments, text):
    result = recorded("view", "run", *arguments)
    assert result.returncode == 2 and one_line(result.stderr) and text in result.stderr


def test_a_full_disk_leaves_no_page(recorded):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
    result = recorded("view", "run", "--html", "page.html", preexec_fn=limit)
    assert result.returncode == 2 and "File too large" in result.stderr
    assert not (recorded.directory / "page.html").exists()
