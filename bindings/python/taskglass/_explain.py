# SPDX-License-Identifier: Apache-2.0
"""Why a run failed, or what it waits for.

print(taskglass.explain("out").root)
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from . import errors
from ._comm import one_run
from ._library import encoded, lib

__all__ = ["Explanation", "ExplanationCore", "ExplanationLink", "explain"]


@dataclass(frozen=True)
class ExplanationLink:
    """One link of the chain of waits; it waits for the next one."""
    kind: str  #: "task", "orchestration", "ring", "scope" or "more"
    text: str
    task: Optional[int] = None  #: its id
    core: Optional[int] = None  #: that runs it
    tasks: int = 0  #: kind "more": how many tasks were left out


@dataclass(frozen=True)
class ExplanationCore:
    """The last words of a core, or of the orchestration."""
    core: int
    kind: str  #: "AIC", "AIV0", "AIV1" or "orchestration"
    task: Optional[int]
    kernel: Optional[str]
    crashed: bool
    seconds: float  #: that the host has seen it at this, at least; 0: not known
    site: Optional[str]  #: "model.c:42"


@dataclass(frozen=True)
class Explanation:
    """Why a run failed, or what it waits for; `taskglass-explain(1)` describes the members."""
    result: str  #: "ended well", "failed" or "goes on"
    status: Optional[str]  #: "HANG"
    error: Optional[str]
    tasks: int
    finished: int
    looked: bool  #: what follows comes from the device's memory
    root_kind: str
    root: Optional[str]
    chain: List[ExplanationLink]
    cores: List[ExplanationCore]
    more_cores: int
    idle_cores: int
    also: List[str]
    not_known: List[str]


def _number(text: Optional[str]) -> Optional[int]:
    return None if text is None else int(text, 16)


def _site(line: Optional[Dict[str, Any]]) -> Optional[str]:
    return None if line is None else f"{line['file']}:{line['line']}"


def explain(path: Any) -> Explanation:
    """Explains the run with this output directory: one that goes on is asked, otherwise its run.json says it.
    Raises `NotFound` if there is no such run, `IoError` if run.json is damaged, and `TimedOut` if the run does
    not answer, because it is stopped."""
    with one_run(encoded(path)):
        pointer = lib().make(lib().tg_explain, encoded(path))
    try:
        text = lib().tg_explanation_json(pointer)
        if text is None:
            raise errors.NoMemory("out of memory")
        found = json.loads(text)
    finally:
        lib().tg_explanation_free(pointer)
    return Explanation(
        result=found["result"], status=found["status"], error=found["error"],
        tasks=found["tasks"]["submitted"], finished=found["tasks"]["finished"],
        looked=found["looked"], root_kind=found["root"]["kind"], root=found["root"]["text"],
        chain=[ExplanationLink(link["kind"], link["text"], _number(link.get("task_id")),
                               link.get("core"), link.get("tasks", 0)) for link in found["chain"]],
        cores=[ExplanationCore(core["core"], core["kind"], _number(core.get("task_id")),
                               core.get("kernel"), core.get("crashed", False), core["seconds"],
                               _site(core.get("site"))) for core in found["cores"]],
        more_cores=found["more_cores"], idle_cores=found["idle_cores"], also=found["also"],
        not_known=found["not_known"])
