# SPDX-License-Identifier: Apache-2.0
"""Which task of a recorded run is the first wrong one, in words, for reports of failed tests."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List, Optional, Tuple

from . import errors
from ._html import task_name
from .check import Check, CheckedTask
from .recording import Record, Recording

_FAILED_SHOWN = 3


def first_wrong(output_dir: "os.PathLike[str]", module: "os.PathLike[str]", report: Dict[str, Any]
                ) -> Iterator[str]:
    """Lines about the recording of a run whose outputs are wrong: what the references of the kernels say,
    and which task wrote the first wrong element. `module` is the user's own; references run in processes
    of their own."""
    with Recording(output_dir) as recording:
        checked = None
        try:
            checked = recording.check(module)
        except errors.Error as error:
            yield f"the tasks could not be checked: {error}"
        if checked is not None:
            yield from _said(checked)
        if checked is None or not checked.wrong:
            yield from _writers(recording, report)


def _said(checked: Check) -> Iterator[str]:
    counts = checked.counts
    compared = counts["agrees"] + counts["differs"]
    if checked.wrong:
        yield f"first wrong task: {_task(checked.wrong[0])}"
        if len(checked.wrong) > 1:
            yield f"{counts['differs']} of {compared} tasks with a reference are wrong"
    elif compared:
        yield (f"all {compared} tasks that could be checked agree with their references, so look at what the "
               "orchestration passes to them")
    if counts["no reference"]:
        yield ("1 task was not checked: its kernel has no reference" if counts["no reference"] == 1 else
               f"{counts['no reference']} tasks were not checked: their kernels have no reference")
    for failed in checked.failed[:_FAILED_SHOWN]:
        yield f"task {task_name(failed.task)} {failed.kernel}: its reference failed: {failed.why}"


def _task(task: CheckedTask) -> str:
    where = f"task {task_name(task.task)}, kernel {task.kernel}, argument {task.argument}"
    values = f"{_number(task.got)}, reference {_number(task.expected)}"
    if task.mismatches == 1:
        return f"{where}: element {task.first} differs: {values}"
    return f"{where}: {task.mismatches} elements differ, the first is {task.first}: {values}"


def _number(value: Optional[float]) -> str:
    return "unknown" if value is None else f"{value:.9g}"


# --- who wrote an element -----------------------------------------------------------------------

def _writers(recording: Recording, report: Dict[str, Any]) -> Iterator[str]:
    """The last task that wrote the first wrong element of each wrong output."""
    tensors = {tensor.get("name"): tensor for tensor in report.get("tensors") or []}
    for output in report.get("outputs") or []:
        wrong, tensor = output.get("first_mismatch"), tensors.get(output.get("name"))
        if not wrong or not tensor:
            continue
        writer = _writer(recording, int(tensor["address"], 16), int(wrong["index"]), tensor["dtype"])
        if writer is None:
            yield f"no recorded task wrote element {wrong['index']} of output {output['name']}"
        else:
            yield (f"element {wrong['index']} of output {output['name']} was last written by task "
                   f"{writer.task}, kernel {writer.kernel}, argument {writer.arg}")


def _writer(recording: Recording, address: int, element: int, dtype: str) -> Optional[Record]:
    found: Optional[Record] = None
    for record in recording.select(stage="after", role=["out", "inout"], kind="tensor"):
        if record.dtype == dtype and _covers(record, address, element) and (
                found is None or record.time_ns >= found.time_ns):
            found = record
    return found


def _covers(record: Record, address: int, element: int) -> bool:
    """Whether a view has an element of the tensor that begins at an address."""
    kind = record._kind()
    if kind is None:
        return False
    bits = (address - record.data_ptr) * 8 + element * kind.bits
    if bits % kind.bits:
        return False
    left = bits // kind.bits - record.start
    dims: List[Tuple[int, int]] = []
    for extent, stride in zip(record.shape, record.strides):
        if extent == 0:
            return False
        if stride < 0:  # count from the other end
            left += (extent - 1) * -stride
        dims.append((abs(stride), extent))
    for stride, extent in sorted(dims, reverse=True):
        if stride:
            step = min(max(left, 0) // stride, extent - 1)
            left -= step * stride
    return left == 0
