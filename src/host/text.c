/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "host/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <taskglass/wire/task.h>

enum { NAME_MAX_LENGTH = 100 };

char *tg_text_format(const char *format, ...)
{
    char *text;
    va_list values;
    va_start(values, format);
    int length = vasprintf(&text, format, values);
    va_end(values);
    return length < 0 ? NULL : text;
}

/* Not isalnum, because a valid name must not depend on the locale. */
static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool tg_text_is_name(const char *text)
{
    size_t length = strnlen(text, NAME_MAX_LENGTH + 1);
    if (length == 0 || length > NAME_MAX_LENGTH || !is_word(text[0]))
        return false;
    for (size_t i = 1; i < length; i++)
        if (!is_word(text[i]) && !strchr("-.+", text[i]))
            return false;
    return true;
}

const char *tg_task_text(uint64_t id, char text[32])
{
    if (id == TG_TASK_NONE)
        snprintf(text, 32, "none");
    else if (id >> 32)
        snprintf(text, 32, "%llu:%llu", (unsigned long long)(id >> 32),
                 (unsigned long long)(id & UINT32_MAX));
    else
        snprintf(text, 32, "%llu", (unsigned long long)id);
    return text;
}

/* ── lines that grow ───────────────────────────────────────────────────────────────────── */

#define ELLIPSIS "…"

static bool is_inside_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Copies the text, or its begin and its end, if it is longer than `most` bytes. */
static void copy_ends(char *to, const char *text, size_t most)
{
    size_t length = strlen(text), head = most / 2, tail;
    if (length <= most) {
        memcpy(to, text, length + 1);
        return;
    }
    tail = length - (most - head - strlen(ELLIPSIS));
    while (head > 0 && is_inside_character(text[head]))
        head--;
    while (is_inside_character(text[tail]))
        tail++;
    memcpy(to, text, head);
    snprintf(to + head, most + 1 - head, ELLIPSIS "%s", text + tail);
}

void tg_text_add(char *text, size_t room, const char *added)
{
    char old[1000], separator[] = "; ";
    size_t most = room - 1, new_length = strlen(added);
    if (*text == '\0') {
        copy_ends(text, added, most);
        return;
    }
    new_length = new_length < most / 2 ? new_length : most / 2;
    snprintf(old, sizeof old, "%s", text);
    copy_ends(text, old, most - strlen(separator) - new_length);
    strcat(text, separator);
    copy_ends(text + strlen(text), added, new_length);
}
