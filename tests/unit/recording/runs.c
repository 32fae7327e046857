/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <taskglass/runs.h>

#include "recording.h"

static const char good_json[] =
    "{\"version\": \"0.1.0\", \"workload\": \"add\", \"case\": \"small\", \"platform\": \"a2a3sim\","
    " \"runtime\": \"r\", \"result\": {\"status\": \"MISMATCH\", \"exit_code\": 1},"
    " \"times\": {\"started\": \"2026-01-02T03:04:05+0100\", \"total_seconds\": 1.5},"
    " \"counters\": {\"tasks\": 7, \"finished\": 6},"
    " \"recorder\": {\"recorded\": 12, \"lost\": {\"full\": 2, \"disk\": 1}}}";

static char made[600];

/* dump_dir/NAME… */
__attribute__((format(printf, 1, 2))) static const char *in(const char *format, ...)
{
    va_list values;
    int used = snprintf(made, sizeof made, "%s/", dump_dir);
    va_start(values, format);
    vsnprintf(made + used, sizeof made - (size_t)used, format, values);
    va_end(values);
    return made;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL);
    fputs(text, file);
    fclose(file);
}

static void make_run(const char *name, const char *json)
{
    REQUIRE(mkdir(in("%s", name), 0700) == 0);
    if (json)
        write_file(in("%s/run.json", name), json);
}

static struct tg_runs_entry only_run(struct tg_runs **runs)
{
    struct tg_runs_entry run = {0}, second;
    REQUIRE(tg_runs_open(dump_dir, runs, &dump_error) == TG_OK);
    REQUIRE(tg_runs_get(*runs, 0, &run));
    CHECK(!tg_runs_get(*runs, 1, &second));
    return run;
}

static int count_runs(void)
{
    struct tg_runs *runs;
    struct tg_runs_entry run;
    int count = 0;
    REQUIRE(tg_runs_open(dump_dir, &runs, &dump_error) == TG_OK);
    while (tg_runs_get(runs, (uint64_t)count, &run))
        count++;
    tg_runs_close(runs);
    return count;
}

TEST(a_run_is_what_its_run_json_says)
{
    struct tg_runs *runs;
    dump_make_dir();
    make_run("one", good_json);
    struct tg_runs_entry run = only_run(&runs);
    CHECK_EQ_S(run.name, "one");
    CHECK_EQ_S(run.workload, "add");
    CHECK_EQ_S(run.case_name, "small");
    CHECK_EQ_S(run.platform, "a2a3sim");
    CHECK_EQ_U(run.state, TG_RECORDING_FINISHED);
    CHECK(run.has_status && run.status == TG_MISMATCH);
    CHECK_EQ_I(run.began, 1767319445); /* 2026-01-02T02:04:05Z */
    CHECK_EQ_U(run.tasks, 7);
    CHECK_EQ_U(run.finished, 6);
    CHECK(run.has_counts && run.recorded);
    CHECK_EQ_U(run.records, 12);
    CHECK_EQ_U(run.lost, 3);
    CHECK(run.bytes > 0);
    tg_runs_close(runs);
}

TEST(the_newest_run_comes_first)
{
    struct tg_runs *runs;
    struct tg_runs_entry run;
    dump_make_dir();
    make_run("b", "{\"workload\": \"x\", \"times\": {\"started\": \"2026-01-02T03:04:05+0000\"}}");
    make_run("a", "{\"workload\": \"x\", \"times\": {\"started\": \"2026-01-02T03:04:06+0000\"}}");
    REQUIRE(tg_runs_open(dump_dir, &runs, &dump_error) == TG_OK);
    REQUIRE(tg_runs_get(runs, 0, &run));
    CHECK_EQ_S(run.name, "a");
    tg_runs_close(runs);
}

