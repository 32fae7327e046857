/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a manifest beside its journal. Reading JSON is slow, and nearly always each line of the
 * manifest is exactly what we would print for its record again. So this prints every record once more
 * and compares the text, on several threads: each takes a part of the file, counts the lines in it,
 * and then knows which record its first line must be. Only lines that differ are read.
 */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording/manifest.h"
#include "recording/reader.h"
#include "recording/record.h"
#include "recording/verify_state.h"

enum { MOST_THREADS = 4, WORTH_A_THREAD = 4 << 20, ROOM = 1 << 16, KEPT = 8 << 20 };

struct text {
    const char *at, *end;
};

/* One thread's part: whole lines. */
struct part {
    struct tg_verifier *verifier;
    const struct tg_map *map;
    struct text text;
    uint64_t lines;
    uint64_t first; /* the record of its first line */
    bool no_memory;
    pthread_t thread;
    bool is_running;
};

static void run(struct part *part, unsigned n, void *(*work)(void *))
{
    for (unsigned i = 1; i < n; i++)
        part[i].is_running = pthread_create(&part[i].thread, NULL, work, &part[i]) == 0;
    for (unsigned i = 0; i < n; i++)
        if (!part[i].is_running)
            work(&part[i]);
    for (unsigned i = 1; i < n; i++)
        if (part[i].is_running)
            pthread_join(part[i].thread, NULL);
}

static const char *line_end(const char *at, const char *end)
{
    const char *found = memchr(at, '\n', (size_t)(end - at));
    return found ? found : end;
}

static void *count_lines(void *context)
{
    struct part *part = context;
    const char *text = (const char *)part->map->bytes, *kept = part->text.at;
    for (const char *at = part->text.at; at < part->text.end; part->lines++) {
        at = line_end(at, part->text.end) + 1;
        if (at - kept > KEPT) {
            tg_map_let_go_part(part->map, (size_t)(kept - text), (size_t)(at - text));
            kept = at;
        }
    }
    return NULL;
}

/* --- one line ------------------------------------------------------------------------------------ */

/* True if the entry is as its writer left it, and is what the record says before the reader cuts both to
 * the size of the payload file. */
static bool is_cut_by_payload_file(const struct tg_verifier *verifier, uint64_t index,
                                   const struct tg_read_entry *entry)
{
    struct tg_record ours, theirs;
    tg_record_reduce(tg_recording_at(verifier->recording, index), UINT64_MAX, &ours);
    tg_record_reduce(&entry->record, UINT64_MAX, &theirs);
    return verifier->short_records > 0 && entry->check == TG_TEXT_INTACT &&
           tg_record_difference(&ours, &theirs) == NULL;
}

/* Names the field of a line that is not what its record gives. */
static void judge_line(struct part *part, uint64_t index, const struct tg_entry *ours,
                       struct text line)
{
    struct tg_verifier *verifier = part->verifier;
    struct tg_read_entry theirs;
    struct tg_names names = {0};
    struct tg_record a, b;
    struct tg_pull pull;
    const char *brace = memchr(line.at, '{', (size_t)(line.end - line.at));
    size_t size = brace ? (size_t)(line.end - brace) : 0;
    tg_pull_start(&pull, brace ? brace : "", size);
    bool read = tg_pull_next(&pull) == TG_PULL_BEGIN_OBJECT &&
                tg_manifest_read_entry(&pull, false, &names, &theirs);
    const char *what = NULL;
    if (read) {
        tg_record_reduce(&ours->record, verifier->info.payload_bytes, &a);
        tg_record_reduce(&theirs.record, verifier->info.payload_bytes, &b);
        what = tg_record_difference(&a, &b);
    }
    if (read && !what && is_cut_by_payload_file(verifier, index, &theirs)) {
        tg_names_free(&names);
        return;
    }
    if (what)
        tg_verify_found(verifier, TG_PROBLEM_MANIFEST, index,
                        "the manifest has another %s than the journal", what);
    else
        tg_verify_found(verifier, TG_PROBLEM_MANIFEST, index, "its entry in %s is damaged: %s",
                        verifier->info.manifest,
                        !read ? pull.problem ? pull.problem : "it cannot be read"
                              : "its check is wrong");
    tg_names_free(&names);
}

