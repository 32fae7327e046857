# SPDX-License-Identifier: Apache-2.0
"""What notebooks show: well-formed, small, without scripts and addresses, whatever the names are."""

import base64
import html.parser
import struct
import zlib

import numpy
import pytest
import taskglass
from taskglass import _heatmap, _html

from conftest import PLATFORMS, test_workload

HOSTILE = "<script>alert(1)</script>\"'&\x1b[31m\u202e\u2028 onload=x"
VOID = {"img"}
TAGS = {"div", "strong", "span", "table", "thead", "tbody", "tr", "th", "td", "img", "pre"}
ATTRIBUTES = {"style", "alt", "src", "width", "height"}


class Reader(html.parser.HTMLParser):
    """Fails on anything that is not closed or not among the few tags that the package uses."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.images, self.text = [], [], []

    def handle_starttag(self, tag, attributes):
        assert tag in TAGS, tag
        for name, value in attributes:
            assert name in ATTRIBUTES, name
            assert "url(" not in value and "expression" not in value, value
            if name == "src":
                assert value.startswith("data:image/png;base64,"), value[:40]
                self.images.append(base64.b64decode(value.partition(",")[2], validate=True))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        assert data.isprintable() or not data.strip(), repr(data)
        self.text.append(data)

    def handle_comment(self, data):
        raise AssertionError("a comment")

    handle_decl = handle_pi = unknown_decl = handle_comment


def read(shown, most=65536):
    """The pictures and the text of a piece of HTML."""
    assert len(shown) < most
    reader = Reader()
    reader.feed(shown)
    reader.close()
    assert reader.open == []
    for image in reader.images:
        pixels_of(image)
    return reader.images, " ".join(reader.text)


def pixels_of(png):
    """The numbers of the palette, by another reading of the format."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        data = png[at + 8:at + 8 + size]
        assert zlib.crc32(kind + data) == struct.unpack(">I", png[at + 8 + size:at + 12 + size])[0]
        chunks[kind] = data
        at += 12 + size
    width, height, bits, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (bits, colour) == (8, 3) and len(chunks[b"PLTE"]) == 3 * 256 and list(chunks)[-1] == b"IEND"
    rows = numpy.frombuffer(zlib.decompress(chunks[b"IDAT"]), "u1").reshape(height, width + 1)
    assert not rows[:, 0].any()
    return rows[:, 1:]


def picture(values, **options):
    return _heatmap.slices(numpy.asarray(values), lambda part: part, **options)


# --- pictures -----------------------------------------------------------------------------------

def test_small_values_are_dark_and_large_ones_light():
    found, = picture([[0.0, 1.0], [2.0, 4.0]])
    assert pixels_of(found.data).tolist() == [[0, 63], [126, 251]]
    assert (found.low, found.high, found.special, found.notes) == (0, 4, {}, ())


@pytest.mark.parametrize("shape", [(10, 10), (1000, 700), (300000,)])
def test_one_element_that_is_not_finite_is_seen(shape):
    for value, name, colour in ((numpy.nan, "NaN", 252), (numpy.inf, "+Inf", 253), (-numpy.inf, "−Inf", 254)):
        values = numpy.zeros(shape, "f4")
        values.reshape(-1)[77] = value
        found, = picture(values)
        assert (pixels_of(found.data) == colour).sum() == 1 and found.special == {name: 1}
        assert (found.low, found.high) == (0, 0)


@pytest.mark.parametrize("values", [
    numpy.full((3, 3), numpy.nan), numpy.zeros(()), numpy.zeros(1), numpy.zeros((1, 5)), numpy.array([True, False]),
    numpy.array([2**63, 1], "u8"), numpy.array([-1.7e308, 1.7e308]), numpy.array([5e-324, 0.0]),
    numpy.arange(5, dtype="i1"), numpy.zeros((2, 3, 4, 5)), numpy.zeros((1, 100000)), numpy.zeros((100000, 1)),
    numpy.float16([65504, -65504, numpy.inf]), numpy.broadcast_to(numpy.float32(1), (1 << 20, 1 << 20)),
    numpy.broadcast_to(numpy.float32(1), (1 << 40,))])
def test_every_array_has_a_small_picture(values):
    with numpy.errstate(all="raise", under="ignore"):
        found = picture(values)
    assert 1 <= len(found) <= _heatmap.SLICES
    for each in found:
        height, width = pixels_of(each.data).shape
        assert height <= _heatmap.EDGE and width <= _heatmap.EDGE and len(each.data) < 8192
        assert each.width <= 160 and each.height <= 160


def test_an_array_without_elements_has_no_picture():
    assert picture(numpy.zeros((0, 4))) == [] and picture(numpy.zeros((3, 0, 4))) == []


