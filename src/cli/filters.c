/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/filters.h"

int cli_take_filter(struct tg_selection *selection, const struct cli_parser *parser)
{
    struct tg_error error;
    const char *name = parser->verb->options[parser->option].name;
    if (tg_selection_add(selection, name, parser->value, &error) == TG_OK)
        return CLI_OK;
    return cli_error("%s", error.text);
}
