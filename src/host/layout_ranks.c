/* SPDX-License-Identifier: Apache-2.0 */
/* The table of members for other languages, continued: runs with several ranks. */
#include "host/layout_rows.h"

#include <taskglass/comm.h>
#include <taskglass/execute.h>
#include <taskglass/job.h>
#include <taskglass/ranks.h>
#include <taskglass/ranks_answers.h>
#include <taskglass/ranks_trace.h>

/* clang-format off */
static const struct tg_layout_info rows[] = {
    STRUCTURE(tg_comm_config), MEMBER(tg_comm_config, transport), MEMBER(tg_comm_config, timeout),

    STRUCTURE(tg_job_config), MEMBER(tg_job_config, ranks), MEMBER(tg_job_config, program),
    POINTER(tg_job_config, argv), POINTER(tg_job_config, signal), POINTER(tg_job_config, context),

    STRUCTURE(tg_job_exit), MEMBER(tg_job_exit, rank), MEMBER(tg_job_exit, pid),
    MEMBER(tg_job_exit, code), MEMBER(tg_job_exit, signal),

    STRUCTURE(tg_job_result), MEMBER(tg_job_result, code), MEMBER(tg_job_result, killed),
    NESTED(tg_job_result, first, tg_job_exit), MEMBER(tg_job_result, stopped),
    MEMBER(tg_job_result, rank0_signal), CHARS(tg_job_result, output_dir),

    STRUCTURE(tg_ranks_clock), MEMBER(tg_ranks_clock, is_known), MEMBER(tg_ranks_clock, offset_ns),
    MEMBER(tg_ranks_clock, at_ns), MEMBER(tg_ranks_clock, drift), MEMBER(tg_ranks_clock, error_ns),
    MEMBER(tg_ranks_clock, samples),

    STRUCTURE(tg_ranks_info), MEMBER(tg_ranks_info, dir), CHARS(tg_ranks_info, workload),
    CHARS(tg_ranks_info, case_name), CHARS(tg_ranks_info, transport), CHARS(tg_ranks_info, about),
    MEMBER(tg_ranks_info, ranks), MEMBER(tg_ranks_info, is_running),
    MEMBER(tg_ranks_info, has_status), MEMBER(tg_ranks_info, status),

    STRUCTURE(tg_ranks_rank), MEMBER(tg_ranks_rank, rank), MEMBER(tg_ranks_rank, dir),
    MEMBER(tg_ranks_rank, is_there), MEMBER(tg_ranks_rank, is_listed), CHARS(tg_ranks_rank, folder),
    CHARS(tg_ranks_rank, host), MEMBER(tg_ranks_rank, pid), MEMBER(tg_ranks_rank, local_rank),
    MEMBER(tg_ranks_rank, is_running), MEMBER(tg_ranks_rank, has_status),
    MEMBER(tg_ranks_rank, status), CHARS(tg_ranks_rank, error), MEMBER(tg_ranks_rank, has_end),
    MEMBER(tg_ranks_rank, ended_ns), NESTED(tg_ranks_rank, clock, tg_ranks_clock),

    STRUCTURE(tg_execution_ranks), MEMBER(tg_execution_ranks, rank),
    MEMBER(tg_execution_ranks, ranks), MEMBER(tg_execution_ranks, reports),
    MEMBER(tg_execution_ranks, speaks), MEMBER(tg_execution_ranks, status),
    MEMBER(tg_execution_ranks, worst), NESTED(tg_execution_ranks, info, tg_ranks_info),
    POINTER(tg_execution_ranks, all), MEMBER(tg_execution_ranks, on_gpus),
    MEMBER(tg_execution_ranks, gpus),

    STRUCTURE(tg_call), MEMBER(tg_call, task), MEMBER(tg_call, kind), MEMBER(tg_call, peer),
    MEMBER(tg_call, tag), MEMBER(tg_call, operation), MEMBER(tg_call, number),
    MEMBER(tg_call, dtype), MEMBER(tg_call, elements), MEMBER(tg_call, bytes),
    MEMBER(tg_call, state), MEMBER(tg_call, posted_ns), MEMBER(tg_call, matched_ns),
    MEMBER(tg_call, done_ns), MEMBER(tg_call, site),

    STRUCTURE(tg_calls_info), MEMBER(tg_calls_info, rank), MEMBER(tg_calls_info, ranks),
    MEMBER(tg_calls_info, calls), MEMBER(tg_calls_info, damaged),
    MEMBER(tg_calls_info, is_complete),

    STRUCTURE(tg_ranks_misfit), MEMBER(tg_ranks_misfit, rank), MEMBER(tg_ranks_misfit, other),
    MEMBER(tg_ranks_misfit, task), CHARS(tg_ranks_misfit, text),

    STRUCTURE(tg_ranks_messages), MEMBER(tg_ranks_messages, messages),
    MEMBER(tg_ranks_messages, collectives), MEMBER(tg_ranks_messages, compared),
    MEMBER(tg_ranks_messages, unknown), MEMBER(tg_ranks_messages, unhashed),
    MEMBER(tg_ranks_messages, unshared), MEMBER(tg_ranks_messages, damaged),
    MEMBER(tg_ranks_messages, incomplete), MEMBER(tg_ranks_messages, absent),
    MEMBER(tg_ranks_messages, problems), MEMBER(tg_ranks_messages, result),
    MEMBER(tg_ranks_messages, n_misfits), NESTED(tg_ranks_messages, misfit, tg_ranks_misfit),

    STRUCTURE(tg_ranks_wait), MEMBER(tg_ranks_wait, rank), NESTED(tg_ranks_wait, call, tg_call),
    MEMBER(tg_ranks_wait, has_for), MEMBER(tg_ranks_wait, waits_for), MEMBER(tg_ranks_wait, n_for),
    MEMBER(tg_ranks_wait, is_mismatch), CHARS(tg_ranks_wait, text),

    STRUCTURE(tg_ranks_end), MEMBER(tg_ranks_end, rank), CHARS(tg_ranks_end, status),
    CHARS(tg_ranks_end, error), MEMBER(tg_ranks_end, is_own), MEMBER(tg_ranks_end, has_time),
    MEMBER(tg_ranks_end, time_ns), MEMBER(tg_ranks_end, error_ns),

    STRUCTURE(tg_ranks_explanation), MEMBER(tg_ranks_explanation, is_well),
    MEMBER(tg_ranks_explanation, is_running), CHARS(tg_ranks_explanation, root),
    MEMBER(tg_ranks_explanation, has_first), MEMBER(tg_ranks_explanation, first),
    CHARS(tg_ranks_explanation, order), MEMBER(tg_ranks_explanation, n_waits),
    MEMBER(tg_ranks_explanation, more_waits), NESTED(tg_ranks_explanation, wait, tg_ranks_wait),
    MEMBER(tg_ranks_explanation, ranks), POINTER(tg_ranks_explanation, end),
    MEMBER(tg_ranks_explanation, n_unknown), CHARS(tg_ranks_explanation, unknown),

    STRUCTURE(tg_ranks_cause), MEMBER(tg_ranks_cause, rank), MEMBER(tg_ranks_cause, task_a),
    MEMBER(tg_ranks_cause, task_b), CHARS(tg_ranks_cause, kernel), MEMBER(tg_ranks_cause, guilt),
    MEMBER(tg_ranks_cause, depth), MEMBER(tg_ranks_cause, has_from), MEMBER(tg_ranks_cause, from),
    CHARS(tg_ranks_cause, text),

    STRUCTURE(tg_ranks_difference), MEMBER(tg_ranks_difference, verdict),
    MEMBER(tg_ranks_difference, differ), MEMBER(tg_ranks_difference, equal),
    MEMBER(tg_ranks_difference, unknown), MEMBER(tg_ranks_difference, n_causes),
    MEMBER(tg_ranks_difference, more_causes), NESTED(tg_ranks_difference, cause, tg_ranks_cause),
    MEMBER(tg_ranks_difference, n_reached), MEMBER(tg_ranks_difference, more_reached),
    NESTED(tg_ranks_difference, reached, tg_ranks_cause), MEMBER(tg_ranks_difference, n_unknown),
    CHARS(tg_ranks_difference, missing),

    STRUCTURE(tg_ranks_trace_config), MEMBER(tg_ranks_trace_config, dir),
    MEMBER(tg_ranks_trace_config, path), MEMBER(tg_ranks_trace_config, overwrite),
    MEMBER(tg_ranks_trace_config, recorded), POINTER(tg_ranks_trace_config, progress),
    POINTER(tg_ranks_trace_config, progress_context),

    STRUCTURE(tg_ranks_trace_result), MEMBER(tg_ranks_trace_result, ranks),
    MEMBER(tg_ranks_trace_result, shown), MEMBER(tg_ranks_trace_result, unsure),
    MEMBER(tg_ranks_trace_result, calls), MEMBER(tg_ranks_trace_result, arrows),
    MEMBER(tg_ranks_trace_result, backward), MEMBER(tg_ranks_trace_result, left_out),
    MEMBER(tg_ranks_trace_result, clock_error_ns), MEMBER(tg_ranks_trace_result, bytes),
    CHARS(tg_ranks_trace_result, why),

    STRUCTURE(tg_tolerance_rule), MEMBER(tg_tolerance_rule, absolute),
    MEMBER(tg_tolerance_rule, relative),

    STRUCTURE(tg_diff_options), POINTER(tg_diff_options, rules), MEMBER(tg_diff_options, n_rules),
    MEMBER(tg_diff_options, equal_nan), POINTER(tg_diff_options, progress),
    POINTER(tg_diff_options, context),

    STRUCTURE(tg_ranks_same), CHARS(tg_ranks_same, name), MEMBER(tg_ranks_same, verdict),
    MEMBER(tg_ranks_same, known), MEMBER(tg_ranks_same, has_odd), MEMBER(tg_ranks_same, odd),
    MEMBER(tg_ranks_same, usual), MEMBER(tg_ranks_same, n_odd), MEMBER(tg_ranks_same, ndim),
    NUMBERS(tg_ranks_same, shape), MEMBER(tg_ranks_same, dtype), CHARS(tg_ranks_same, text),

    STRUCTURE(tg_ranks_sameness), MEMBER(tg_ranks_sameness, tensors),
    MEMBER(tg_ranks_sameness, same), MEMBER(tg_ranks_sameness, close),
    MEMBER(tg_ranks_sameness, differ), MEMBER(tg_ranks_sameness, unknown),

    STRUCTURE(tg_shard), CHARS(tg_shard, text),

    STRUCTURE(tg_shard_result), POINTER(tg_shard_result, shard), MEMBER(tg_shard_result, number),
    MEMBER(tg_shard_result, task_one), MEMBER(tg_shard_result, verdict),
    MEMBER(tg_shard_result, dtype), MEMBER(tg_shard_result, ndim), NUMBERS(tg_shard_result, shape),
    MEMBER(tg_shard_result, mismatches), MEMBER(tg_shard_result, max_abs),
    MEMBER(tg_shard_result, has_first), NUMBERS(tg_shard_result, first),
    MEMBER(tg_shard_result, has_rank), MEMBER(tg_shard_result, rank),
    MEMBER(tg_shard_result, task_rank), MEMBER(tg_shard_result, one), MEMBER(tg_shard_result, many),
    CHARS(tg_shard_result, text),
};
/* clang-format on */

bool tg_layout_get_ranks(size_t number, struct tg_layout_info *info)
{
    if (number >= sizeof rows / sizeof rows[0])
        return false;
    *info = rows[number];
    return true;
}
