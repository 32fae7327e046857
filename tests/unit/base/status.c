/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>
#include <taskglass/status.h>

struct row {
    tg_status status;
    const char *name;
    int exit_code;
};

static const struct row rows[] = {
#define ROW(name, number, exit_code, meaning, advice) {TG_##name, #name, (exit_code)},
    TG_STATUS_MAP(ROW)
#undef ROW
};
enum { ROWS = sizeof rows / sizeof rows[0] };

TEST(every_status_has_its_own_name_and_exit_code)
{
    for (int i = 0; i < ROWS; i++) {
        CHECK_EQ_S(tg_status_name(rows[i].status), rows[i].name);
        CHECK_EQ_I(tg_status_exit_code(rows[i].status), rows[i].exit_code);
    }
}

TEST(every_status_says_what_it_means)
{
    for (int i = 0; i < ROWS; i++) {
        CHECK(tg_status_text(rows[i].status)[0] != '\0');
        CHECK(tg_status_advice(rows[i].status) != NULL);
    }
}

TEST(every_failure_has_advice_that_adds_to_the_message)
{
    for (int i = 0; i < ROWS; i++) {
        const char *advice = tg_status_advice(rows[i].status);
        CHECK_EQ_I(advice[0] != '\0', rows[i].status != TG_OK);
        CHECK(strstr(advice, "as the message says") == NULL);
        for (int k = 0; k < i; k++)
            CHECK(advice[0] == '\0' || strcmp(advice, tg_status_advice(rows[k].status)) != 0);
    }
}

TEST(the_numbers_of_files_and_the_abi_stay)
{
    CHECK_EQ_I(TG_OK, 0);
    CHECK_EQ_I(TG_MISMATCH, -1);
    CHECK_EQ_I(TG_CANCELLED, -11);
    CHECK_EQ_I(TG_WORKLOAD_FAULT, -12);
    CHECK_EQ_I(TG_NOT_TRUSTED, -13);
    CHECK_EQ_I(TG_RACE, -14);
    CHECK_EQ_I(TG_KERNEL_FAULT, -32);
    CHECK_EQ_I(TG_DEVICE_LOST, -34);
    CHECK_EQ_I(TG_RING_BUFFER_BACKPRESSURE, -53);
}

TEST(a_number_that_is_no_status_is_unknown_and_never_good)
{
    int numbers[] = {1, -15, -31, -54, 1000};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        tg_status status = (tg_status)numbers[i];
        CHECK_EQ_S(tg_status_name(status), "UNKNOWN");
        CHECK(tg_status_text(status)[0] != '\0');
        CHECK(tg_status_advice(status) != NULL);
        CHECK_EQ_I(tg_status_exit_code(status), 3);
    }
}

TEST_MAIN()
