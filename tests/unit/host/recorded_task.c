/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded tasks as a stranger may have written them: what is contradictory is refused with one line that
 * names task and argument, and what is legal but odd is laid out. */
#include "host/recorded_task.h"
#include "recording/reader.h"
#include "test.h"

#include <stdlib.h>

/* The members of a float32 vector of 4 elements, an input at 0x1000. A record adds members to them; of a
 * member that comes twice, the last one counts. */
#define INPUT                                                                             \
    "\"task_id\": \"0x7\", \"func_id\": [0], \"kernel\": [\"k\"], \"arg_index\": 0, "     \
    "\"role\": \"input\", \"stage\": \"before_dispatch\", \"kind\": \"tensor\", "         \
    "\"dtype\": \"float32\", \"shape\": [4], \"strides\": [1], \"start_offset\": 0, "     \
    "\"bin_offset\": 0, \"bin_size\": 16, \"truncated\": false, \"overwritten\": false, " \
    "\"hash\": null, \"data_ptr\": \"0x1000\""
#define OUT "\"role\": \"output\", \"stage\": \"after_completion\", \"data_ptr\": \"0x2000\""
#define ARG(n) "\"arg_index\": " #n
#define SCALAR                                                                                      \
    "\"kind\": \"scalar\", \"dtype\": \"int32\", \"shape\": [], \"strides\": [], \"bin_size\": 0, " \
    "\"value\": 5"

enum { PAYLOAD = 256, MOST = 4 };
static unsigned char payload[PAYLOAD];

/* A recording of these records, each of them members to add to INPUT. */
static struct tg_recording *recording_of(const char *const *records)
{
    static char text[1 << 16];
    struct tg_recording *recording;
    struct tg_error error = {TG_OK, ""};
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "{\"version\": 1, \"level\": \"full\", \"complete\": true, "
                                   "\"bin_file\": \"tensor_dump.bin\", \"tensors\": [");
    for (int i = 0; i < MOST && records[i]; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s{%s%s%s}", i ? ", " : "",
                                 INPUT, *records[i] ? ", " : "", records[i]);
    used += (size_t)snprintf(text + used, sizeof text - used, "]}");
    for (int i = 0; i < PAYLOAD; i++)
        payload[i] = (unsigned char)(i / 16);
    tg_recording_from_memory(text, used, payload, sizeof payload, &recording, &error);
    CHECK_EQ_S(error.text, "");
    return recording;
}

static void refused(const char *const *records, const char *why)
{
    struct tg_recording *recording = recording_of(records);
    struct tg_recorded_task task;
    struct tg_error error = {TG_OK, ""};
    REQUIRE(recording != NULL);
    if (!CHECK(tg_recorded_task_read(recording, 7, 0, &task, &error) != TG_OK))
        fprintf(stderr, "  not refused: %s\n", why);
    CHECK_HAS(error.text, "task 7: ");
    CHECK_HAS(error.text, why);
    tg_recording_close(recording);
}

/* Keeps the recording open, because the task points into it. */
static struct tg_recording *taken(const char *const *records, struct tg_recorded_task *task)
{
    struct tg_recording *recording = recording_of(records);
    struct tg_error error = {TG_OK, ""};
    REQUIRE(recording != NULL);
    CHECK_EQ_I(tg_recorded_task_read(recording, 7, 0, task, &error), TG_OK);
    CHECK_EQ_S(error.text, "");
    return recording;
}

static void done(struct tg_recording *recording, struct tg_recorded_task *task)
{
    tg_recorded_task_free(task);
    tg_recording_close(recording);
}

#define REFUSED(why, ...) refused((const char *const[MOST]){__VA_ARGS__}, why)
#define TAKEN(task, ...) taken((const char *const[MOST]){__VA_ARGS__}, task)

TEST(memory_that_wraps_around_the_address_space_is_refused)
{
    REFUSED("argument 0: its start and strides leave its memory",
            "\"data_ptr\": \"0xfffffffffffffff8\"");
    REFUSED("leave its memory", "\"data_ptr\": \"0xfffffffffffffff0\", \"start_offset\": 1");
    REFUSED("leave its memory", "\"start_offset\": -1");
    REFUSED("leave its memory", "\"strides\": [-1]");
    REFUSED("leave its memory", "\"strides\": [4611686018427387904]");
    REFUSED("leave its memory", "\"start_offset\": 9223372036854775807");
}

