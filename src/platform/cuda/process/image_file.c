/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/cuda/process/image_file.h"
#include <ar.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Larger numbers are no compute capabilities. */
enum { MOST_CAPABILITY = 999 };

/* The decimal number at *text; 0 if there is none, or it is too large. */
static size_t read_number(const char **text, const char *end, size_t most)
{
    size_t number = 0;
    for (; *text < end && **text >= '0' && **text <= '9'; (*text)++) {
        number = 10 * number + (size_t)(**text - '0');
        if (number > most)
            return 0;
    }
    return number;
}

/* A field of a head is padded with blanks. */
static bool is_end(const char *text, const char *end)
{
    while (text < end && *text == ' ')
        text++;
    return text == end;
}

static bool skip(const char **text, const char *end, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(end - *text) < length || memcmp(*text, word, length) != 0)
        return false;
    *text += length;
    return true;
}

/* "sm_90.cubin/", "sm_90a.cubin/", "ptx_120.7/" */
static void read_name(const char *name, size_t length, struct tg_image_member *member)
{
    const char *end = name + length;
    size_t capability;
    bool is_exact = false, good;
    bool is_ptx = skip(&name, end, "ptx_");
    if (!is_ptx && !skip(&name, end, "sm_"))
        return;
    capability = read_number(&name, end, MOST_CAPABILITY);
    if (is_ptx) {
        good = skip(&name, end, ".");
        (void)read_number(&name, end, SIZE_MAX / 16);
    } else {
        is_exact = skip(&name, end, "a");
        (void)skip(&name, end, "f"); /* a family's features: runs where one without does */
        good = skip(&name, end, ".cubin");
    }
    (void)skip(&name, end, "/");
    if (!good || !is_end(name, end))
        return;
    member->capability = (int)capability;
    member->is_ptx = is_ptx;
    member->is_exact = is_exact;
}

static bool is_archive(const char *bytes, size_t size)
{
    return size >= SARMAG && memcmp(bytes, ARMAG, SARMAG) == 0;
}

bool tg_image_next(const void *bytes, size_t size, size_t *at, struct tg_image_member *member)
{
    const char *file = bytes;
    struct ar_hdr head;
    const char *digits = head.ar_size, *end = head.ar_size + sizeof head.ar_size;
    size_t length, start = *at == 0 ? SARMAG : *at;
    if (start > size || size - start < sizeof head)
        return false;
    memcpy(&head, file + start, sizeof head);
    start += sizeof head;
    length = read_number(&digits, end, SIZE_MAX / 16);
    if (memcmp(head.ar_fmag, ARFMAG, sizeof head.ar_fmag) != 0 || !is_end(digits, end) ||
        length > size - start)
        return false;
    *member = (struct tg_image_member){.bytes = file + start, .size = length};
    read_name(head.ar_name, sizeof head.ar_name, member);
    *at = start + length + length % 2;
    return true;
}

static bool fits(const struct tg_image_member *member, int capability)
{
    if (member->capability == 0 || member->capability > capability)
        return false;
    if (member->is_exact)
        return member->capability == capability;
    return member->is_ptx || member->capability / 10 == capability / 10;
}

/* An image before PTX, and a newer one before an older one. */
static bool is_better(const struct tg_image_member *a, const struct tg_image_member *b)
{
    if (b->capability == 0 || a->is_ptx != b->is_ptx)
        return b->capability == 0 || b->is_ptx;
    return a->capability > b->capability;
}

enum tg_image_kind tg_image_choose(const void *bytes, size_t size, int capability,
                                   struct tg_image_member *member)
{
    struct tg_image_member one;
    size_t at = 0;
    *member = (struct tg_image_member){0};
    if (!is_archive(bytes, size))
        return TG_IMAGE_ALONE;
    while (tg_image_next(bytes, size, &at, &one))
        if (fits(&one, capability) && is_better(&one, member))
            *member = one;
    if (at < size) /* the last member may lack the byte that makes its size even */
        return TG_IMAGE_DAMAGED;
    return member->capability == 0 ? TG_IMAGE_NONE : member->is_ptx ? TG_IMAGE_PTX : TG_IMAGE_CODE;
}

void tg_image_list(const void *bytes, size_t size, char *text, size_t room)
{
    struct tg_image_member one, before = {0};
    size_t at = 0, used = 0;
    text[0] = 0;
    while (tg_image_next(bytes, size, &at, &one) && used < room) {
        bool again = one.is_ptx == before.is_ptx && one.capability == before.capability;
        if (one.capability == 0 || again)
            continue;
        used += (size_t)snprintf(text + used, room - used, "%s%s%d.%d%s", used ? ", " : "",
                                 one.is_ptx ? "PTX for " : "", one.capability / 10,
                                 one.capability % 10, one.is_exact ? "a" : "");
        before = one;
    }
}
