/* SPDX-License-Identifier: Apache-2.0 */
#include <taskglass/text.h>

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/files.h"
#include "base/names.h"
#include "base/utf8.h"

#define ELLIPSIS "…"

const char *tg_text_clean(const char *text, char *clean, size_t room)
{
    size_t length = text ? strlen(text) : 0;
    if (room == 0 || !clean)
        return "";
    bool is_cut = length >= room && room > sizeof ELLIPSIS;
    tg_name_clean(text ? text : "", length, clean, is_cut ? room - strlen(ELLIPSIS) : room);
    if (is_cut)
        memcpy(clean + strlen(clean), ELLIPSIS, sizeof ELLIPSIS);
    return clean;
}

/* Devices on Windows, whatever ending follows: "nul.npz" is one too. */
static bool is_reserved(const char *name)
{
    static const char *const words[] = {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"};
    size_t length = strcspn(name, ". ");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == length && strncasecmp(name, words[i], length) == 0)
            return true;
    return length == 4 && (strncasecmp(name, "com", 3) == 0 || strncasecmp(name, "lpt", 3) == 0) &&
           name[3] >= '0' && name[3] <= '9';
}

/* Copies up to `room` bytes and returns how many; each byte that a file's name should not have becomes
 * '_'. */
static size_t copy_plain(const char *text, char *file, size_t room)
{
    size_t used = 0;
    for (size_t length; *text; text += length) {
        length = tg_utf8_inert_length((const unsigned char *)text, 4);
        bool keep = length > 0 && !strchr("/\\:*?\"<>|", *text);
        if (length == 0)
            length = 1;
        if (used + length > room)
            break;
        if (keep)
            memcpy(file + used, text, length);
        else
            memset(file + used, '_', length);
        used += length;
    }
    return used;
}

const char *tg_name_to_file(const char *text, char *file, size_t room)
{
    static const char fallback[] = "unnamed";
    char last[4096];
    size_t most = room - 1 < TG_FILE_NAME_MAX ? room - 1 : TG_FILE_NAME_MAX;
    if (!file || room < sizeof fallback)
        return "";
    tg_path_last(text ? text : "", last, sizeof last);
    size_t skip = strspn(last, ".- ");
    bool reserved = is_reserved(last + skip);
    file[0] = '_';
    size_t used = reserved + copy_plain(last + skip, file + reserved, most - reserved);
    while (used > 0 && (file[used - 1] == '.' || file[used - 1] == ' '))
        used--;
    file[used] = '\0';
    if (used == 0)
        memcpy(file, fallback, sizeof fallback);
    return file;
}

/* --- words for a shell ------------------------------------------------------------------------ */

struct word {
    char *text;
    size_t used, room; /* `used` may exceed `room` */
};

static void put(struct word *word, const char *text)
{
    for (; *text; text++, word->used++)
        if (word->used < word->room)
            word->text[word->used] = *text;
}

/* Some shells look up a program for a word that begins with '='. */
static bool is_plain(const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-,:@%=";
    return *text && *text != '=' && text[strspn(text, plain)] == '\0';
}

static bool is_inert(const char *text)
{
    char clean[PATH_MAX];
    return strlen(text) < sizeof clean &&
           strcmp(tg_text_clean(text, clean, sizeof clean), text) == 0;
}

/* A quote ends the quotes, stands there escaped, and begins them again. */
static void put_quoted(struct word *word, const char *text)
{
    put(word, "'");
    for (; *text; text++)
        put(word, *text == '\'' ? "'\\''" : (const char[]){*text, '\0'});
    put(word, "'");
}

/* Every byte that is not plain ASCII becomes its octal number, which shells turn into the byte again. */
static void put_escaped(struct word *word, const char *text)
{
    put(word, "$'");
    for (; *text; text++) {
        char escaped[8];
        bool is_safe = *text >= ' ' && *text < 0x7f && *text != '\'' && *text != '\\';
        snprintf(escaped, sizeof escaped, is_safe ? "%c" : "\\%03o", (unsigned char)*text);
        put(word, escaped);
    }
    put(word, "'");
}

bool tg_text_shell_word(const char *text, char *word, size_t room)
{
    struct word out = {.text = word, .room = room};
    if (room == 0 || !word)
        return false;
    text = text ? text : "";
    if (is_plain(text))
        put(&out, text);
    else if (is_inert(text))
        put_quoted(&out, text);
    else
        put_escaped(&out, text);
    bool fits = out.used < room;
    word[fits ? out.used : 0] = '\0';
    return fits;
}