TEST(an_argument_has_one_geometry)
{
    REFUSED("argument 0: its records disagree on its shape", "",
            "\"shape\": [16], \"bin_size\": 64");
    REFUSED("disagree on its strides", "", "\"strides\": [2]");
    REFUSED("disagree on its strides", "", "\"start_offset\": 1");
    REFUSED("disagree on its address", "", "\"data_ptr\": \"0x3000\"");
    REFUSED("disagree on its type", "", "\"dtype\": \"int32\"");
    REFUSED("disagree on its role", "", OUT);
    REFUSED("disagree on its kind", "", SCALAR);
    REFUSED(
        "disagree on its shape", "\"role\": \"inout\"",
        "\"role\": \"inout\", \"stage\": \"after_completion\", \"shape\": [16], \"bin_size\": 64");
}

TEST(a_record_that_no_device_makes_is_refused)
{
    REFUSED("argument 0: its shape is not one of a tensor", "\"shape\": [-4]");
    REFUSED("its shape is not one of a tensor", "\"shape\": [1, 1, 1, 1, 1, 1, 1, 1, 4]");
    REFUSED("its shape is not one of a tensor", "\"shape\": [1073741824, 1073741824]");
    REFUSED("its kind is unknown", "\"kind\": \"vector\"");
    REFUSED("its role is unknown", "\"role\": \"both\"");
    REFUSED("its type is unknown", "\"dtype\": \"float33\"");
    REFUSED("stage 'unknown'", "\"stage\": \"between\"");
    REFUSED("stage 'orchestration'", "\"stage\": \"orchestration\"");
    REFUSED("role 'output' contradicts stage 'before_dispatch'", "\"role\": \"output\"");
    REFUSED("role 'input' contradicts stage 'after_completion'", "\"stage\": \"after_completion\"");
    REFUSED("its record says that 17 of its 16 bytes are stored", "\"bin_size\": 17");
    REFUSED("0x1002 is not aligned for elements of 4 bytes", "\"data_ptr\": \"0x1002\"");
    REFUSED("an output cannot have a stride of 0", OUT ", \"strides\": [0]");
    REFUSED("a scalar is an input", SCALAR ", \"role\": \"output\"");
    REFUSED("a scalar is an input", SCALAR ", \"stage\": \"after_completion\"");
}

TEST(arguments_have_numbers_without_gaps_tensors_first)
{
    REFUSED("argument 1 was not recorded", "", ARG(2));
    REFUSED("argument 1 was not recorded", "", SCALAR ", " ARG(2));
    REFUSED("argument 0 is a scalar, but a tensor comes after it", SCALAR, ARG(1));
    REFUSED("argument 32: a task has at most 32 arguments", ARG(32));
    REFUSED("argument 255: a task has at most 32 arguments", ARG(255));
    REFUSED("argument 16: a task has at most 16 tensors and 16 scalars", ARG(16));
    REFUSED("argument 31: a task has at most", "", SCALAR ", " ARG(31));
}

TEST(content_must_be_there_in_full)
{
    REFUSED("argument 0: its content was not recorded; record the run with --dump-tensor=full",
            "\"bin_size\": 0");
    REFUSED("its content was not recorded", "\"bin_size\": 8");
    REFUSED("its content is not in the payload file", "\"bin_offset\": 250");
    REFUSED("its content was overwritten", "\"overwritten\": true");
    REFUSED("its content was cut short", "\"truncated\": true");
    REFUSED("had not finished", "\"partial\": true");
    REFUSED("its content is damaged", "\"hash\": \"0x0000000000000001\"");
    REFUSED("its value was not recorded", SCALAR ", \"value\": \"x\"");
}

TEST(two_records_of_one_argument_must_have_the_same_content)
{
    struct tg_recorded_task task;
    REFUSED("argument 0: it was recorded twice at stage 'before_dispatch', with different contents",
            "", "\"bin_offset\": 16");
    REFUSED("it was recorded twice, with different values", SCALAR, SCALAR ", \"value\": 6");
    struct tg_recording *recording = TAKEN(&task, "", "\"bin_size\": 0", "");
    CHECK(task.n_tensors == 1 && task.tensor[0].before != NULL);
    done(recording, &task);
}

