/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass check --against: compares recorded tensors with values that NumPy saved. */
#include <inttypes.h>
#include <stdio.h>
#include <taskglass/answers.h>

#include "cli/check.h"
#include "cli/print.h"
#include "cli/recording.h"
#include "cli/term.h"

enum { DIFFERS = 1 };

static int print_pair(void *context, const struct tg_against_pair *pair)
{
    const struct tg_output_check *check = &pair->check;
    const struct tg_record *record = &pair->entry.record;
    struct cli_words task, kernels;
    cli_print("  %s%s%s  task %s  %s  %s argument %u",
              cli_color(stdout, check->mismatches ? CLI_RED : CLI_GREEN),
              check->mismatches ? "wrong" : "good ", cli_color(stdout, CLI_PLAIN),
              cli_record_task(&task, record->task_id), cli_record_kernels(&kernels, &pair->entry),
              cli_record_stage(record->stage), record->arg_index);
    if (check->mismatches > 0) {
        *(int *)context = DIFFERS;
        cli_print(": %" PRIu64 " of %" PRIu64 " elements, first at %" PRIu64 ": %.9g, golden %.9g",
                  check->mismatches, check->elements, check->first, check->first_got,
                  check->first_expected);
    }
    cli_print("; max error %.3g\n", check->max_error);
    return 0;
}

int check_against(const struct check_request *request, const struct tg_recording *recording)
{
    const struct tg_against_config config = {.file = request->against,
                                             .query = request->query,
                                             .has_atol = request->has_atol,
                                             .has_rtol = request->has_rtol,
                                             .atol = request->atol,
                                             .rtol = request->rtol};
    struct tg_error error;
    int code = CLI_OK;
    tg_status status = tg_check_against(recording, &config, print_pair, &code, &error);
    if (status == TG_OK)
        return code;
    return status == TG_BAD_ARGUMENT || status == TG_NO_MEMORY ? cli_error("%s", error.text)
                                                               : cli_fail(&error);
}
