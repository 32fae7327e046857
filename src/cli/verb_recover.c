/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass recover: makes a readable recording from what a killed host or a damaged disk left. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <taskglass/json.h>
#include <taskglass/recover.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/print.h"
#include "cli/recording.h"
#include "cli/voice.h"

struct request {
    const char *path;
    struct cli_count rank;
    bool json;
};

static const struct cli_option options[] = {
    CLI_RANK(struct request, rank),
    CLI_JSON(struct request, json, "print the result for programs"),
};

static void print_json(const char *path, const struct tg_recovery *recovered)
{
    struct tg_json json;
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    tg_json_key(&json, "path");
    tg_json_string(&json, path);
    tg_json_key(&json, "was_complete");
    tg_json_bool(&json, recovered->was_complete);
    tg_json_put_uint(&json, "records", recovered->records);
    tg_json_key(&json, "lost");
    if (recovered->was_complete)
        tg_json_uint(&json, recovered->lost);
    else
        tg_json_null(&json);
    tg_json_put_uint(&json, "truncated", recovered->truncated);
    tg_json_put_uint(&json, "damaged", recovered->damaged);
    tg_json_put_uint(&json, "from_manifest", recovered->from_manifest);
    tg_json_put_bool(&json, "kept_manifest", recovered->kept_manifest);
    tg_json_put_bool(&json, "lacks_payload", recovered->lacks_payload);
    tg_json_put_uint(&json, "put_aside", recovered->put_aside);
    tg_json_put_uint(&json, "payload_bytes", recovered->payload_bytes);
    tg_json_put_uint(&json, "cut_bytes", recovered->cut_bytes);
    tg_json_put_uint(&json, "zero_bytes", recovered->zero_bytes);
    tg_json_put_uint(&json, "bad_bytes", recovered->bad_bytes);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json); /* main reports errors of stdout */
}

static void print_damage(const struct tg_recovery *recovered)
{
    struct cli_text text;
    if (recovered->bad_bytes > 0)
        cli_print("  the journal is damaged in %s; it was left as it is\n",
                  cli_format_bytes(&text, recovered->bad_bytes));
    if (recovered->from_manifest > 0)
        cli_print("  %s only in the manifest, and kept\n",
                  cli_format_count(&text, recovered->from_manifest, "record"));
    if (recovered->damaged > 0)
        cli_print("  skipped %s\n", cli_format_count(&text, recovered->damaged, "damaged record"));
    if (recovered->put_aside == 1)
        cli_print("  the old manifest is kept as tensor_dump.json.damaged\n");
    else if (recovered->put_aside > 1)
        cli_print("  the old manifest is kept as tensor_dump.json.damaged.%" PRIu32 "\n",
                  recovered->put_aside);
}

/* What is known about records that the recording does not have. */
static void print_end(const struct tg_recovery *recovered)
{
    struct cli_text lost;
    if (!recovered->was_complete)
        cli_print("  the recording was incomplete: what came after these records is unknown");
    else if (recovered->lost > 0)
        cli_print("  the run lost %s, which cannot be recovered",
                  cli_format_count(&lost, recovered->lost, "record"));
    else
        cli_print("  the recording was complete");
}

static void print_report(const char *path, const struct tg_recovery *recovered)
{
    struct cli_text records, bytes, cut;
    struct cli_shown shown;
    uint64_t torn = recovered->cut_bytes - recovered->zero_bytes;
    cli_print("%s: %s, %s of payload\n", cli_show(&shown, path),
              cli_format_count(&records, recovered->records, "record"),
              cli_format_bytes(&bytes, recovered->payload_bytes));
    print_end(recovered);
    cli_print("; the manifest %s\n",
              recovered->lacks_payload
                  ? "has payloads that the payload file lacks, and was left as it is"
              : recovered->kept_manifest ? "is good and was left as it is"
                                         : "was written");
    if (recovered->truncated > 0)
        cli_print("  %s truncated\n", cli_format_count(&cut, recovered->truncated, "payload"));
    if (torn > 0)
        cli_print("  cut %s of an unfinished record off the end of the journal\n",
                  cli_format_bytes(&cut, torn));
    if (recovered->zero_bytes > 0)
        cli_print("  cut %s of zeros, as a power loss leaves them, off the end of the journal\n",
                  cli_format_bytes(&cut, recovered->zero_bytes));
    print_damage(recovered);
}

static int recover_path(const char *path, bool json)
{
    struct tg_recovery recovered;
    struct tg_error error;
    cli_detail("recovers the recording in '%s'", path);
    if (tg_recording_recover(path, &recovered, &error) != TG_OK)
        return cli_recording_fail(NULL, json, &error);
    if (json)
        print_json(path, &recovered);
    else
        print_report(path, &recovered);
    return CLI_OK;
}

/* Recover changes files, so the user must name the directory; there is no default. */
static int recover(struct cli *cli, void *context)
{
    const struct request *request = context;
    (void)cli;
    if (!request->path)
        return cli_error("recover needs the directory of a run: taskglass recover outputs/RUN");
    return recover_path(request->path, request->json);
}

static const struct cli_example examples[] = {
    {"outputs/RUN", "Make the recording of a run that was killed readable."},
    {0},
};

static const struct cli_ranks_way ranks_way = {
    .rank = offsetof(struct request, rank),
};

const struct cli_verb cli_verb_recover = {
    .name = "recover",
    .rank = 120,
    .usage = "DIR [--json]",
    .summary = "Save what is left of a recording: a run was killed, or a file is damaged.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .request_size = sizeof(struct request),
    .operand = cli_take_one,
    .noun = "directory",
    .member = offsetof(struct request, path),
    .expects = CLI_RUN,
    .run = recover,
    .ranks = &ranks_way,
    .examples = examples,
};
