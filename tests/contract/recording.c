/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings that a program makes through the C interface. */
#include "orchestrated.h"
#include "slow.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <taskglass/recover.h>

static char folder[64];

static const char *output_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/taskglass_test_recording_XXXXXX");
    REQUIRE(mkdtemp(folder) != NULL);
    return folder;
}

static void remove_output(void)
{
    static const char *const files[] = {"tensor_dump/tensor_dump.rec",
                                        "tensor_dump/tensor_dump.bin",
                                        "tensor_dump/tensor_dump.json",
                                        "tensor_dump",
                                        "scope_stats/scope_stats.json",
                                        "scope_stats/scope_stats.jsonl",
                                        "scope_stats",
                                        ""};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        remove(path);
    }
}

/* ── configurations that make no sense ────────────────────────────────────────────────────── */

static struct tg_graph *empty_graph(struct tg_device *device)
{
    struct tg_graph *graph;
    GOOD(tg_graph_create(load_module(device, "graphs"), &graph, error));
    return graph;
}

static void refuse(struct tg_graph *graph, struct tg_record_config record, const char *part)
{
    struct tg_run_config config = {.timeout = FAR_SECONDS, .record = &record};
    REFUSED(BAD_ARGUMENT, part, tg_graph_run(graph, &config, NULL, error));
}

CONTRACT(a_recording_that_makes_no_sense_is_refused_before_the_run)
{
    struct tg_device *device = open_device(3, 0);
    struct tg_graph *graph = empty_graph(device);
    struct tg_record_config good = {.level = TG_LEVEL_META, .output_dir = "/nowhere"}, bad;
    struct tg_args args = {.n_tensors = 1, .role = {TG_IN}, .tensor = {{.ndim = 200}}};
    bad = good;
    bad.output_dir = NULL;
    refuse(graph, bad, "output_dir");
    bad = good;
    bad.level = 77;
    refuse(graph, bad, "level 77");
    bad = good;
    bad.policy = 9;
    refuse(graph, bad, "policy 9");
    bad = good;
    bad.transport = 3;
    refuse(graph, bad, "transport 3");
    bad = good;
    bad.wait_limit = NAN;
    refuse(graph, bad, "wait_limit");
    bad.wait_limit = -1;
    refuse(graph, bad, "wait_limit");
    bad = good;
    bad.orchestration = &args;
    refuse(graph, bad, "argument 0");
    args.n_tensors = 200;
    refuse(graph, bad, "more than 16 tensors");
    tg_graph_destroy(graph);
    tg_device_close(device);
}

CONTRACT(a_recording_that_makes_no_sense_is_refused_at_level_off_too)
{
    static const struct tg_record_config bad[] = {
        {.policy = 9}, {.transport = 77}, {.wait_limit = NAN}, {.wait_limit = -INFINITY}};
    static const char *const part[] = {"policy 9", "transport 77", "wait_limit", "wait_limit"};
    struct tg_device *device = open_device(3, 0);
    struct tg_graph *graph = empty_graph(device);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuse(graph, bad[i], part[i]);
    tg_graph_destroy(graph);
    tg_device_close(device);
}

/* ── one folder ───────────────────────────────────────────────────────────────────────────── */

CONTRACT(two_runs_of_one_program_do_not_share_a_folder)
{
    struct tg_device *device = open_device(1, 0), *other = open_device(1, 0);
    struct slow slow = slow_make(device, 20, 0.01, true), quick = slow_make(other, 1, 0, false);
    struct tg_record_config record = {.level = TG_LEVEL_META, .output_dir = output_folder()};
    struct tg_run_config recorded = {.timeout = FAR_SECONDS, .record = &record};
    struct tg_run_config scopes = {.timeout = FAR_SECONDS, .scope_stats = record.output_dir};
    struct tg_recovery recovered;
    struct tg_run *run, *second;
    GOOD(tg_run_start(slow.graph, &recorded, &run, error));
    REFUSED(BUSY, record.output_dir, tg_run_start(quick.graph, &recorded, &second, error));
    REFUSED(BUSY, record.output_dir, tg_run_start(quick.graph, &scopes, &second, error));
    REFUSED(BUSY, record.output_dir, tg_recording_recover(record.output_dir, &recovered, error));
    GOOD(tg_run_wait(run, -1, error));
    GOOD(tg_recording_recover(record.output_dir, &recovered, error));
    CHECK(recovered.was_complete && recovered.kept_manifest);
    GOOD(tg_graph_run(quick.graph, &recorded, NULL, error)); /* while the first handle exists */
    tg_run_destroy(run);
    slow_destroy(&slow);
    slow_destroy(&quick);
    remove_output();
    tg_device_close(device);
    tg_device_close(other);
}

CONTRACT(a_run_that_records_and_takes_scope_stats_locks_its_folder_once)
{
    struct tg_device *device = open_device(3, 0);
    struct tg_record_config record = {.level = TG_LEVEL_META, .output_dir = output_folder()};
    struct tg_run_config config = {
        .timeout = FAR_SECONDS, .record = &record, .scope_stats = record.output_dir};
    struct orchestrated o =
        orchestrated_make(device, TG_RUNTIME_AICPU_BUILD_GRAPH,
                          (struct orchestration){RINGS_scopes, 20, 1, 64}, NULL);
    GOOD(tg_graph_run(o.graph, &config, NULL, error));
    GOOD(tg_graph_run(o.graph, &config, NULL, error));
    orchestrated_destroy(&o);
    remove_output();
    tg_device_close(device);
}

/* A limit of more nanoseconds than fit a word must not become a short one. The recorder waits only if
 * its stream is full, so a small one and many records make it wait. */
CONTRACT(a_wait_limit_of_any_length_loses_nothing)
{
    static const double limits[] = {99999999999.0, 1e300, 1.0 / 0.0};
    struct tg_device *device = open_device(3, 0);
    const char *output = output_folder();
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct tg_record_config record = {.level = TG_LEVEL_FULL,
                                          .output_dir = output,
                                          .arena = 4096,
                                          .buffers = 2,
                                          .wait_limit = limits[i]};
        struct tg_run_config config = {.timeout = FAR_SECONDS, .record = &record};
        struct tg_run_result result;
        struct orchestrated o =
            orchestrated_make(device, TG_RUNTIME_AICPU_BUILD_GRAPH,
                              (struct orchestration){RINGS_scopes, 2000, 1, 64}, NULL);
        GOOD(tg_graph_run(o.graph, &config, &result, error));
        CHECK_EQ_U(result.record.summary.lost[TG_LOSS_GAVE_UP], 0);
        CHECK_EQ_U(result.record.summary.recorded, result.record.summary.attempted);
        orchestrated_destroy(&o);
    }
    remove_output();
    tg_device_close(device);
}

TEST_MAIN()
