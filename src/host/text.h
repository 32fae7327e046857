/* SPDX-License-Identifier: Apache-2.0 */
/* Strings that the host makes: formatted on the heap, and names that become part of paths. */
#ifndef TG_HOST_TEXT_H
#define TG_HOST_TEXT_H

#include <stdint.h>

#include <stdbool.h>

/* As printf, into a string that the caller frees; NULL where memory ran out. */
__attribute__((format(printf, 1, 2))) char *tg_text_format(const char *format, ...);

/* Letters, digits, '_', '-', '.', '+'; starts with a letter, digit or '_'; at most 100 characters:
 * what may stand in a file name, on a command line and in a table without quoting. */
bool tg_text_is_name(const char *text);

/* "12" for a task of ring 0, "1:12" for the others, as --task takes it; "none". */
const char *tg_task_text(uint64_t id, char text[32]);

#endif
