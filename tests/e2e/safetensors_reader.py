# SPDX-License-Identifier: Apache-2.0
"""A reader of safetensors files, written from the format's description alone, and as strict as the
official one."""

import json

import numpy

TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "F8_E4M3": "u1", "F8_E5M2": "u1",
         "F8_E8M0": "u1", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U64": "<u8",
         "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?"}


def unique(pairs):
    assert len(dict(pairs)) == len(pairs), "a name occurs twice"
    return dict(pairs)


def read(data):
    """The tensors' (type, array) by name, and the metadata."""
    length = int.from_bytes(data[:8], "little")
    head, data = data[8:8 + length], data[8 + length:]
    assert length % 8 == 0 and len(head) == length <= 100_000_000 and head[:1] == b"{"
    assert not set(head[head.rindex(b"}") + 1:]) - {0x20}, "padding is spaces"
    tensors = json.loads(head, object_pairs_hook=unique)
    metadata = tensors.pop("__metadata__", {})
    assert all(isinstance(value, str) for value in metadata.values())
    end, arrays = 0, {}
    for name, tensor in sorted(tensors.items(), key=lambda item: item[1]["data_offsets"]):
        begin, after = tensor["data_offsets"]
        assert begin == end, "tensors follow each other without holes"
        array = numpy.frombuffer(data[begin:after], TYPES[tensor["dtype"]])
        assert begin % array.itemsize == 0, "tensors are aligned to their elements"
        arrays[name], end = (tensor["dtype"], array.reshape(tensor["shape"])), after
    assert end == len(data), "nothing follows the last tensor"
    return arrays, metadata
