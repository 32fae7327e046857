/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of the feeding ring on one thread: an orchestrator's books feed an engine without cores, and
 * the test itself completes tasks. */
static inline void tg_drain_meet(void) {}
#include "device/feed.h"
static inline uint32_t tg_drain_least(uint32_t value)
{
    return value;
}
static inline const struct tg_feed_cell *tg_drain_fetch(const struct tg_feed_cell *cells,
                                                        uint32_t n)
{
    (void)n;
    return cells;
}
#include "platform/cuda/gpu/drain.h"

#include "device/task_ref.h"
#include "orchestrate/feed.h"
#include "test.h"
#include <stdlib.h>

enum { SLOTS = 256, DEPS = 1024, ARGS = 4096 };

static struct {
    struct tg_feed_ring ring;
    struct tg_launch launch;
    struct tg_orchestration o;
    struct tg_task_desc desc[SLOTS], book[SLOTS]; /* the device's and the orchestrator's */
    struct tg_dep dep[DEPS];
    uint32_t done[SLOTS];
    uint64_t queue[TG_CLASSES][SLOTS];
    uint64_t named[SLOTS];
    struct tg_feed_edge edge[DEPS];
    uint64_t args[ARGS], book_args[ARGS];
    uint64_t words[TG_FEED_ANSWER_WORDS + 8];
} memory;

static struct tg_engine *device, *books;
static struct tg_feed feed;
static struct tg_drain drain;
static struct tg_worker_status status[8];
static uint32_t stop, n_entries;

#define ADDRESS(of) ((uint64_t)(uintptr_t)(of))

static struct tg_engine *make_engine(void)
{
    void *place = NULL;
    REQUIRE(posix_memalign(&place, TG_LINE, tg_engine_size(1, 0)) == 0);
    memset(place, 0, tg_engine_size(1, 0));
    return tg_engine_init(place, 3, 0, status);
}

static void begin(void)
{
    memset(&memory, 0, sizeof memory);
    memset(&feed, 0, sizeof feed);
    stop = n_entries = 0;
    memory.o.deps = ADDRESS(memory.dep);
    memory.launch = (struct tg_launch){.edges = TG_EDGES_GROWING,
                                       .n_tasks = SLOTS,
                                       .desc = ADDRESS(memory.desc),
                                       .payload = ADDRESS(memory.args),
                                       .orchestration = ADDRESS(&memory.o),
                                       .done_words = ADDRESS(memory.done)};
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        memory.launch.queue[c] = ADDRESS(memory.queue[c]);
        memory.launch.queue_size[c] = SLOTS;
    }
    device = make_engine();
    tg_engine_prepare(device, &memory.launch, NULL, NULL, "");
    books = make_engine();
    books->desc = memory.book;
    books->payload = (const char *)memory.book_args;
    books->done_words = memory.done;
    books->feed = &feed;
    feed.ring = &memory.ring;
    feed.stop = &stop;
    feed.named = memory.named;
    feed.edge = memory.edge;
    tg_feed_init(&feed);
    tg_drain_begin(&drain, device, &memory.ring, 0, 1);
}

static void end(void)
{
    free(device);
    free(books);
}

static void pump(void)
{
    tg_drain_up_to(&drain, memory.ring.head);
}

/* A task with those arguments and the edges that were named since tg_feed_begin. */
static void submit(uint32_t slot, uint32_t words, bool held)
{
    struct tg_task_desc *desc = &memory.book[slot];
    *desc = (struct tg_task_desc){.id = slot,
                                  .task_class = TG_CLASS_AIV,
                                  .succ = TG_DEP_NONE,
                                  .n_succ = memory.done[slot] + 1,
                                  .fanin = held || feed.n_edges > 1 ? 2 : feed.n_edges,
                                  .pending = feed.n_edges + held};
    tg_feed_task(books, slot, 8 * words, 0);
    tg_feed_begin(&feed);
}

static void after(uint32_t before)
{
    tg_feed_edge(&feed, before, n_entries++ % DEPS);
}

/* The next ready task, or TG_NO_TASK. */
static uint32_t ready(void)
{
    return tg_queue_pop(&device->queue[TG_CLASS_AIV], 1, 1, NULL);
}

static void complete(uint32_t slot)
{
    (void)tg_worker_complete(device, &device->worker[1], slot, false);
    while (tg_deque_pop(&device->worker[1].deque[TG_CLASS_AIV]) != TG_NO_TASK)
        CHECK(false); /* no core takes what it makes ready: the tests look into the queue */
}

/* The core's own deque gets what its task makes ready. */
static uint32_t complete_and_take(uint32_t slot)
{
    (void)tg_worker_complete(device, &device->worker[1], slot, false);
    return tg_deque_pop(&device->worker[1].deque[TG_CLASS_AIV]);
}

static bool is_closed(uint32_t slot)
{
    return tg_task_is_closed(memory.book, memory.done, slot);
}

/* ── tasks and edges ───────────────────────────────────────────────────────────────────── */

