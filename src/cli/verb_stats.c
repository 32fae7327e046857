/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass stats: what the values of each tensor are like. */
#include "cli/stats.h"

#include "cli/cli.h"
#include "cli/filters.h"
#include "cli/options.h"

enum { PAGE = 20 };

/* The first ones are those of a selection, by their names. */
enum { OPTION_LIMIT = 7, OPTION_ALL, OPTION_JSON };
static const struct cli_option options[] = {
    CLI_FILTERS,
    {"index", "NUMBERS", "these records"},
    [OPTION_LIMIT] = {"limit", "N", "show N records at most; default: 20, with --json all"},
    [OPTION_ALL] = {"all", NULL, "show all records"},
    [OPTION_JSON] = {"json", NULL, "the numbers for programs"},
};

static int take_option(struct cli_stats *stats, const struct cli_parser *parser)
{
    switch (parser->option) {
    case OPTION_LIMIT:
        stats->limited = true;
        return cli_take_limit(parser->value, &stats->limit) ? CLI_OK : CLI_USAGE;
    case OPTION_ALL:
        stats->all = true;
        return CLI_OK;
    case OPTION_JSON:
        stats->json = true;
        return CLI_OK;
    default:
        return cli_take_filter(&stats->query, parser);
    }
}

static int take_operand(struct cli_stats *stats, const char *value)
{
    if (stats->dir)
        return cli_error("stats takes one directory; '%s' is one too many", value);
    stats->dir = value;
    return CLI_OK;
}

/* *help: the help was wanted, and printed. */
static int read_options(struct cli *cli, struct cli_stats *stats, bool *help)
{
    struct cli_parser parser;
    enum cli_token token;
    int code = CLI_OK;
    cli_parser_init(&parser, cli, &cli_verb_stats);
    while (code == CLI_OK && (token = cli_parser_next(&parser)) != CLI_END) {
        if (token == CLI_BAD)
            return cli_error("%s", parser.error);
        if (token == CLI_HELP) {
            *help = true;
            return cli_help_verb(&cli_verb_stats, cli->settings);
        }
        code =
            token == CLI_OPTION ? take_option(stats, &parser) : take_operand(stats, parser.value);
    }
    if (code == CLI_OK && stats->all && stats->limited)
        return cli_error("--all and --limit contradict each other");
    if (stats->all || (stats->json && !stats->limited))
        stats->limit = UINT64_MAX;
    return code;
}

/* Scalars, and what the orchestration was given, of which nothing is stored, only where they are
 * asked for. */
static bool is_wanted(const struct tg_query *query, const struct tg_record *record)
{
    if (cli_query_has_index(query))
        return true;
    if (record->kind == TG_KIND_SCALAR)
        return tg_query_has_word(query, "kind", "scalar") ||
               tg_query_has_word(query, "role", "scalar");
    return record->stage != TG_STAGE_ORCHESTRATION || tg_query_has_word(query, "stage", NULL);
}

bool cli_stats_next(const struct cli_stats *stats, uint64_t *index, struct tg_entry *entry)
{
    while (tg_query_next(stats->query, stats->recording, index, entry)) {
        if (is_wanted(stats->query, &entry->record))
            return true;
        ++*index;
    }
    return false;
}

static int open_and_show(struct cli_stats *stats)
{
    struct tg_recording *recording;
    struct tg_recording_info info;
    struct tg_error error;
    if (cli_recording_open(stats->dir, &recording, &error) != TG_OK)
        return cli_fail(&error);
    stats->recording = recording;
    tg_recording_get_info(recording, &info);
    int code = cli_recording_check_index(&info, stats->query);
    if (code == CLI_OK && stats->json)
        cli_stats_print_json(stats);
    else if (code == CLI_OK)
        code = cli_stats_print_table(stats) ? CLI_OK : cli_error("out of memory");
    tg_recording_close(recording);
    return code;
}

static int stats_verb(struct cli *cli)
{
    struct cli_stats stats = {.limit = PAGE};
    bool help = false;
    int code = read_options(cli, &stats, &help);
    if (code == CLI_OK && !help)
        code = open_and_show(&stats);
    tg_query_destroy(stats.query);
    return code;
}

const struct cli_verb cli_verb_stats = {
    .name = "stats",
    .usage = "[DIR] [FILTERS] [--json]",
    .summary = "Show range, mean, NaN, Inf, zeros and denormals of each tensor.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = stats_verb,
};
