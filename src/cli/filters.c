/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/filters.h"

tg_status cli_query_add(struct tg_query **query, const char *option, const char *text,
                        struct tg_error *error)
{
    tg_status status = *query ? TG_OK : tg_query_create(query, error);
    return status == TG_OK ? tg_query_add(*query, option, text, error) : status;
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
