/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass verify: checks that a recording is intact. */
#include <inttypes.h>
#include <stdio.h>
#include <taskglass/json.h>
#include <taskglass/verify.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/ranks_answers.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/recording.h"
#include "cli/term.h"

enum { DIFFERS = 1 };

struct request {
    const char *dir; /* NULL: the newest run */
    struct cli_count rank;
    bool force;
    bool json;
};

static const struct cli_option options[] = {
    CLI_FLAG(struct request, force, "force",
             "read tensors of more than 16 GiB of holes too, however long it takes"),
    CLI_RANK(struct request, rank),
    CLI_JSON(struct request, json, "print the result for programs"),
};

/* Without a problem, but not everything was read. */
static bool is_unknown(const struct tg_verification *result)
{
    return result->problems == 0 && result->unread > 0;
}

static bool is_good(const struct tg_verification *result)
{
    return result->problems == 0 && result->unread == 0;
}

static void put_finding(struct tg_json *json, const struct tg_verify_finding *finding)
{
    tg_json_begin_line_object(json);
    tg_json_key(json, "problem");
    tg_json_string(json, tg_problem_name(finding->problem));
    tg_json_key(json, "index");
    if (finding->index == TG_NONE)
        tg_json_null(json);
    else
        tg_json_uint(json, finding->index);
    tg_json_key(json, "text");
    tg_json_string(json, finding->text);
    tg_json_end_object(json);
}

static void put_problems(struct tg_json *json, const struct tg_verification *result)
{
    tg_json_put_uint(json, "problems", result->problems);
    tg_json_key(json, "by_problem");
    tg_json_begin_line_object(json);
    for (unsigned i = 0; i < TG_PROBLEMS; i++)
        tg_json_put_uint(json, tg_problem_name(i), result->by_problem[i]);
    tg_json_end_object(json);
    tg_json_key(json, "first");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < result->n_findings; i++)
        put_finding(json, &result->finding[i]);
    tg_json_end_array(json);
}

/* Only if something was not read: elsewhere `good` says it all. */
static void put_unread(struct tg_json *json, const struct tg_recording *recording,
                       const struct tg_verification *result)
{
    struct tg_verify_reason reason;
    if (result->unread == 0)
        return;
    tg_json_put_string(json, "result", tg_verification_result(recording, result, &reason));
    if (is_unknown(result))
        tg_json_put_string(json, "reason", reason.text);
    tg_json_put_uint(json, "not_read", result->unread);
}

static void print_json(const struct tg_recording *recording, const struct tg_recording_info *info,
                       const struct tg_verification *result)
{
    struct tg_json json;
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    tg_json_key(&json, "dir");
    tg_json_string(&json, info->dir);
    tg_json_key(&json, "good");
    tg_json_bool(&json, is_good(result));
    tg_json_key(&json, "complete");
    tg_json_bool(&json, info->complete);
    tg_json_put_string(&json, "state", tg_recording_state_name(info->state));
    tg_json_key(&json, "manifest_compared");
    tg_json_bool(&json, result->manifest);
    tg_json_put_uint(&json, "records", result->records);
    tg_json_put_uint(&json, "damaged", info->damaged);
    tg_json_put_uint(&json, "payloads", result->payloads);
    tg_json_put_uint(&json, "payload_bytes", result->bytes);
    tg_json_put_uint(&json, "hashes_compared", result->compared);
    tg_json_put_uint(&json, "without_hash", result->unhashed);
    tg_json_put_uint(&json, "truncated", result->counted.truncated);
    tg_json_put_uint(&json, "overwritten", result->counted.overwritten);
    tg_json_put_uint(&json, "lost", cli_recording_lost(&info->summary));
    tg_json_put_uint(&json, "unclaimed_bytes", result->unclaimed);
    put_problems(&json, result);
    put_unread(&json, recording, result);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json); /* main reports errors of stdout */
}

static void print_findings(const struct tg_verification *result)
{
    for (uint32_t i = 0; i < result->n_findings; i++) {
        const struct tg_verify_finding *finding = &result->finding[i];
        cli_print("  %-10s", tg_problem_name(finding->problem));
        if (finding->index != TG_NONE)
            cli_print("record %" PRIu64 ": ", finding->index);
        cli_print("%s\n", finding->text);
    }
    if (result->problems > result->n_findings)
        cli_print("  and %" PRIu64 " more\n", result->problems - result->n_findings);
}

