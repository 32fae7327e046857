# SPDX-License-Identifier: Apache-2.0
"""check --against compares a recorded tensor with golden values that NumPy saved, in pieces."""

import numpy
import pytest

from recordings import Recording


@pytest.mark.parametrize("shape", [(3000, 700), (5, 7, 40000), (3, 700001), (2100000,)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_golden_arrays_of_several_pieces_name_the_first_wrong_element(tg, tmp_path, shape, order):
    """In both orders of an array's elements, and where a row is longer than a piece."""
    values = numpy.arange(numpy.prod(shape), dtype="<f4").reshape(shape)
    recording = Recording(tmp_path / "run")
    recording.add_tensor("float32", values)
    recording.write()
    golden = numpy.asarray(values, order=order).copy(order)
    numpy.save(tmp_path / "golden.npy", golden)
    assert "max error 0" in tg.good("check", "run", "--against", "golden.npy").stdout
    wrong = [values.size - 700, values.size - 1]
    for at in wrong:
        golden[numpy.unravel_index(at, shape)] = -1e9
    numpy.save(tmp_path / "golden.npy", golden)
    result = tg("check", "run", "--against", "golden.npy")
    assert result.returncode == 1, result
    assert f"2 of {values.size} elements, first at {wrong[0]}: " in result.stdout
