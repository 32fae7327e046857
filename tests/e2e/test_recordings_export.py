# SPDX-License-Identifier: Apache-2.0
"""taskglass view --export: NumPy must load the files, with the same values."""

import zipfile

import numpy
import pytest

from conftest import one_line
from recordings import (PACKED, PEER_RECORDINGS, TYPES, Recording, peer, peer_array, peer_entries,
                        random_bits)


@pytest.fixture
def every_type(tg, tmp_path):
    """tg, and the arrays of the recording "run": one of each type, with an odd number of elements."""
    recording, arrays = Recording(tmp_path / "run"), {}
    for number, dtype in enumerate(TYPES):
        arrays[dtype] = random_bits(dtype, (3, 5), seed=number)
        recording.add_tensor(dtype, arrays[dtype])
    recording.write()
    return tg, arrays


def same(got, want):
    """The same type, shape and bits."""
    return got.dtype == want.dtype and got.shape == want.shape and got.tobytes() == want.tobytes()


def export(tg, *arguments):
    result = tg("view", *arguments)
    assert result.returncode == 0, result
    return result


def test_npz_has_every_type_as_numpy_can_hold_it(every_type):
    tg, arrays = every_type
    export(tg, "run", "--export", "npz", "--out", "all.npz")
    with numpy.load(tg.directory / "all.npz") as loaded:
        assert list(loaded) == [f"task_0_{i}_before_arg0" for i in range(len(arrays))]
        for name, array in zip(loaded, arrays.values()):
            assert same(loaded[name], array)


def test_npy_has_every_type_as_numpy_can_hold_it(every_type):
    tg, arrays = every_type
    for index, array in enumerate(arrays.values()):
        export(tg, "run", "--index", index, "--export", "npy", "--out", "one.npy",
               "--force")
        assert same(numpy.load(tg.directory / "one.npy"), array)


def test_types_that_numpy_lacks_are_reported(every_type):
    tg, _ = every_type
    notes = export(tg, "run", "--export", "npz", "--out", "all.npz").stderr
    for dtype, (_, in_numpy) in TYPES.items():
        assert (f"NumPy has no {dtype};" in notes) != in_numpy
    assert "stored as uint16" in notes and all(f"{dtype}; stored as uint8" in notes
                                               for dtype in PACKED)


def test_several_npy_go_to_a_directory(every_type):
    tg, arrays = every_type
    assert "18 records in many" in export(tg, "run", "--export", "npy", "--out", "many").stdout
    assert len(list((tg.directory / "many").glob("*.npy"))) == len(arrays)
    assert same(numpy.load(tg.directory / "many" / "task_0_1_before_arg0.npy"), arrays["float32"])


def test_the_names_of_files_come_from_the_run(every_type):
    tg, _ = every_type
    export(tg, "run", "--export", "npz")
    export(tg, "run", "--export", "npy", "--limit", "2")
    assert (tg.directory / "run.npz").is_file()
    assert len(list((tg.directory / "run_npy").iterdir())) == 2


def test_the_archive_is_a_sound_zip(every_type):
    tg, _ = every_type
    export(tg, "run", "--export", "npz", "--out", "all.npz")
    with zipfile.ZipFile(tg.directory / "all.npz") as archive:
        assert archive.testzip() is None
        assert all(info.compress_type == zipfile.ZIP_STORED for info in archive.infolist())


