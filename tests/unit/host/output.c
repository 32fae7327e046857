/* SPDX-License-Identifier: Apache-2.0 */
#include "host/output.h"

#include "test.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* 2001-09-09 01:46:40 UTC. */
enum { SOME_TIME = 1000000000 };

/* Each test works in its own directory, which is removed with its contents. */
static char place[64];

static void enter(void)
{
    strcpy(place, "/tmp/taskglass_test_output_XXXXXX");
    REQUIRE(mkdtemp(place) != NULL);
    REQUIRE(chdir(place) == 0);
    setenv("TZ", "UTC", 1);
}

static void leave(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", place);
    CHECK_EQ_I(chdir("/"), 0);
    CHECK_EQ_I(system(command), 0);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static int entries(const char *path)
{
    int count = -2; /* "." and ".." */
    DIR *dir = opendir(path);
    if (!dir)
        return -1;
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static void touch(const char *path)
{
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL);
    fclose(file);
}

static size_t made; /* by the last call */

static tg_status try_to_create(const char *requested, char **dir, struct tg_run_lock *lock,
                               struct tg_error *error)
{
    struct tg_output_request request = {
        .dir = requested, .workload = "work", .case_name = "case", .now = SOME_TIME};
    return tg_output_create(&request, dir, &made, lock, error);
}

static char *create(const char *requested)
{
    char *dir = NULL;
    struct tg_run_lock lock;
    struct tg_error error = {0};
    if (!CHECK_EQ_I(try_to_create(requested, &dir, &lock, &error), TG_OK))
        fprintf(stderr, "%s\n", error.text);
    tg_run_folder_unlock(&lock);
    return dir;
}

TEST(a_new_directory_is_named_after_workload_case_and_time)
{
    enter();
    char *dir = create("");
    CHECK_EQ_S(dir, "outputs/work_case_20010909_014640");
    CHECK(exists(dir));
    free(dir);
    leave();
}

TEST(a_new_directory_is_empty)
{
    enter();
    char *dir = create("");
    CHECK_EQ_I(entries(dir), 0);
    free(dir);
    leave();
}

TEST(a_name_that_is_taken_gets_the_next_number)
{
    enter();
    char *first = create(""), *second = create(""), *third = create("");
    CHECK_EQ_S(second, "outputs/work_case_20010909_014640_2");
    CHECK_EQ_S(third, "outputs/work_case_20010909_014640_3");
    free(first);
    free(second);
    free(third);
    leave();
}

TEST(a_named_directory_is_made_with_its_parents)
{
    enter();
    char *dir = create("a//b/c/");
    CHECK(exists("a/b/c"));
    CHECK(!exists("outputs"));
    free(dir);
    leave();
}

TEST(a_named_directory_may_be_an_absolute_path)
{
    char path[100];
    enter();
    snprintf(path, sizeof path, "%s/x/y", place);
    char *dir = create(path);
    CHECK_EQ_S(dir, path);
    CHECK(exists("x/y"));
    free(dir);
    leave();
}

TEST(a_named_directory_loses_the_files_of_an_earlier_run_only)
{
    enter();
    REQUIRE(mkdir("mine", 0700) == 0);
    touch("mine/run.json");
    touch("mine/deps.json");
    touch("mine/notes");
    char *dir = create("mine");
    CHECK(!exists("mine/run.json"));
    CHECK(!exists("mine/deps.json"));
    CHECK(exists("mine/notes"));
    free(dir);
    leave();
}

TEST(a_file_in_the_way_is_named)
{
    struct tg_error error = {0};
    struct tg_run_lock lock;
    char *dir = NULL;
    enter();
    touch("outputs");
    CHECK_EQ_I(try_to_create("", &dir, &lock, &error), TG_IO_ERROR);
    CHECK(dir == NULL);
    CHECK_HAS(error.text, "'outputs");
    CHECK_HAS(error.text, strerror(ENOTDIR));
    leave();
}

TEST(a_directory_in_use_is_refused_and_left_as_it_is)
{
    struct tg_error error = {0};
    struct tg_run_lock first, second;
    char *dir = NULL, *other = NULL;
    enter();
    CHECK_EQ_I(try_to_create("mine", &dir, &first, &error), TG_OK);
    touch("mine/run.json");
    touch("mine/.run.json.tmp");
    CHECK_EQ_I(try_to_create("mine", &other, &second, &error), TG_BUSY);
    CHECK_HAS(error.text, "'mine'");
    CHECK(other == NULL && exists("mine/run.json") && exists("mine/.run.json.tmp"));
    tg_run_folder_unlock(&first);
    CHECK_EQ_I(try_to_create("./mine/", &other, &second, &error), TG_OK);
    CHECK(!exists("mine/run.json"));
    tg_run_folder_unlock(&second);
    free(dir);
    free(other);
    leave();
}

/* A reader holds a shared lock for a moment. */
TEST(a_refusal_removes_what_it_made)
{
    char *dir = NULL;
    struct tg_run_lock lock;
    struct tg_error error;
    enter();
    REQUIRE(mkdir("kept", 0700) == 0);
    touch("kept/file");
    char long_name[400] = "kept/a/b/";
    memset(long_name + strlen(long_name), 'x', 300); /* longer than a name may be */
    CHECK_EQ_I(try_to_create(long_name, &dir, &lock, &error), TG_IO_ERROR);
    CHECK_EQ_I(entries("kept"), 1);
    leave();
}

TEST(empty_directories_are_removed_as_far_as_the_run_made_them)
{
    enter();
    REQUIRE(mkdir("kept", 0700) == 0);
    char *dir = create("kept/a//b/c/");
    tg_output_remove(dir, made);
    CHECK_EQ_I(entries("kept"), 0);
    free(dir);
    dir = create("kept/a/b");
    touch("kept/a/file");
    tg_output_remove(dir, made);
    CHECK_EQ_I(entries("kept/a"), 1);
    free(dir);
    dir = create("kept");
    REQUIRE(unlink("kept/a/file") == 0 && rmdir("kept/a") == 0);
    tg_output_remove(dir, made);
    CHECK_EQ_I(entries("kept"), 0);
    free(dir);
    dir = create("");
    tg_output_remove(dir, made);
    CHECK(!exists("outputs"));
    free(dir);
    leave();
}

TEST(a_reader_does_not_keep_a_run_out)
{
    struct tg_error error = {0};
    struct tg_run_lock lock;
    char *dir = NULL;
    enter();
    REQUIRE(mkdir("mine", 0700) == 0);
    int reader = open("mine", O_RDONLY | O_DIRECTORY);
    REQUIRE(flock(reader, LOCK_SH) == 0);
    pid_t child = fork();
    if (child == 0) {
        usleep(100000); /* longer than the parent needs for its first try */
        flock(reader, LOCK_UN);
        _exit(0);
    }
    CHECK_EQ_I(try_to_create("mine", &dir, &lock, &error), TG_OK);
    tg_run_folder_unlock(&lock);
    waitpid(child, NULL, 0);
    close(reader);
    free(dir);
    leave();
}

TEST(a_child_of_the_program_does_not_keep_the_lock)
{
    struct tg_error error = {0};
    struct tg_run_lock lock;
    char *dir = NULL;
    int ends[2];
    enter();
    REQUIRE(pipe(ends) == 0);
    CHECK_EQ_I(try_to_create("mine", &dir, &lock, &error), TG_OK);
    free(dir);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(ends[1]);
        _exit((int)read(ends[0], &byte, 1));
    }
    tg_run_folder_unlock(&lock);
    CHECK_EQ_I(try_to_create("mine", &dir, &lock, &error), TG_OK);
    tg_run_folder_unlock(&lock);
    close(ends[0]);
    close(ends[1]);
    waitpid(child, NULL, 0);
    free(dir);
    leave();
}

