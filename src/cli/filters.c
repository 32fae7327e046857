/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/filters.h"

tg_status cli_query_add(struct tg_query **query, const char *option, const char *text,
                        struct tg_error *error)
{
    tg_status status = *query ? TG_OK : tg_query_create(query, error);
    return status == TG_OK ? tg_query_add(*query, option, text, error) : status;
}

const char *cli_stage_word(unsigned number)
{
#define STAGE_WORD(constant, number, word, option, part) [number] = (option),
    static const char *const words[] = {TG_STAGE_MAP(STAGE_WORD)};
#undef STAGE_WORD
    return number < sizeof words / sizeof words[0] ? words[number] : NULL;
}

const char *cli_role_word(unsigned number)
{
#define ROLE_WORD(constant, number, word, option) (option),
    static const char *const words[] = {TG_ROLE_MAP(ROLE_WORD) "scalar"};
#undef ROLE_WORD
    return number < sizeof words / sizeof words[0] ? words[number] : NULL;
}

const char *cli_kind_word(unsigned number)
{
#define KIND_WORD(constant, number, word, meaning) [number] = (word),
    static const char *const words[] = {TG_KIND_MAP(KIND_WORD)};
#undef KIND_WORD
    return number < sizeof words / sizeof words[0] ? words[number] : NULL;
}

int cli_take_filter(void *request, const struct cli_option *option, const char *value)
{
    struct tg_query **query = (struct tg_query **)((char *)request + option->member);
    struct tg_error error;
    if (cli_query_add(query, option->name, value, &error) == TG_OK)
        return CLI_OK;
    return cli_error("%s", error.text);
}

bool cli_query_has_index(const struct tg_query *query)
{
    uint64_t first, last;
    return tg_query_get_range(query, "index", 0, &first, &last);
}