def test_an_archive_of_70000_records_is_readable(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    for number in range(70000):
        recording.add_scalar("int32", number)
    recording.write()
    export(tg, "run", "--export", "npz", "--out", "many.npz")
    with numpy.load(tg.directory / "many.npz") as loaded:
        assert len(loaded.files) == 70000 and loaded["task_0_69999_before_arg0"] == 69999


def test_scalars_are_arrays_without_dimensions(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    recording.add_scalar("float32", 0.1, arg_index=0)
    recording.add_scalar("int64", "-9223372036854775808", task_id="0x0000000100000000")
    recording.add_scalar("bool", True)
    recording.write()
    export(tg, "run", "--export", "npz", "--out", "s.npz")
    with numpy.load(tg.directory / "s.npz") as loaded:
        assert same(loaded["task_0_0_before_arg0"], numpy.array(0.1, "f4"))
        assert same(loaded["task_1_0_before_arg0"], numpy.array(-2**63, "i8"))
        assert same(loaded["task_0_2_before_arg0"], numpy.array(True))


def test_records_of_one_name_stay_apart(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    for value in (1, 2, 3):
        recording.add_scalar("int8", value, task_id="0x0000000000000007")
    recording.write()
    export(tg, "run", "--export", "npz", "--out", "s.npz")
    with numpy.load(tg.directory / "s.npz") as loaded:
        assert [int(loaded[name]) for name in loaded] == [1, 2, 3]


def test_empty_tensors_keep_their_shape(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    recording.add_tensor("float64", numpy.zeros((4, 0, 2)))
    recording.write()
    export(tg, "run", "--export", "npy", "--out", "e.npy")
    assert numpy.load(tg.directory / "e.npy").shape == (4, 0, 2)


def test_a_truncated_tensor_is_what_is_there(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    recording.add_tensor("float32", numpy.float32([1, 2, 3]), shape=[2, 50], truncated=True)
    recording.write()
    notes = export(tg, "run", "--export", "npy", "--out", "t.npy").stderr
    assert "truncated: exported the stored elements in one dimension" in notes
    assert numpy.load(tg.directory / "t.npy").tolist() == [1, 2, 3]


def test_what_has_no_values_is_left_out_and_counted(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    recording.add(shape=[4], strides=[1])
    recording.add_scalar("int8", 5)
    recording.write()
    result = export(tg, "run", "--export", "npz", "--out", "s.npz")
    assert "left out 1 record without values" in result.stderr
    with numpy.load(tg.directory / "s.npz") as loaded:
        assert list(loaded) == ["task_0_1_before_arg0"]


def test_text_has_every_value(every_type):
    tg, arrays = every_type
    text = tg.good("view", "run", "--export", "txt").stdout
    assert text.count("# record ") == len(arrays)
    with numpy.printoptions(linewidth=100):
        for dtype in ("float32", "int16", "bool"):
            assert f"{arrays[dtype]}\n" in text


def test_text_of_a_large_tensor_leaves_nothing_out(tg, tmp_path):
    recording, array = Recording(tmp_path / "run"), numpy.arange(5000, dtype="i4").reshape(50, 100)
    recording.add_tensor("int32", array)
    recording.write()
    export(tg, "run", "--export", "txt", "--out", "t.txt")
    lines = (tg.directory / "t.txt").read_text().splitlines()
    numbers = " ".join(line for line in lines if not line.startswith("#"))
    assert numbers.replace("[", " ").replace("]", " ").split() == [str(i) for i in range(5000)]


@pytest.mark.parametrize("name", PEER_RECORDINGS)
def test_the_other_implementations_values_arrive_in_numpy(tg, name):
    export(tg, peer(name), "--kind", "tensor", "--export", "npz", "--out", "p.npz")
    stored = [entry for entry in peer_entries(name)
              if entry["kind"] == "tensor" and entry["bin_size"] > 0]
    with numpy.load(tg.directory / "p.npz") as loaded:
        assert len(loaded.files) == len(stored)
        for array, entry in zip(loaded.values(), stored):
            if entry["dtype"].lower() in TYPES and entry["dtype"].lower() not in PACKED:
                assert array.tobytes() == peer_array(name, entry).tobytes()
                assert list(array.shape) == entry["shape"]


def test_a_recorded_run_arrives_in_numpy(tg):
    tg.good("run", "vector_add", "--dump-tensor")
    export(tg, "--export", "npz", "--out", "run.npz", "--kernel", "*")
    with numpy.load(tg.directory / "run.npz") as loaded:
        for task in range(4):
            a, b, c = (loaded[f"task_0_{task}_{stage}_arg{arg}"]
                       for arg, stage in enumerate(("before", "before", "after")))
            assert (a + b == c).all()


@pytest.mark.parametrize("arguments, why", [
    (["--export", "npy", "--out", "one.npy"], "name a directory for several"),
    (["--export", "npz", "--out", "no/such/place.npz"], "cannot write 'no/such/place.npz': No such"),
    (["--export", "npy", "--out", "no/such/place"], "cannot write 'no/such/place': No such"),
    (["--export", "txt", "--out", "/"], "cannot write '/'"),
    (["--export", "npz", "--task", "99"], "nothing to export"),
    (["--export", "npz", "--out", "/dev/full"], "No space left"),
])
def test_what_cannot_be_written_is_one_line(every_type, arguments, why):
    tg, _ = every_type
    result = tg("view", "run", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert one_line(result.stderr) and why in result.stderr


def test_a_disk_that_is_full_leaves_no_half_file(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    recording.add_tensor("uint8", numpy.zeros(1 << 20, "u1"))
    recording.write()
    result = tg("view", "run", "--export", "npy", "--out", "big.npy",
                prefix=["sh", "-c", "ulimit -f 16; trap '' XFSZ; exec \"$@\"", "sh"])
    assert result.returncode == 2 and one_line(result.stderr)
    assert not (tg.directory / "big.npy").exists()
