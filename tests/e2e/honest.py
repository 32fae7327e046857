# SPDX-License-Identifier: Apache-2.0
"""Recordings that lack something, for the tests of what each verb says about them."""

import contextlib
import fcntl

import numpy

from conftest import workload
from recordings import Recording
from wire_reader import SLOT, SUMMARY, pack_record, to_version_1

CANCELLED = -11  # the number of the status


def _run(tg, *options):
    tg.good("run", workload("mistakes"), "--case", "none", "--output", "run", *options)
    return tg.directory / "run" / "tensor_dump"


def _end(tg, change):
    """Lets the journal end with another summary, and makes the manifest again from it."""
    folder = tg.directory / "run" / "tensor_dump"
    journal = (folder / "tensor_dump.rec").read_bytes()
    summary = numpy.frombuffer(to_version_1(journal)[-256:], SUMMARY).copy()
    assert summary["type"] == 3
    change(summary)
    (folder / "tensor_dump.rec").write_bytes(journal[:-256] + pack_record(summary.tobytes()))
    (folder / "tensor_dump.json").unlink()
    tg.good("recover", "run")


@contextlib.contextmanager
def complete(tg):
    _run(tg, "--dump-tensor")
    yield


@contextlib.contextmanager
def empty(tg):
    """A complete recording of a run without tasks."""
    Recording(tg.directory / "run").write()
    yield


@contextlib.contextmanager
def partial(tg):
    """The stream was full: three more records were lost."""
    def lose(summary):
        summary["lost"][0][0] = 3
        summary["attempted"] += 3
    _run(tg, "--dump-tensor")
    _end(tg, lose)
    yield


@contextlib.contextmanager
def meta(tg):
    _run(tg, "--dump-tensor=meta")
    yield


@contextlib.contextmanager
def hash_only(tg):
    _run(tg, "--dump-tensor=hash")
    yield


@contextlib.contextmanager
def marked(tg):
    """The orchestration marks nothing."""
    _run(tg, "--dump-tensor=marked")
    yield


@contextlib.contextmanager
def filtered(tg):
    """The filter lets no record of a task through."""
    result = tg("run", workload("mistakes"), "--case", "none", "--output", "run", "--dump-tensor",
                "--dump-filter", "kernel=nobody")
    assert result.returncode == 0, result
    yield


@contextlib.contextmanager
def cancelled(tg):
    """The user cancelled the run."""
    def cancel(summary):
        summary["result"] = CANCELLED
    _run(tg, "--dump-tensor")
    _end(tg, cancel)
    (tg.directory / "run" / "run.json").write_text(
        (tg.directory / "run" / "run.json").read_text().replace('"status": "OK"',
                                                               '"status": "CANCELLED"'))
    yield


@contextlib.contextmanager
def running(tg):
    """Another process holds the journal, as the one that writes it does."""
    folder = _run(tg, "--dump-tensor")
    journal = folder / "tensor_dump.rec"
    journal.write_bytes(journal.read_bytes()[:-256])  # no summary yet
    (folder / "tensor_dump.json").unlink()
    (tg.directory / "run" / "run.json").unlink()
    with journal.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def interrupted(tg):
    """The process that wrote it was killed."""
    with running(tg):
        pass
    yield


@contextlib.contextmanager
def damaged(tg):
    """One record of the journal is damaged, and there is no manifest to take it from."""
    folder = _run(tg, "--dump-tensor")
    (folder / "tensor_dump.json").unlink()
    journal = bytearray((folder / "tensor_dump.rec").read_bytes())
    records = [at for at in range(256, len(journal), SLOT) if journal[at] == 1]
    journal[records[-2] + 100] ^= 0x55
    (folder / "tensor_dump.rec").write_bytes(journal)
    yield


KINDS = {"complete": complete, "empty": empty, "partial": partial, "meta": meta, "hash": hash_only,
         "marked": marked, "filtered": filtered, "cancelled": cancelled, "running": running,
         "interrupted": interrupted, "damaged": damaged}
