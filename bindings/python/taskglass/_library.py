# SPDX-License-Identifier: Apache-2.0
"""Finds libtaskglass, loads it once, and calls it."""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib
from typing import Any, Iterator, List, Optional, Tuple

from . import errors
from ._arguments import encoded as encoded, shown
from ._layout import Layout

# The interface that this package was written for: before 1.0, minor versions may change it.
INTERFACE = (0, 1)
NAMES = ("libtaskglass.so.0", "libtaskglass.so")

_TEXT, _VOID, _U32, _U64 = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64
_INT, _BOOL, _REAL = ctypes.c_int, ctypes.c_bool, ctypes.c_double

# The result and the arguments of each function: "s" is a status, "p" a pointer of any kind.
_KINDS = {"s": _INT, "i": _INT, "b": _BOOL, "t": _TEXT, "p": _VOID, "u": _U32, "U": _U64, "d": _REAL,
          "I": ctypes.c_int64, "z": ctypes.c_size_t, "-": None}
_FUNCTIONS = """
    tg_version t            tg_status_name ti        tg_status_text ti       tg_status_advice ti
    tg_status_exit_code ii  tg_dtype_name ti         tg_dtype_bits ui        tg_dtype_load dipz
    tg_dtype_from_name it   tg_platform_get bup      tg_runtime_get bup      tg_level_name tu
    tg_loss_name tu         tg_stage_name tu         tg_record_role_name tu  tg_content_hash Upz
    tg_kind_name tu         tg_policy_name tu        tg_role_name tu
    tg_settings_create spp  tg_settings_destroy -p   tg_settings_set spttp   tg_settings_get bpup
    tg_settings_text tpt    tg_settings_count Upt    tg_settings_seconds dpt
    tg_settings_flag bpt    tg_settings_choice upt
    tg_workload_open sptpp  tg_workload_close -p     tg_workload_get pp      tg_workload_path tp
    tg_workload_names spppp tg_workload_names_free -pu
    tg_execute sppppp       tg_execution_destroy -p  tg_execution_get -pp    tg_execution_output bpup
    tg_device_open sppp     tg_device_close -p       tg_device_get_info -pp  tg_device_alloc spUpp
    tg_device_free spUp     tg_device_copy_in spUpUp tg_device_copy_out sppUUp
    tg_device_map ppUU      tg_device_load sptpp     tg_module_kernel upt
    tg_graph_create sppp    tg_graph_destroy -p      tg_graph_clear -p       tg_graph_add spuppp
    tg_graph_add_mix sppppp tg_graph_add_edge spUUp  tg_graph_tasks Up       tg_graph_edges Up
    tg_graph_check spp      tg_graph_upload spp      tg_graph_orchestrate spipppp
    tg_graph_reset spp
    tg_run_start spppp      tg_run_wait spdp         tg_run_cancel -p        tg_run_progress -ppp
    tg_run_get_result -pp   tg_run_destroy -p        tg_schedule_parse stpp  tg_schedule_destroy -p
    tg_recording_open stpp  tg_recording_close -p    tg_recording_get_info -pp
    tg_recording_stored Up  tg_recording_check_files spp tg_recording_read_holes spp
    tg_recording_get bpUp   tg_recording_payload ppp tg_recording_state_name tu
    tg_query_create spp     tg_query_destroy -p      tg_query_add spttp      tg_query_next bpppp
    tg_export_format_get bup tg_recording_export spppp
    tg_recording_verify sppppp tg_problem_name tu    tg_reference_run sppppp
    tg_recording_verify_watched sppppp tg_verification_result tppp
    tg_recording_note bpup  tg_query_get_range bptzpp tg_query_check_index sppp
    tg_find_kind_name tu    tg_trace_name tu         tg_sign_name tu
    tg_find_open_watched spipppp tg_find_close -p    tg_find_get_info -pp    tg_find_get_feed bpUUp
    tg_find_get_between bpUUp tg_find_answer_open sppppp tg_find_answer_close -p
    tg_find_answer_get -pp  tg_find_answer_next bpppp tg_find_answer_note bpup
    tg_find_answer_replay spppp tg_find_answer_rank spUp tg_find_answer_suspect bpUUp
    tg_find_answer_evidence upU
    tg_find_place_name tu   tg_find_replayed_name tu tg_find_evidence_name tu
    tg_races_find spppppp
    tg_stats_walk_begin spppp tg_stats_walk_next bppp tg_entry_measure bppp
    tg_reference_count -pp  tg_reference_result tppp tg_check_against sppppp
    tg_replay_task sppUppp  tg_replay_word tpp       tg_replay_bundle spUptp
    tg_replay_all sppppppp  tg_replay_all_word tppp  tg_replay_is_name tu
    tg_guard_kind_name tu   tg_guard_unseen tbu
    tg_shake_run sppppp     tg_shake_destroy -p      tg_shake_get -pp        tg_shake_exit_code ip
    tg_shake_result_name tu tg_shake_change_name tu
    tg_recording_recover stpp
    tg_runs_open stpp       tg_runs_close -p         tg_runs_get bpUp        tg_runs_unread Upp
    tg_runs_select sppp     tg_runs_find stpp        tg_runs_remove stpp     tg_runs_parse_age stpp
    tg_runs_check_result stp
    tg_export_format_of tt  tg_export_default_path sptpp
    tg_scope_stats_open stpppp tg_scope_stats_close -p tg_scope_stats_get_info -pp
    tg_scope_stats_site tpu tg_scope_stats_capacity Upuu tg_scope_stats_fanin Upu
    tg_scope_stats_get_row bpup tg_scope_stats_nearest upp tg_scope_stats_get_need -puup
    tg_scope_stats_get_setting -pup tg_scope_stats_get_memory -pp tg_scope_share dUU
    tg_scope_resource_name tu tg_scope_verdict_name tu tg_scope_stats_write_page sttbpppp
    tg_timing_open stpp     tg_timing_close -p       tg_timing_get_info -pp  tg_timing_get_task bpUp
    tg_timing_rank UpiUp    tg_timing_get_step bpUp  tg_timing_get_kernel bpUp tg_timing_get_core bpUp
    tg_timing_get_kind bpUp tg_timing_get_gain spUpp tg_timing_note bpup     tg_timing_recording pp
    tg_spent_name tu
    tg_live_open stpp       tg_live_close -p         tg_live_ask spupp
    tg_explain stpp         tg_explanation_free -p   tg_explanation_json tp
    tg_server_start sppp    tg_server_stop -p        tg_server_address tp    tg_server_port up
    tg_server_pid Ip        tg_server_open spp       tg_server_wait spdp
    tg_workbench_write_page sttppp
    tg_comm_open sppp      tg_comm_open_local supp  tg_comm_close -p        tg_comm_rank up
    tg_comm_ranks up        tg_device_join sppp      tg_comm_kind_name tu    tg_reduction_name tu
    tg_graph_communicate spiiiippp tg_job_is_rank bp tg_job_launch sppp
    tg_ranks_look stpp      tg_ranks_open stpp       tg_ranks_close -p       tg_ranks_get_info -pp
    tg_ranks_get bpup       tg_ranks_check_folder spup tg_ranks_time IpI        tg_call_state_name tu  tg_ranks_fit_name tu
    tg_calls_open stpp      tg_calls_close -p        tg_calls_get_info -pp   tg_calls_get bpUp
    tg_calls_other_side bpupp tg_calls_collective bpUp
    tg_ranks_verify sppp    tg_ranks_explain sppp    tg_ranks_explanation_free -p
    tg_ranks_diff sppppp    tg_ranks_trace_name tt   tg_ranks_trace_write sppp
    tg_ranks_across sppppppp tg_ranks_compare spppzppppp tg_shard_parse stpp
    tg_tolerance_rule_parse stbpp tg_verdict_name tu tg_guilt_name tu
"""