/* True if the texts differ in more than white space. A comma behind an entry belongs to none. */
static bool differs(struct text line, const char *printed, size_t size)
{
    while (line.end > line.at && (line.end[-1] == ',' || line.end[-1] == '\r'))
        line.end--;
    size_t length = (size_t)(line.end - line.at);
    if (length == size && memcmp(line.at, printed, size) == 0)
        return false;
    return tg_text_hash(line.at, length) != tg_text_hash(printed, size);
}

/* Releases the memory of text and records that have been compared. */
static void let_go(const struct part *part, const char *from, const char *to, uint64_t index)
{
    const char *text = (const char *)part->map->bytes;
    const struct tg_map *journal = &part->verifier->recording->map;
    const uint64_t often = KEPT / part->verifier->recording->slot_size;
    tg_map_let_go_part(part->map, (size_t)(from - text), (size_t)(to - text));
    if (part->verifier->info.from_journal && index > often)
        tg_map_let_go_part(journal, (index - often) * part->verifier->recording->slot_size,
                           index * part->verifier->recording->slot_size);
}

static void *compare_lines(void *context)
{
    struct part *part = context;
    char printed[TG_MANIFEST_LINE];
    struct tg_manifest_pieces *pieces = calloc(1, sizeof *pieces);
    struct tg_entry entry;
    part->no_memory = !pieces;
    if (!pieces)
        return NULL;
    const char *at = part->text.at, *kept = at;
    for (uint64_t i = part->first; at < part->text.end; i++) {
        struct text line = {at, line_end(at, part->text.end)};
        if (at - kept > KEPT) {
            let_go(part, kept, at, i);
            kept = at;
        }
        at = line.end + 1;
        if (!tg_recording_get(part->verifier->recording, i, &entry))
            break;
        size_t size = tg_manifest_put_entry(pieces, &entry, printed);
        while (line.at < line.end && *line.at == ' ')
            line.at++;
        if (differs(line, printed, size))
            judge_line(part, i, &entry, line);
    }
    free(pieces);
    return NULL;
}

/* --- the list ------------------------------------------------------------------------------------- */

/* Cuts the list into parts at the ends of lines. */
static unsigned cut(struct tg_verifier *verifier, const struct tg_map *map, struct text list,
                    struct part *part)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t size = (size_t)(list.end - list.at), wanted = 1 + size / WORTH_A_THREAD;
    unsigned most = cpus < 1 ? 1 : cpus > MOST_THREADS ? MOST_THREADS : (unsigned)cpus;
    unsigned n = wanted < most ? (unsigned)wanted : most;
    const char *at = list.at;
    for (unsigned i = 0; i < n; i++) {
        const char *end = list.at + size / n * (i + 1);
        if (end < at)
            end = at;
        end = i + 1 == n ? list.end : line_end(end, list.end);
        part[i] = (struct part){.verifier = verifier, .map = map, .text = {at, end}};
        at = end < list.end ? end + 1 : list.end;
    }
    return n;
}

/* True if nothing but the end of the document follows its list. */
static bool ends_here(const char *close, const char *end)
{
    static const char tail[] = "]}";
    const char *wanted = tail;
    for (; close < end; close++)
        if (*close == *wanted && *wanted)
            wanted++;
        else if (*close != ' ' && *close != '\n' && *close != '\r' && *close != '\t')
            return false;
    return !*wanted;
}

