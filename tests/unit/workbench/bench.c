/* SPDX-License-Identifier: Apache-2.0 */
/* Which runs are served, under which keys, and which of them are open. */
#define _GNU_SOURCE 1
#include "unit/workbench/made.h"

#include <pthread.h>

#include "workbench/clock.h"

static struct tg_workbench *bench;
static struct tg_error error;

/* --- runs in a folder ----------------------------------------------------------------------- */

/* Makes dump_dir/NAME with a recording of one task. */
static void make_run(const char *name)
{
    char path[400];
    struct tg_dump_writer *writer;
    snprintf(path, sizeof path, "%s/%s", dump_dir, name);
    REQUIRE(mkdir(path, 0700) == 0);
    REQUIRE(tg_dump_create(path, TG_LEVEL_META, TG_POLICY_BLOCK, 0, &writer, &error) == TG_OK);
    CHECK_EQ_I(tg_dump_add_kernel(writer, 0, TG_AIV, "add"), TG_OK);
    struct tg_record record = made_record(1, TG_BEFORE_DISPATCH, 10);
    CHECK(tg_dump_append(writer, &record));
    CHECK_EQ_I(tg_dump_finish(writer, &error), TG_OK);
    tg_dump_destroy(writer);
}

static void make_folder(void)
{
    dump_make_dir();
    make_run("one");
    make_run("two");
}

static tg_status open_bench(const char *path, const char *other)
{
    error = (struct tg_error){0};
    return tg_workbench_open(&(struct tg_workbench_config){.path = path, .other = other}, &bench,
                             &error);
}

static const char *in_dir(const char *name)
{
    static char path[2][600];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", dump_dir, name);
    return path[turn];
}

/* Asks, and checks the status and a part of the text. */
static void check(const char *request, int status, const char *part)
{
    struct tg_workbench_answer answer;
    tg_workbench_ask(bench, request, &answer);
    char *text = strndup(answer.part[0].bytes, answer.part[0].size);
    if (!CHECK_EQ_I(answer.status, status) || !CHECK_HAS(text, part))
        fprintf(stderr, "%s: %s\n", request, text);
    free(text);
    tg_workbench_answer_free(&answer);
}

TEST(a_folder_of_runs_has_a_key_for_each)
{
    make_folder();
    REQUIRE(open_bench(dump_dir, NULL) == TG_OK);
    check("runs", 200, "\"key\": \"one\"");
    check("runs", 200, "\"key\": \"two\"");
    check("runs", 200, "\"only\": null");
    check("run?run=two", 200, "\"key\": \"two\"");
    CHECK_EQ_S(tg_workbench_run_path(bench, "one"), in_dir("one"));
    CHECK(!tg_workbench_run_path(bench, "three"));
    tg_workbench_close(bench);
}

TEST(a_request_names_no_path)
{
    make_folder();
    REQUIRE(open_bench(in_dir("one"), NULL) == TG_OK);
    check("run?run=one", 200, "\"key\": \"one\"");
    check("run?run=..%2Ftwo", 404, "there is no run '../two'");
    check("run?run=%2Fetc", 404, "there is no run");
    check("run?run=two", 404, "there is no run 'two'");
    check("run", 400, "needs the parameter 'run'");
    check("nonsense?run=one", 404, "there is no request 'nonsense'");
    tg_workbench_close(bench);
}

TEST(a_run_a_recording_in_it_and_its_files_are_the_same_run)
{
    make_folder();
    static const char *const paths[] = {"one", "one/", "one/tensor_dump",
                                        "one/tensor_dump/tensor_dump.rec"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        REQUIRE(open_bench(in_dir(paths[i]), NULL) == TG_OK);
        check("runs", 200, "\"only\": \"one\"");
        check("timeline?run=one", 200, "TGWC");
        tg_workbench_close(bench);
    }
}

TEST(two_runs_of_the_same_name_have_two_keys)
{
    make_folder();
    REQUIRE(mkdir(in_dir("other"), 0700) == 0);
    make_run("other/one");
    REQUIRE(open_bench(in_dir("one"), in_dir("other/one")) == TG_OK);
    check("runs", 200, "\"compare\": {\"a\": \"one\", \"b\": \"one~2\"}");
    check("run?run=one~2", 200, "other/one");
    tg_workbench_close(bench);
}

