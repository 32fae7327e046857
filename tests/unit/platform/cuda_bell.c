/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a run is started on a kernel that stays (platform/cuda/bell.h): the process and the kernel take turns in
 * every order that there is. Each is a small state machine that makes the calls of gpu_turn.c and of stay.h;
 * every state that the two can reach is visited once.
 */
#include "platform/cuda/bell.h"
#include "test.h"
#include <string.h>

enum { RUNS = 4, MOST_STATES = 20000 };

enum process_does { IDLE, RANG, ENDING };
enum kernel_does { NOWHERE, BEGINNING, RUNNING, LISTENING, LEAVING };

/* What of a turn is left to choice. */
enum choice { PROCESS, PROCESS_DISMISSES, PROCESS_STOPS, KERNEL, KERNEL_HAS_WAITED, CHOICES };

struct state {
    struct tg_cuda_words words;
    uint32_t process, run; /* the run that was started last */
    bool there;            /* the process knows of a kernel that may have stayed */
    uint32_t kernel, call;
    uint32_t begun[RUNS + 1], ended[RUNS + 1]; /* how often each run did */
    bool is_stopped, was_stopped;              /* by the process; as the kernel saw */
};

/* ── the process ───────────────────────────────────────────────────────────────────────── */

static void launch(struct state *s)
{
    tg_bell_hang(&s->words, s->run);
    tg_bell_ring(&s->words, s->run, 100 + s->run);
    s->kernel = BEGINNING;
    s->call = tg_bell_call(s->run);
    s->there = true;
    s->process = RANG;
}

/* Waits until no kernel is there, and launches a new one. */
static void start_anew(struct state *s)
{
    tg_bell_dismiss(&s->words);
    if (s->kernel == NOWHERE)
        launch(s);
    else
        s->process = ENDING;
}

static void step_process(struct state *s)
{
    switch (s->process) {
    case IDLE:
        if (s->run == RUNS)
            return;
        s->run++;
        s->is_stopped = s->was_stopped = false;
        tg_bell_allow(&s->words);
        if (s->there && !tg_bell_is_gone(&s->words)) {
            tg_bell_ring(&s->words, s->run, 100 + s->run);
            s->process = RANG;
        } else {
            start_anew(s);
        }
        break;
    case ENDING:
        if (s->kernel == NOWHERE)
            launch(s);
        break;
    case RANG:
        switch (tg_bell_ask(&s->words, s->run)) {
        case TG_BELL_OVER:
            CHECK(!s->was_stopped && s->ended[s->run] == 1);
            s->process = IDLE;
            break;
        case TG_BELL_STOPPED:
            CHECK(s->was_stopped && s->ended[s->run] == 1);
            s->process = IDLE;
            break;
        case TG_BELL_MISSED:
            CHECK_EQ_U(s->begun[s->run], 0);
            start_anew(s);
            break;
        case TG_BELL_RUNS:
            CHECK_EQ_U(s->begun[s->run], 1);
            break;
        case TG_BELL_RINGS:
            CHECK_EQ_U(s->begun[s->run], 0);
            break;
        }
        break;
    }
}

/* ── the kernel ────────────────────────────────────────────────────────────────────────── */

static void step_kernel(struct state *s, bool has_waited)
{
    uint32_t run = s->call / 2;
    switch (s->kernel) {
    case BEGINNING:
        CHECK(run == s->run && s->words.launch == 100 + run);
        s->begun[run]++;
        tg_bell_begin(&s->words, s->call);
        s->kernel = RUNNING;
        break;
    case RUNNING:
        CHECK(s->process != RANG || s->is_stopped == (s->words.stop != 0));
        s->was_stopped = s->words.stop != 0;
        s->ended[run]++;
        tg_bell_end(&s->words, s->call, s->was_stopped);
        s->kernel = LISTENING;
        break;
    case LISTENING:
        switch (tg_bell_listen(&s->words, &s->call)) {
        case TG_BELL_RUN:
            s->kernel = BEGINNING;
            break;
        case TG_BELL_DISMISSED:
            s->kernel = LEAVING;
            break;
        case TG_BELL_SILENT:
            if (has_waited)
                s->kernel = LEAVING;
            break;
        }
        break;
    case LEAVING:
        tg_bell_go(&s->words, s->call);
        s->kernel = NOWHERE;
        break;
    }
}

