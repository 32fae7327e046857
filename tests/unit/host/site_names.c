/* SPDX-License-Identifier: Apache-2.0 */
/* The names of source lines, read from a device that is still writing them. */
#include "host/site_names.h"
#include "common/stream_word.h"
#include "unit/host/graph_fake.h"

enum { AT = 64 << 10, SITES = 128 << 10 };

static struct tg_site_names names;
static char name[TG_SITE_NAME];

static struct tg_orchestrator_report *report(void)
{
    return &((struct tg_orchestration *)(void *)(fake.memory + AT))->report;
}

static struct tg_site *site(uint32_t number)
{
    return (struct tg_site *)(void *)(fake.memory + SITES) + number;
}

static void publish(uint32_t n)
{
    report()->sites_word = tg_word_seal(n);
}

static void begin(void)
{
    tg_site_names_free(&names);
    tg_graph_destroy(fake_graph());
}

static tg_status update(void)
{
    return tg_site_names_update(&names, &fake_device, FAKE_BASE + AT, FAKE_BASE + SITES);
}

static const char *of(uint32_t number)
{
    return tg_site_name(&names, number, name);
}

TEST(a_name_that_is_being_written_is_not_taken)
{
    begin();
    strcpy(site(0)->text, "main.c:1");
    strcpy(site(1)->text, "roo"); /* the device writes "room.c:22" */
    publish(1);
    CHECK_EQ_I(update(), TG_OK);
    CHECK_EQ_S(of(0), "main.c:1");
    CHECK_EQ_S(of(1), "(site 1)");
    strcpy(site(1)->text, "room.c:22");
    publish(2);
    CHECK_EQ_I(update(), TG_OK);
    CHECK_EQ_S(of(1), "room.c:22");
    CHECK_EQ_U(tg_site_names_missing(&names), 0);
}

TEST(a_count_that_was_caught_half_written_is_not_believed)
{
    begin();
    strcpy(site(0)->text, "main.c:1");
    publish(1);
    CHECK_EQ_I(update(), TG_OK);
    strcpy(site(1)->text, "roo");
    report()->sites_word = (tg_word_seal(1) & ~UINT64_C(0xffff)) | (tg_word_seal(2) & 0xffff);
    CHECK_EQ_I(update(), TG_OK);
    CHECK_EQ_U(names.n, 1);
}

TEST(long_paths_that_end_alike_stay_two_sites)
{
    begin();
    memset(site(0)->text, 'a', 127);
    memcpy(site(0)->text, "...", 3);
    *site(1) = *site(0);
    strcpy(site(2)->text, "one.h:7"); /* one line that was compiled twice */
    *site(3) = *site(2);
    publish(4);
    CHECK_EQ_I(update(), TG_OK);
    CHECK_EQ_U(strlen(of(0)), 127);
    CHECK_HAS(of(1), "aaa (site 1)");
    CHECK_EQ_S(of(2), "one.h:7");
    CHECK_EQ_S(of(3), "one.h:7");
}

TEST(sites_without_a_name_are_counted_and_keep_their_numbers)
{
    begin();
    for (uint32_t i = 0; i < TG_MAX_SITES; i++)
        snprintf(site(i)->text, sizeof site(i)->text, "a.c:%u", (unsigned)i);
    publish(TG_MAX_SITES + 3);
    CHECK_EQ_I(update(), TG_OK);
    CHECK_EQ_U(tg_site_names_missing(&names), 3);
    CHECK_EQ_S(of(TG_MAX_SITES - 1), "a.c:2047");
    CHECK_EQ_S(of(TG_MAX_SITES), "(site 2048)");
    CHECK_EQ_S(of(TG_MAX_SITES + 2), "(site 2050)");
    CHECK_EQ_S(of(TG_NUMBERED_SITES), "(other sites)");
    CHECK(!names.others);
    publish(TG_NUMBERED_SITES);
    report()->more_sites = 1;
    CHECK_EQ_I(update(), TG_OK);
    CHECK(names.others);
}

TEST(a_device_that_has_gone_wrong_gives_no_name_away)
{
    begin();
    strcpy(site(0)->text, "main.c:1");
    memset(site(1)->text, 'x', sizeof site(1)->text); /* without its zero */
    publish(2);
    CHECK_EQ_I(update(), TG_OK);
    CHECK_EQ_U(strlen(of(1)), sizeof(struct tg_site) - 1);
    publish(UINT32_MAX);
    CHECK_EQ_I(update(), TG_OK);
    CHECK_EQ_S(of(0), "main.c:1");
    CHECK_EQ_S(of(2), "(site 2)");
    publish(1); /* it never decreases */
    CHECK_EQ_I(update(), TG_OK);
    CHECK_EQ_U(names.n, 2);
    fake.gone = FAKE_BASE + 1;
    CHECK_EQ_I(update(), TG_DEVICE_LOST);
    CHECK_EQ_S(of(0), "main.c:1");
    tg_site_names_free(&names);
}

TEST_MAIN()
