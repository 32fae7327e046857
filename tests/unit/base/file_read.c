/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are read: what is refused, and what happens to those that shrink while they are mapped. */
#define _GNU_SOURCE 1
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"

enum { PAGE = 4096, PAGES = 16 };

static char dir[64];

static void remove_all(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", dir);
    if (system(command) != 0)
        perror(command);
}

static const char *at(const char *name)
{
    static char path[128];
    if (!dir[0]) {
        strcpy(dir, "/tmp/taskglass_test_file_XXXXXX");
        REQUIRE(mkdtemp(dir) != NULL && atexit(remove_all) == 0);
    }
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void put(const char *name, size_t size)
{
    unsigned char *bytes = malloc(size + 1);
    REQUIRE(bytes != NULL);
    memset(bytes, 'x', size);
    int fd = open(at(name), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    REQUIRE(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    close(fd);
    free(bytes);
}

static struct sigaction handler_now(void)
{
    struct sigaction action;
    REQUIRE(sigaction(SIGBUS, NULL, &action) == 0);
    return action;
}

/* --- what is refused ------------------------------------------------------------------------- */

static int cause_of(const char *name)
{
    struct tg_map map;
    int cause = tg_map_open(at(name), TG_LINKS_FOLLOW, &map);
    int loaded = tg_map_load(at(name), 100, &map);
    CHECK_EQ_I(cause, loaded);
    CHECK(map.bytes == NULL && map.size == 0);
    return cause;
}

TEST(what_is_not_a_regular_file_is_refused_without_waiting)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(mkfifo(at("fifo"), 0600) == 0 && mkdir(at("folder"), 0700) == 0);
    REQUIRE(symlink("/dev/zero", at("zero")) == 0 && symlink("loop", at("loop")) == 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", at("socket"));
    REQUIRE(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK_EQ_I(cause_of("fifo"), TG_CAUSE_NOT_REGULAR);
    CHECK_EQ_I(cause_of("zero"), TG_CAUSE_NOT_REGULAR);
    CHECK_EQ_I(cause_of("socket"), TG_CAUSE_NOT_REGULAR);
    CHECK_EQ_I(cause_of("folder"), EISDIR);
    CHECK_EQ_I(cause_of("loop"), ELOOP);
    CHECK_EQ_I(cause_of("nothing"), ENOENT);
    CHECK_EQ_S(tg_cause_text(TG_CAUSE_NOT_REGULAR), "it is not a regular file");
    CHECK_EQ_S(tg_cause_text(ENOENT), strerror(ENOENT));
    close(fd);
}

TEST(links_are_followed_only_where_the_reader_says_so)
{
    struct tg_map map;
    put("target", 5);
    REQUIRE(symlink("target", at("link")) == 0);
    CHECK_EQ_I(tg_map_open(at("link"), TG_LINKS_REFUSE, &map), ELOOP);
    REQUIRE(tg_map_open(at("link"), TG_LINKS_FOLLOW, &map) == 0);
    CHECK_EQ_U(map.size, 5);
    tg_map_close(&map);
}

TEST(a_loaded_file_has_a_limit)
{
    struct tg_map map;
    put("small", 100);
    REQUIRE(tg_map_load(at("small"), 100, &map) == 0);
    CHECK(map.size == 100 && map.bytes[99] == 'x' && tg_map_check(&map) == 0);
    tg_map_close(&map);
    CHECK_EQ_I(tg_map_load(at("small"), 99, &map), TG_CAUSE_TOO_LARGE);
    put("empty", 0);
    CHECK_EQ_I(tg_map_load(at("empty"), 99, &map), 0);
    CHECK_EQ_I(tg_map_open(at("empty"), TG_LINKS_FOLLOW, &map), 0);
    CHECK(map.bytes == NULL && map.size == 0 && tg_map_check(&map) == 0);
    tg_map_close(&map);
}

/* --- files that change ------------------------------------------------------------------------ */

static unsigned sum(const struct tg_map *map)
{
    unsigned n = 0;
    for (size_t i = 0; i < map->size; i++)
        n += ((const volatile unsigned char *)map->bytes)[i] == 'x';
    return n;
}

TEST(a_mapped_file_that_shrinks_reads_as_zeros_and_says_so)
{
    struct tg_map map, other;
    struct tg_error error = {TG_OK, ""};
    put("a", PAGES * PAGE);
    put("b", PAGES * PAGE);
    REQUIRE(tg_map_open(at("a"), TG_LINKS_FOLLOW, &map) == 0);
    REQUIRE(tg_map_open(at("b"), TG_LINKS_FOLLOW, &other) == 0);
    REQUIRE(truncate(at("a"), 2 * PAGE) == 0);
    CHECK_EQ_U(sum(&map), 2 * PAGE);
    CHECK_EQ_U(sum(&other), PAGES * PAGE);
    CHECK_EQ_I(tg_map_check(&map), TG_CAUSE_SHORTER);
    CHECK_EQ_I(tg_map_check(&other), 0);
    CHECK_EQ_I(tg_map_report(&map, "a", &error), TG_IO_ERROR);
    CHECK_EQ_S(error.text, "the file 'a' became shorter while it was read");
    REQUIRE(truncate(at("a"), PAGES * PAGE) == 0);
    CHECK_EQ_I(tg_map_check(&map), TG_CAUSE_SHORTER); /* for good */
    tg_map_close(&map);
    tg_map_close(&other);
}

TEST(a_file_that_shrinks_within_a_page_says_so_too)
{
    struct tg_map map;
    put("c", 300);
    REQUIRE(tg_map_open(at("c"), TG_LINKS_FOLLOW, &map) == 0);
    REQUIRE(truncate(at("c"), 299) == 0);
    CHECK_EQ_I(tg_map_check(&map), TG_CAUSE_SHORTER);
    tg_map_close(&map);
}

TEST(a_file_that_was_cut_and_grew_again_is_not_believed)
{
    struct tg_map map;
    put("d", PAGES * PAGE);
    REQUIRE(tg_map_open(at("d"), TG_LINKS_FOLLOW, &map) == 0);
    REQUIRE(truncate(at("d"), 0) == 0);
    CHECK_EQ_U(sum(&map), 0);
    put("d", PAGES * PAGE);
    CHECK_EQ_I(tg_map_check(&map), TG_CAUSE_CHANGED);
    tg_map_close(&map);
}

TEST(a_file_that_grows_or_is_replaced_keeps_its_bytes)
{
    struct tg_map map;
    put("e", PAGE);
    REQUIRE(tg_map_open(at("e"), TG_LINKS_FOLLOW, &map) == 0);
    REQUIRE(truncate(at("e"), 3 * PAGE) == 0);
    CHECK_EQ_U(map.size, PAGE);
    REQUIRE(unlink(at("e")) == 0);
    put("e", 1);
    CHECK_EQ_U(sum(&map), PAGE);
    CHECK_EQ_I(tg_map_check(&map), 0);
    tg_map_close(&map);
}

static void *sum_in_thread(void *context)
{
    CHECK_EQ_U(sum(context), 0);
    return NULL;
}

TEST(several_threads_may_fault_at_the_same_time)
{
    struct tg_map map;
    pthread_t thread[4];
    put("f", PAGES * PAGE);
    REQUIRE(tg_map_open(at("f"), TG_LINKS_FOLLOW, &map) == 0);
    REQUIRE(truncate(at("f"), 0) == 0);
    for (int i = 0; i < 4; i++)
        REQUIRE(pthread_create(&thread[i], NULL, sum_in_thread, &map) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    CHECK_EQ_I(tg_map_check(&map), TG_CAUSE_SHORTER);
    tg_map_close(&map);
}

/* --- the handler ------------------------------------------------------------------------------ */

TEST(the_former_handler_is_back_when_the_last_map_is_closed)
{
    struct tg_map one, two;
    struct sigaction before = handler_now();
    put("g", 10);
    REQUIRE(tg_map_open(at("g"), TG_LINKS_FOLLOW, &one) == 0);
    REQUIRE(tg_map_open(at("g"), TG_LINKS_FOLLOW, &two) == 0);
    CHECK(handler_now().sa_sigaction != before.sa_sigaction);
    tg_map_close(&one);
    CHECK(handler_now().sa_sigaction != before.sa_sigaction);
    tg_map_close(&two);
    CHECK(handler_now().sa_sigaction == before.sa_sigaction);
}

static sigjmp_buf out;
static volatile sig_atomic_t faults;

static void leave(int number)
{
    (void)number;
    faults++;
    siglongjmp(out, 1);
}

/* A file of the test's own, which no map protects. */
static volatile unsigned char *foreign(const char *name)
{
    put(name, PAGE);
    int fd = open(at(name), O_RDONLY);
    void *bytes = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
    REQUIRE(bytes != MAP_FAILED && truncate(at(name), 0) == 0);
    close(fd);
    return bytes;
}

TEST(a_fault_elsewhere_goes_to_the_former_handler_each_time)
{
    struct sigaction before = handler_now(), action = {.sa_handler = leave};
    struct tg_map map;
    REQUIRE(sigaction(SIGBUS, &action, NULL) == 0);
    volatile unsigned char *bytes = foreign("h");
    put("i", PAGE);
    REQUIRE(tg_map_open(at("i"), TG_LINKS_FOLLOW, &map) == 0);
    faults = 0;
    for (int i = 0; i < 2; i++)
        if (sigsetjmp(out, 1) == 0)
            (void)*bytes;
    CHECK_EQ_I(faults, 2);
    CHECK_EQ_I(tg_map_check(&map), 0);
    tg_map_close(&map);
    CHECK(handler_now().sa_handler == leave);
    sigaction(SIGBUS, &before, NULL);
    munmap((void *)(uintptr_t)bytes, PAGE);
}

/* Runs what must kill the process in a child; returns the signal that did. */
static int dies_by(void (*act)(void))
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGBUS, SIG_DFL); /* a sanitizer's handler would exit instead */
        act();
        _exit(0);
    }
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void fault_elsewhere(void)
{
    struct tg_map map;
    volatile unsigned char *bytes = foreign("j");
    put("k", PAGE);
    if (tg_map_open(at("k"), TG_LINKS_FOLLOW, &map) == 0)
        (void)*bytes;
}

static void send_it(void)
{
    struct tg_map map;
    put("l", PAGE);
    if (tg_map_open(at("l"), TG_LINKS_FOLLOW, &map) == 0)
        raise(SIGBUS);
}

TEST(a_fault_elsewhere_and_a_signal_still_end_the_process)
{
    CHECK_EQ_I(dies_by(fault_elsewhere), SIGBUS);
    CHECK_EQ_I(dies_by(send_it), SIGBUS);
}

/* --- holes ------------------------------------------------------------------------------------ */

TEST(holes_and_zeros_at_the_end_are_not_text)
{
    /* Too large to be read, and small enough for ThreadSanitizer, which has no room for a terabyte
     * where the kernel puts the stack low. */
    const size_t giant = (size_t)64 << 30;
    struct tg_map map;
    put("m", 1000);
    REQUIRE(truncate(at("m"), (off_t)giant) == 0);
    REQUIRE(tg_map_open(at("m"), TG_LINKS_FOLLOW, &map) == 0);
    CHECK_EQ_U(map.size, giant);
    if (tg_map_skip_hole(&map, 1 << 20) == 1 << 20) {
        tg_map_close(&map);
        SKIP("this file system does not tell where holes are");
    }
    CHECK_EQ_U(tg_map_skip_hole(&map, 1 << 20), giant);
    CHECK_EQ_U(tg_map_skip_hole(&map, 10), 10);
    CHECK_EQ_U(tg_map_without_zeros(&map), 1000);
    tg_map_close(&map);
    REQUIRE(tg_map_text(at("m"), &map) == 0);
    CHECK(map.size >= 1000 && map.size < 1 << 20);
    CHECK_EQ_U(map.size + map.left_out, giant);
    tg_map_close(&map);
}

TEST(zeros_that_were_written_are_left_out_of_text_as_well)
{
    static const char zeros[300000];
    struct tg_map map;
    put("n", 5000);
    int fd = open(at("n"), O_WRONLY | O_APPEND);
    REQUIRE(fd >= 0 && write(fd, zeros, sizeof zeros) == (ssize_t)sizeof zeros);
    close(fd);
    REQUIRE(tg_map_text(at("n"), &map) == 0);
    CHECK_EQ_U(tg_map_without_zeros(&map), 5000);
    CHECK_EQ_U(map.size, 5000 + (64 << 10));
    CHECK_EQ_U(map.size + map.left_out, 5000 + sizeof zeros);
    tg_map_close(&map);
}

/* --- what was read ------------------------------------------------------------------------------ */

TEST(bytes_that_were_read_are_still_there)
{
    struct tg_map map;
    unsigned char own[8] = "abcdefg";
    put("o", PAGE);
    REQUIRE(truncate(at("o"), 80 << 20) == 0);
    REQUIRE(tg_map_open(at("o"), TG_LINKS_FOLLOW, &map) == 0);
    const unsigned char first = map.bytes[0];
    CHECK(tg_bytes_equal(map.bytes + PAGE, map.bytes + PAGE + 1, map.size - PAGE - 1));
    tg_bytes_were_read(map.bytes + map.size - 1, SIZE_MAX / 2);
    CHECK(!tg_bytes_equal(map.bytes, map.bytes + PAGE, map.size - PAGE));
    CHECK_EQ_U(map.bytes[0], first);
    CHECK(first != 0 && tg_map_check(&map) == 0);
    tg_map_close(&map);
    tg_bytes_were_read(own, (size_t)1 << 40);
    tg_bytes_were_read(NULL, 0);
    CHECK(tg_bytes_equal(own, "abcdefg", sizeof own));
}

TEST(bytes_that_are_wanted_stay_the_same)
{
    struct tg_map map;
    unsigned char own[8] = "abcdefg";
    put("o", 3 * PAGE);
    REQUIRE(tg_map_open(at("o"), TG_LINKS_FOLLOW, &map) == 0);
    const unsigned char middle = map.bytes[PAGE + 1];
    tg_bytes_are_wanted(map.bytes + PAGE + 1, PAGE);
    CHECK_EQ_U(map.bytes[PAGE + 1], middle);
    CHECK_EQ_I(tg_map_check(&map), 0);
    tg_map_close(&map);
    tg_bytes_are_wanted(own, sizeof own);
    tg_bytes_are_wanted(NULL, 0);
    CHECK_EQ_MEM(own, "abcdefg", sizeof own);
}

TEST_MAIN()