static void step(struct state *s, enum choice choice)
{
    switch (choice) {
    case PROCESS:
        step_process(s);
        break;
    case PROCESS_DISMISSES: /* the thread that pins memory, also during a run */
        if (s->there)
            tg_bell_dismiss(&s->words);
        break;
    case PROCESS_STOPS:
        if (s->process == RANG)
            s->words.stop = s->is_stopped = true;
        break;
    default:
        step_kernel(s, choice == KERNEL_HAS_WAITED);
        break;
    }
}

/* ── every order ───────────────────────────────────────────────────────────────────────── */

static struct state seen[MOST_STATES];
static size_t n_seen;

/* Zeros, padding included, because states are compared as bytes. */
static struct state *start(struct state *s)
{
    memset(s, 0, sizeof *s);
    return s;
}

static bool is_new(const struct state *s)
{
    for (size_t i = n_seen; i-- > 0;)
        if (memcmp(&seen[i], s, sizeof *s) == 0)
            return false;
    return true;
}

static bool is_done(const struct state *s)
{
    for (uint32_t run = 1; run <= RUNS; run++)
        if (s->begun[run] != 1 || s->ended[run] != 1)
            return false;
    return s->process == IDLE && s->run == RUNS;
}

/* From every state all runs end, if both go on. */
static void check_end(const struct state *from, bool has_waited)
{
    struct state s;
    memcpy(&s, from, sizeof s);
    for (int i = 0; i < 100 * RUNS && !is_done(&s); i++) {
        step(&s, PROCESS);
        step(&s, has_waited ? KERNEL_HAS_WAITED : KERNEL);
    }
    CHECK(is_done(&s));
}

TEST(every_run_is_taken_once_in_whatever_order_bell_and_leaving_come)
{
    start(&seen[0]);
    n_seen = 1;
    for (size_t at = 0; at < n_seen; at++) {
        for (enum choice choice = PROCESS; choice < CHOICES; choice++) {
            struct state next;
            memcpy(&next, &seen[at], sizeof next);
            step(&next, choice);
            if (!is_new(&next))
                continue;
            REQUIRE(n_seen < MOST_STATES);
            memcpy(&seen[n_seen++], &next, sizeof next);
        }
        check_end(&seen[at], false);
        check_end(&seen[at], true);
    }
    CHECK(n_seen > 100);
}

TEST(a_bell_that_is_rung_before_the_kernel_says_that_it_leaves_is_missed_and_not_taken)
{
    struct state s;
    start(&s);
    step(&s, PROCESS);
    for (int i = 0; i < 3; i++)
        step(&s, KERNEL_HAS_WAITED); /* begins, ends, makes up its mind */
    CHECK_EQ_U(s.kernel, LEAVING);
    step(&s, PROCESS); /* sees that the run is over */
    step(&s, PROCESS); /* rings */
    CHECK_EQ_U(s.process, RANG);
    CHECK_EQ_I(tg_bell_ask(&s.words, 2), TG_BELL_RINGS);
    step(&s, KERNEL);
    CHECK_EQ_I(tg_bell_ask(&s.words, 2), TG_BELL_MISSED);
    step(&s, PROCESS);
    CHECK_EQ_U(s.kernel, BEGINNING);
    CHECK_EQ_I(tg_bell_ask(&s.words, 2), TG_BELL_RINGS);
}

TEST(a_kernel_that_stays_takes_the_next_run_and_the_one_after)
{
    struct state s;
    start(&s);
    for (int i = 0; i < 20; i++) {
        step(&s, PROCESS);
        step(&s, KERNEL);
        CHECK(i == 0 || s.kernel != NOWHERE);
    }
    CHECK(is_done(&s));
}

TEST(calls_go_on_when_the_numbers_of_runs_begin_again)
{
    struct tg_cuda_words words;
    uint32_t call = tg_bell_call(UINT32_MAX);
    memset(&words, 0, sizeof words);
    tg_bell_hang(&words, UINT32_MAX);
    tg_bell_ring(&words, UINT32_MAX, 1);
    tg_bell_begin(&words, call);
    tg_bell_end(&words, call, true);
    CHECK_EQ_I(tg_bell_ask(&words, UINT32_MAX), TG_BELL_STOPPED);
    tg_bell_ring(&words, 0, 2);
    CHECK_EQ_I(tg_bell_ask(&words, 0), TG_BELL_RINGS);
    CHECK_EQ_I(tg_bell_listen(&words, &call), TG_BELL_RUN);
    CHECK_EQ_U(call, 0);
}

TEST_MAIN()
