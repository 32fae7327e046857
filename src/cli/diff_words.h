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
/* The number with four significant digits. */
const char *cli_short_number(struct cli_words *words, double number);

/* The value with the fewest digits that identify it; floats shorter than float32 as float32. */
const char *cli_value_words(struct cli_words *words, unsigned dtype, uint64_t bits);

/* JSON with the words of the manifest. */
void cli_json_at(struct tg_json *json, const char *key, const struct tg_record *record,
                 uint64_t element);
/* Writes NaN as null. */
void cli_json_real(struct tg_json *json, const char *key, double value);
/* Writes kernel, stage, role, arg_index, kind, dtype, shape. */
void cli_json_argument(struct tg_json *json, const struct tg_entry *entry);
/* Writes TG_NONE as null. */
void cli_json_index(struct tg_json *json, const char *key, uint64_t index);
/* Writes run, dir, level, complete, state, foreign, records, lost, damaged. */
void cli_json_recording(struct tg_json *json, const char *key,
                        const struct tg_recording *recording);

#endif
