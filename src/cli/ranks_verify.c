/* SPDX-License-Identifier: Apache-2.0 */
/* `taskglass verify` of a run with several ranks: whether their messages fit. */
#include <inttypes.h>
#include <stdio.h>
#include <taskglass/ranks_answers.h>

#include "cli/format.h"
#include "cli/print.h"
#include "cli/ranks_answers.h"
#include "cli/recording.h"
#include "cli/term.h"

enum { DIFFERS = 1 };

static void put_messages(struct tg_json *json, const struct tg_ranks_messages *messages)
{
    tg_json_begin_object(json);
    tg_json_put_string(json, "result", tg_ranks_fit_name(messages->result));
    tg_json_put_uint(json, "messages", messages->messages);
    tg_json_put_uint(json, "collectives", messages->collectives);
    tg_json_put_uint(json, "hashes_compared", messages->compared);
    tg_json_put_uint(json, "unknown", messages->unknown);
    tg_json_put_uint(json, "without_hash", messages->unhashed);
    tg_json_put_uint(json, "contents_not_compared", messages->unshared);
    tg_json_put_uint(json, "damaged_lines", messages->damaged);
    tg_json_put_uint(json, "incomplete_ranks", messages->incomplete);
    tg_json_put_uint(json, "absent_ranks", messages->absent);
    tg_json_put_uint(json, "problems", messages->problems);
    tg_json_key(json, "first");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < messages->n_misfits; i++) {
        const struct tg_ranks_misfit *misfit = &messages->misfit[i];
        tg_json_begin_line_object(json);
        tg_json_put_uint(json, "rank", misfit->rank);
        tg_json_put_uint(json, "other", misfit->other);
        tg_json_put_hex(json, "task_id", misfit->task);
        tg_json_put_string(json, "text", misfit->text);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
    tg_json_end_object(json);
}

/* Why the result is not simply good. */
static void print_gaps(const struct tg_ranks_messages *messages)
{
    struct cli_text n;
    if (messages->absent > 0)
        cli_print("  note      %s without a comm.jsonl here: what they called is not known\n",
                  cli_format_count(&n, messages->absent, "rank"));
    if (messages->incomplete > 0)
        cli_print("  note      comm.jsonl of %s has no end: calls may be missing\n",
                  cli_format_count(&n, messages->incomplete, "rank"));
    if (messages->damaged > 0)
        cli_print("  note      %s of comm.jsonl cannot be read\n",
                  cli_format_count(&n, messages->damaged, "line"));
    if (messages->unknown > 0)
        cli_print("  note      %s not known: the other rank's call is not here, or has not ended\n",
                  cli_format_count(&n, messages->unknown, "end"));
    if (messages->unhashed > 0)
        cli_print("  note      %s not compared: a hash was not recorded\n",
                  cli_format_count(&n, messages->unhashed, "end"));
    if (messages->unshared > 0)
        cli_print(
            "  note      contents of %s not compared: tg_reduce_scatter and tg_all_to_all leave "
            "something else on each rank\n",
            cli_format_count(&n, messages->unshared, "call"));
}

static void print_messages(const struct tg_ranks_messages *messages)
{
    static const char *const words[TG_FITS] = {"good", "not all compared", "NOT KNOWN", "BAD"};
    struct cli_text sent, calls, problems;
    bool is_well = messages->result == TG_FIT_GOOD || messages->result == TG_FIT_PART;
    cli_print("%s%s%s  between ranks: %s, %s of all ranks, %" PRIu64 " hash%s compared%s\n",
              cli_color(stdout, is_well ? CLI_GREEN : CLI_RED), words[messages->result],
              cli_color(stdout, CLI_PLAIN), cli_format_count(&sent, messages->messages, "message"),
              cli_format_count(&calls, messages->collectives, "call"), messages->compared,
              messages->compared == 1 ? "" : "es",
              messages->result == TG_FIT_GOOD && messages->compared == 0
                  ? ": there was nothing to compare"
                  : "");
    if (messages->problems > 0)
        cli_print("  %s:\n", cli_format_count(&problems, messages->problems, "problem"));
    for (uint32_t i = 0; i < messages->n_misfits; i++)
        cli_print("  message   %s\n", messages->misfit[i].text);
    if (messages->problems > messages->n_misfits)
        cli_print("  and %" PRIu64 " more\n", messages->problems - messages->n_misfits);
    print_gaps(messages);
}

int cli_ranks_verify(struct cli *cli, void *request, const struct tg_ranks *ranks,
                     struct tg_json *json)
{
    struct tg_ranks_messages messages;
    struct tg_error error;
    (void)cli;
    (void)request;
    if (tg_ranks_verify(ranks, &messages, &error) != TG_OK) {
        if (json) {
            tg_json_begin_object(json);
            tg_json_put_string(json, "result", "not known");
            tg_json_put_string(json, "reason", error.text);
            tg_json_end_object(json);
        }
        return cli_fail(&error);
    }
    if (json)
        put_messages(json, &messages);
    else
        print_messages(&messages);
    if (messages.result == TG_FIT_BAD)
        return DIFFERS;
    return messages.result == TG_FIT_UNKNOWN ? CLI_USAGE : CLI_OK;
}