/* The lines of the entries: from the one after the bracket to the one before the closing bracket. */
static bool find_list(const struct tg_map *map, const char *from, struct text *list)
{
    const char *end = (const char *)map->bytes + map->size;
    const char *close = memrchr(from, ']', (size_t)(end - from));
    if (close && !ends_here(close, end))
        return false; /* something follows: the manifest is read properly */
    if (from == end || *from != '\n' || !close)
        return close == from; /* an empty list, or a manifest without lines */
    while (close > from && close[-1] != '\n')
        close--;
    *list = (struct text){from + 1, close > from + 1 ? close - 1 : from + 1};
    return true;
}

/* True if entries have sums, as we print them; those of older versions are read instead. */
static bool has_sums(struct text list)
{
    static const char word[] = "\"sum\"";
    size_t size = (size_t)(list.end - list.at);
    return size == 0 || memmem(list.at, size < ROOM ? size : ROOM, word, sizeof word - 1) != NULL;
}

bool tg_verify_lines(struct tg_verifier *verifier, const struct tg_map *map, const char *from)
{
    struct part part[MOST_THREADS] = {{0}};
    struct text list = {from, from};
    uint64_t lines = 0;
    if (!find_list(map, from, &list) || !has_sums(list))
        return false;
    unsigned n = cut(verifier, map, list, part);
    run(part, n, count_lines);
    for (unsigned i = 0; i < n; i++) {
        part[i].first = lines;
        part[i].is_running = false;
        lines += part[i].lines;
    }
    if (lines != verifier->info.records)
        return false;
    run(part, n, compare_lines);
    for (unsigned i = 0; i < n; i++)
        if (part[i].no_memory)
            (void)tg_file_no_memory(&verifier->loss);
    return true;
}

/* --- the head ------------------------------------------------------------------------------------- */

/* The line of the text that begins with the same name. */
static bool find_line(struct text text, struct text name, struct text *line)
{
    size_t length = (size_t)(name.end - name.at);
    const char *found = memmem(text.at, (size_t)(text.end - text.at), name.at, length);
    if (!found)
        return false;
    *line = (struct text){found, line_end(found, text.end)};
    return true;
}

/* Compares each member that both have, line by line. */
static void compare_members(struct tg_verifier *verifier, struct text said, struct text printed)
{
    struct text ours, theirs;
    for (const char *at = printed.at; at < printed.end; at = ours.end + 1) {
        ours = (struct text){at, line_end(at, printed.end)};
        const char *colon = memchr(at, ':', (size_t)(ours.end - at));
        if (!colon || strncmp(at, "  \"check\"", 9) == 0 || strncmp(at, "  \"version\"", 11) == 0 ||
            !find_line(said, (struct text){at, colon}, &theirs))
            continue;
        size_t size = (size_t)(ours.end - ours.at);
        if (size != (size_t)(theirs.end - theirs.at) || memcmp(ours.at, theirs.at, size) != 0)
            tg_verify_found(verifier, TG_PROBLEM_COUNTER, TG_NONE,
                            "%s says %.*s but the journal gives %.*s", verifier->info.manifest,
                            (int)(theirs.end - theirs.at < 60 ? theirs.end - theirs.at : 60) - 2,
                            theirs.at + 2, (int)(size < 60 ? size : 60) - 2, ours.at + 2);
    }
}

void tg_verify_head(struct tg_verifier *verifier, const struct tg_map *map, const char *list)
{
    const char *text = (const char *)map->bytes;
    char *buffer = malloc(ROOM);
    struct tg_json json;
    if (!buffer) {
        (void)tg_file_no_memory(&verifier->loss);
        return;
    }
    tg_json_start_buffer(&json, buffer, ROOM, -1, 0);
    tg_manifest_put_head(&json, verifier->recording, &verifier->result->counted);
    if (json.used != (size_t)(list - text) || memcmp(buffer, text, json.used) != 0)
        compare_members(verifier, (struct text){text, list},
                        (struct text){buffer, buffer + json.used});
    free(buffer);
}
