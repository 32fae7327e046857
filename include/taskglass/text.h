/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that somebody else wrote: names in a recording, paths, texts of a module. A program shows such
 * text only after tg_text_clean, and makes a file's name of it only with tg_name_to_file. The texts that
 * this library itself gives out are clean already: names in recordings, error texts, advice. Paths are
 * not, because a program opens them.
 *
 * These functions keep no state; any thread may call them at any time.
 */
#ifndef TASKGLASS_TEXT_H
#define TASKGLASS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <taskglass/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The longest name that tg_name_to_file makes, in bytes, without the zero. File systems allow 255; the
 * rest is for an ending. */
#define TG_FILE_NAME_MAX 200

/*
 * Copies one line of inert text: valid UTF-8 that a terminal shows as it is. Each byte of anything else
 * becomes '?': control characters (line ends and tabs too), bytes that are not UTF-8, and characters that
 * are invisible or change the direction of text. What does not fit into `room` bytes is cut between
 * characters and ends in "…". Returns `clean`. NULL as `text` counts as "".
 */
TG_API const char *tg_text_clean(const char *text, char *clean, size_t room);

/*
 * Makes the plain name of a file of any text. It takes the last part of a path, and replaces with '_'
 * what tg_text_clean replaces with '?', and what some file system reserves. The result never begins with
 * '.' or '-', is never empty, has no slash, has at most TG_FILE_NAME_MAX bytes and at most `room` with its
 * zero, and is cut between characters. Two texts may give the same name. Returns `file`. NULL as
 * `text` counts as "". `room` must be at least 8.
 */
TG_API const char *tg_name_to_file(const char *text, char *file, size_t room);

/*
 * Writes the text as one word for a shell, so that a user can paste it: as it is, in quotes, or as $'…' if a
 * terminal must not get all of its characters. Returns false if it does not fit into `room` bytes with its
 * zero; `word` is then "", because a part of a path may name another file. NULL as `text` counts as "".
 */
TG_API bool tg_text_shell_word(const char *text, char *word, size_t room);

#ifdef __cplusplus
}
#endif
#endif
