/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a command line as a shell does, and quotes a word for it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/complete.h"

/* The word that is being read: where it goes, and what is known of it. */
struct reading {
    struct cli_line *line;
    const char *breaks;
    char *at; /* the next byte of the word */
    char *begin;
};

static void begin_word(struct reading *r)
{
    r->line->words[r->line->n_words++] = r->begin = r->at;
    r->line->kept = 0;
    r->line->is_open = false;
}

static void end_word(struct reading *r)
{
    *r->at++ = '\0';
}

/* What comes before a character at which readline begins a word is kept. */
static void note_break(struct reading *r, char c)
{
    if (strchr(r->breaks, c))
        r->line->kept = (size_t)(r->at - r->begin);
}

/* Within double quotes a backslash quotes only some characters. */
static bool is_escape(const char *text, char quote)
{
    if (*text != '\\' || quote == '\'' || !text[1])
        return false;
    return !quote || strchr("$`\"\\", text[1]);
}

static const char *read_one(struct reading *r, const char *text)
{
    char *quote = &r->line->quote, c = *text;
    if (is_escape(text, *quote)) {
        *r->at++ = text[1];
        return text + 2;
    }
    if (c == *quote && c) {
        *quote = 0;
        note_break(r, c);
    } else if (!*quote && (c == '\'' || c == '"')) {
        *quote = c;
        note_break(r, c);
    } else {
        r->line->is_open |= (c == '$' || c == '`') && *quote != '\'';
        r->line->is_open |= (c == '<' || c == '>') && !*quote;
        *r->at++ = c;
        if (!*quote)
            note_break(r, c);
    }
    return text + 1;
}

bool cli_line_split(const char *text, const char *breaks, struct cli_line *line)
{
    size_t size = strlen(text);
    *line = (struct cli_line){0};
    /* Each word takes a byte of the text, and one more for its end. */
    line->words = malloc((size + 2) * sizeof *line->words + 2 * size + 2);
    if (!line->words)
        return false;
    struct reading r = {.line = line, .breaks = breaks};
    r.at = (char *)(line->words + size + 2);
    begin_word(&r);
    bool is_after_redirection = false;
    while (*text) {
        if (line->quote || (*text != ' ' && *text != '\t')) {
            text = read_one(&r, text);
            continue;
        }
        is_after_redirection = r.at > r.begin && strchr("<>", r.at[-1]);
        text += strspn(text, " \t");
        if (r.at == r.begin && line->n_words == 1)
            continue; /* spaces before the first word */
        end_word(&r);
        begin_word(&r);
    }
    line->is_open |= is_after_redirection;
    end_word(&r);
    return true;
}

void cli_line_free(struct cli_line *line)
{
    free(line->words);
}

/* What a shell takes as it is, wherever it stands in a word. */
static bool is_plain(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 || strchr("_@%+=:,./-", c);
}

bool cli_line_quote(const struct cli_line *line, const char *candidate, char *text, size_t room)
{
    size_t at = 0;
    const char *from = candidate + line->kept;
    for (const char *c = from; *c; c++) {
        bool is_home = c == candidate && c[0] == '~' && c[1] == '/' && !line->quote;
        bool is_special =
            !line->quote ? !is_plain(*c) && !is_home : line->quote == '"' && strchr("$`\"\\", *c);
        if ((line->quote == '\'' && *c == '\'') || (line->quote == '"' && *c == '!'))
            return false;
        if (at + 3 > room)
            return false;
        if (is_special)
            text[at++] = '\\';
        text[at++] = *c;
    }
    text[at] = '\0';
    return true;
}