TEST(long_names_that_begin_alike_have_keys_of_their_own)
{
    enum { RUNS = 20 };
    char name[272], key[16];
    make_folder();
    for (int i = 0; i < RUNS; i++) { /* a key is shorter than this */
        (void)snprintf(name, sizeof name, "%0*d%02d", 248, 0, i);
        make_run(name);
    }
    REQUIRE(open_bench(dump_dir, NULL) == TG_OK);
    for (int i = 2; i <= RUNS; i++) {
        (void)snprintf(key, sizeof key, "~%d\"", i);
        check("runs", 200, key);
    }
    tg_workbench_close(bench);
}

TEST(edges_are_those_of_the_run_also_if_its_dump_is_a_link)
{
    make_folder();
    dump_write_file(in_dir("one/deps.json"), "{\"tasks\": []}", 13);
    REQUIRE(mkdir(in_dir("three"), 0700) == 0);
    REQUIRE(symlink(in_dir("one/tensor_dump"), in_dir("three/tensor_dump")) == 0);
    REQUIRE(open_bench(dump_dir, NULL) == TG_OK);
    check("edges?run=one", 200, "TGWC");
    check("run?run=three", 200, "\"edges\": \"the run has no deps.json");
    check("edges?run=three", 409, "the run has no deps.json");
    tg_workbench_close(bench);
}

TEST(what_is_no_run_is_refused)
{
    make_folder();
    CHECK_EQ_I(open_bench(in_dir("absent"), NULL), TG_NOT_FOUND);
    CHECK(!bench);
    CHECK_EQ_I(open_bench(in_dir("one"), dump_dir), TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, "is not a run");
    CHECK_EQ_I(open_bench(NULL, in_dir("one")), TG_BAD_ARGUMENT);
    dump_write_file(in_dir("notes.txt"), "hello", 5);
    CHECK_EQ_I(open_bench(in_dir("notes.txt"), NULL), TG_BAD_ARGUMENT);
}

TEST(a_run_that_comes_later_is_found)
{
    make_folder();
    REQUIRE(open_bench(dump_dir, NULL) == TG_OK);
    make_run("three");
    check("run?run=three", 200, "\"key\": \"three\"");
    tg_workbench_close(bench);
}

