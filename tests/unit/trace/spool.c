/* SPDX-License-Identifier: Apache-2.0 */
/* The temporary file that collects the events of a trace. */
#include "test.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "trace/spool.h"

static struct tg_error error;
static char folder[64];

static struct tg_spool *begin(void)
{
    struct tg_spool *spool;
    snprintf(folder, sizeof folder, "/tmp/taskglass_test_spool_XXXXXX");
    REQUIRE(mkdtemp(folder));
    REQUIRE(tg_spool_create(folder, &spool, &error) == TG_OK);
    return spool;
}

static void end(struct tg_spool *spool)
{
    tg_spool_destroy(spool);
    CHECK(rmdir(folder) == 0);
}

TEST(a_spool_gives_back_what_was_added_in_order)
{
    enum { EVENTS = 60000 };
    struct tg_spool *spool = begin();
    struct tg_spool_reader reader;
    bool more;
    char text[40];
    for (uint64_t i = 0; i < EVENTS; i++) {
        tg_spool_add(spool,
                     &(struct tg_spool_event){.type = TG_SPOOL_TASK, .id = i, .begin = 2 * i});
        snprintf(text, sizeof text, "value %u", (unsigned)i);
        tg_spool_add_text(spool, i, i % 2 ? "odd" : "even", text);
    }
    CHECK_EQ_U(tg_spool_count(spool, TG_SPOOL_TASK), EVENTS);
    REQUIRE(tg_spool_read(spool, &reader, &error) == TG_OK);
    for (uint64_t i = 0; i < EVENTS; i++) {
        REQUIRE(tg_spool_next(&reader, &more, &error) == TG_OK && more);
        CHECK_EQ_U(reader.event.id, i);
        CHECK_EQ_U(reader.event.begin, 2 * i);
        REQUIRE(tg_spool_next(&reader, &more, &error) == TG_OK && more);
        CHECK_EQ_U(reader.event.type, TG_SPOOL_TEXT);
        snprintf(text, sizeof text, "value %u", (unsigned)i);
        CHECK_EQ_S(reader.key, i % 2 ? "odd" : "even");
        CHECK_EQ_S(reader.text, text);
    }
    CHECK(tg_spool_next(&reader, &more, &error) == TG_OK && !more);
    tg_spool_reader_end(&reader);
    end(spool);
}

TEST(a_spool_has_no_name_in_its_folder)
{
    struct tg_spool *spool = begin();
    int n = 0;
    DIR *dir = opendir(folder);
    while (dir && readdir(dir))
        n++;
    closedir(dir);
    CHECK_EQ_I(n, 2);
    end(spool);
}

TEST(a_folder_that_does_not_exist_is_one_error)
{
    struct tg_spool *spool;
    CHECK(tg_spool_create("/tmp/taskglass_test_no/folder", &spool, &error) == TG_IO_ERROR);
    CHECK(strstr(error.text, "/tmp/taskglass_test_no/folder"));
}

/* A limit of the file's size stands for a full disk. */
TEST(a_full_disk_is_reported_once_when_the_spool_is_read)
{
    struct tg_spool *spool = begin();
    struct tg_spool_reader reader;
    struct rlimit old, small = {1 << 16, RLIM_INFINITY};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &old) == 0);
    small.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    for (uint64_t i = 0; i < 100000; i++)
        tg_spool_add(spool, &(struct tg_spool_event){.type = TG_SPOOL_TASK, .id = i});
    REQUIRE(setrlimit(RLIMIT_FSIZE, &old) == 0);
    CHECK(tg_spool_read(spool, &reader, &error) == TG_IO_ERROR);
    CHECK(strstr(error.text, folder));
    tg_spool_reader_end(&reader);
    end(spool);
}

TEST_MAIN()
