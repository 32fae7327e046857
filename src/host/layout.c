/* SPDX-License-Identifier: Apache-2.0 */
/* The table of members for other languages. A member that is removed or renamed no longer compiles
 * here. A new member may be left out: the compiler still computes the offsets of the others. */
#include "host/layout_rows.h"

#include <taskglass/answers.h>
#include <taskglass/export.h>
#include <taskglass/outputs.h>
#include <taskglass/race.h>
#include <taskglass/recording.h>
#include <taskglass/recover.h>
#include <taskglass/replay.h>
#include <taskglass/runs.h>
#include <taskglass/scope_stats.h>
#include <taskglass/serve.h>
#include <taskglass/shake.h>
#include <taskglass/timing.h>
#include <taskglass/verify.h>
#include <taskglass/workbench.h>
#include <taskglass/workload.h>

/* clang-format off */
static const struct tg_layout_info rows[] = {
    STRUCTURE(tg_error), MEMBER(tg_error, status), CHARS(tg_error, text),

    STRUCTURE(tg_platform_info), MEMBER(tg_platform_info, name), MEMBER(tg_platform_info, summary),
    MEMBER(tg_platform_info, max_blocks), MEMBER(tg_platform_info, max_schedulers),
    MEMBER(tg_platform_info, host_sees_memory), MEMBER(tg_platform_info, available),

    STRUCTURE(tg_runtime_info), MEMBER(tg_runtime_info, name), MEMBER(tg_runtime_info, summary),
    MEMBER(tg_runtime_info, available),

    STRUCTURE(tg_setting_info), MEMBER(tg_setting_info, name), MEMBER(tg_setting_info, environment),
    MEMBER(tg_setting_info, help), MEMBER(tg_setting_info, fallback),
    MEMBER(tg_setting_info, choices), MEMBER(tg_setting_info, alone),
    MEMBER(tg_setting_info, value), MEMBER(tg_setting_info, type), MEMBER(tg_setting_info, source),
    MEMBER(tg_setting_info, group), MEMBER(tg_setting_info, placeholder),

    STRUCTURE(tg_device_config), MEMBER(tg_device_config, platform),
    MEMBER(tg_device_config, cores), MEMBER(tg_device_config, schedulers),
    MEMBER(tg_device_config, memory), MEMBER(tg_device_config, device_program),
    MEMBER(tg_device_config, load_timeout),
    MEMBER(tg_device_config, poison), MEMBER(tg_device_config, sandbox),
    MEMBER(tg_device_config, gpu), MEMBER(tg_device_config, linger),
    MEMBER(tg_device_config, orchestrator),

    STRUCTURE(tg_device_info), MEMBER(tg_device_info, platform), MEMBER(tg_device_info, cores),
    MEMBER(tg_device_info, blocks), MEMBER(tg_device_info, schedulers),
    MEMBER(tg_device_info, memory), MEMBER(tg_device_info, memory_used),
    MEMBER(tg_device_info, pid), MEMBER(tg_device_info, host_sees_memory),
    MEMBER(tg_device_info, lost), MEMBER(tg_device_info, no_new_privs),
    MEMBER(tg_device_info, seccomp), MEMBER(tg_device_info, landlock),
    MEMBER(tg_device_info, gpus), MEMBER(tg_device_info, gpu), MEMBER(tg_device_info, gpu_id),
    CHARS(tg_device_info, gpu_name),

    STRUCTURE(tg_kernel_def), MEMBER(tg_kernel_def, name), MEMBER(tg_kernel_def, core),
    MEMBER(tg_kernel_def, signature),

    STRUCTURE(tg_case_def), MEMBER(tg_case_def, name), MEMBER(tg_case_def, summary),
    MEMBER(tg_case_def, params),

    STRUCTURE(tg_workload), MEMBER(tg_workload, name), MEMBER(tg_workload, summary),
    POINTER(tg_workload, kernels), MEMBER(tg_workload, n_kernels), MEMBER(tg_workload, n_cases),
    POINTER(tg_workload, cases),

    STRUCTURE(tg_tensor), MEMBER(tg_tensor, addr), MEMBER(tg_tensor, storage_bytes),
    MEMBER(tg_tensor, start), MEMBER(tg_tensor, dtype), MEMBER(tg_tensor, ndim),
    NUMBERS(tg_tensor, shape), NUMBERS(tg_tensor, strides),

    STRUCTURE(tg_scalar), MEMBER(tg_scalar, bits), MEMBER(tg_scalar, dtype),

    STRUCTURE(tg_args), MEMBER(tg_args, n_tensors), MEMBER(tg_args, n_scalars),
    MEMBER(tg_args, tensor_marks), MEMBER(tg_args, scalar_marks), MEMBER(tg_args, n_more_after),
    POINTER(tg_args, more_after), NUMBERS(tg_args, role), NESTED(tg_args, tensor, tg_tensor),
    NESTED(tg_args, scalar, tg_scalar),

    STRUCTURE(tg_rings), NUMBERS(tg_rings, task_window), NUMBERS(tg_rings, dep_pool),
    NUMBERS(tg_rings, heap), MEMBER(tg_rings, tensormap),

    STRUCTURE(tg_record_summary), MEMBER(tg_record_summary, attempted),
    MEMBER(tg_record_summary, recorded), NUMBERS(tg_record_summary, lost),
    MEMBER(tg_record_summary, truncated), MEMBER(tg_record_summary, overwritten),
    MEMBER(tg_record_summary, payload_bytes), MEMBER(tg_record_summary, before_dispatch),
    MEMBER(tg_record_summary, after_completion), MEMBER(tg_record_summary, orchestration),
    MEMBER(tg_record_summary, inputs), MEMBER(tg_record_summary, outputs),
    MEMBER(tg_record_summary, inouts), MEMBER(tg_record_summary, scalars),
    MEMBER(tg_record_summary, record_ns), MEMBER(tg_record_summary, wait_ns),

    STRUCTURE(tg_record_config), MEMBER(tg_record_config, level),
    MEMBER(tg_record_config, policy), MEMBER(tg_record_config, filter),
    MEMBER(tg_record_config, output_dir), MEMBER(tg_record_config, arena),
    MEMBER(tg_record_config, buffers), MEMBER(tg_record_config, wait_limit),
    POINTER(tg_record_config, orchestration), MEMBER(tg_record_config, transport),

    STRUCTURE(tg_run_config), MEMBER(tg_run_config, timeout), POINTER(tg_run_config, record),
    MEMBER(tg_run_config, deps), MEMBER(tg_run_config, shared), MEMBER(tg_run_config, not_live),
    MEMBER(tg_run_config, scope_stats), MEMBER(tg_run_config, trace),
    POINTER(tg_run_config, schedule),

    STRUCTURE(tg_source_line), CHARS(tg_source_line, file), MEMBER(tg_source_line, line),
    CHARS(tg_source_line, function),

    STRUCTURE(tg_source_site), NESTED(tg_source_site, at, tg_source_line),
    NESTED(tg_source_site, called_at, tg_source_line),

    STRUCTURE(tg_run_task), MEMBER(tg_run_task, task), MEMBER(tg_run_task, core),
    MEMBER(tg_run_task, part), MEMBER(tg_run_task, kernel), MEMBER(tg_run_task, faulted),
    NESTED(tg_run_task, site, tg_source_site),

    STRUCTURE(tg_record_result), MEMBER(tg_record_result, on),
    NESTED(tg_record_result, summary, tg_record_summary),
    MEMBER(tg_record_result, stored_bytes), MEMBER(tg_record_result, status),
    MEMBER(tg_record_result, finish_seconds), CHARS(tg_record_result, text),

    STRUCTURE(tg_run_trace), MEMBER(tg_run_trace, on), MEMBER(tg_run_trace, tasks),
    MEMBER(tg_run_trace, events), MEMBER(tg_run_trace, lost),
    MEMBER(tg_run_trace, bytes), MEMBER(tg_run_trace, clock_ns),
    MEMBER(tg_run_trace, wait_ns), MEMBER(tg_run_trace, finish_seconds),
    MEMBER(tg_run_trace, status), CHARS(tg_run_trace, text),

    STRUCTURE(tg_scope_result), MEMBER(tg_scope_result, on), MEMBER(tg_scope_result, no_rings),
    MEMBER(tg_scope_result, samples), MEMBER(tg_scope_result, dropped),
    MEMBER(tg_scope_result, status), CHARS(tg_scope_result, text),

    STRUCTURE(tg_schedule), MEMBER(tg_schedule, policy), MEMBER(tg_schedule, n_pairs),
    MEMBER(tg_schedule, seed), POINTER(tg_schedule, pairs), MEMBER(tg_schedule, keep_starts),

    STRUCTURE(tg_schedule_result), MEMBER(tg_schedule_result, on), MEMBER(tg_schedule_result, known),
    MEMBER(tg_schedule_result, serial), MEMBER(tg_schedule_result, choices),
    MEMBER(tg_schedule_result, pairs), MEMBER(tg_schedule_result, broken),
    MEMBER(tg_schedule_result, unknown), MEMBER(tg_schedule_result, n_starts),
    POINTER(tg_schedule_result, starts), CHARS(tg_schedule_result, text),

    STRUCTURE(tg_run_comm_result), MEMBER(tg_run_comm_result, on),
    MEMBER(tg_run_comm_result, rank), MEMBER(tg_run_comm_result, ranks),
    CHARS(tg_run_comm_result, transport), NUMBERS(tg_run_comm_result, calls),
    MEMBER(tg_run_comm_result, bytes_sent), MEMBER(tg_run_comm_result, bytes_received),
    MEMBER(tg_run_comm_result, messages_sent), MEMBER(tg_run_comm_result, messages_received),
    MEMBER(tg_run_comm_result, waiting),

    STRUCTURE(tg_run_result), MEMBER(tg_run_result, status), MEMBER(tg_run_result, tasks),
    MEMBER(tg_run_result, edges), MEMBER(tg_run_result, finished),
    MEMBER(tg_run_result, start_seconds), MEMBER(tg_run_result, execute_seconds),
    MEMBER(tg_run_result, begin_seconds), MEMBER(tg_run_result, lingered),
    MEMBER(tg_run_result, n_running), POINTER(tg_run_result, running),
    MEMBER(tg_run_result, waiting), NESTED(tg_run_result, site, tg_source_site),
    NESTED(tg_run_result, record, tg_record_result),
    NESTED(tg_run_result, scopes, tg_scope_result), NESTED(tg_run_result, trace, tg_run_trace),
    NESTED(tg_run_result, schedule, tg_schedule_result),
    NESTED(tg_run_result, comm, tg_run_comm_result),

    STRUCTURE(tg_output_check), MEMBER(tg_output_check, name), MEMBER(tg_output_check, dtype),
    MEMBER(tg_output_check, elements), MEMBER(tg_output_check, mismatches),
    MEMBER(tg_output_check, max_error), MEMBER(tg_output_check, exact),
    MEMBER(tg_output_check, first), MEMBER(tg_output_check, first_got),
    MEMBER(tg_output_check, first_expected),

    STRUCTURE(tg_output), MEMBER(tg_output, name), MEMBER(tg_output, dtype),
    MEMBER(tg_output, ndim), NUMBERS(tg_output, shape), POINTER(tg_output, bytes),
    MEMBER(tg_output, size),

    STRUCTURE(tg_execute_config), MEMBER(tg_execute_config, case_name),
    POINTER(tg_execute_config, set), MEMBER(tg_execute_config, n_set),
    POINTER(tg_execute_config, progress), POINTER(tg_execute_config, progress_context),
    MEMBER(tg_execute_config, argc), POINTER(tg_execute_config, argv),
    POINTER(tg_execute_config, guard), POINTER(tg_execute_config, guard_context),
    MEMBER(tg_execute_config, trace), POINTER(tg_execute_config, schedule),
    POINTER(tg_execute_config, race), POINTER(tg_execute_config, race_context),
    POINTER(tg_execute_config, rank), MEMBER(tg_execute_config, hold_ranks),

    STRUCTURE(tg_execution_info), MEMBER(tg_execution_info, status),
    MEMBER(tg_execution_info, error), MEMBER(tg_execution_info, advice),
    MEMBER(tg_execution_info, output_dir), MEMBER(tg_execution_info, case_name),
    NESTED(tg_execution_info, device, tg_device_info), NESTED(tg_execution_info, run, tg_run_result),
    MEMBER(tg_execution_info, edges), MEMBER(tg_execution_info, prepare_seconds),
    MEMBER(tg_execution_info, open_seconds), MEMBER(tg_execution_info, load_seconds),
    MEMBER(tg_execution_info, build_seconds),
    MEMBER(tg_execution_info, check_seconds), MEMBER(tg_execution_info, n_outputs),
    POINTER(tg_execution_info, outputs), MEMBER(tg_execution_info, run_json),
    MEMBER(tg_execution_info, not_noted), POINTER(tg_execution_info, races),
    MEMBER(tg_execution_info, races_unknown), MEMBER(tg_execution_info, races_before),
    POINTER(tg_execution_info, ranks),

    STRUCTURE(tg_recording_info), MEMBER(tg_recording_info, dir),
    MEMBER(tg_recording_info, manifest), MEMBER(tg_recording_info, journal),
    MEMBER(tg_recording_info, payload), MEMBER(tg_recording_info, run_dir),
    MEMBER(tg_recording_info, from_journal), MEMBER(tg_recording_info, complete),
    MEMBER(tg_recording_info, foreign), MEMBER(tg_recording_info, level),
    MEMBER(tg_recording_info, poison),
    MEMBER(tg_recording_info, records), MEMBER(tg_recording_info, payload_bytes),
    NESTED(tg_recording_info, summary, tg_record_summary), MEMBER(tg_recording_info, state),
    MEMBER(tg_recording_info, damaged), MEMBER(tg_recording_info, zero_bytes),
    MEMBER(tg_recording_info, torn_bytes), MEMBER(tg_recording_info, excess),

    STRUCTURE(tg_record), MEMBER(tg_record, flags), MEMBER(tg_record, sequence),
    MEMBER(tg_record, task_id), NUMBERS(tg_record, kernel), MEMBER(tg_record, stage),
    MEMBER(tg_record, role), MEMBER(tg_record, kind), MEMBER(tg_record, dtype),
    MEMBER(tg_record, ndim), MEMBER(tg_record, arg_index), MEMBER(tg_record, stream),
    MEMBER(tg_record, core), MEMBER(tg_record, data_ptr), MEMBER(tg_record, start),
    NUMBERS(tg_record, shape), NUMBERS(tg_record, strides), MEMBER(tg_record, hash),
    MEMBER(tg_record, bytes), MEMBER(tg_record, stored), MEMBER(tg_record, position),
    MEMBER(tg_record, value), MEMBER(tg_record, time),

    STRUCTURE(tg_entry), NESTED(tg_entry, record, tg_record), NUMBERS(tg_entry, kernel),

    STRUCTURE(tg_export_format_info), MEMBER(tg_export_format_info, name),
    MEMBER(tg_export_format_info, ending), MEMBER(tg_export_format_info, summary),
    MEMBER(tg_export_format_info, available),

    STRUCTURE(tg_export_config), MEMBER(tg_export_config, format), MEMBER(tg_export_config, path),
    POINTER(tg_export_config, query), MEMBER(tg_export_config, limit),
    MEMBER(tg_export_config, overwrite), MEMBER(tg_export_config, oversize),
    POINTER(tg_export_config, progress),
    POINTER(tg_export_config, progress_context),

    STRUCTURE(tg_export_result), MEMBER(tg_export_result, written),
    MEMBER(tg_export_result, missing), MEMBER(tg_export_result, truncated),
    MEMBER(tg_export_result, as_bits),

    STRUCTURE(tg_reference_config), MEMBER(tg_reference_config, module),
    MEMBER(tg_reference_config, limit), MEMBER(tg_reference_config, workers),
    MEMBER(tg_reference_config, sandbox),
    POINTER(tg_reference_config, progress), POINTER(tg_reference_config, progress_context),
    POINTER(tg_reference_config, ask), POINTER(tg_reference_config, ask_context),

    STRUCTURE(tg_trust_question), MEMBER(tg_trust_question, module),
    MEMBER(tg_trust_question, named_by), MEMBER(tg_trust_question, why),

    STRUCTURE(tg_reference_task), MEMBER(tg_reference_task, task),
    CHARS(tg_reference_task, kernel), MEMBER(tg_reference_task, is),
    MEMBER(tg_reference_task, argument), NESTED(tg_reference_task, check, tg_output_check),
    MEMBER(tg_reference_task, why), MEMBER(tg_reference_task, max_error),
    MEMBER(tg_reference_task, max_relative), MEMBER(tg_reference_task, max_ulp),

    STRUCTURE(tg_verify_finding), MEMBER(tg_verify_finding, problem),
    MEMBER(tg_verify_finding, index), CHARS(tg_verify_finding, text),

    STRUCTURE(tg_verification), MEMBER(tg_verification, records),
    MEMBER(tg_verification, payloads), MEMBER(tg_verification, bytes),
    MEMBER(tg_verification, compared), MEMBER(tg_verification, unhashed),
    MEMBER(tg_verification, unread), MEMBER(tg_verification, unclaimed),
    MEMBER(tg_verification, manifest), MEMBER(tg_verification, torn),
    MEMBER(tg_verification, problems),
    NUMBERS(tg_verification, by_problem), NESTED(tg_verification, finding, tg_verify_finding),
    MEMBER(tg_verification, n_findings), NESTED(tg_verification, counted, tg_record_summary),

    STRUCTURE(tg_note), CHARS(tg_note, text),

    STRUCTURE(tg_tensor_stats), MEMBER(tg_tensor_stats, elements), MEMBER(tg_tensor_stats, nan),
    MEMBER(tg_tensor_stats, infinite), MEMBER(tg_tensor_stats, finite),
    MEMBER(tg_tensor_stats, zero), MEMBER(tg_tensor_stats, denormal),
    MEMBER(tg_tensor_stats, has_range), MEMBER(tg_tensor_stats, least),
    MEMBER(tg_tensor_stats, most), MEMBER(tg_tensor_stats, mean),
    MEMBER(tg_tensor_stats, deviation),

    STRUCTURE(tg_stats_walk), POINTER(tg_stats_walk, recording), POINTER(tg_stats_walk, query),
    MEMBER(tg_stats_walk, next), MEMBER(tg_stats_walk, used),

    STRUCTURE(tg_find_info), MEMBER(tg_find_info, order), MEMBER(tg_find_info, findings),
    MEMBER(tg_find_info, origins), MEMBER(tg_find_info, tasks),
    MEMBER(tg_find_info, unrecorded), MEMBER(tg_find_info, deps_error),

    STRUCTURE(tg_find_answer_info), MEMBER(tg_find_answer_info, result),
    MEMBER(tg_find_answer_info, reason), MEMBER(tg_find_answer_info, no_reference),
    MEMBER(tg_find_answer_info, exit_code), MEMBER(tg_find_answer_info, found),
    MEMBER(tg_find_answer_info, proved), MEMBER(tg_find_answer_info, possible),
    MEMBER(tg_find_answer_info, passed_on), MEMBER(tg_find_answer_info, looked_at),
    MEMBER(tg_find_answer_info, not_stored),

    STRUCTURE(tg_find_finding), MEMBER(tg_find_finding, record), MEMBER(tg_find_finding, trace),
    MEMBER(tg_find_finding, count), MEMBER(tg_find_finding, first), MEMBER(tg_find_finding, sign),
    MEMBER(tg_find_finding, is_proved), MEMBER(tg_find_finding, before),
    MEMBER(tg_find_finding, writer),

    STRUCTURE(tg_find_feed), MEMBER(tg_find_feed, record), MEMBER(tg_find_feed, is_known),
    MEMBER(tg_find_feed, count), MEMBER(tg_find_feed, from), MEMBER(tg_find_feed, is_outside),

    STRUCTURE(tg_find_between), MEMBER(tg_find_between, task_id),
    MEMBER(tg_find_between, record), MEMBER(tg_find_between, writes),

    STRUCTURE(tg_find_suspect), MEMBER(tg_find_suspect, task_id),
    MEMBER(tg_find_suspect, record), NUMBERS(tg_find_suspect, kernel),
    MEMBER(tg_find_suspect, writes), MEMBER(tg_find_suspect, races),
    MEMBER(tg_find_suspect, is_given), MEMBER(tg_find_suspect, is_late),
    MEMBER(tg_find_suspect, has_place), MEMBER(tg_find_suspect, argument),
    MEMBER(tg_find_suspect, place), MEMBER(tg_find_suspect, distance),
    MEMBER(tg_find_suspect, replayed), MEMBER(tg_find_suspect, misuse),

    STRUCTURE(tg_find_replay_config), MEMBER(tg_find_replay_config, module),
    MEMBER(tg_find_replay_config, workers), MEMBER(tg_find_replay_config, most),
    POINTER(tg_find_replay_config, progress), POINTER(tg_find_replay_config, progress_context),
    POINTER(tg_find_replay_config, ask), POINTER(tg_find_replay_config, ask_context),
    POINTER(tg_find_replay_config, guard), POINTER(tg_find_replay_config, guard_context),

    STRUCTURE(tg_race_side), MEMBER(tg_race_side, task_id), MEMBER(tg_race_side, position),
    MEMBER(tg_race_side, kernels), MEMBER(tg_race_side, line), MEMBER(tg_race_side, scope),
    MEMBER(tg_race_side, argument), MEMBER(tg_race_side, reads), MEMBER(tg_race_side, writes),
    MEMBER(tg_race_side, region),

    STRUCTURE(tg_race), NESTED(tg_race, first, tg_race_side),
    NESTED(tg_race, second, tg_race_side), MEMBER(tg_race, pairs), MEMBER(tg_race, bytes),
    MEMBER(tg_race, fix),

    STRUCTURE(tg_races_config), POINTER(tg_races_config, watch),
    POINTER(tg_races_config, query),

    STRUCTURE(tg_races_summary), MEMBER(tg_races_summary, result),
    MEMBER(tg_races_summary, exit_code), MEMBER(tg_races_summary, pairs),
    MEMBER(tg_races_summary, groups), MEMBER(tg_races_summary, unclear),
    MEMBER(tg_races_summary, tasks), MEMBER(tg_races_summary, accesses),
    MEMBER(tg_races_summary, is_exact), MEMBER(tg_races_summary, is_proof),
    NESTED(tg_races_summary, note, tg_note), MEMBER(tg_races_summary, n_notes),

    STRUCTURE(tg_against_config), MEMBER(tg_against_config, file),
    POINTER(tg_against_config, query), MEMBER(tg_against_config, has_atol),
    MEMBER(tg_against_config, has_rtol), MEMBER(tg_against_config, atol),
    MEMBER(tg_against_config, rtol),

    STRUCTURE(tg_against_pair), MEMBER(tg_against_pair, name), MEMBER(tg_against_pair, index),
    NESTED(tg_against_pair, entry, tg_entry), NESTED(tg_against_pair, check, tg_output_check),

    STRUCTURE(tg_reference_counts), MEMBER(tg_reference_counts, tasks),
    MEMBER(tg_reference_counts, good), MEMBER(tg_reference_counts, wrong),
    MEMBER(tg_reference_counts, without), MEMBER(tg_reference_counts, incomplete),
    MEMBER(tg_reference_counts, failed), MEMBER(tg_reference_counts, empty),
    MEMBER(tg_reference_counts, max_ulp), MEMBER(tg_reference_counts, max_error),
    MEMBER(tg_reference_counts, max_relative),

    STRUCTURE(tg_reference_reason), CHARS(tg_reference_reason, text),

    STRUCTURE(tg_replay_output), MEMBER(tg_replay_output, argument),
    MEMBER(tg_replay_output, recorded), MEMBER(tg_replay_output, varied),
    MEMBER(tg_replay_output, ndim), NUMBERS(tg_replay_output, shape),
    NESTED(tg_replay_output, check, tg_output_check),

    STRUCTURE(tg_replay_all_config), MEMBER(tg_replay_all_config, module),
    POINTER(tg_replay_all_config, query), MEMBER(tg_replay_all_config, guarded),
    MEMBER(tg_replay_all_config, repeat), MEMBER(tg_replay_all_config, workers),
    POINTER(tg_replay_all_config, progress), POINTER(tg_replay_all_config, progress_context),
    POINTER(tg_replay_all_config, ask), POINTER(tg_replay_all_config, ask_context),
    POINTER(tg_replay_all_config, guard), POINTER(tg_replay_all_config, guard_context),

    STRUCTURE(tg_guard_finding), MEMBER(tg_guard_finding, kind),
    MEMBER(tg_guard_finding, argument), MEMBER(tg_guard_finding, has_element),
    MEMBER(tg_guard_finding, ndim), NUMBERS(tg_guard_finding, index),
    MEMBER(tg_guard_finding, element), MEMBER(tg_guard_finding, distance),
    MEMBER(tg_guard_finding, place),
    MEMBER(tg_guard_finding, count), CHARS(tg_guard_finding, site),
    CHARS(tg_guard_finding, text),

    STRUCTURE(tg_replay_verdict), MEMBER(tg_replay_verdict, task),
    CHARS(tg_replay_verdict, kernel), MEMBER(tg_replay_verdict, is),
    MEMBER(tg_replay_verdict, runs), NESTED(tg_replay_verdict, output, tg_replay_output),
    MEMBER(tg_replay_verdict, why), NESTED(tg_replay_verdict, site, tg_source_site),
    MEMBER(tg_replay_verdict, n_findings), MEMBER(tg_replay_verdict, more_findings),
    POINTER(tg_replay_verdict, finding),

    STRUCTURE(tg_replay_summary), MEMBER(tg_replay_summary, tasks),
    NUMBERS(tg_replay_summary, count), CHARS(tg_replay_summary, platform),
    CHARS(tg_replay_summary, recorded_on), MEMBER(tg_replay_summary, workers),
    MEMBER(tg_replay_summary, devices), MEMBER(tg_replay_summary, guarded),
    MEMBER(tg_replay_summary, has_pages),

    STRUCTURE(tg_shake_config), MEMBER(tg_shake_config, case_name), POINTER(tg_shake_config, set),
    MEMBER(tg_shake_config, n_set), MEMBER(tg_shake_config, runs),
    MEMBER(tg_shake_config, reduce_runs), MEMBER(tg_shake_config, seed),
    MEMBER(tg_shake_config, strict), MEMBER(tg_shake_config, output),
    POINTER(tg_shake_config, progress), POINTER(tg_shake_config, tell),
    POINTER(tg_shake_config, context),

    STRUCTURE(tg_shake_task), MEMBER(tg_shake_task, id), CHARS(tg_shake_task, kernel),
    CHARS(tg_shake_task, line),

    STRUCTURE(tg_shake_difference), MEMBER(tg_shake_difference, change),
    MEMBER(tg_shake_difference, status), CHARS(tg_shake_difference, text),
    CHARS(tg_shake_difference, output), MEMBER(tg_shake_difference, has_task),
    NESTED(tg_shake_difference, task, tg_shake_task), MEMBER(tg_shake_difference, reads),
    MEMBER(tg_shake_difference, argument), MEMBER(tg_shake_difference, tasks),

    STRUCTURE(tg_shake_constraint), NESTED(tg_shake_constraint, first, tg_shake_task),
    NESTED(tg_shake_constraint, second, tg_shake_task), MEMBER(tg_shake_constraint, race),

    STRUCTURE(tg_shake_info), MEMBER(tg_shake_info, result), MEMBER(tg_shake_info, schedules),
    MEMBER(tg_shake_info, found_at), MEMBER(tg_shake_info, runs), MEMBER(tg_shake_info, wall),
    MEMBER(tg_shake_info, tasks), MEMBER(tg_shake_info, case_name),
    MEMBER(tg_shake_info, schedule), MEMBER(tg_shake_info, reduced),
    MEMBER(tg_shake_info, reason), MEMBER(tg_shake_info, n_constraints),
    POINTER(tg_shake_info, constraint), MEMBER(tg_shake_info, fewest),
    MEMBER(tg_shake_info, confirmed), NESTED(tg_shake_info, difference, tg_shake_difference),
    MEMBER(tg_shake_info, inside), MEMBER(tg_shake_info, inside_schedule),
    NESTED(tg_shake_info, inside_difference, tg_shake_difference),
    MEMBER(tg_shake_info, unstable_inside), MEMBER(tg_shake_info, baseline_dir),
    MEMBER(tg_shake_info, failing_dir), MEMBER(tg_shake_info, reduced_dir),

    STRUCTURE(tg_replay_reason), CHARS(tg_replay_reason, text),

    STRUCTURE(tg_replay_config), MEMBER(tg_replay_config, module),
    MEMBER(tg_replay_config, repeat), POINTER(tg_replay_config, ask),
    POINTER(tg_replay_config, ask_context), POINTER(tg_replay_config, guard),
    POINTER(tg_replay_config, guard_context), POINTER(tg_replay_config, stop),
    POINTER(tg_replay_config, stop_context),

    STRUCTURE(tg_replay_result), MEMBER(tg_replay_result, task), CHARS(tg_replay_result, kernel),
    CHARS(tg_replay_result, platform), MEMBER(tg_replay_result, runs),
    MEMBER(tg_replay_result, n_outputs), NESTED(tg_replay_result, output, tg_replay_output),
    MEMBER(tg_replay_result, same), MEMBER(tg_replay_result, n_compared),
    MEMBER(tg_replay_result, deterministic), NESTED(tg_replay_result, run, tg_run_result),

    STRUCTURE(tg_verify_reason), CHARS(tg_verify_reason, text),

    STRUCTURE(tg_recovery), MEMBER(tg_recovery, records), MEMBER(tg_recovery, lost),
    MEMBER(tg_recovery, truncated), MEMBER(tg_recovery, damaged),
    MEMBER(tg_recovery, from_manifest), MEMBER(tg_recovery, cut_bytes),
    MEMBER(tg_recovery, zero_bytes), MEMBER(tg_recovery, bad_bytes),
    MEMBER(tg_recovery, payload_bytes), MEMBER(tg_recovery, was_complete),
    MEMBER(tg_recovery, kept_manifest), MEMBER(tg_recovery, lacks_payload),
    MEMBER(tg_recovery, put_aside),

    STRUCTURE(tg_runs_entry), MEMBER(tg_runs_entry, path), CHARS(tg_runs_entry, name),
    CHARS(tg_runs_entry, workload), CHARS(tg_runs_entry, case_name),
    CHARS(tg_runs_entry, platform), CHARS(tg_runs_entry, runtime), MEMBER(tg_runs_entry, began),
    MEMBER(tg_runs_entry, seconds), MEMBER(tg_runs_entry, state),
    MEMBER(tg_runs_entry, has_status), MEMBER(tg_runs_entry, status),
    MEMBER(tg_runs_entry, has_counts), MEMBER(tg_runs_entry, recorded),
    MEMBER(tg_runs_entry, tasks), MEMBER(tg_runs_entry, finished),
    MEMBER(tg_runs_entry, records), MEMBER(tg_runs_entry, lost), MEMBER(tg_runs_entry, bytes),
    MEMBER(tg_runs_entry, others), MEMBER(tg_runs_entry, ranks),

    STRUCTURE(tg_runs_filter), MEMBER(tg_runs_filter, workload), MEMBER(tg_runs_filter, result),
    MEMBER(tg_runs_filter, has_age), MEMBER(tg_runs_filter, older_than),
    MEMBER(tg_runs_filter, keep), MEMBER(tg_runs_filter, ended),

    STRUCTURE(tg_runs_removed), MEMBER(tg_runs_removed, bytes), MEMBER(tg_runs_removed, files),
    MEMBER(tg_runs_removed, others), CHARS(tg_runs_removed, other),

    STRUCTURE(tg_export_path), CHARS(tg_export_path, text),

    STRUCTURE(tg_scope_fatal), MEMBER(tg_scope_fatal, on), MEMBER(tg_scope_fatal, resource),
    MEMBER(tg_scope_fatal, ring), MEMBER(tg_scope_fatal, site), MEMBER(tg_scope_fatal, used),
    MEMBER(tg_scope_fatal, capacity), MEMBER(tg_scope_fatal, wanted),
    MEMBER(tg_scope_fatal, advice), MEMBER(tg_scope_fatal, error),

    STRUCTURE(tg_scope_stats_info), MEMBER(tg_scope_stats_info, file),
    MEMBER(tg_scope_stats_info, complete), MEMBER(tg_scope_stats_info, failed),
    POINTER(tg_scope_stats_info, fatal), MEMBER(tg_scope_stats_info, measured),
    MEMBER(tg_scope_stats_info, waits_known), MEMBER(tg_scope_stats_info, has_fanin),
    MEMBER(tg_scope_stats_info, no_rings), MEMBER(tg_scope_stats_info, dropped),
    MEMBER(tg_scope_stats_info, total), MEMBER(tg_scope_stats_info, samples),
    MEMBER(tg_scope_stats_info, scopes), MEMBER(tg_scope_stats_info, sites),
    MEMBER(tg_scope_stats_info, rows), MEMBER(tg_scope_stats_info, left_open),
    MEMBER(tg_scope_stats_info, without_begin), MEMBER(tg_scope_stats_info, without_end),
    MEMBER(tg_scope_stats_info, summary_problem), MEMBER(tg_scope_stats_info, run),

    STRUCTURE(tg_scope_row), MEMBER(tg_scope_row, site), MEMBER(tg_scope_row, ring),
    MEMBER(tg_scope_row, depth_min), MEMBER(tg_scope_row, depth_max),
    MEMBER(tg_scope_row, count), MEMBER(tg_scope_row, touched), NUMBERS(tg_scope_row, peak),
    NUMBERS(tg_scope_row, waits), MEMBER(tg_scope_row, wait_ns), MEMBER(tg_scope_row, fanin),

    STRUCTURE(tg_scope_need), MEMBER(tg_scope_need, peak), MEMBER(tg_scope_need, capacity),
    MEMBER(tg_scope_need, smallest), MEMBER(tg_scope_need, verdict),
    MEMBER(tg_scope_need, waits_known), MEMBER(tg_scope_need, waits),
    MEMBER(tg_scope_need, larger), MEMBER(tg_scope_need, never),

    STRUCTURE(tg_scope_setting), MEMBER(tg_scope_setting, verdict),
    CHARS(tg_scope_setting, present), CHARS(tg_scope_setting, option),
    MEMBER(tg_scope_setting, waits_known), MEMBER(tg_scope_setting, waits),
    MEMBER(tg_scope_setting, never),

    STRUCTURE(tg_scope_page), MEMBER(tg_scope_page, scopes), MEMBER(tg_scope_page, bytes),

    STRUCTURE(tg_timing_info), MEMBER(tg_timing_info, source), MEMBER(tg_timing_info, file),
    MEMBER(tg_timing_info, workload), MEMBER(tg_timing_info, case_name),
    MEMBER(tg_timing_info, platform), MEMBER(tg_timing_info, runtime),
    MEMBER(tg_timing_info, result), MEMBER(tg_timing_info, start), MEMBER(tg_timing_info, end),
    MEMBER(tg_timing_info, run_end), MEMBER(tg_timing_info, clock_step),
    MEMBER(tg_timing_info, tasks), MEMBER(tg_timing_info, timed),
    MEMBER(tg_timing_info, unfinished), MEMBER(tg_timing_info, half_timed),
    MEMBER(tg_timing_info, edges), MEMBER(tg_timing_info, unknown_edges),
    MEMBER(tg_timing_info, early_edges), MEMBER(tg_timing_info, twins),
    MEMBER(tg_timing_info, backward), MEMBER(tg_timing_info, lost),
    MEMBER(tg_timing_info, path_unknown), MEMBER(tg_timing_info, wait_unknown),
    MEMBER(tg_timing_info, has_submits), MEMBER(tg_timing_info, has_ready),
    MEMBER(tg_timing_info, steps), NUMBERS(tg_timing_info, spent), MEMBER(tg_timing_info, run),
    MEMBER(tg_timing_info, wait), MEMBER(tg_timing_info, wait_busy),
    MEMBER(tg_timing_info, waited), MEMBER(tg_timing_info, dispatched),
    MEMBER(tg_timing_info, idle), MEMBER(tg_timing_info, cores), MEMBER(tg_timing_info, kinds),
    MEMBER(tg_timing_info, kernels), MEMBER(tg_timing_info, bound_chain),
    MEMBER(tg_timing_info, bound_work),

    STRUCTURE(tg_timing_task), MEMBER(tg_timing_task, id), MEMBER(tg_timing_task, kernel),
    MEMBER(tg_timing_task, scope), MEMBER(tg_timing_task, core), MEMBER(tg_timing_task, parts),
    MEMBER(tg_timing_task, begin), MEMBER(tg_timing_task, end), MEMBER(tg_timing_task, submitted),
    MEMBER(tg_timing_task, ready), MEMBER(tg_timing_task, busy), MEMBER(tg_timing_task, latency),
    MEMBER(tg_timing_task, edges), MEMBER(tg_timing_task, on_path),
    MEMBER(tg_timing_task, unfinished),

    STRUCTURE(tg_timing_step), MEMBER(tg_timing_step, task), MEMBER(tg_timing_step, after),
    MEMBER(tg_timing_step, from), MEMBER(tg_timing_step, by_orchestrator),
    NUMBERS(tg_timing_step, spent),

    STRUCTURE(tg_timing_kernel), MEMBER(tg_timing_kernel, name), MEMBER(tg_timing_kernel, tasks),
    MEMBER(tg_timing_kernel, run), MEMBER(tg_timing_kernel, most), MEMBER(tg_timing_kernel, wait),
    MEMBER(tg_timing_kernel, path_tasks), MEMBER(tg_timing_kernel, path_run),
    MEMBER(tg_timing_kernel, path_wait),

    STRUCTURE(tg_timing_core), MEMBER(tg_timing_core, name), MEMBER(tg_timing_core, number),
    MEMBER(tg_timing_core, kind), MEMBER(tg_timing_core, cores), MEMBER(tg_timing_core, tasks),
    MEMBER(tg_timing_core, run), MEMBER(tg_timing_core, idle), MEMBER(tg_timing_core, nothing),
    MEMBER(tg_timing_core, other), MEMBER(tg_timing_core, latency),

    STRUCTURE(tg_timing_change), MEMBER(tg_timing_change, no_latency),
    MEMBER(tg_timing_change, no_orchestrator), MEMBER(tg_timing_change, unlimited_cores),
    MEMBER(tg_timing_change, kernel), MEMBER(tg_timing_change, percent),

    STRUCTURE(tg_timing_gain), MEMBER(tg_timing_gain, change), MEMBER(tg_timing_gain, text),
    MEMBER(tg_timing_gain, is_bound), MEMBER(tg_timing_gain, span),
    MEMBER(tg_timing_gain, kernel), MEMBER(tg_timing_gain, percent),

    STRUCTURE(tg_server_config), MEMBER(tg_server_config, path), MEMBER(tg_server_config, other),
    MEMBER(tg_server_config, host), MEMBER(tg_server_config, port),
    MEMBER(tg_server_config, program),

    STRUCTURE(tg_workbench_page_config), MEMBER(tg_workbench_page_config, overwrite),
    MEMBER(tg_workbench_page_config, most), POINTER(tg_workbench_page_config, progress),

    STRUCTURE(tg_workbench_page), MEMBER(tg_workbench_page, bytes),
    MEMBER(tg_workbench_page, tensors), MEMBER(tg_workbench_page, left_out),
};
/* clang-format on */

bool tg_layout_get(uint32_t number, struct tg_layout_info *info)
{
    if (info == NULL)
        return false;
    const size_t first = sizeof rows / sizeof rows[0];
    if (number >= first)
        return tg_layout_get_ranks(number - first, info);
    *info = rows[number];
    return true;
}
