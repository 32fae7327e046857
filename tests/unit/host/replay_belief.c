/* SPDX-License-Identifier: Apache-2.0 */
/* When a verdict on a replayed task need not be repeated on a fresh device. */
#include "host/replay_belief.h"
#include "test.h"

#include <taskglass/guard.h>

static struct tg_replay_beliefs beliefs;

static struct tg_replay_verdict verdict(const char *kernel, uint32_t is, uint32_t argument)
{
    struct tg_replay_verdict v = {.is = is, .output.argument = argument};
    snprintf(v.kernel, sizeof v.kernel, "%s", kernel);
    return v;
}

static void begin(void)
{
    beliefs = (struct tg_replay_beliefs){.lock = PTHREAD_MUTEX_INITIALIZER};
}

static void confirm(const struct tg_replay_verdict *v, int times)
{
    for (int i = 0; i < times; i++)
        tg_replay_confirm(&beliefs, v, v);
}

TEST(only_good_and_open_verdicts_accuse_nobody)
{
    for (uint32_t is = 0; is < TG_REPLAY_WORDS; is++) {
        struct tg_replay_verdict v = verdict("k", is, 0);
        CHECK(tg_replay_accuses(&v) == (is != TG_REPLAY_SAME && is != TG_REPLAY_NOT_KNOWN));
    }
}

TEST(a_verdict_is_believed_after_enough_fresh_devices_have_confirmed_it)
{
    struct tg_replay_verdict v = verdict("k", TG_REPLAY_DIFFERS, 1);
    begin();
    confirm(&v, TG_BELIEVED_AFTER - 1);
    CHECK(!tg_replay_believes(&beliefs, &v));
    tg_replay_confirm(&beliefs, NULL, &v); /* the first device of a lane is fresh too */
    CHECK(tg_replay_believes(&beliefs, &v));
}

TEST(another_kernel_verdict_argument_or_finding_is_not_believed)
{
    struct tg_guard_finding wrote = {.kind = TG_GUARD_WROTE_BEHIND},
                            read = {.kind = TG_GUARD_READ_BEHIND};
    struct tg_replay_verdict v = verdict("k", TG_REPLAY_MISUSE, 1);
    struct tg_replay_verdict others[] = {verdict("l", TG_REPLAY_MISUSE, 1),
                                         verdict("k", TG_REPLAY_DIFFERS, 1),
                                         verdict("k", TG_REPLAY_MISUSE, 2), v};
    begin();
    v.n_findings = 1;
    v.finding = &wrote;
    for (int i = 0; i < 3; i++) {
        others[i].n_findings = 1;
        others[i].finding = &wrote;
    }
    others[3].n_findings = 1;
    others[3].finding = &read;
    confirm(&v, TG_BELIEVED_AFTER);
    CHECK(tg_replay_believes(&beliefs, &v));
    for (int i = 0; i < 4; i++)
        CHECK(!tg_replay_believes(&beliefs, &others[i]));
}

TEST(one_fresh_device_that_says_something_else_ends_the_belief)
{
    struct tg_replay_verdict v = verdict("k", TG_REPLAY_FAULTS, 0);
    struct tg_replay_verdict good = verdict("k", TG_REPLAY_SAME, 0);
    begin();
    confirm(&v, TG_BELIEVED_AFTER);
    tg_replay_confirm(&beliefs, &v, &good);
    CHECK(!tg_replay_believes(&beliefs, &v));
    confirm(&v, 10 * TG_BELIEVED_AFTER);
    CHECK(!tg_replay_believes(&beliefs, &v));
}

TEST(more_verdicts_than_there_is_room_for_are_never_believed)
{
    struct tg_replay_verdict v;
    begin();
    for (uint32_t i = 0; i < TG_MOST_BELIEFS; i++) {
        v = verdict("k", TG_REPLAY_DIFFERS, i);
        confirm(&v, 1);
    }
    v = verdict("l", TG_REPLAY_DIFFERS, 0);
    confirm(&v, 2 * TG_BELIEVED_AFTER);
    CHECK(!tg_replay_believes(&beliefs, &v));
    CHECK_EQ_U(beliefs.count, TG_MOST_BELIEFS);
}

TEST(a_kernel_that_hung_often_is_not_tried_again)
{
    struct tg_replay_verdict v = verdict("k", TG_REPLAY_HANGS, 0);
    begin();
    confirm(&v, TG_MOST_HANGS - 1);
    CHECK(!tg_replay_hangs(&beliefs, "k"));
    confirm(&v, 1);
    CHECK(tg_replay_hangs(&beliefs, "k"));
    CHECK(!tg_replay_hangs(&beliefs, "l"));
}

TEST_MAIN()
