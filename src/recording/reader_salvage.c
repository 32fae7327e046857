/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A manifest whose text is no JSON any more. Its head is read member by member, and its entries are
 * looked for at every brace: an entry counts if it is an object of its own with the members of an
 * entry, and if its check is right where entries have one. Nothing else of the text is believed.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>

#include "recording/reader.h"

enum { LONGEST_HEAD = 1 << 16, LONGEST_ENTRY = 1 << 16, MOST_ATTEMPTS = 100, PIECE = 8 << 20 };

/* --- the head ------------------------------------------------------------------------------------ */

/* A copy of the head, from a member on, as an object of its own. */
struct piece {
    char *copy;         /* a brace, then the text */
    const char *origin; /* where the text behind the brace comes from */
    size_t size;
};

/* Reads members until one is damaged. Returns where that one begins in the copy; 0: the list of entries
 * begins there. */
static size_t read_members(struct tg_manifest_reading *r, const struct piece *piece)
{
    struct tg_pull pull;
    size_t done = 1;
    tg_pull_start(&pull, piece->copy, piece->size);
    r->pull = &pull;
    tg_pull_next(&pull);
    while (tg_pull_next(&pull) == TG_PULL_KEY) {
        if (tg_pull_is(&pull, "tensors") || tg_pull_is(&pull, "args"))
            return 0;
        r->key = piece->origin + (pull.value - piece->copy - 1);
        if (!tg_manifest_read_member(r))
            return done;
        done = pull.at;
    }
    /* A brace that closes too early belongs to an object inside the damaged member. */
    return pull.token == TG_PULL_END_OBJECT ? pull.at : done;
}

/* The next place behind a comma where a member may begin. */
static const char *next_member(const char *at, const char *end)
{
    while (at < end && (at = memchr(at, ',', (size_t)(end - at))) != NULL) {
        at++;
        const char *quote = at;
        while (quote < end && (*quote == ' ' || *quote == '\n' || *quote == '\r'))
            quote++;
        if (quote < end && *quote == '"')
            return quote;
    }
    return NULL;
}

static void salvage_head(struct tg_manifest_reading *r)
{
    size_t most = r->size < LONGEST_HEAD ? r->size : LONGEST_HEAD;
    const char *at = r->text, *end = r->text + most;
    char *copy = malloc(most + 1);
    r->no_memory = r->no_memory || !copy;
    r->begin = r->text;
    while (at < end && (*at == ' ' || *at == '\n'))
        r->begin = ++at;
    at += at < end; /* the brace, or what was one */
    for (int i = 0; copy && at && at < end && i < MOST_ATTEMPTS; i++) {
        struct piece piece = {copy, at, 1 + (size_t)(end - at)};
        copy[0] = '{';
        memcpy(copy + 1, at, (size_t)(end - at));
        size_t damaged = read_members(r, &piece);
        at = damaged ? next_member(at + damaged - 1, end) : NULL;
    }
    free(copy);
}

/* --- the entries --------------------------------------------------------------------------------- */

/* The next place of the word, NULL if there is none. Goes through the text in pieces whose memory it gives
 * back: damage may have any size. */
static const char *find_word(const struct tg_manifest_reading *r, const char *at, const char *end,
                             const char *word)
{
    size_t length = strlen(word);
    while (at < end) {
        size_t piece = (size_t)(end - at) < PIECE ? (size_t)(end - at) : PIECE;
        const char *found = memmem(at, piece, word, length);
        if (found || piece < PIECE)
            return found;
        if (r->map)
            tg_map_let_go_part(r->map, (size_t)(at - r->text), (size_t)(at - r->text) + piece);
        at += piece - (length - 1); /* a word may lie across */
    }
    return NULL;
}

static uint64_t count_word(const struct tg_manifest_reading *r, const char *text, const char *end,
                           const char *word)
{
    uint64_t count = 0;
    size_t length = strlen(word);
    while ((text = find_word(r, text, end, word)) != NULL) {
        text += length;
        count++;
    }
    return count;
}

/* How many entries the text seems to have been: two of their keys are counted, since the damage may
 * have hit one. */
static uint64_t count_lost(const struct tg_manifest_reading *r, const char *text, const char *end)
{
    uint64_t a = count_word(r, text, end, "\"stage\""), b = count_word(r, text, end, "\"dtype\"");
    return a > b ? a : b;
}

/* Takes the entry that begins at this brace. Returns its end; NULL if there is none. */
static const char *take_entry(struct tg_manifest_reading *r, const char *at)
{
    struct tg_pull pull;
    size_t rest = (size_t)(r->text + r->size - at);
    uint64_t damaged = r->recording->damage.entries;
    tg_pull_start(&pull, at, rest < LONGEST_ENTRY ? rest : LONGEST_ENTRY);
    r->pull = &pull;
    tg_pull_next(&pull);
    if (!tg_manifest_take_entry(r) || r->recording->damage.entries > damaged)
        return NULL;
    return at + pull.at;
}

static uint64_t salvage_entries(struct tg_manifest_reading *r)
{
    const char *at = r->text, *end = r->text + r->size, *since = r->text;
    uint64_t lost = 0;
    while ((at = find_word(r, at, end, "{")) != NULL) {
        const char *next = take_entry(r, at);
        if (next) {
            lost += count_lost(r, since, at);
            r->n_taken++;
            since = next;
        }
        at = next ? next : at + 1;
    }
    return lost + count_lost(r, since, end);
}

bool tg_manifest_salvage(struct tg_manifest_reading *r)
{
    struct tg_recording *recording = r->recording;
    struct tg_recording_info *info = &recording->info;
    *info = (struct tg_recording_info){.complete = false};
    if (r->keep)
        (void)r->keep(r->context, NULL);
    recording->n_entries = recording->damage.entries = 0;
    r->n_checked = r->n_taken = 0;
    r->head = TG_TEXT_UNCHECKED;
    r->has_version = r->has_list = false;
    salvage_head(r);
    uint64_t lost = salvage_entries(r);
    if (r->head == TG_TEXT_INTACT && info->summary.recorded >= r->n_taken)
        lost = info->summary.recorded - r->n_taken;
    recording->damage.entries = lost;
    return r->n_taken > 0;
}
