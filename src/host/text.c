/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "host/text.h"
#include <stdio.h>
#include <taskglass/wire/task.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
