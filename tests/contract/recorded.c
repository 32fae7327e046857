/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording of a graph has besides the tasks. */
#include "orchestrated.h"
#include <taskglass/recording.h>
#include <unistd.h>

/* Removes what a recorded run leaves in the folder, and the folder. */
static void remove_recording(const char *folder)
{
    static const char *const names[] = {"tensor_dump/tensor_dump.json",
                                        "tensor_dump/tensor_dump.rec",
                                        "tensor_dump/tensor_dump.bin", "tensor_dump", ""};
    char path[300];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
}

/* Counts the records of the orchestration's own arguments. */
static uint64_t orchestration_records(const char *folder)
{
    struct tg_recording *recording;
    struct tg_recording_info info;
    struct tg_entry entry;
    uint64_t count = 0;
    GOOD(tg_recording_open(folder, &recording, error));
    tg_recording_get_info(recording, &info);
    for (uint64_t i = 0; i < info.records; i++)
        count +=
            tg_recording_get(recording, i, &entry) && entry.record.stage == TG_STAGE_ORCHESTRATION;
    tg_recording_close(recording);
    return count;
}

CONTRACT(a_recording_has_the_arguments_that_the_graph_was_orchestrated_with)
{
    struct tg_device *device = open_device(3, 0);
    for (int runtime = TG_RUNTIME_HOST_BUILD_GRAPH; runtime <= TG_RUNTIME_TENSORMAP_AND_RINGBUFFER;
         runtime++) {
        struct orchestrated o =
            orchestrated_make(device, (enum tg_runtime_kind)runtime,
                              (struct orchestration){RINGS_chain, 4, 0, 8}, NULL);
        char folder[] = "/tmp/taskglass_test_recorded_XXXXXX";
        struct tg_record_config record = {.level = TG_LEVEL_META, .output_dir = mkdtemp(folder)};
        struct tg_run_config config = {.record = &record};
        GOOD(tg_graph_run(o.graph, &config, NULL, error));
        CHECK_EQ_U(orchestration_records(folder), 5); /* a tensor and four scalars */
        orchestrated_destroy(&o);
        remove_recording(folder);
    }
    tg_device_close(device);
}

TEST_MAIN()
