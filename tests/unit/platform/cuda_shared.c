/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that the host shares with a GPU: the test answers for the GPU's process, which may be wrong, or lie. */
#include "platform/cuda/cuda.c" /* for its functions and for struct tg_cuda */
#include "test.h"
#include <sys/stat.h>

enum { SIZE = 1 << 20, PIECE = 64 << 10 };

static struct tg_cuda c;
static int device; /* the process's end of the socket */

static void begin(void)
{
    int ends[2];
    c = (struct tg_cuda){.process = {.pid = getpid(), .pidfd = -1, .size = SIZE}};
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    c.process.mover = ends[0];
    device = ends[1];
    c.process.memory_fd = memfd_create("shared", MFD_CLOEXEC);
    REQUIRE(c.process.memory_fd >= 0 && ftruncate(c.process.memory_fd, SIZE) == 0);
    c.process.map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, c.process.memory_fd, 0);
    REQUIRE(c.process.map != MAP_FAILED);
    c.process.base = (uint64_t)(uintptr_t)c.process.map;
    REQUIRE(tg_heap_init(&c.process.heap, 0, SIZE));
    pthread_mutex_init(&c.moving, NULL);
}

static void end(void)
{
    pthread_mutex_destroy(&c.moving);
    tg_heap_destroy(&c.process.heap);
    munmap(c.process.map, SIZE);
    close(c.process.memory_fd);
    close(c.process.mover);
    close(device);
}

/* The answer to the next request. It is there already, so that nobody has to wait for it. */
static void answer(tg_status status, uint64_t size)
{
    struct tg_process_message m = {.type = TG_PROCESS_MOVED, .status = status, .size = size};
    REQUIRE(tg_process_send(device, &m) == 0);
}

static struct tg_process_message request_made(void)
{
    struct tg_process_message m;
    REQUIRE(tg_process_receive(device, &m, MSG_DONTWAIT) == 1);
    return m;
}

static uint64_t take(uint64_t bytes)
{
    uint64_t address = 0;
    answer(TG_OK, bytes);
    REQUIRE(alloc_shared(&c, bytes, &address, NULL) == TG_OK);
    CHECK_EQ_U(request_made().type, TG_PROCESS_PIN);
    return address - c.process.base;
}

static uint64_t provided(void)
{
    struct stat is;
    REQUIRE(fstat(c.process.memory_fd, &is) == 0);
    return (uint64_t)is.st_blocks * 512;
}

TEST(an_answer_does_not_say_how_much_memory_is_given_back)
{
    begin();
    uint64_t a = take(PIECE), b = take(PIECE);
    memset(c.process.map + a, 1, PIECE);
    memset(c.process.map + b, 2, PIECE);
    answer(TG_OK, 2 * PIECE);
    unpin(&c, a);
    CHECK_EQ_U(request_made().size, PIECE);
    CHECK_EQ_U(c.process.map[a], 0);
    CHECK_EQ_U(c.process.map[b], 2);
    CHECK_EQ_U(c.process.map[b + PIECE - 1], 2);
    end();
}

/* The process has touched it before the driver refused it. */
TEST(memory_that_cannot_be_registered_goes_back_to_the_system)
{
    uint64_t address = 0;
    begin();
    memset(c.process.map, 1, PIECE);
    answer(TG_NO_MEMORY, PIECE);
    CHECK_EQ_I(alloc_shared(&c, PIECE, &address, NULL), TG_NO_MEMORY);
    CHECK_EQ_U(provided(), 0);
    CHECK_EQ_U(c.process.heap.bytes_free, SIZE);
    end();
}

TEST(memory_that_stays_registered_is_not_handed_out_again)
{
    begin();
    uint64_t a = take(PIECE);
    answer(TG_DEVICE_LOST, PIECE);
    unpin(&c, a);
    (void)request_made();
    CHECK(take(PIECE) != a);
    end();
}

TEST(memory_that_was_freed_is_kept_and_used_again)
{
    uint64_t address = 0;
    begin();
    uint64_t a = take(PIECE);
    CHECK_EQ_I(free_either(&c, c.process.base + a, NULL), TG_OK);
    CHECK_EQ_I(alloc_shared(&c, PIECE / 2, &address, NULL), TG_OK); /* without a request */
    CHECK_EQ_U(address, c.process.base + a);
    CHECK_EQ_I(free_either(&c, address, NULL), TG_OK);
    CHECK_EQ_I(free_either(&c, address, NULL), TG_BAD_ARGUMENT);
    end();
}

TEST_MAIN()