TEST(a_run_without_a_result_was_interrupted_unless_it_holds_its_lock)
{
    struct tg_runs *runs;
    dump_make_dir();
    make_run("add_small_20260102_030405", NULL);
    CHECK_EQ_U(only_run(&runs).state, TG_RECORDING_INTERRUPTED);
    tg_runs_close(runs);
    int fd = open(in("add_small_20260102_030405"), O_RDONLY | O_DIRECTORY);
    REQUIRE(fd >= 0 && flock(fd, LOCK_EX) == 0);
    CHECK_EQ_U(only_run(&runs).state, TG_RECORDING_RUNNING);
    tg_runs_close(runs);
    close(fd);
}

TEST(other_directories_files_and_links_are_no_runs)
{
    dump_make_dir();
    make_run("notes", NULL);
    write_file(in("notes/text"), "mine");
    write_file(in("file"), "mine");
    make_run("empty", NULL);
    CHECK_EQ_I(count_runs(), 0);
    make_run("one", good_json);
    REQUIRE(symlink("one", in("latest")) == 0);
    CHECK_EQ_I(count_runs(), 1);
}

TEST(a_broken_run_json_tells_what_comes_before_the_damage)
{
    struct tg_runs *runs;
    dump_make_dir();
    make_run("one", "{\"workload\": \"add\\u001b[31m\", \"result\": {\"status\"");
    struct tg_runs_entry run = only_run(&runs);
    CHECK_EQ_S(run.workload, "add?[31m");
    CHECK(!run.has_status && !run.has_counts);
    CHECK_EQ_U(run.state, TG_RECORDING_UNKNOWN);
    tg_runs_close(runs);
}

TEST(a_pipe_or_a_link_in_place_of_run_json_does_not_block_and_is_not_read)
{
    dump_make_dir();
    make_run("add_small_20260102_030405", NULL);
    REQUIRE(mkfifo(in("add_small_20260102_030405/run.json"), 0600) == 0);
    make_run("add_small_20260102_030406", NULL);
    REQUIRE(symlink("/etc/passwd", in("add_small_20260102_030406/run.json")) == 0);
    CHECK_EQ_I(count_runs(), 0);
    CHECK_EQ_I(tg_runs_remove(in("add_small_20260102_030405"), NULL, &dump_error), TG_BAD_ARGUMENT);
}

TEST(the_directory_of_one_run_is_a_list_of_one)
{
    struct tg_runs *runs;
    struct tg_runs_entry run;
    dump_make_dir();
    write_file(in("run.json"), good_json);
    REQUIRE(tg_runs_open(dump_dir, &runs, &dump_error) == TG_OK);
    REQUIRE(tg_runs_get(runs, 0, &run));
    CHECK_EQ_S(run.path, dump_dir);
    tg_runs_close(runs);
}

TEST(a_missing_directory_is_not_found)
{
    struct tg_runs *runs;
    dump_make_dir();
    CHECK_EQ_I(tg_runs_open(in("none"), &runs, &dump_error), TG_NOT_FOUND);
    CHECK(runs == NULL);
    CHECK_EQ_I(tg_runs_remove(in("none"), NULL, &dump_error), TG_NOT_FOUND);
}

TEST(removing_a_run_removes_its_files_and_its_directory)
{
    struct tg_runs_removed removed;
    dump_make_dir();
    make_run("one", good_json);
    REQUIRE(mkdir(in("one/tensor_dump"), 0700) == 0);
    write_file(in("one/tensor_dump/tensor_dump.bin"), "bytes");
    write_file(in("one/tensor_dump/tensor_dump.json.damaged.2"), "{");
    write_file(in("one/.run.json.tmp"), "{");
    CHECK_EQ_I(tg_runs_remove(in("one"), &removed, &dump_error), TG_OK);
    CHECK_EQ_U(removed.files, 4);
    CHECK_EQ_U(removed.others, 0);
    CHECK(access(in("one"), F_OK) != 0);
}

