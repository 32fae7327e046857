/* SPDX-License-Identifier: Apache-2.0 */
/* Words and values that diff, stats and find share. */
#ifndef TG_CLI_DIFF_WORDS_H
#define TG_CLI_DIFF_WORDS_H

#include <stdbool.h>
#include <taskglass/analysis.h>
#include <taskglass/json.h>

#include "cli/recording.h"
#include "cli/term.h"

/* "[3, 4]": where an element is in a tensor of that shape; "[]" in one without dimensions. */
const char *cli_element_at(struct cli_words *words, const struct tg_record *record,
                           uint64_t element);
/* "task 3 add", "task 1:3 mat+add". */
const char *cli_task_words(struct cli_words *words, const struct tg_entry *entry);
/* "after, out arg 2, float32 (4, 3)". */
const char *cli_argument_words(struct cli_words *words, const struct tg_record *record);
/* A number with as many digits as people read. */
const char *cli_short_number(struct cli_words *words, double number);

/* A value as people write it: with the fewest digits, but short floats as the float32 they are. */
const char *cli_value_words(struct cli_words *words, unsigned dtype, uint64_t bits);

/* For programs: the words of the manifest. Integers of 64 bits are strings; what has no value is
 * null. */
void cli_json_value(struct tg_json *json, unsigned dtype, uint64_t bits);
void cli_json_at(struct tg_json *json, const char *key, const struct tg_record *record,
                 uint64_t element);
/* NaN is null. */
void cli_json_real(struct tg_json *json, const char *key, double value);
/* kernel, stage, role, arg_index, kind, dtype, shape. */
void cli_json_argument(struct tg_json *json, const struct tg_entry *entry);
/* TG_NONE is null. */
void cli_json_index(struct tg_json *json, const char *key, uint64_t index);
/* run, dir, level, complete, foreign, records, lost. */
void cli_json_recording(struct tg_json *json, const char *key,
                        const struct tg_recording *recording);

/* The line of progress of an analysis: a tg_analysis_progress_fn and its context. Drawn a few times a
 * second, however often it is called. */
struct cli_ticker {
    struct cli_progress progress;
    const char *verb;
    uint64_t drawn_ms; /* when, on some clock */
};
void cli_ticker_start(struct cli_ticker *ticker, const char *verb);
void cli_ticker_show(void *ticker, uint64_t bytes, uint64_t total);

#endif