TEST(all_records_of_a_task_name_the_same_kernels)
{
    REFUSED("its records name different kernels", "", ARG(1) ", \"kernel\": [\"other\"]");
    REFUSED("its records name different kernels", "",
            ARG(1) ", \"func_id\": [0, 1], \"kernel\": [\"k\", \"k\"]");
    REFUSED("its kernels have no names", "\"kernel\": [\"\"]");
    REFUSED("its kernels have no names", "\"func_id\": [0, 1]");
}

TEST(memory_is_limited_however_far_views_reach)
{
    REFUSED("is larger than the 67108864 bytes", "\"strides\": [1099511627776]");
    REFUSED("argument 1: with it the arguments take at least 68719476736 bytes", "",
            ARG(1) ", " OUT ", \"shape\": [17179869184], \"bin_size\": 0");
    REFUSED("its address was not recorded", "\"data_ptr\": \"0x0\"");
}

TEST(elements_that_share_memory_must_have_the_same_content)
{
    struct tg_recorded_task task;
    REFUSED("elements that share memory were recorded with different contents", "",
            ARG(1) ", \"bin_offset\": 16");
    REFUSED("different contents", "\"strides\": [0], \"bin_offset\": 8");
    struct tg_recording *recording = TAKEN(&task, "", ARG(1), ARG(2) ", \"strides\": [0]");
    CHECK_EQ_I(task.n_blocks, 1);
    done(recording, &task);
}

TEST(an_address_keeps_its_alignment)
{
    struct tg_recorded_task task;
    struct tg_recording *recording =
        TAKEN(&task, "\"data_ptr\": \"0x10c4\"",
              ARG(1) ", \"dtype\": \"float64\", \"shape\": [2], \"data_ptr\": \"0x10d8\"",
              ARG(2) ", \"data_ptr\": \"0x5008\", " OUT ", \"data_ptr\": \"0x5008\"");
    CHECK_EQ_I(task.n_blocks, 2);
    CHECK_EQ_I(task.tensor[0].offset, 0xc4);
    CHECK_EQ_I(task.tensor[1].offset, 0xd8);
    CHECK_EQ_I(task.tensor[2].offset, 8);
    CHECK_EQ_I(task.tensor[0].block, task.tensor[1].block);
    done(recording, &task);
}

TEST(odd_but_legal_views_are_laid_out)
{
    struct tg_recorded_task task;
    struct tg_recording *recording =
        TAKEN(&task, "\"strides\": [-1], \"start_offset\": 3",
              ARG(1) ", \"dtype\": \"int4\", \"shape\": [3], \"bin_size\": 2, \"bin_offset\": 16, "
                     "\"start_offset\": 1, \"data_ptr\": \"0x2001\"",
              ARG(2) ", \"shape\": [0], \"bin_size\": 0, \"data_ptr\": \"0xffffffffffffffff\"",
              ARG(3) ", " OUT ", \"data_ptr\": \"0x3000\"");
    CHECK_EQ_I(task.n_tensors, 4);
    CHECK_EQ_I(task.n_blocks, 4);
    CHECK_EQ_I(task.block[task.tensor[1].block].size, 1 + 2);
    CHECK_EQ_I((unsigned char)task.block[task.tensor[1].block].image[1], 0x10);
    CHECK_EQ_I((unsigned char)task.block[task.tensor[1].block].image[2], 0x10);
    CHECK_EQ_I(task.tensor[2].bytes, 0);
    done(recording, &task);
}

TEST(what_the_orchestration_read_is_no_argument)
{
    struct tg_recorded_task task;
    struct tg_recording *recording =
        TAKEN(&task, "", SCALAR ", " ARG(1),
              SCALAR ", \"stage\": \"orchestration\", \"read\": true, " ARG(255));
    CHECK_EQ_I(task.n_tensors, 1);
    CHECK_EQ_I(task.n_scalars, 1);
    CHECK_EQ_I(task.scalar[0].bits, 5);
    done(recording, &task);
}

TEST_MAIN()