TEST(a_task_that_waits_for_nothing_is_offered)
{
    begin();
    submit(3, 0, false);
    pump();
    CHECK_EQ_U(ready(), 3);
    CHECK(!is_closed(3));
    complete(3);
    CHECK(is_closed(3));
    end();
}

TEST(a_task_waits_for_the_task_before_it)
{
    begin();
    submit(0, 0, false);
    after(0);
    submit(1, 0, false);
    pump();
    CHECK_EQ_U(ready(), 0);
    CHECK_EQ_U(ready(), TG_NO_TASK);
    CHECK_EQ_U(complete_and_take(0), 1);
    end();
}

TEST(an_edge_to_a_task_that_has_completed_is_met)
{
    begin();
    submit(0, 0, false);
    pump();
    CHECK_EQ_U(ready(), 0);
    complete(0);
    after(0);
    submit(1, 0, false);
    submit(2, 0, false);
    after(0);
    after(2);
    submit(3, 0, false);
    pump();
    CHECK_EQ_U(ready(), 1);
    CHECK_EQ_U(ready(), 2);
    CHECK_EQ_U(complete_and_take(2), 3);
    end();
}

/* Task 1 waits for the first task of slot 0. That one completes and another gets its slot while the edge
 * is still in the ring. */
TEST(a_slot_that_is_used_again_ends_the_batch)
{
    begin();
    submit(0, 0, false);
    pump();
    CHECK_EQ_U(ready(), 0);
    after(0);
    submit(1, 0, false);
    complete(0);
    submit(0, 0, false);
    CHECK_EQ_U(memory.ring.cell[2].flags, TG_FEED_FENCE);
    pump();
    CHECK_EQ_U(ready(), 1);
    CHECK_EQ_U(ready(), 0);
    CHECK_EQ_U(memory.desc[0].succ, TG_DEP_NONE);
    CHECK(!is_closed(0));
    end();
}

TEST(one_fence_serves_all_edges_before_it)
{
    begin();
    for (uint32_t slot = 0; slot < 3; slot++)
        submit(slot, 0, false);
    pump();
    for (uint32_t slot = 0; slot < 3; slot++)
        after(slot);
    submit(9, 0, false);
    for (uint32_t slot = 0; slot < 3; slot++)
        complete_and_take(slot);
    for (uint32_t slot = 0; slot < 3; slot++)
        submit(slot, 0, false);
    CHECK_EQ_U(memory.ring.cell[4].flags, TG_FEED_FENCE);
    CHECK_EQ_U(memory.ring.cell[5].flags, 0);
    CHECK_EQ_U(memory.ring.cell[6].flags, 0);
    end();
}

TEST(arguments_and_edges_of_many_cells_arrive)
{
    enum { WORDS = 300, EDGES = 100 };
    begin();
    for (uint32_t i = 0; i < WORDS; i++)
        memory.book_args[i] = 1000 + i;
    for (uint32_t i = 0; i < EDGES; i++)
        submit(i, 0, false);
    for (uint32_t i = 0; i < EDGES; i++)
        after(i);
    submit(200, WORDS, false);
    pump();
    for (uint32_t i = 0; i < WORDS; i++)
        CHECK_EQ_U(memory.args[i], 1000 + i);
    CHECK_EQ_U(memory.desc[200].pending, EDGES);
    for (uint32_t i = 0; i < EDGES; i++) {
        CHECK_EQ_U(ready(), i);
        CHECK_EQ_U(complete_and_take(i), i + 1 < EDGES ? TG_NO_TASK : 200);
    }
    end();
}

TEST(a_task_that_its_scope_holds_waits_until_it_is_let_go)
{
    begin();
    submit(0, 0, true);
    submit(1, 0, true);
    after(0);
    tg_feed_late(books, 1); /* tg_depend */
    tg_feed_begin(&feed);
    pump();
    CHECK_EQ_U(ready(), TG_NO_TASK);
    tg_feed_let_go(books, 0);
    tg_feed_let_go(books, 1);
    tg_feed_have_let_go(books);
    pump();
    CHECK_EQ_U(ready(), 0);
    CHECK_EQ_U(ready(), TG_NO_TASK);
    CHECK_EQ_U(complete_and_take(0), 1);
    end();
}

TEST(the_number_of_tasks_ends_the_run)
{
    begin();
    submit(0, 0, false);
    tg_feed_end(books, 1);
    pump();
    CHECK_EQ_U(device->phase, TG_RUNNING);
    CHECK_EQ_U(ready(), 0);
    complete(0);
    CHECK(tg_engine_check_over(device, &device->worker[1]));
    CHECK_EQ_U(device->phase, TG_OVER);
    end();
}

/* ── the ring ──────────────────────────────────────────────────────────────────────────── */

TEST(the_ring_goes_round)
{
    begin();
    for (uint32_t i = 0; i < 3 * TG_FEED_CELLS; i++) {
        submit(i % SLOTS, i % 50, false);
        if (i % 7 != 0)
            continue;
        pump();
        for (uint32_t slot; (slot = ready()) != TG_NO_TASK;)
            complete(slot);
    }
    pump();
    CHECK_EQ_U(memory.ring.taken, feed.head);
    CHECK(feed.head > 3 * TG_FEED_CELLS);
    end();
}