def test_a_sample_says_that_it_is_one():
    found, = picture(numpy.broadcast_to(numpy.float32(1), (1 << 13, 1 << 13)))
    assert "1 of 16 elements was looked at" in found.notes


# --- objects ------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def execution(tmp_path_factory):
    return taskglass.run("dump_tensor", output=tmp_path_factory.mktemp("html") / "out", dump_tensor="full",
                         platform=PLATFORMS[0])


def test_a_recording_shows_its_first_records_with_small_pictures(execution):
    with execution.recording() as recording:
        images, text = read(recording._repr_html_())
        assert "90" in text and "full" in text and "… and 78 more; to_dataframe() has all" in text
    closed = read(recording._repr_html_())[1]
    assert "closed" in closed


def test_every_record_is_shown(execution):
    with execution.recording() as recording:
        for record in recording:
            images, text = read(record._repr_html_())
            has = record.kind == "tensor" and record.has_values and record.nbytes > 0
            assert bool(images) == has, record
            assert record.dtype in text and record.stage in text


def test_the_results_of_runs_and_questions_are_shown(execution):
    images, text = read(execution._repr_html_())
    assert "dump_tensor" in text and "OK" in text and "ok, max error" in text
    for output in execution.outputs.values():
        assert output.name in read(output._repr_html_())[1]
    with execution.recording() as recording:
        assert "Verification" in read(recording.verify()._repr_html_())[1]
        assert "Check" in read(recording.check()._repr_html_())[1]
        assert "equal" in read(taskglass.diff(recording, recording)._repr_html_())[1]


def test_findings_show_their_records_with_pictures(tmp_path):
    execution = taskglass.run(test_workload("bugs_nan"), output=tmp_path / "nan", dump_tensor="full",
                              platform=PLATFORMS[0], check=False)
    with execution.recording() as recording:
        found = recording.find("nan")
        images, text = read(found._repr_html_())
        assert "FindResult: found" in text and "task 30 ratio" in text
        assert len(images) == 1 and (pixels_of(images[0]) == 252).sum() == 1
        assert read(recording.stats()._repr_html_())[0]
    images, text = read(found._repr_html_())
    assert images == [] and "task 30 ratio" in text


def test_a_failed_run_shows_the_task():
    failed = taskglass.run(test_workload("faults"), "null", check=False, platform=PLATFORMS[0])
    text = read(failed._repr_html_())[1]
    assert "KERNEL_FAULT" in text and failed.error[:40] in text


def test_a_device_array_is_shown():
    with taskglass.Device(PLATFORMS[0], cores=1, memory="64M") as device:
        values = numpy.arange(24, dtype="f4").reshape(2, 3, 4)
        values[1, 0, 0] = numpy.nan
        images, text = read(device.array(values)._repr_html_())
        assert len(images) == 2 and "1 NaN" in text and "[1, :, :]" in text
        assert (pixels_of(images[1])[0, 0], pixels_of(images[0])[0, 0]) == (252, 0)
        assert read(device.array(numpy.arange(8), "int4")._repr_html_())[0]
        closed = device.zeros(3)
    assert read(closed._repr_html_())[0] == []


def test_a_result_of_a_graph_is_shown(tmp_path):
    with taskglass.Device(PLATFORMS[0], cores=1, memory="64M") as device:
        x = device.zeros(4)
        with device.load("vector_add").graph() as graph:
            graph.add("vector_add_tile", x, x, x)
            assert "RunResult: OK" in read(graph.run()._repr_html_())[1]


def test_names_of_strangers_are_only_text():
    suspects = [taskglass.Suspect("introduced", 1 << 32 | 7, None, HOSTILE, [])] * 1000
    pairs = [taskglass.Pair(3, 3, [HOSTILE] * 3, HOSTILE, 1, "differs", HOSTILE * 1000)] * 1000
    shown = taskglass.Diff("differs", {HOSTILE: 3}, pairs, suspects, {})._repr_html_()
    images, text = read(shown)
    assert "<script" not in shown and "<script>alert(1)</script>" in text and "1:7" in text
    assert "… and 988 more" in text
    tasks = tuple(taskglass.CheckedTask(number, HOSTILE, "differs", got=float("nan")) for number in range(50))
    counts = dict.fromkeys(("agrees", "differs", "failed"), 50)
    assert "<script" not in taskglass.Check(counts, {HOSTILE: counts}, tasks)._repr_html_()
    assert _html.shown("a\u202eb\0c\n") == "a\\u202eb\\x00c\\n" and len(_html.shown("x" * 10**6)) == 100


def test_what_cannot_be_shown_is_text():
    class Broken(_html.Shown):
        def _as_html(self):
            raise taskglass.IoError("gone")

        def __repr__(self):
            return "<Broken & small>"

    assert Broken()._repr_html_() == "<pre>&lt;Broken &amp; small&gt;</pre>"
