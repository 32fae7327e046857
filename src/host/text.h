/* SPDX-License-Identifier: Apache-2.0 */
/* Strings: formatted ones on the heap, checks of names, and task ids for messages. */
#ifndef TG_HOST_TEXT_H
#define TG_HOST_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Like printf, into a string that the caller frees; NULL if memory ran out. */
__attribute__((format(printf, 1, 2))) char *tg_text_format(const char *format, ...);

/* Appends `added` to a line of text in `room` bytes, after "; " if there is text already. What does not fit
 * loses its middle, first of all the older text: a message begins with what failed, has a long path in
 * its middle, and ends with the cause. */
void tg_text_add(char *text, size_t room, const char *added);

/* True for at most 100 letters, digits, '_', '-', '.' and '+', the first a letter, digit or '_': a
 * name that needs no quoting in a file name, on a command line or in a table. */
bool tg_text_is_name(const char *text);

/* A task id as --task takes it: "12" in ring 0, "1:12" in ring 1; "none" for TG_TASK_NONE. */
const char *tg_task_text(uint64_t id, char text[32]);

#endif