TEST(a_full_ring_that_nobody_drains_ends_the_run)
{
    begin();
    memory.ring.over = 1;
    for (uint32_t i = 0; i < TG_FEED_CELLS; i++)
        tg_feed_fill(books, ADDRESS(memory.words), 8, 0);
    CHECK_EQ_U(books->phase, TG_RUNNING);
    tg_feed_fill(books, ADDRESS(memory.words), 8, 0);
    CHECK_EQ_U(books->phase, TG_STOPPED);
    CHECK_EQ_U(feed.head, TG_FEED_CELLS);
    submit(0, 0, false); /* does nothing */
    CHECK_EQ_U(feed.head, TG_FEED_CELLS);
    end();
}

TEST(a_count_that_cannot_be_is_not_believed)
{
    begin();
    for (uint32_t i = 0; i < TG_FEED_CELLS; i++)
        tg_feed_fill(books, ADDRESS(memory.words), 8, 0);
    memory.ring.taken = feed.head + 1;
    memory.ring.over = 1;
    tg_feed_fill(books, ADDRESS(memory.words), 8, 0);
    CHECK_EQ_U(books->phase, TG_STOPPED);
    CHECK_EQ_U(feed.taken, 0);
    end();
}

TEST(a_run_begins_where_the_last_one_ended)
{
    begin();
    submit(0, 0, false);
    submit(1, 0, false);
    tg_feed_init(&feed); /* the last run was stopped: nobody drains these */
    memory.ring.taken = feed.head;
    tg_drain_begin(&drain, device, &memory.ring, 0, 1);
    submit(2, 0, false);
    pump();
    CHECK_EQ_U(ready(), 2);
    CHECK_EQ_U(ready(), TG_NO_TASK);
    end();
}

/* ── questions and fills ───────────────────────────────────────────────────────────────── */

TEST(memory_is_filled_before_the_tasks_that_follow)
{
    begin();
    tg_feed_fill(books, ADDRESS(memory.words), 64, 0x7ffb7fd3);
    submit(0, 0, false);
    pump();
    CHECK_EQ_U(ready(), 0);
    CHECK_EQ_U(memory.words[7], UINT64_C(0x7ffb7fd37ffb7fd3));
    CHECK_EQ_U(memory.words[8], 0);
    end();
}

/* The answer is there already, so that the question need not wait for another thread. */
static void answer_next(uint64_t word)
{
    memory.ring.answer[0] = word;
    memory.ring.answered = feed.asked + 1;
}

TEST(a_value_is_read_at_any_address)
{
    uint64_t bits = 0;
    begin();
    answer_next(UINT64_C(0x0807060504030201));
    CHECK(tg_feed_read(books, ADDRESS(memory.words) + 2, 2, &bits));
    CHECK_EQ_U(bits, 0x0403);
    CHECK_EQ_U(memory.ring.cell[0].of.ask.address, ADDRESS(memory.words));
    memory.words[0] = 77;
    pump();
    CHECK_EQ_U(memory.ring.answer[0], 77);
    CHECK_EQ_U(memory.ring.answered, 1);
    end();
}

TEST(an_answer_to_another_question_is_none)
{
    uint64_t bits = 0;
    begin();
    answer_next(1);
    memory.ring.answered += 5;
    memory.ring.over = 1;
    CHECK(!tg_feed_read(books, ADDRESS(memory.words), 8, &bits));
    CHECK_EQ_U(bits, 0);
    CHECK_EQ_U(books->phase, TG_STOPPED);
    end();
}

TEST(a_table_is_read_once)
{
    uint64_t base = ADDRESS(memory.words), end_of = ADDRESS(memory.words + TG_FEED_ANSWER_WORDS);
    begin();
    for (uint32_t i = 0; i < TG_FEED_ANSWER_WORDS; i++)
        memory.ring.answer[i] = i;
    memory.ring.answered = feed.asked + 1;
    for (uint32_t i = 0; i < TG_FEED_ANSWER_WORDS; i++)
        CHECK_EQ_U(tg_feed_look(books, TG_INT64, base, i, end_of), i);
    CHECK_EQ_U(tg_feed_look(books, TG_INT4, base, 32, end_of), 2);
    CHECK_EQ_U(tg_feed_look(books, TG_INT32, base + 8, 0, end_of), 1);
    CHECK_EQ_U(feed.asked, 1);
    end();
}

TEST(a_device_whose_workers_sleep_is_still)
{
    begin();
    CHECK(!tg_worker_all_still(device));
    for (uint32_t i = 0; i < device->n_lanes; i++) {
        device->worker[i].park = TG_PARKED;
        device->worker[i].hold = tg_hold_word(i, TG_HOLD_ASLEEP);
    }
    CHECK(tg_worker_all_still(device));
    submit(0, 0, false);
    pump();
    CHECK(!tg_worker_all_still(device));
    end();
}

TEST_MAIN()
