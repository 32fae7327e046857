/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "unit/recording/recording.h"

#include <taskglass/query.h>

static struct tg_query *query; /* NULL: nothing was added */
static struct tg_error error;

static struct tg_query *made(void)
{
    if (!query)
        REQUIRE(tg_query_create(&query, &error) == TG_OK);
    return query;
}

static void forget(void)
{
    tg_query_destroy(query);
    query = NULL;
}

static void add(const char *option, const char *text)
{
    if (!CHECK_EQ_I(tg_query_add(made(), option, text, &error), TG_OK))
        fprintf(stderr, "    %s\n", error.text);
}

static void refuse(const char *option, const char *text, const char *why)
{
    CHECK_EQ_I(tg_query_add(made(), option, text, &error), TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, why);
    forget();
}

/* True if the selection accepts argument 1 of task 1:2, an output of "mat" and "add", record 7. */
static bool fits(const char *option, const char *text)
{
    struct tg_entry entry = {.record = {.task_id = 0x100000002,
                                        .kernel = {5, 9, TG_NO_KERNEL},
                                        .stage = TG_AFTER_COMPLETION,
                                        .role = TG_OUT,
                                        .arg_index = 1},
                             .kernel = {"mat", "add", NULL}};
    add(option, text);
    bool result = tg_query_matches(query, 7, &entry);
    forget();
    return result;
}

TEST(nothing_asked_for_selects_everything)
{
    struct tg_entry entry = {.record = {.role = TG_IN}};
    CHECK(tg_query_is_empty(query));
    CHECK(tg_query_matches(query, 0, &entry));
}

TEST(a_list_needs_one_item_that_fits)
{
    CHECK(fits("task", "0-5,1:2"));
    CHECK(fits("task", "0x100000000-0x1000000ff"));
    CHECK(!fits("task", "0-5,1:3-1:9,2"));
    CHECK(fits("arg", "0,1"));
    CHECK(!fits("arg", "0,2-9"));
    CHECK(fits("index", "7"));
    CHECK(!fits("index", "0-6,8-100"));
}

TEST(spans_may_overlap_and_come_in_any_order)
{
    CHECK(fits("index", "100-200,5-6,0-7,3-4"));
    CHECK(!fits("index", "100-200,8-9,0-6,3-4"));
}

TEST(kernels_go_by_name_pattern_and_number)
{
    CHECK(fits("kernel", "add"));
    CHECK(fits("kernel", "x,m*"));
    CHECK(fits("kernel", "9"));
    CHECK(!fits("kernel", "ad"));
    CHECK(!fits("kernel", "4294967295"));
}

TEST(stage_role_and_kind_go_by_their_words)
{
    CHECK(fits("stage", "after") && fits("stage", "before,after_completion"));
    CHECK(!fits("stage", "before_dispatch,orchestration"));
    CHECK(fits("role", "out") && fits("role", "in,output") && !fits("role", "inout"));
    CHECK(fits("kind", "tensor") && !fits("kind", "scalar") && !fits("role", "scalar"));
}

TEST(a_scalar_is_an_input_and_a_scalar)
{
    struct tg_entry entry = {.record = {.role = TG_IN, .kind = TG_KIND_SCALAR}};
    add("role", "scalar");
    CHECK(tg_query_matches(query, 0, &entry));
    forget();
    add("role", "in");
    CHECK(tg_query_matches(query, 0, &entry));
    forget();
}

TEST(different_options_must_all_fit_and_the_same_one_adds)
{
    struct tg_entry entry = {.record = {.task_id = 4, .role = TG_IN, .arg_index = 2}};
    add("task", "1");
    add("task", "4");
    add("arg", "2");
    CHECK(tg_query_matches(query, 0, &entry));
    add("role", "out");
    CHECK(!tg_query_matches(query, 0, &entry));
    forget();
}

TEST(what_makes_no_sense_is_named_with_what_would)
{
    refuse("task", "1:", "--task: '1:' is not a valid task; it takes ids (12");
    refuse("task", "", "--task: '' is not a valid task");
    refuse("index", "3-1", "--index: '3-1' is not a valid index");
    refuse("index", "-1", "--index: '-1' is not a valid index");
    refuse("arg", "1,x", "--arg: 'x' is not a valid arg");
    refuse("stage", "never", "--stage: 'never' is not a valid stage; it takes before, after");
    refuse("role", "output,foo", "--role: 'foo' is not a valid role");
    refuse("kind", "tensors", "--kind: 'tensors' is not a valid kind; it takes tensor and scalar");
    refuse("kernel", "a,,b", "--kernel: '' is not a valid kernel");
}

/* Five records, of tasks 0 to 4; `damage` damages the third one. */
static struct tg_recording *record_five(bool damage)
{
    struct tg_dump_writer *writer = dump_create();
    for (uint64_t task = 0; task < 5; task++) {
        struct tg_record record = dump_scalar(task, TG_INT32, task);
        tg_dump_append(writer, &record);
    }
    REQUIRE(tg_dump_finish(writer, &error) == TG_OK);
    tg_dump_destroy(writer);
    if (damage) {
        size_t size;
        char *bytes = dump_read_file(dump_path("tensor_dump.rec"), &size);
        bytes[256 + 2 * TG_JOURNAL_SLOT + 16] ^= 1;
        dump_write_file(dump_path("tensor_dump.rec"), bytes, size);
        free(bytes);
    }
    return dump_open(dump_path("tensor_dump.rec"));
}

static uint64_t sum_of_tasks(const struct tg_recording *recording)
{
    struct tg_entry entry;
    uint64_t sum = 0;
    for (uint64_t i = 0; tg_query_next(query, recording, &i, &entry); i++) {
        sum += 1u << entry.record.task_id;
    }
    return sum;
}

TEST(going_through_a_recording_finds_what_is_selected)
{
    struct tg_recording *recording = record_five(false);
    CHECK_EQ_U(sum_of_tasks(recording), 0x1f);
    add("index", "1-2,4,17");
    CHECK_EQ_U(sum_of_tasks(recording), 0x16);
    add("task", "0-3");
    CHECK_EQ_U(sum_of_tasks(recording), 0x06);
    forget();
    tg_recording_close(recording);
}

TEST(a_damaged_record_is_passed_over)
{
    struct tg_recording *recording = record_five(true);
    CHECK_EQ_U(sum_of_tasks(recording), 0x1b);
    tg_recording_close(recording);
}

TEST(what_was_added_can_be_asked_for)
{
    uint64_t first = 0, last = 0;
    CHECK(!tg_query_get_range(NULL, "task", 0, &first, &last));
    add("task", "1:7,3-5,4-9");
    REQUIRE(tg_query_get_range(query, "task", 0, &first, &last));
    CHECK(first == 3 && last == 9);
    REQUIRE(tg_query_get_range(query, "task", 1, &first, &last));
    CHECK(first == 0x100000007 && last == 0x100000007);
    CHECK(!tg_query_get_range(query, "task", 2, &first, &last));
    CHECK(!tg_query_get_range(query, "index", 0, &first, &last));
    CHECK(!tg_query_get_range(query, "stage", 0, &first, &last));
    CHECK(!tg_query_has_word(query, "role", NULL));
    add("role", "in,scalar");
    CHECK(tg_query_has_word(query, "role", NULL) && tg_query_has_word(query, "role", "scalar"));
    CHECK(!tg_query_has_word(query, "role", "out") && !tg_query_has_word(query, "kind", "scalar"));
    CHECK(!tg_query_has_word(query, "task", NULL));
    forget();
}

TEST_MAIN()
