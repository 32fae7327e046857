/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON reader alone: it must end, stay within the input, and give the same result when it
 * skips. */
#define _GNU_SOURCE 1
#include "fuzz/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Calls every function that reads a token. */
static void look_at(const struct tg_pull *pull)
{
    char text[40];
    uint64_t u;
    int64_t i;
    double real;
    if (pull->token == TG_PULL_KEY || pull->token == TG_PULL_STRING)
        HOLDS(tg_pull_text(pull, text, sizeof text) < sizeof text);
    (void)tg_pull_u64(pull, &u);
    (void)tg_pull_i64(pull, &i);
    (void)tg_pull_double(pull, &real);
    HOLDS(pull->depth <= TG_PULL_MAX_DEPTH && pull->at <= pull->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tg_pull pull;
    size_t tokens = 0;
    tg_pull_start(&pull, (const char *)data, size);
    while (tg_pull_next(&pull) > TG_PULL_END) {
        look_at(&pull);
        HOLDS(++tokens <= size);
    }
    bool good = pull.token == TG_PULL_END;
    HOLDS(good || pull.problem);
    (void)tg_pull_line(&pull);

    tg_pull_start(&pull, (const char *)data, size);
    tg_pull_next(&pull);
    HOLDS((tg_pull_skip(&pull) && tg_pull_next(&pull) == TG_PULL_END) == good);
    return 0;
}
