# SPDX-License-Identifier: Apache-2.0
"""Recordings with another content, as a wrong kernel would have left it. A payload that does not have its
recorded hash counts as damaged, so the hash goes, and with it the journal and the manifest's checks."""

import json


def rewrite(folder, change):
    """Calls change(manifest), and leaves the manifest without the journal and the checks that would give
    the change away."""
    manifest = json.loads((folder / "tensor_dump.json").read_text())
    change(manifest)
    for part in (manifest, *manifest["tensors"]):
        part.pop("check", None)
        part.pop("sum", None)
    (folder / "tensor_dump.json").write_text(json.dumps(manifest))
    (folder / "tensor_dump.rec").unlink(missing_ok=True)


def forge(folder, wanted, change):
    """Calls change(payload, entry) for the first entry of the recording in `folder` that wanted(entry)
    selects, and returns that entry. change() alters the bytearray of all payloads."""
    found = []

    def apply(manifest):
        entry = next(entry for entry in manifest["tensors"] if wanted(entry))
        payload = bytearray((folder / "tensor_dump.bin").read_bytes())
        change(payload, entry)
        (folder / "tensor_dump.bin").write_bytes(payload)
        entry["hash"] = None
        found.append(entry)

    rewrite(folder, apply)
    return found[0]


def is_output(entry):
    return entry["stage"] == "after_completion" and entry["kind"] == "tensor"


def put_nan(payload, entry):
    """The first element, a float32, becomes NaN."""
    payload[entry["bin_offset"]:entry["bin_offset"] + 4] = b"\x00\x00\xc0\x7f"