TEST(a_run_that_was_removed_is_said_to_be)
{
    make_folder();
    REQUIRE(open_bench(dump_dir, NULL) == TG_OK);
    check("runs", 200, "one");
    CHECK_EQ_I(nftw(in_dir("one"), dump_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
    check("run?run=one", 404, "was removed");
    tg_workbench_close(bench);
}

TEST(a_run_of_another_implementation_is_one)
{
    make_folder();
    REQUIRE(mkdir(in_dir("peer"), 0700) == 0 && mkdir(in_dir("peer/args_dump"), 0700) == 0);
    static const char manifest[] = "{\"run_dir\": \"r\", \"bin_file\": \"args.bin\", "
                                   "\"total_entries\": 0, \"entries\": []}";
    dump_write_file(in_dir("peer/args_dump/args_dump.json"), manifest, strlen(manifest));
    REQUIRE(open_bench(dump_dir, NULL) == TG_OK);
    check("runs", 200, "\"key\": \"peer\", \"name\": \"peer\"");
    check("run?run=peer", 200, "\"key\": \"peer\"");
    tg_workbench_close(bench);
}

/* --- what is open --------------------------------------------------------------------------- */

static unsigned count_open(void)
{
    unsigned count = 0;
    for (const struct tg_bench_run *run = bench->first; run; run = run->next)
        count++;
    return count;
}

TEST(few_runs_stay_open_and_those_in_use_do)
{
    char name[16];
    struct tg_bench_run *held, *run;
    dump_make_dir();
    for (int i = 0; i < TG_BENCH_OPEN + 3; i++) {
        snprintf(name, sizeof name, "r%d", i);
        make_run(name);
    }
    REQUIRE(open_bench(dump_dir, NULL) == TG_OK);
    REQUIRE(tg_bench_take(bench, "r0", &held, &error) == TG_OK);
    for (int i = 1; i < TG_BENCH_OPEN + 3; i++) {
        snprintf(name, sizeof name, "r%d", i);
        REQUIRE(tg_bench_take(bench, name, &run, &error) == TG_OK);
        tg_bench_give_back(run);
        CHECK(count_open() <= TG_BENCH_OPEN);
    }
    REQUIRE(tg_bench_take(bench, "r0", &run, &error) == TG_OK);
    CHECK(run == held);
    tg_bench_give_back(run);
    tg_bench_give_back(held);
    tg_workbench_close(bench);
}

TEST(large_runs_that_nobody_uses_are_closed)
{
    struct tg_bench_run *run;
    make_folder();
    REQUIRE(open_bench(dump_dir, NULL) == TG_OK);
    REQUIRE(tg_bench_take(bench, "one", &run, &error) == TG_OK);
    tg_bench_weigh(run, TG_BENCH_MOST);
    tg_bench_give_back(run);
    CHECK_EQ_U(count_open(), 1);
    REQUIRE(tg_bench_take(bench, "two", &run, &error) == TG_OK);
    tg_bench_weigh(run, TG_BENCH_MOST);
    tg_bench_give_back(run);
    CHECK_EQ_U(count_open(), 1); /* that which was used last stays, however large */
    CHECK_EQ_S(bench->first->key, "two");
    tg_workbench_close(bench);
}

/* Lets the workbench look at the files again. */
static void let_time_pass(struct tg_bench_run *run)
{
    pthread_mutex_lock(&bench->lock);
    run->look_at = 0;
    pthread_mutex_unlock(&bench->lock);
}

TEST(a_run_that_grew_is_opened_again_while_its_users_keep_the_old_one)
{
    struct tg_dump_writer *writer = dump_create();
    struct tg_bench_run *old, *new;
    CHECK_EQ_I(tg_dump_add_kernel(writer, 0, TG_AIV, "add"), TG_OK);
    struct tg_record record = made_record(1, TG_BEFORE_DISPATCH, 10);
    CHECK(tg_dump_append(writer, &record) && tg_dump_flush(writer));
    REQUIRE(open_bench(dump_dir, NULL) == TG_OK);
    const char *key = bench->fixed[0]->key;
    REQUIRE(tg_bench_take(bench, key, &old, &error) == TG_OK);
    CHECK_EQ_U(old->info.records, 1);
    record.task_id = 2;
    CHECK(tg_dump_append(writer, &record) && tg_dump_flush(writer));
    REQUIRE(tg_bench_take(bench, key, &new, &error) == TG_OK);
    CHECK(new == old); /* it was looked at less than a second ago */
    tg_bench_give_back(new);
    let_time_pass(old);
    REQUIRE(tg_bench_take(bench, key, &new, &error) == TG_OK);
    CHECK(new != old);
    CHECK_EQ_U(new->info.records, 2);
    CHECK_EQ_U(old->info.records, 1);
    CHECK_EQ_U(new->generation, old->generation + 1);
    tg_bench_give_back(old);
    tg_bench_give_back(new);
    tg_workbench_close(bench);
    tg_dump_destroy(writer);
}

TEST(a_run_that_did_not_change_keeps_its_generation)
{
    struct tg_bench_run *run, *again;
    make_folder();
    REQUIRE(open_bench(in_dir("one"), NULL) == TG_OK);
    REQUIRE(tg_bench_take(bench, "one", &run, &error) == TG_OK);
    let_time_pass(run);
    REQUIRE(tg_bench_take(bench, "one", &again, &error) == TG_OK);
    CHECK(again == run);
    CHECK_EQ_U(again->generation, 1);
    tg_bench_give_back(run);
    tg_bench_give_back(again);
    tg_workbench_close(bench);
}

static void *ask_often(void *context)
{
    static const char *const requests[] = {"runs",
                                           "run?run=one",
                                           "timeline?run=two",
                                           "timeline?run=one",
                                           "task?run=two&task=1",
                                           "records?run=one",
                                           "edges?run=one",
                                           "nonsense"};
    const size_t n = sizeof requests / sizeof requests[0];
    for (size_t i = 0; i < 40; i++) {
        struct tg_workbench_answer answer;
        tg_workbench_ask(bench, requests[(i + (size_t)(uintptr_t)context) % n], &answer);
        CHECK(answer.status > 0 && answer.part[0].size > 0);
        tg_workbench_answer_free(&answer);
    }
    return NULL;
}

TEST(several_threads_ask_at_the_same_time)
{
    pthread_t thread[4];
    make_folder();
    REQUIRE(open_bench(dump_dir, NULL) == TG_OK);
    for (uintptr_t i = 0; i < 4; i++)
        REQUIRE(pthread_create(&thread[i], NULL, ask_often, (void *)(2 * i)) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    check("run?run=one", 200, "\"generation\": 1");
    tg_workbench_close(bench);
}

TEST(nonsense_is_answered)
{
    struct tg_workbench_answer answer;
    tg_workbench_ask(NULL, "runs", &answer);
    CHECK_EQ_I(answer.status, 400);
    tg_workbench_answer_free(&answer);
    tg_workbench_ask(NULL, NULL, NULL);
    tg_workbench_close(NULL);
    CHECK(!tg_workbench_run_path(NULL, NULL));
    CHECK_EQ_I(tg_workbench_open(NULL, &bench, &error), TG_BAD_ARGUMENT);
}

TEST_MAIN()
