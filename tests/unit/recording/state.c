/* SPDX-License-Identifier: Apache-2.0 */
/* How the run that wrote a recording ended, as the recording says it. */
#define _GNU_SOURCE 1
#include "unit/recording/recording.h"

static const char *state_at(const char *path)
{
    struct tg_recording *recording = dump_open(path);
    const char *state = tg_recording_state_name(dump_info(recording).state);
    tg_recording_close(recording);
    return state;
}

static struct tg_dump_writer *one_tensor(void)
{
    struct tg_dump_writer *writer = dump_create();
    CHECK(dump_add_tensor(writer, 0, 4));
    CHECK(tg_dump_flush(writer));
    return writer;
}

static void write_run_json(const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/run.json", dump_dir);
    dump_write_file(path, text, strlen(text));
}

TEST(a_recording_runs_until_its_writer_finishes_or_dies)
{
    struct tg_dump_writer *writer = one_tensor();
    CHECK_EQ_S(state_at(dump_dir), "running");
    tg_dump_destroy(writer); /* as a killed process leaves it */
    CHECK_EQ_S(state_at(dump_dir), "interrupted");
}

TEST(a_recording_says_how_its_run_ended)
{
    static const struct {
        tg_status status;
        const char *state;
    } ends[] = {{TG_OK, "finished"},
                {TG_RING_BUFFER_BACKPRESSURE, "finished"},
                {TG_CANCELLED, "cancelled"},
                {TG_HANG, "failed"},
                {TG_KERNEL_FAULT, "failed"}};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct tg_dump_writer *writer = one_tensor();
        tg_dump_set_result(writer, ends[i].status);
        CHECK_EQ_I(tg_dump_finish(writer, &dump_error), TG_OK);
        tg_dump_destroy(writer);
        CHECK_EQ_S(state_at(dump_dir), ends[i].state);
        CHECK_EQ_S(state_at(dump_path("tensor_dump.json")), ends[i].state);
    }
}

TEST(an_older_recording_takes_its_state_from_run_json)
{
    dump_make(1, 4); /* sets no result, as older versions */
    CHECK_EQ_S(state_at(dump_dir), "finished");
    write_run_json("{\"version\": 1, \"result\": {\"status\": \"CANCELLED\", \"exit_code\": 3}}");
    CHECK_EQ_S(state_at(dump_dir), "cancelled");
    write_run_json("{\"result\": {\"status\": \"HANG\"}, \"x\": [");
    CHECK_EQ_S(state_at(dump_dir), "failed");
    write_run_json("{\"result\": {\"status\": \"NONSENSE\"}}");
    CHECK_EQ_S(state_at(dump_dir), "finished");
    write_run_json("[[[[");
    CHECK_EQ_S(state_at(dump_dir), "finished");
}

TEST(every_state_has_its_word)
{
    for (unsigned i = 0; i < TG_RECORDING_STATES; i++)
        for (unsigned j = 0; j < i; j++)
            CHECK(strcmp(tg_recording_state_name(i), tg_recording_state_name(j)) != 0);
    CHECK_EQ_S(tg_recording_state_name(TG_RECORDING_STATES), "unknown");
}

TEST_MAIN()
