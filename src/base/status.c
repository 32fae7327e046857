/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up the table of status.h by number. */
#include <taskglass/status.h>

struct status_row {
    const char *name;
    int exit_code;
    const char *text;
    const char *advice;
};

/* An unknown number is an error for sure, so it gets the exit code of the worst ones. */
static const struct status_row unknown = {"UNKNOWN", 3, "a status this version does not know",
                                          "it may come from a newer version of Taskglass"};

static const struct status_row *status_row(tg_status status)
{
    switch (status) {
#define STATUS_CASE(name, number, exit_code, meaning, advice)                           \
    case TG_##name: {                                                                   \
        static const struct status_row row = {#name, (exit_code), (meaning), (advice)}; \
        return &row;                                                                    \
    }
        TG_STATUS_MAP(STATUS_CASE)
#undef STATUS_CASE
    }
    return &unknown;
}

const char *tg_status_name(tg_status status)
{
    return status_row(status)->name;
}

const char *tg_status_text(tg_status status)
{
    return status_row(status)->text;
}

const char *tg_status_advice(tg_status status)
{
    return status_row(status)->advice;
}

int tg_status_exit_code(tg_status status)
{
    return status_row(status)->exit_code;
}