/* What was not checked, and what is known to be missing; neither counts as a problem. */
static void print_notes(const struct tg_recording_info *info, const struct tg_verification *result)
{
    struct cli_text text;
    struct tg_note note;
    struct cli_shown shown;
    const char *dir = cli_show_word(&shown, info->dir);
    struct tg_recording_info lacking = *info;
    lacking.excess = is_unknown(result) ? 0 : info->excess; /* the first line has said so */
    for (unsigned i = 0; tg_recording_note(&lacking, i, &note); i++)
        cli_print("  note      %s\n", note.text);
    if (info->zero_bytes > 0)
        cli_print("  note      the journal ends in %s of zeros, as a power loss leaves them; "
                  "to cut them off, type: taskglass recover %s\n",
                  cli_format_bytes(&text, info->zero_bytes), dir);
    if (result->torn && info->state != TG_RECORDING_RUNNING)
        cli_print("  note      the journal ends within a record; to cut that record off, type: "
                  "taskglass recover %s\n",
                  dir);
    if (info->from_journal && !*info->manifest)
        cli_print("  note      there is no manifest; to write it, type: taskglass recover %s\n",
                  dir);
    if (result->counted.truncated + result->counted.overwritten > 0)
        cli_print("  note      %" PRIu64 " truncated and %" PRIu64
                  " overwritten: their hashes cannot be checked\n",
                  result->counted.truncated, result->counted.overwritten);
    if (result->unhashed > 0)
        cli_print("  note      %s without a hash\n",
                  cli_format_count(&text, result->unhashed, "payload"));
    if (result->unclaimed > 0 && result->by_problem[TG_PROBLEM_UNCLAIMED] == 0)
        cli_print("  note      %s of the payload file belong to no record\n",
                  cli_format_bytes(&text, result->unclaimed));
}

static void print_report(const struct tg_recording *recording, const struct tg_recording_info *info,
                         const struct tg_verification *result)
{
    struct cli_text records, bytes, problems;
    struct cli_shown dir;
    struct tg_verify_reason reason;
    const char *word = is_good(result) ? "good" : is_unknown(result) ? "NOT KNOWN" : "BAD";
    (void)tg_verification_result(recording, result, &reason);
    cli_print("%s%s%s  %s: %s, %s of payload, %" PRIu64 " hash%s compared%s\n",
              cli_color(stdout, is_good(result) ? CLI_GREEN : CLI_RED), word,
              cli_color(stdout, CLI_PLAIN), cli_show(&dir, info->dir),
              cli_format_count(&records, result->records, "record"),
              cli_format_bytes(&bytes, result->bytes), result->compared,
              result->compared == 1 ? "" : "es", result->manifest ? ", and the manifest" : "");
    if (is_unknown(result))
        cli_print("  because   %s\n", reason.text);
    if (result->problems > 0)
        cli_print("  %s:\n", cli_format_count(&problems, result->problems, "problem"));
    print_findings(result);
    print_notes(info, result);
}

static int verify_recording(const struct tg_recording *recording, bool json)
{
    struct tg_recording_info info;
    struct tg_verification result;
    struct cli_progress progress;
    struct tg_error error;
    cli_progress_init(&progress, "verify", NULL);
    tg_status status =
        tg_recording_verify(recording, cli_progress_show, &progress, &result, &error);
    cli_progress_erase(&progress);
    if (status != TG_OK)
        return cli_recording_fail(recording, json, &error);
    tg_recording_get_info(recording, &info);
    if (json)
        print_json(recording, &info, &result);
    else
        print_report(recording, &info, &result);
    if (is_unknown(&result))
        return CLI_USAGE;
    return is_good(&result) ? CLI_OK : DIFFERS;
}

static int verify(struct cli *cli, void *context)
{
    const struct request *request = context;
    struct tg_recording *recording;
    struct tg_error error;
    (void)cli;
    if (cli_recording_open(request->dir, &recording, &error) != TG_OK)
        return cli_recording_fail(NULL, request->json, &error);
    if (request->force && tg_recording_read_holes(recording, &error) != TG_OK) {
        tg_recording_close(recording);
        return cli_recording_fail(NULL, request->json, &error);
    }
    int code = verify_recording(recording, request->json);
    tg_recording_close(recording);
    return code;
}

static const struct cli_example examples[] = {
    {"", "Check the newest recording."},
    {"outputs/RUN --json", "Check a run, and print the result for a program."},
    {0},
};

static const struct cli_ranks_way ranks_way = {
    .rank = offsetof(struct request, rank),
    .newest = cli_recording_newest,
    .together = cli_ranks_verify,
    .key = "messages",
};

const struct cli_verb cli_verb_verify = {
    .name = "verify",
    .rank = 110,
    .usage = "[DIR] [--force] [--json]",
    .summary = "Check a recording: hashes, counters, extents, manifest.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .request_size = sizeof(struct request),
    .operand = cli_take_one,
    .noun = "directory",
    .member = offsetof(struct request, dir),
    .expects = CLI_RUN,
    .run = verify,
    .ranks = &ranks_way,
    .examples = examples,
};
