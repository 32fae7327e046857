/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what a peer asks for: {"ask": "all"}, {"ask": "status"} or {"ask": ["cores", "waits"]}. The peer may
 * send anything. */
#include "base/json_pull.h"
#include "host/live.h"

#define WORD(constant, number, word, meaning) word,
static const char *const sections_by_number[] = {TG_LIVE_SECTION_MAP(WORD)};
#undef WORD

static bool add_section(const struct tg_pull *pull, uint32_t *sections)
{
    if (tg_pull_is(pull, "status"))
        return true;
    if (tg_pull_is(pull, "all")) {
        *sections |= TG_LIVE_ALL;
        return true;
    }
    for (unsigned i = 0; i < TG_LIVE_SECTIONS; i++)
        if (tg_pull_is(pull, sections_by_number[i])) {
            *sections |= 1u << i;
            return true;
        }
    return false;
}

/* The last token began the value of "ask". */
static bool read_ask(struct tg_pull *pull, uint32_t *sections)
{
    if (pull->token == TG_PULL_STRING)
        return add_section(pull, sections);
    if (pull->token != TG_PULL_BEGIN_ARRAY)
        return false;
    while (tg_pull_next(pull) == TG_PULL_STRING)
        if (!add_section(pull, sections))
            return false;
    return pull->token == TG_PULL_END_ARRAY;
}

/* Members of other names are for later versions of the protocol. */
bool tg_live_parse_request(const char *text, size_t size, uint32_t *sections, const char **problem)
{
    struct tg_pull pull;
    bool asks = false;
    *sections = 0;
    *problem = "a request is one line of JSON: {\"ask\": \"all\"}";
    tg_pull_start(&pull, text, size);
    if (tg_pull_next(&pull) != TG_PULL_BEGIN_OBJECT)
        return false;
    while (tg_pull_next(&pull) == TG_PULL_KEY) {
        bool is_ask = tg_pull_is(&pull, "ask");
        tg_pull_next(&pull);
        if (is_ask && !read_ask(&pull, sections)) {
            *problem =
                "'ask' takes status, all, or a list of recorder, rings, cores, orchestrator, "
                "waits, explain";
            return false;
        }
        if (!is_ask && !tg_pull_skip(&pull))
            return false;
        asks = asks || is_ask;
    }
    return pull.token == TG_PULL_END_OBJECT && tg_pull_next(&pull) == TG_PULL_END && asks;
}
