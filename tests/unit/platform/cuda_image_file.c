/* SPDX-License-Identifier: Apache-2.0 */
/* Which image of a file is for a GPU, for archives made here: good, cut and hostile ones. */
#include "platform/cuda/process/image_file.c"
#include "test.h"
#include <stdlib.h>

static char file[4096];
static size_t file_size;

static void begin(void)
{
    memcpy(file, ARMAG, SARMAG);
    file_size = SARMAG;
}

static void add(const char *name, const char *content)
{
    char head[128];
    snprintf(head, sizeof head, "%-16s%-12d%-6d%-6d%-8s%-10zu" ARFMAG, name, 0, 0, 0, "644",
             strlen(content));
    memcpy(file + file_size, head, sizeof(struct ar_hdr));
    file_size += sizeof(struct ar_hdr);
    memcpy(file + file_size, content, strlen(content));
    file_size += strlen(content);
    if (file_size % 2)
        file[file_size++] = '\n';
}

static void make(void)
{
    begin();
    add("sm_80.cubin/", "eighty");
    add("sm_86.cubin/", "eightysix");
    add("sm_90a.cubin/", "ninety");
    add("sm_100f.cubin/", "hundred");
    add("ptx_80.0/", "old");
    add("ptx_120.0/", "new");
    add("ptx_120.1/", "newer");
    add("sm_300.txt/", "no");
    add("sm_.cubin/", "no");
}

static const char *chosen(int capability)
{
    static char text[64];
    struct tg_image_member member;
    enum tg_image_kind kind = tg_image_choose(file, file_size, capability, &member);
    snprintf(text, sizeof text, "%s %d",
             kind == TG_IMAGE_CODE    ? "code"
             : kind == TG_IMAGE_PTX   ? "ptx"
             : kind == TG_IMAGE_NONE  ? "none"
             : kind == TG_IMAGE_ALONE ? "alone"
                                      : "damaged",
             member.capability);
    return text;
}

TEST(an_image_runs_on_its_generation_from_its_own_capability_on)
{
    make();
    CHECK_EQ_S(chosen(75), "none 0");
    CHECK_EQ_S(chosen(80), "code 80");
    CHECK_EQ_S(chosen(86), "code 86");
    CHECK_EQ_S(chosen(89), "code 86");
    CHECK_EQ_S(chosen(100), "code 100");
    CHECK_EQ_S(chosen(103), "code 100");
}

TEST(an_image_of_one_capability_runs_on_no_other)
{
    make();
    CHECK_EQ_S(chosen(90), "code 90");
    begin();
    add("sm_120a.cubin/", "x");
    CHECK_EQ_S(chosen(121), "none 0");
}

TEST(ptx_is_for_gpus_without_an_image)
{
    make();
    CHECK_EQ_S(chosen(110), "ptx 80");
    CHECK_EQ_S(chosen(120), "ptx 120");
    CHECK_EQ_S(chosen(150), "ptx 120");
}

TEST(a_file_that_is_no_archive_is_an_image_by_itself)
{
    begin();
    file[0] = 0x7f;
    CHECK_EQ_S(chosen(90), "alone 0");
    file_size = 0;
    CHECK_EQ_S(chosen(90), "alone 0");
}

TEST(the_list_names_each_image_once)
{
    char text[128], little[8];
    make();
    tg_image_list(file, file_size, text, sizeof text);
    CHECK_EQ_S(text, "8.0, 8.6, 9.0a, 10.0, PTX for 8.0, PTX for 12.0");
    tg_image_list(file, file_size, little, sizeof little);
    CHECK_EQ_S(little, "8.0, 8.");
}

/* In an allocation of its own size, so that sanitizers see a byte outside. */
static void read_all_of(size_t size)
{
    char *copy = malloc(size ? size : 1), text[64];
    struct tg_image_member member;
    size_t at = 0;
    REQUIRE(copy != NULL);
    memcpy(copy, file, size);
    for (int capability = 0; capability < 200; capability += 30)
        if (tg_image_choose(copy, size, capability, &member) == TG_IMAGE_CODE)
            CHECK(member.bytes >= copy && member.size <= size - (size_t)(member.bytes - copy));
    while (tg_image_next(copy, size, &at, &member))
        CHECK(member.bytes >= copy && member.size <= size - (size_t)(member.bytes - copy));
    tg_image_list(copy, size, text, sizeof text);
    free(copy);
}

TEST(an_archive_that_is_cut_is_damaged)
{
    make();
    size_t whole = file_size;
    for (file_size = SARMAG; file_size < whole; file_size++) {
        size_t at = 0;
        struct tg_image_member member;
        while (tg_image_next(file, file_size, &at, &member))
            ;
        CHECK(at >= file_size || strncmp(chosen(90), "damaged", 7) == 0);
        read_all_of(file_size);
    }
}

TEST(random_changes_lead_nowhere_outside)
{
    uint64_t random = 7;
    for (int round = 0; round < 3000; round++) {
        make();
        for (int i = 0; i < 4; i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            file[SARMAG + (random >> 33) % (file_size - SARMAG)] =
                "0123456789 /\xff\0`a"[random >> 60];
        }
        read_all_of(file_size);
    }
}

TEST_MAIN()
