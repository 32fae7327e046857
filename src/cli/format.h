/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and foreign text for people. Each function writes into the caller's buffer and returns its text. */
#ifndef TG_CLI_FORMAT_H
#define TG_CLI_FORMAT_H

#include <stddef.h>
#include <stdint.h>

struct cli_text {
    char text[32];
};

/* Three digits and the unit that fits: "870 ns", "41.2 µs", "3.05 ms", "1.25 s", "93.4 s". */
const char *cli_format_seconds(struct cli_text *buffer, double seconds);
/* "512 bytes", "4.00 KiB", "1.25 GiB". */
const char *cli_format_bytes(struct cli_text *buffer, uint64_t bytes);
/* "1 task", "64 tasks". */
const char *cli_format_count(struct cli_text *buffer, uint64_t count, const char *noun);

/* A path, or another text that neither we wrote nor the library cleaned (taskglass/text.h). */
struct cli_shown {
    char text[4200];
};
const char *cli_show(struct cli_shown *shown, const char *text);
/* A path within a command that the user may paste: one word for a shell; "DIR" if it is too long. */
const char *cli_show_word(struct cli_shown *shown, const char *path);

/* For `%.*s`: how many bytes of UTF-8 text make whole characters within `most` bytes. */
int cli_format_fit(const char *text, int most);
/* The columns that UTF-8 text takes on a terminal: two for characters of East Asian scripts and for
 * pictographs, none for marks that combine with the character before them and for sequences of colour. */
int cli_format_width(const char *text);

/* Which part of a text is left out where it is too long. */
enum cli_cut {
    CLI_CUT_END,
    CLI_CUT_WORDS,  /* the end, after a whole word: a number that lost digits is another number */
    CLI_CUT_MIDDLE, /* names: what tells them apart is often at their ends */
    CLI_CUT_BEGIN,  /* places in source files: the line is at the end */
};
/* The bytes of the longest beginning that takes at most that many columns. */
size_t cli_format_begin(const char *text, int columns);
/* Copies the text, with "…" for what does not fit into that many columns or into `room` bytes. */
const char *cli_format_cut(char *cell, size_t room, const char *text, int columns,
                           enum cli_cut cut);

#endif