TEST(what_no_run_writes_stays)
{
    struct tg_runs_removed removed;
    dump_make_dir();
    make_run("one", good_json);
    REQUIRE(mkdir(in("one/tensor_dump"), 0700) == 0);
    write_file(in("one/tensor_dump/mine.npy"), "bytes");
    write_file(in("outside"), "mine");
    REQUIRE(symlink("../../outside", in("one/tensor_dump/tensor_dump.bin")) == 0);
    CHECK_EQ_I(tg_runs_remove(in("one"), &removed, &dump_error), TG_OK);
    CHECK_EQ_U(removed.others, 2);
    CHECK(access(in("one/tensor_dump/mine.npy"), F_OK) == 0);
    CHECK(access(in("outside"), F_OK) == 0);
    CHECK(access(in("one/run.json"), F_OK) != 0);
}

TEST(a_run_at_work_and_a_link_to_a_run_are_not_removed)
{
    dump_make_dir();
    make_run("one", good_json);
    REQUIRE(symlink("one", in("latest")) == 0);
    CHECK_EQ_I(tg_runs_remove(in("latest"), NULL, &dump_error), TG_BAD_ARGUMENT);
    int fd = open(in("one"), O_RDONLY | O_DIRECTORY);
    REQUIRE(fd >= 0 && flock(fd, LOCK_EX) == 0);
    CHECK_EQ_I(tg_runs_remove(in("one"), NULL, &dump_error), TG_BUSY);
    CHECK(access(in("one/run.json"), F_OK) == 0);
    close(fd);
}

TEST(a_directory_that_is_no_run_is_not_removed)
{
    dump_make_dir();
    make_run("empty", NULL);
    CHECK_EQ_I(tg_runs_remove(in("empty"), NULL, &dump_error), TG_BAD_ARGUMENT);
    CHECK(access(in("empty"), F_OK) == 0);
}

/* Other programs write files of these names too. */
TEST(a_run_json_or_deps_json_of_somebody_else_makes_no_run)
{
    static const char *const texts[] = {"{\"name\": \"mine\", \"dependencies\": {}}", "{", "",
                                        "[1]", "{\"workload\": 7}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        dump_make_dir();
        make_run("project", texts[i]);
        write_file(in("project/deps.json"), texts[i]);
        REQUIRE(mkdir(in("project/tensor_dump"), 0700) == 0);
        CHECK_EQ_I(count_runs(), 0);
        CHECK_EQ_I(tg_runs_remove(in("project"), NULL, &dump_error), TG_BAD_ARGUMENT);
        CHECK(access(in("project/run.json"), F_OK) == 0);
        CHECK(access(in("project/deps.json"), F_OK) == 0);
    }
}

TEST(a_run_with_a_damaged_run_json_is_known_by_its_other_files_or_its_name)
{
    dump_make_dir();
    make_run("recorded", "{");
    REQUIRE(mkdir(in("recorded/tensor_dump"), 0700) == 0);
    write_file(in("recorded/tensor_dump/tensor_dump.rec"), "bytes");
    make_run("add_small_20260102_030405", "");
    make_run("built", NULL);
    write_file(in("built/deps.json"), "{\"version\": \"0.1.0\", \"workload\": \"add\"}");
    CHECK_EQ_I(count_runs(), 3);
}

TEST(what_cannot_be_removed_counts_no_bytes)
{
    struct tg_runs_removed removed;
    dump_make_dir();
    make_run("one", good_json);
    if (geteuid() == 0)
        return; /* root may remove everything */
    REQUIRE(chmod(in("one"), 0500) == 0);
    CHECK_EQ_I(tg_runs_remove(in("one"), &removed, &dump_error), TG_IO_ERROR);
    CHECK_EQ_U(removed.files, 0);
    CHECK_EQ_U(removed.bytes, 0);
    REQUIRE(chmod(in("one"), 0700) == 0);
}

TEST(the_socket_of_a_killed_run_is_removed)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    dump_make_dir();
    make_run("one", good_json);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", in("one/live.sock"));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    close(fd);
    CHECK_EQ_I(tg_runs_remove(in("one"), NULL, &dump_error), TG_OK);
    CHECK(access(in("one"), F_OK) != 0);
}

TEST_MAIN()
