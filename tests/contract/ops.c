/* SPDX-License-Identifier: Apache-2.0 */
/* The ops tables themselves: what every platform must declare. */
#include "contract.h"

TEST(there_is_a_platform_that_this_machine_has)
{
    struct tg_platform_info info;
    uint32_t available = 0;
    for (uint32_t i = 0; tg_platform_get(i, &info); i++)
        available += info.available;
    CHECK(available > 0);
}

TEST(the_number_past_the_last_platform_is_none)
{
    struct tg_platform_info info;
    CHECK(tg_platform_number(tg_platform_count()) == NULL);
    CHECK(tg_platform_number(UINT32_MAX) == NULL);
    CHECK(!tg_platform_get(tg_platform_count(), &info));
}

TEST(platforms_are_found_by_their_own_names_only)
{
    for (uint32_t i = 0; tg_platform_number(i) != NULL; i++)
        CHECK(tg_platform_named(tg_platform_number(i)->name) == tg_platform_number(i));
    CHECK(tg_platform_named("") == NULL);
    CHECK(tg_platform_named("a2a3sim ") == NULL);
    CHECK(tg_platform_named("A2A3SIM") == NULL);
}

CONTRACT(a_table_has_this_librarys_abi_and_size)
{
    CHECK_EQ_U(platform->abi, TG_PLATFORM_ABI);
    CHECK_EQ_U(platform->size, sizeof(struct tg_platform_ops));
}

CONTRACT(a_table_has_every_slot_but_probe_and_map)
{
    CHECK(platform->open != NULL);
    CHECK(platform->close != NULL);
    CHECK(platform->describe != NULL);
    CHECK(platform->alloc != NULL);
    CHECK(platform->free != NULL);
    CHECK(platform->copy_in != NULL);
    CHECK(platform->copy_out != NULL);
    CHECK(platform->load != NULL);
    CHECK(platform->launch != NULL);
    CHECK(platform->poll != NULL);
    CHECK(platform->cancel != NULL);
    CHECK(platform->kill != NULL);
    CHECK(platform->autopsy != NULL);
}

CONTRACT(a_table_has_a_name_a_summary_and_room_for_a_block)
{
    CHECK(platform->name != NULL && platform->name[0] != '\0');
    CHECK(platform->summary != NULL && strchr(platform->summary, '\n') == NULL);
    CHECK(platform->max_blocks > 0);
}

CONTRACT(the_public_description_is_the_tables)
{
    struct tg_platform_info info = {0};
    for (uint32_t i = 0; tg_platform_get(i, &info); i++)
        if (strcmp(info.name, platform->name) == 0)
            break;
    CHECK_EQ_S(info.name, platform->name);
    CHECK_EQ_S(info.summary, platform->summary);
    CHECK_EQ_U(info.max_blocks, platform->max_blocks);
    CHECK_EQ_U(info.max_schedulers, platform->max_schedulers);
    CHECK(platform->map != NULL || !info.host_sees_memory);
}

/* A platform may have the mapping function only for memory that holds recordings. */
CONTRACT(memory_can_be_mapped_exactly_where_the_host_sees_it)
{
    struct tg_device *device = open_device(1, 0);
    struct tg_device_info info;
    uint64_t address = alloc_device(device, 1);
    tg_device_get_info(device, &info);
    CHECK(platform->map != NULL || !info.host_sees_memory);
    CHECK_EQ_I(tg_device_map(device, address, 1) != NULL, info.host_sees_memory);
    tg_device_close(device);
}

TEST_MAIN()