TEST(what_a_killed_run_left_is_removed_and_nothing_else)
{
    static const char *const ours[] = {"mine/.run.json.tmp",
                                       "mine/.deps.json.tmp",
                                       "mine/.probe.4242",
                                       "mine/tensor_dump/.tensor_dump.rec.tmp",
                                       "mine/tensor_dump/.tensor_dump.bin.tmp",
                                       "mine/tensor_dump/.tensor_dump.json.tmp",
                                       "mine/scope_stats/.scope_stats.json.tmp",
                                       "mine/scope_stats/.scope_stats.jsonl.tmp"};
    static const char *const others[] = {"mine/.probe.",      "mine/.probe.42x",
                                         "mine/probe.42",     "mine/.mine.json.tmp",
                                         "mine/run.json.tmp", "mine/.tensor_dump.rec.tmp"};
    enter();
    REQUIRE(mkdir("mine", 0700) == 0 && mkdir("mine/tensor_dump", 0700) == 0 &&
            mkdir("mine/scope_stats", 0700) == 0 && mkdir("mine/.probe.7", 0700) == 0);
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        touch(ours[i]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        touch(others[i]);
    free(create("mine"));
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        CHECK(!exists(ours[i]));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        CHECK(exists(others[i]));
    CHECK(exists("mine/.probe.7"));
    leave();
}

static int write_words(FILE *file, void *words)
{
    return fputs(words, file) == EOF ? errno : 0;
}

static int write_half_and_fail(FILE *file, void *words)
{
    fputs(words, file);
    return ENOSPC;
}

TEST(a_file_is_there_with_what_was_written)
{
    char content[16] = "";
    enter();
    CHECK_EQ_I(tg_output_write(".", "f", write_words, "words", NULL), TG_OK);
    FILE *file = fopen("f", "r");
    REQUIRE(file != NULL);
    CHECK(fgets(content, sizeof content, file) != NULL);
    fclose(file);
    CHECK_EQ_S(content, "words");
    CHECK_EQ_I(entries("."), 1);
    leave();
}

TEST(a_file_that_could_not_be_written_is_not_there_in_part)
{
    struct tg_error error = {0};
    enter();
    CHECK_EQ_I(tg_output_write(".", "f", write_half_and_fail, "words", &error), TG_IO_ERROR);
    CHECK_EQ_I(entries("."), 0);
    CHECK_HAS(error.text, "'f'");
    CHECK_HAS(error.text, strerror(ENOSPC));
    leave();
}

TEST(a_file_that_could_not_be_written_leaves_the_older_one)
{
    enter();
    touch("f");
    CHECK_EQ_I(tg_output_write(".", "f", write_half_and_fail, "words", NULL), TG_IO_ERROR);
    CHECK(exists("f"));
    leave();
}

TEST(a_directory_that_is_gone_is_named)
{
    struct tg_error error = {0};
    enter();
    CHECK_EQ_I(tg_output_write("gone", "f", write_words, "words", &error), TG_IO_ERROR);
    CHECK_HAS(error.text, "gone/f");
    leave();
}

TEST_MAIN()
