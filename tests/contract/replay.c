/* SPDX-License-Identifier: Apache-2.0 */
/* Every task of a recording again, alone. */
#include "orchestrated.h"
#include <taskglass/recording.h>
#include <taskglass/replay.h>
#include <unistd.h>

enum { TASKS = 300 };

struct told {
    uint64_t tasks, last;
    uint64_t most; /* then `tell` has enough; 0: never */
};

static int tell(void *context, const struct tg_replay_verdict *verdict)
{
    struct told *told = context;
    CHECK(told->tasks == 0 || verdict->task > told->last);
    if (!CHECK_EQ_S(tg_replay_is_name(verdict->is), "same") && verdict->why)
        fprintf(stderr, "  %s\n", verdict->why);
    told->last = verdict->task;
    return ++told->tasks == told->most;
}

static int never_again(void *unused, uint64_t done, uint64_t tasks)
{
    (void)unused;
    return done <= tasks;
}

/* Records a chain into the folder. */
static void record(const char *folder)
{
    struct tg_device *device = open_device(3, 0);
    struct orchestrated o =
        orchestrated_make(device, TG_RUNTIME_TENSORMAP_AND_RINGBUFFER,
                          (struct orchestration){RINGS_chain, TASKS, 0, 8}, NULL);
    struct tg_record_config record = {.level = TG_LEVEL_FULL, .output_dir = folder};
    struct tg_run_config config = {.record = &record, .not_live = true};
    GOOD(tg_graph_run(o.graph, &config, NULL, error));
    orchestrated_destroy(&o);
    tg_device_close(device);
}

static void remove_recording(const char *folder)
{
    static const char *const names[] = {"tensor_dump/tensor_dump.json",
                                        "tensor_dump/tensor_dump.rec",
                                        "tensor_dump/tensor_dump.bin",
                                        "tensor_dump",
                                        "deps.json",
                                        ""};
    char path[300];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
}

static tg_status replay(const char *folder, const struct tg_replay_all_config *config,
                        struct told *told, struct tg_replay_summary *summary,
                        struct tg_error *error)
{
    struct tg_settings *settings;
    struct tg_recording *recording;
    tg_status status;
    GOOD(tg_settings_create(&settings, error));
    GOOD(tg_settings_set(settings, "platform", platform->name, error));
    GOOD(tg_recording_open(folder, &recording, error));
    status = tg_replay_all(settings, recording, config, tell, told, summary, error);
    if (status == TG_OK)
        CHECK_EQ_S(tg_replay_all_word(recording, summary, NULL), "same");
    tg_recording_close(recording);
    tg_settings_destroy(settings);
    return status;
}

CONTRACT(every_recorded_task_gives_the_same_again)
{
    char folder[] = "/tmp/taskglass_test_replay_XXXXXX";
    REQUIRE(mkdtemp(folder) != NULL);
    record(folder);
    for (int guarded = 0; guarded < 2; guarded++) {
        struct tg_replay_all_config config = {
            .module = workload_path("rings"), .workers = 3, .guarded = guarded == 1};
        struct tg_replay_summary summary;
        struct told told = {0};
        GOOD(replay(folder, &config, &told, &summary, error));
        CHECK_EQ_U(told.tasks, TASKS);
        CHECK_EQ_U(summary.count[TG_REPLAY_SAME], TASKS);
        CHECK_EQ_S(summary.platform, platform->name);
        CHECK(summary.guarded == (guarded == 1));
    }
    remove_recording(folder);
}

CONTRACT(a_caller_that_has_enough_or_cancels_ends_the_replay)
{
    char folder[] = "/tmp/taskglass_test_replay_XXXXXX";
    struct tg_replay_all_config config = {.module = workload_path("rings"), .workers = 2};
    struct tg_replay_summary summary;
    struct tg_error error = {TG_OK, ""};
    struct told told = {.most = 5};
    REQUIRE(mkdtemp(folder) != NULL);
    record(folder);
    GOOD(replay(folder, &config, &told, &summary, error));
    CHECK_EQ_U(told.tasks, 5);
    CHECK_EQ_U(summary.tasks, 5);
    told = (struct told){0};
    config.progress = never_again;
    CHECK_EQ_I(replay(folder, &config, &told, &summary, &error), TG_CANCELLED);
    remove_recording(folder);
}

CONTRACT(a_module_that_is_not_there_is_an_error)
{
    char folder[] = "/tmp/taskglass_test_replay_XXXXXX";
    struct tg_replay_all_config config = {.module = "/nonexistent.so"};
    struct tg_error error = {TG_OK, ""};
    struct told told = {0};
    REQUIRE(mkdtemp(folder) != NULL);
    record(folder);
    CHECK(replay(folder, &config, &told, NULL, &error) != TG_OK);
    CHECK_EQ_U(told.tasks, 0);
    remove_recording(folder);
}

TEST_MAIN()
