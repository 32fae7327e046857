/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/new_file.h"

static struct tg_error error;
static char folder[64];

static const char *at(const char *name)
{
    static char path[2][128];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static bool begin_in(const char *place)
{
    snprintf(folder, sizeof folder, "%s/new_file.XXXXXX", place);
    return mkdtemp(folder);
}

static void begin(void)
{
    REQUIRE(begin_in("/tmp"));
}

static int count_files(void)
{
    int n = 0;
    DIR *dir = opendir(folder);
    while (dir && readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

static tg_status put(const char *name, const char *text, bool overwrite, bool keep)
{
    struct tg_new_file *file;
    tg_status status = tg_new_file_open(at(name), overwrite, &file, &error);
    if (status != TG_OK)
        return status;
    fputs(text, tg_new_file_stream(file));
    return tg_new_file_close(file, keep, &error);
}

static void check_text(const char *name, const char *want)
{
    char text[64] = "";
    FILE *file = fopen(at(name), "r");
    if (file) {
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
    }
    CHECK_EQ_S(text, want);
}

static void end(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
}

TEST(a_file_is_overwritten_only_if_the_caller_says_so)
{
    begin();
    CHECK_EQ_I(put("x", "one", false, true), TG_OK);
    CHECK_EQ_I(put("x", "two", false, true), TG_BAD_ARGUMENT);
    CHECK(strstr(error.text, "already exists; --force overwrites it"));
    check_text("x", "one");
    CHECK_EQ_I(put("x", "two", true, true), TG_OK);
    check_text("x", "two");
    CHECK_EQ_I(count_files(), 1);
    end();
}

TEST(a_file_that_is_not_kept_leaves_nothing_and_the_old_one)
{
    begin();
    CHECK_EQ_I(put("x", "one", false, false), TG_OK);
    CHECK_EQ_I(count_files(), 0);
    CHECK_EQ_I(put("x", "one", false, true), TG_OK);
    CHECK_EQ_I(put("x", "two", true, false), TG_OK);
    check_text("x", "one");
    CHECK_EQ_I(count_files(), 1);
    end();
}

static void check_links(const char *place)
{
    struct stat info;
    static const char *const targets[] = {"target", "missing", "/etc/passwd"};
    for (int i = 0; i < 3 && begin_in(place); i++) {
        CHECK_EQ_I(put("target", "mine", false, true), TG_OK);
        REQUIRE(symlink(targets[i], at("x")) == 0);
        CHECK_EQ_I(put("x", "new", false, true), TG_BAD_ARGUMENT);
        CHECK_EQ_I(put("x", "new", true, true), TG_OK);
        REQUIRE(lstat(at("x"), &info) == 0);
        CHECK(S_ISREG(info.st_mode));
        check_text("target", "mine");
        CHECK(access(at("missing"), F_OK) != 0);
        end();
    }
}

TEST(a_link_is_never_followed)
{
    check_links("/tmp");
    check_links("/dev/shm"); /* below /dev, but a folder like any other */
}

TEST(a_name_that_is_taken_meanwhile_is_not_overwritten)
{
    struct tg_new_file *file;
    begin();
    REQUIRE(tg_new_file_open(at("x"), false, &file, &error) == TG_OK);
    CHECK_EQ_I(put("x", "other", false, true), TG_OK);
    CHECK_EQ_I(tg_new_file_close(file, true, &error), TG_BAD_ARGUMENT);
    check_text("x", "other");
    CHECK_EQ_I(count_files(), 1);
    end();
}

TEST(the_mode_is_that_of_the_umask_and_a_device_is_written_as_it_is)
{
    struct tg_new_file *file;
    struct stat info;
    mode_t old = umask(027);
    begin();
    CHECK_EQ_I(put("x", "one", false, true), TG_OK);
    REQUIRE(stat(at("x"), &info) == 0);
    CHECK_EQ_U(info.st_mode & 0777, 0640);
    umask(old);
    REQUIRE(tg_new_file_open("/dev/null", false, &file, &error) == TG_OK);
    CHECK(tg_new_file_name(file) == NULL);
    CHECK_EQ_I(tg_new_file_close(file, true, &error), TG_OK);
    end();
}

TEST(a_pipe_in_place_of_the_file_is_not_waited_for)
{
    struct stat info;
    begin();
    REQUIRE(mkfifo(at("pipe"), 0600) == 0 && symlink("pipe", at("link")) == 0 &&
            symlink("/dev/null", at("null")) == 0);
    CHECK_EQ_I(put("pipe", "new", false, true), TG_BAD_ARGUMENT);
    CHECK_EQ_I(put("link", "new", false, true), TG_BAD_ARGUMENT);
    CHECK_EQ_I(put("null", "new", false, true), TG_BAD_ARGUMENT);
    CHECK_EQ_I(put("link", "new", true, true), TG_OK);
    REQUIRE(lstat(at("link"), &info) == 0);
    CHECK(S_ISREG(info.st_mode));
    CHECK_EQ_I(put("pipe", "new", true, true), TG_OK);
    check_text("pipe", "new");
    end();
}

TEST(a_name_that_is_too_long_is_refused_at_once)
{
    static char path[400];
    struct tg_new_file *file;
    begin();
    snprintf(path, sizeof path, "%s/%0300d", folder, 0);
    for (int i = 0; i < 2; i++)
        CHECK_EQ_I(tg_new_file_open(path, i > 0, &file, &error), TG_IO_ERROR);
    CHECK_EQ_I(count_files(), 0);
    end();
}

TEST(a_folder_that_has_files_is_used_only_if_the_caller_says_so)
{
    bool is_new;
    begin();
    CHECK_EQ_I(tg_new_folder(at("d"), false, &is_new, &error), TG_OK);
    CHECK(is_new);
    CHECK_EQ_I(tg_new_folder(at("d"), false, &is_new, &error), TG_OK);
    CHECK(!is_new);
    CHECK_EQ_I(put("d/x", "one", false, true), TG_OK);
    CHECK_EQ_I(tg_new_folder(at("d"), false, &is_new, &error), TG_BAD_ARGUMENT);
    CHECK_EQ_I(tg_new_folder(at("d"), true, &is_new, &error), TG_OK);
    REQUIRE(symlink("d", at("link")) == 0);
    CHECK_EQ_I(tg_new_folder(at("link"), false, &is_new, &error), TG_BAD_ARGUMENT);
    CHECK_EQ_I(tg_new_folder(at("link"), true, &is_new, &error), TG_OK);
    CHECK(access(at("link/x"), F_OK) != 0);
    end();
}

TEST_MAIN()
