/* SPDX-License-Identifier: Apache-2.0 */
/* Where the bytes of a tensor come from. */
#define _GNU_SOURCE 1
#include "unit/recording/made.h"

#include <sys/stat.h>
#include <unistd.h>

#include "analysis/source.h"

enum { X = 0x1000, Y = 0x2000, T = 0x9000 };

static struct made made;
static struct tg_tasks tasks;
static struct tg_sources sources;
static struct tg_source source;
static struct tg_error error;

static void open_made(void)
{
    made_end(&made);
    REQUIRE(tg_tasks_open(made.recording, &tasks, &error) == TG_OK);
    REQUIRE(tg_sources_open(&tasks, &sources, &error) == TG_OK);
    REQUIRE(tg_sources_follow(&sources, &error) == TG_OK);
}

static void done(void)
{
    tg_sources_close(&sources);
    tg_tasks_close(&tasks);
    tg_recording_close(made.recording);
}

/* Records 0 and 1: what the run is given, x and y of four elements. */
static void begin(void)
{
    made_begin(&made);
    made_add(&made, (struct made_record){.orchestration = true, .address = X, VALUES(1, 2, 3, 4)});
    made_add(&made, (struct made_record){
                        .orchestration = true, .arg = 1, .address = Y, VALUES(5, 6, 7, 8)});
}

TEST(an_input_that_no_task_wrote_comes_from_an_argument_of_the_orchestration)
{
    begin();
    made_add(&made, (struct made_record){.address = Y, .start = 1, VALUES(6, 7)});
    open_made();
    REQUIRE(tg_source_of(&sources, 2, &source));
    CHECK_EQ_U(source.kind, TG_SOURCE_OUTSIDE);
    REQUIRE(source.object);
    CHECK_EQ_U(source.object->arg, 1);
    CHECK_EQ_U(source.object->record, 1);
    CHECK_EQ_U(source.row, TG_NO_ROW);
    CHECK_EQ_I(source.offset, 1);
    CHECK_EQ_I(source.low, 1);
    CHECK_EQ_I(source.high, 2);
    done();
}

TEST(an_address_inside_an_object_counts_from_its_beginning)
{
    begin();
    made_add(&made, (struct made_record){.address = X + 8, .start = 1, VALUES(4)});
    made_add(&made, (struct made_record){.arg = 1, .address = X + 16, VALUES(4)});
    open_made();
    REQUIRE(tg_source_of(&sources, 2, &source));
    REQUIRE(source.object);
    CHECK_EQ_U(source.object->arg, 0);
    CHECK_EQ_I(source.offset, 3);
    REQUIRE(tg_source_of(&sources, 3, &source)); /* the byte behind the object is not in it */
    CHECK(!source.object);
    done();
}

TEST(an_input_comes_from_the_task_that_wrote_it_last)
{
    begin();
    made_add(&made, (struct made_record){.task = 1, .after = true, .address = T, VALUES(1, 2)});
    made_add(&made, (struct made_record){.task = 2, .after = true, .address = T, VALUES(3, 4)});
    made_add(&made, (struct made_record){.task = 3, .address = T, VALUES(3, 4)});
    open_made();
    REQUIRE(tg_source_of(&sources, 4, &source));
    CHECK_EQ_U(source.kind, TG_SOURCE_TASKS);
    CHECK_EQ_U(source.n_writers, 1);
    CHECK_EQ_U(tasks.row[source.row].id, 2);
    CHECK_EQ_U(source.record, 3);
    CHECK(!source.object);
    done();
}

TEST(an_input_of_several_origins_names_them_all)
{
    begin();
    made_add(&made, (struct made_record){.task = 1, .after = true, .address = X, VALUES(9)});
    made_add(&made,
             (struct made_record){.task = 2, .after = true, .address = X, .start = 1, VALUES(8)});
    made_add(&made, (struct made_record){.task = 3, .address = X, VALUES(9, 8, 3, 4)});
    open_made();
    REQUIRE(tg_source_of(&sources, 4, &source));
    CHECK_EQ_U(source.kind, TG_SOURCE_MIXED);
    CHECK_EQ_U(source.n_writers, 2);
    REQUIRE(source.object);
    CHECK_EQ_U(source.object->arg, 0);
    done();
}

TEST(a_tensor_without_an_address_has_an_unknown_source)
{
    begin();
    made_add(&made, (struct made_record){VALUES(1)});
    made_add(&made, (struct made_record){.arg = 1, .scalar = "3"});
    open_made();
    REQUIRE(tg_source_of(&sources, 2, &source));
    CHECK_EQ_U(source.kind, TG_SOURCE_UNKNOWN);
    CHECK(!source.object);
    CHECK(!tg_source_of(&sources, 3, &source));
    CHECK(!tg_source_of(&sources, TG_NONE, &source));
    done();
}

TEST(views_are_the_same_if_object_offset_and_shape_are)
{
    begin();
    made_add(&made, (struct made_record){.address = X, .start = 2, VALUES(1)});
    made_add(&made, (struct made_record){.arg = 1, .address = X + 8, VALUES(1)});
    made_add(&made, (struct made_record){.arg = 2, .address = Y, .start = 2, VALUES(1)});
    made_add(&made, (struct made_record){.arg = 3, .address = X, .start = 2, VALUES(1, 2)});
    open_made();
    CHECK(tg_source_same_view(&sources, 2, &sources, 3));
    CHECK(!tg_source_same_view(&sources, 2, &sources, 4));
    CHECK(!tg_source_same_view(&sources, 2, &sources, 5));
    done();
}

/* --- names ------------------------------------------------------------------------------------ */

/* A recording of one input at X, and this run.json beside it. */
static void open_run(const char *run_json)
{
    begin();
    made_add(&made, (struct made_record){.address = X, VALUES(1)});
    made_end(&made);
    made.recording->run_json =
        (struct tg_map){.bytes = (const unsigned char *)run_json, .size = strlen(run_json)};
    REQUIRE(tg_tasks_open(made.recording, &tasks, &error) == TG_OK);
    REQUIRE(tg_sources_open(&tasks, &sources, &error) == TG_OK);
}

TEST(run_json_names_the_arguments)
{
    open_run("{\"a\": [1], \"tensors\": [{\"name\": \"x\", \"arg\": 0, \"dtype\": \"float32\","
             "\"shape\": [4], \"bytes\": 16, \"address\": \"0x1000\"}, 7, {\"name\": \"z\","
             "\"arg\": 2, \"bytes\": 8, \"address\": \"0x7000\"}]}");
    REQUIRE(tg_sources_object(&sources, X));
    CHECK_EQ_S(tg_sources_object(&sources, X)->name, "x");
    REQUIRE(tg_sources_object(&sources, Y));
    CHECK_EQ_S(tg_sources_object(&sources, Y)->name, "");
    REQUIRE(tg_sources_object(&sources, 0x7007));
    CHECK_EQ_S(tg_sources_object(&sources, 0x7007)->name, "z");
    CHECK(!tg_sources_object(&sources, 0x7008));
    done();
}

TEST(a_run_json_that_makes_no_sense_names_nothing)
{
    static const char *const texts[] = {"", "7", "{\"tensors\": 3}", "{\"tensors\": [{\"name\": 4",
                                        "{\"tensors\": [{\"name\": \"q\", \"bytes\": -1}]}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        open_run(texts[i]);
        CHECK_EQ_U(sources.n_objects, 2);
        CHECK_EQ_S(sources.object[0].name, "");
        done();
    }
}

TEST_MAIN()