def _candidates() -> Iterator[str]:
    named = os.environ.get("TASKGLASS_LIBRARY")
    if named:
        yield named
        return
    here = pathlib.Path(__file__).resolve().parent
    try:
        from . import _where  # type: ignore[attr-defined]  # made by the installation
        folders = [here / folder for folder in _where.LIBRARY_DIR.split(":")]
    except ImportError:
        folders = [here.parents[2] / "build" / "lib"]
    for folder in folders:
        for name in NAMES:
            if (folder / name).exists():
                yield str(folder / name)
    yield NAMES[0]


def _load() -> ctypes.CDLL:
    why = ""
    for path in _candidates():
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            why = why or str(error)
    raise errors.NotFound(f"no libtaskglass: {why}; build it (make), install it, or set "
                          "TASKGLASS_LIBRARY to its path")


class Library:
    """The functions of the library, and its structures as `layout`."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.functions = library
        library.tg_version.restype = _TEXT
        self.version: str = library.tg_version().decode()
        if tuple(map(int, self.version.split(".")[:2])) != INTERFACE:
            raise errors.AbiMismatch(
                f"libtaskglass is version {self.version}, and this package is for version "
                f"{INTERFACE[0]}.{INTERFACE[1]}",
                advice="use the package that came with the library")
        try:
            self.layout = Layout(library)
            words = _FUNCTIONS.split()
            for name, kinds in zip(words[::2], words[1::2]):
                function = getattr(library, name)
                function.restype = _KINDS[kinds[0]]
                function.argtypes = [_KINDS[kind] for kind in kinds[1:]]
                setattr(self, name, function)
        except AttributeError as error:
            raise errors.AbiMismatch(f"libtaskglass {self.version} is older than this package: "
                                     f"{error}") from None

    def __getattr__(self, name: str) -> Any:  # for type checkers; all functions are set above
        raise AttributeError(name)

    def has(self, name: str) -> bool:
        """Whether the library has a function that this package can do without."""
        return hasattr(self.functions, name)

    def get(self, function: Any, *arguments: Any) -> Any:
        """Calls a function, and returns what it returns."""
        try:
            return function(*arguments)
        except ctypes.ArgumentError:
            given = ", ".join(shown(each) for each in arguments if not hasattr(each, "_obj"))
            raise errors.BadType(f"{function.__name__} cannot be called with {given}") from None

    def call(self, function: Any, *arguments: Any) -> None:
        """Calls a function that returns a status and takes an error last; raises the error."""
        error = self.layout.tg_error()
        status = self.get(function, *arguments, ctypes.byref(error))
        if status != 0:
            raise self.error(status, error.text)

    def error(self, status: int, text: bytes, advice: Optional[str] = None, execution: Any = None
              ) -> errors.Error:
        if advice is None:
            advice = self.tg_status_advice(status).decode()
        return errors.make(self.tg_status_name(status).decode(), text.decode("utf-8", "replace"),
                           self.tg_status_exit_code(status), advice, execution)

    def make(self, function: Any, *arguments: Any) -> int:
        """Calls a function that stores a new object in its last argument but the error."""
        made = ctypes.c_void_p()
        self.call(function, *arguments, ctypes.byref(made))
        assert made.value is not None
        return made.value


@functools.lru_cache(maxsize=None)
def lib() -> Library:
    """The library, loaded on first use."""
    return Library(_load())


@functools.lru_cache(maxsize=None)
def words(function: str, end: str = "unknown") -> Tuple[str, ...]:
    """The words that a function of the library has for the numbers from 0 on."""
    found: List[str] = []
    while text(getattr(lib(), function)(len(found))) != end:
        found.append(text(getattr(lib(), function)(len(found))))
    return tuple(found)


@functools.lru_cache(maxsize=None)
def runtimes() -> Tuple[str, ...]:
    """The names of the runtimes, in the order of the library's numbers."""
    info = lib().layout.tg_runtime_info()
    names: List[str] = []
    while lib().tg_runtime_get(len(names), ctypes.byref(info)):
        names.append(text(info.name))
    return tuple(names)


def text(value: Optional[bytes]) -> str:
    """A text of the library; NULL becomes ""."""
    return value.decode("utf-8", "replace") if value else ""
