/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A manifest: ours, that of another implementation ("args", dump_args_level), or the older format
 * of both ("tensors" in manifest.json). Memory grows with the entries that were read; no number in
 * the file decides how much is allocated.
 */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/wire/stream.h>

#include "base/error.h"
#include "base/grow.h"
#include "recording/manifest.h"
#include "recording/reader.h"
#include "recording/record.h"

enum { LONGEST_HEAD = 1 << 16 };

typedef bool (*read_fn)(struct tg_manifest_reading *reading);

/* Refuses a manifest that says something this program must not follow. */
static bool refuse(struct tg_manifest_reading *r, const char *problem)
{
    r->refused = true;
    return tg_pull_fail(r->pull, problem);
}

static bool wrong_kind(struct tg_manifest_reading *r)
{
    return tg_pull_fail(r->pull, "a value of the wrong kind");
}

/* Counters are only shown: one that is not a number counts as 0. */
static bool read_counter(struct tg_manifest_reading *r, uint64_t *counter)
{
    if (!tg_pull_u64(r->pull, counter))
        *counter = 0;
    return tg_pull_skip(r->pull);
}

static bool read_text(struct tg_manifest_reading *r, char *text, size_t room)
{
    if (r->pull->token != TG_PULL_STRING)
        return wrong_kind(r);
    size_t length = tg_pull_text(r->pull, text, room);
    tg_name_clean(text, length, text, room);
    return true;
}

static bool read_version(struct tg_manifest_reading *r)
{
    r->has_version = true;
    return tg_pull_u64(r->pull, &r->version) ? true : wrong_kind(r);
}

static bool read_run_dir(struct tg_manifest_reading *r)
{
    return read_text(r, r->recording->run_dir, sizeof r->recording->run_dir);
}

/* Compares the name exactly as written, before it is cleaned or cut. null: the recording has no
 * payloads, and the writer made no file for them. */
static bool read_bin_file(struct tg_manifest_reading *r)
{
    char name[TG_NAME_MAX + 1];
    r->has_bin_file = true;
    r->recording->payload_name[0] = '\0';
    r->is_meta = r->pull->token == TG_PULL_NULL;
    if (r->is_meta)
        return true;
    if (r->pull->token != TG_PULL_STRING)
        return wrong_kind(r);
    size_t length = tg_pull_text(r->pull, name, sizeof name);
    if (length >= sizeof name - 4 || !tg_path_is_plain(name))
        return refuse(r, "a bin_file that is not the plain file name of a file beside it");
    memcpy(r->recording->payload_name, name, length + 1);
    return true;
}

static bool read_format(struct tg_manifest_reading *r)
{
    if (r->pull->token != TG_PULL_BEGIN_OBJECT)
        return wrong_kind(r);
    while (tg_pull_next(r->pull) == TG_PULL_KEY) {
        bool is_order = tg_pull_is(r->pull, "byte_order"), is_type = tg_pull_is(r->pull, "type");
        enum tg_pull_token token = tg_pull_next(r->pull);
        if (token == TG_PULL_STRING && is_order && !tg_pull_is(r->pull, "little_endian"))
            return refuse(r, "a byte_order that is not little_endian");
        if (token == TG_PULL_STRING && is_type && !tg_pull_is(r->pull, "logical_contiguous"))
            return refuse(r, "a bin_format that is not logical_contiguous");
        if (!tg_pull_skip(r->pull))
            return false;
    }
    return r->pull->token == TG_PULL_END_OBJECT;
}

static bool read_level(struct tg_manifest_reading *r)
{
    for (unsigned level = TG_LEVEL_OFF; level <= TG_LEVEL_FULL; level++)
        if (r->pull->token == TG_PULL_STRING && tg_pull_is(r->pull, tg_level_name(level)))
            r->recording->info.level = level;
    return tg_pull_skip(r->pull);
}

/* The other implementation's levels 1, 2, 3: marked arguments only; everything; everything, with
 * payloads for marked arguments only. */
static bool read_foreign_level(struct tg_manifest_reading *r)
{
    static const uint32_t levels[] = {TG_LEVEL_OFF, TG_LEVEL_MARKED, TG_LEVEL_FULL,
                                      TG_LEVEL_HYBRID};
    uint64_t level;
    if (tg_pull_u64(r->pull, &level) && level < sizeof levels / sizeof levels[0])
        r->recording->info.level = levels[level];
    return tg_pull_skip(r->pull);
}

static bool read_policy(struct tg_manifest_reading *r)
{
    for (unsigned policy = TG_POLICY_BLOCK; policy <= TG_POLICY_OVERWRITE; policy++)
        if (r->pull->token == TG_PULL_STRING && tg_pull_is(r->pull, tg_policy_name(policy)))
            r->recording->policy = policy;
    return tg_pull_skip(r->pull);
}

/* A pattern that is not a number of 32 bits says nothing: the recording counts as not poisoned. */
static bool read_poison(struct tg_manifest_reading *r)
{
    uint64_t poison;
    if (tg_pull_u64(r->pull, &poison) && poison <= UINT32_MAX)
        r->recording->info.poison = (uint32_t)poison;
    return tg_pull_skip(r->pull);
}

static bool read_complete(struct tg_manifest_reading *r)
{
    r->recording->info.complete = r->pull->token != TG_PULL_FALSE;
    return tg_pull_skip(r->pull);
}

static bool read_result(struct tg_manifest_reading *r)
{
    tg_status status;
    if (tg_status_from_word(r->pull, &status)) {
        r->recording->info.summary.flags |= TG_SUMMARY_RESULT;
        r->recording->info.summary.result = status;
    }
    return tg_pull_skip(r->pull);
}

static bool read_lost(struct tg_manifest_reading *r)
{
    if (r->pull->token != TG_PULL_BEGIN_OBJECT)
        return tg_pull_skip(r->pull);
    while (tg_pull_next(r->pull) == TG_PULL_KEY) {
        uint64_t ignored, *counter = &ignored;
        for (unsigned cause = 0; cause < TG_LOSS_CAUSES; cause++)
            if (tg_pull_is(r->pull, tg_loss_name(cause)))
                counter = &r->recording->info.summary.lost[cause];
        if (tg_pull_next(r->pull) == TG_PULL_ERROR || !read_counter(r, counter))
            return false;
    }
    return r->pull->token == TG_PULL_END_OBJECT;
}

/* What the journal had lost when the manifest was written. */
static bool read_damaged_records(struct tg_manifest_reading *r)
{
    return read_counter(r, &r->recording->info.damaged);
}

/* The check of the members before it. */
static bool read_check(struct tg_manifest_reading *r)
{
    r->head = tg_text_check(r->pull, r->begin, r->key);
    return tg_pull_skip(r->pull);
}

/* Only our manifests have a version, and only ours a check: one of them may be damaged. */
static bool is_foreign(const struct tg_manifest_reading *r)
{
    return !r->has_version && r->head == TG_TEXT_UNCHECKED;
}

bool tg_manifest_take_entry(struct tg_manifest_reading *r)
{
    struct tg_recording *recording = r->recording;
    if (!tg_grow(&recording->entry, &recording->entry_room, (size_t)recording->n_entries + 1,
                 sizeof *recording->entry)) {
        r->no_memory = true;
        return tg_pull_fail(r->pull, "out of host memory for its entries");
    }
    struct tg_read_entry *entry = &recording->entry[recording->n_entries];
    if (!tg_manifest_read_entry(r->pull, is_foreign(r), &recording->names, entry))
        return false;
    if (entry->check == TG_TEXT_DAMAGED)
        recording->damage.entries++;
    else if (!r->keep || r->keep(r->context, entry))
        recording->n_entries++;
    r->n_checked += entry->check == TG_TEXT_INTACT;
    return true;
}

static bool read_entries(struct tg_manifest_reading *r)
{
    if (r->pull->token != TG_PULL_BEGIN_ARRAY)
        return wrong_kind(r);
    if (r->has_list)
        return tg_pull_fail(r->pull, "a second list of entries");
    r->has_list = true;
    for (;;) {
        enum tg_pull_token token = tg_pull_next(r->pull);
        if (token == TG_PULL_END_ARRAY || token == TG_PULL_ERROR)
            return token == TG_PULL_END_ARRAY;
        if (token != TG_PULL_BEGIN_OBJECT)
            return wrong_kind(r);
        if (!tg_manifest_take_entry(r))
            return false;
    }
}

/* True if the value is a list of entries under whichever name: its first element is an object that has
 * an "arg_index". Looks ahead on a copy, so the reader stays where it is. */
static bool is_entry_list(const struct tg_manifest_reading *r)
{
    struct tg_pull ahead = *r->pull;
    if (ahead.token != TG_PULL_BEGIN_ARRAY || tg_pull_next(&ahead) != TG_PULL_BEGIN_OBJECT)
        return false;
    while (tg_pull_next(&ahead) == TG_PULL_KEY) {
        if (tg_pull_is(&ahead, "arg_index"))
            return true;
        if (tg_pull_next(&ahead) == TG_PULL_ERROR || !tg_pull_skip(&ahead))
            return false;
    }
    return false;
}

static const struct {
    const char *name;
    read_fn read;
} keys[] = {
    {"version", read_version},   {"run_dir", read_run_dir},
    {"bin_file", read_bin_file}, {"bin_format", read_format},
    {"level", read_level},       {"dump_args_level", read_foreign_level},
    {"complete", read_complete}, {"lost", read_lost},
    {"tensors", read_entries},   {"args", read_entries},
    {"result", read_result},     {"poison", read_poison},
    {"check", read_check},       {"damaged_records", read_damaged_records},
    {"policy", read_policy},
};

/* Our name first, then the other implementation's name if it has one. */
static const struct {
    const char *name, *foreign;
    size_t offset;
} counters[] = {
#define COUNTER(field) offsetof(struct tg_record_summary, field)
    {"total_tensors", "total_args", COUNTER(recorded)},
    {"before_dispatch", "", COUNTER(before_dispatch)},
    {"after_completion", "", COUNTER(after_completion)},
    {"orchestration", "", COUNTER(orchestration)},
    {"input_tensors", "input_args", COUNTER(inputs)},
    {"output_tensors", "output_args", COUNTER(outputs)},
    {"inout_tensors", "inout_args", COUNTER(inouts)},
    {"scalars", "", COUNTER(scalars)},
    {"truncated_tensors", "truncated_args", COUNTER(truncated)},
    {"overwritten_tensors", "dropped_overwrite", COUNTER(overwritten)},
    {"attempted", "", COUNTER(attempted)},
    {"payload_bytes", "", COUNTER(payload_bytes)},
    {"record_ns", "", COUNTER(record_ns)},
    {"wait_ns", "", COUNTER(wait_ns)},
    /* our manifests give the causes in "lost" */
    {"", "dropped_records", COUNTER(lost[TG_LOSS_FULL])},
#undef COUNTER
};
enum { COUNTERS = sizeof counters / sizeof counters[0] };

static uint64_t *counter_at(struct tg_record_summary *summary, size_t place)
{
    return (uint64_t *)(void *)((char *)summary + counters[place].offset);
}

/* The counter that the key names; NULL if it names none. */
static uint64_t *find_counter(struct tg_manifest_reading *r)
{
    for (size_t i = 0; i < COUNTERS; i++) {
        bool ours = tg_pull_is(r->pull, counters[i].name);
        bool foreign = !r->has_version && tg_pull_is(r->pull, counters[i].foreign);
        if (r->pull->length > 0 && (ours || foreign)) {
            r->seen |= 1u << i;
            return counter_at(&r->recording->info.summary, i);
        }
    }
    return NULL;
}

/* Counts what an older form of the other implementation does not, so that every reader finds the same
 * counters. The other implementation counts scalars as inputs. */
static void count_missing(const struct tg_manifest_reading *r)
{
    struct tg_recording *recording = r->recording;
    struct tg_record_summary counted = {0};
    for (uint64_t i = 0; i < recording->n_entries; i++)
        tg_record_count(&counted, &recording->entry[i].record);
    counted.inputs += counted.scalars;
    for (size_t i = 0; i < COUNTERS; i++)
        if (!(r->seen >> i & 1))
            *counter_at(&recording->info.summary, i) = *counter_at(&counted, i);
}

bool tg_manifest_read_member(struct tg_manifest_reading *r)
{
    uint64_t *counter = find_counter(r);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (tg_pull_is(r->pull, keys[i].name))
            return tg_pull_next(r->pull) != TG_PULL_ERROR && keys[i].read(r);
    if (tg_pull_next(r->pull) == TG_PULL_ERROR)
        return false;
    if (!r->has_list && is_entry_list(r)) {
        if (!is_foreign(r))
            (void)snprintf(r->recording->damage.manifest, sizeof r->recording->damage.manifest,
                           "line %lu: the list of entries has a wrong name", tg_pull_line(r->pull));
        return read_entries(r);
    }
    return counter ? read_counter(r, counter) : tg_pull_skip(r->pull);
}

/* The first form of the other implementation is the list alone. */
static bool read_document(struct tg_manifest_reading *r)
{
    if (tg_pull_next(r->pull) == TG_PULL_BEGIN_ARRAY && is_entry_list(r))
        return read_entries(r) && tg_pull_next(r->pull) == TG_PULL_END;
    if (r->pull->token != TG_PULL_BEGIN_OBJECT)
        return tg_pull_fail(r->pull, "not a JSON object");
    r->begin = r->text + r->pull->at - 1;
    while (tg_pull_next(r->pull) == TG_PULL_KEY) {
        r->key = r->pull->value;
        if (!tg_manifest_read_member(r))
            return false;
    }
    if (r->pull->token == TG_PULL_ERROR || tg_pull_next(r->pull) != TG_PULL_END)
        return false;
    return r->has_list || tg_pull_fail(r->pull, "neither \"tensors\" nor \"args\"");
}

/* Fills in what older manifests do not say. */
static void assume_payload(struct tg_recording *recording, const char *name)
{
    static const char *const usual[][2] = {{"tensor_dump.json", "tensor_dump.bin"},
                                           {"args_dump.json", "args.bin"},
                                           {"manifest.json", "tensors.bin"}};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (strcmp(name, usual[i][0]) == 0)
            memcpy(recording->payload_name, usual[i][1], strlen(usual[i][1]) + 1);
}

static bool has_payloads(const struct tg_recording *recording)
{
    for (uint64_t i = 0; i < recording->n_entries; i++)
        if (recording->entry[i].record.stored > 0)
            return true;
    return false;
}

/* If some entries have a check, one without it has lost it. */
static void drop_unchecked(struct tg_manifest_reading *r)
{
    struct tg_recording *recording = r->recording;
    uint64_t kept = 0;
    if (r->n_checked == 0)
        return;
    for (uint64_t i = 0; i < recording->n_entries; i++)
        if (recording->entry[i].check == TG_TEXT_INTACT)
            recording->entry[kept++] = recording->entry[i];
    recording->damage.entries += recording->n_entries - kept;
    recording->n_entries = kept;
}

/* Reads all that proves itself of a manifest whose text is damaged. False if that is nothing, or if
 * the text is as its writer meant it and must be refused. */
static bool read_damaged(struct tg_manifest_reading *r, const char *problem)
{
    struct tg_recording *recording = r->recording;
    bool refused = r->refused;
    if (!problem || !tg_manifest_salvage(r) || (refused && r->head != TG_TEXT_DAMAGED))
        return false;
    (void)snprintf(recording->damage.manifest, sizeof recording->damage.manifest, "%s", problem);
    return true;
}

/* Fills in what older forms do not say. */
static void assume_missing(struct tg_manifest_reading *r, const char *name)
{
    struct tg_recording *recording = r->recording;
    bool foreign = recording->info.foreign;
    if (r->is_meta ||
        (foreign && recording->info.level == TG_LEVEL_OFF && !has_payloads(recording)))
        recording->info.level = TG_LEVEL_META; /* whichever payloads its level could have had */
    if (!r->has_bin_file)
        assume_payload(recording, name);
    if (foreign)
        count_missing(r);
}

static tg_status finish(struct tg_manifest_reading *r, const char *name, struct tg_error *error)
{
    struct tg_recording *recording = r->recording;
    drop_unchecked(r);
    recording->damage.manifest_head =
        r->head == TG_TEXT_DAMAGED || (r->head == TG_TEXT_UNCHECKED && r->n_checked > 0);
    if (r->has_version && r->version > TG_MANIFEST_VERSION && !recording->damage.manifest_head)
        return tg_error_set(error, TG_UNSUPPORTED,
                            "'%s' is a manifest of version %llu; this program reads up to %d", name,
                            (unsigned long long)r->version, TG_MANIFEST_VERSION);
    recording->info.damaged += recording->damage.entries;
    recording->info.foreign = !r->has_version && !recording->damage.manifest_head;
    assume_missing(r, name);
    return tg_spans_make(recording) ? TG_OK : tg_file_no_memory(error);
}

/* Says what is wrong with the text where the reader stopped. */
static void describe(const struct tg_manifest_reading *r, char *problem, size_t room)
{
    size_t zeros = 0;
    while (zeros < r->size && r->text[r->size - 1 - zeros] == '\0')
        zeros++;
    if (zeros > 0)
        (void)snprintf(problem, room, "it ends in %zu bytes of zeros, as a power loss leaves them",
                       zeros);
    else
        (void)snprintf(problem, room, "line %lu: %s", tg_pull_line(r->pull),
                       r->pull->problem ? r->pull->problem : "broken");
}

/* Reads the text with a reader of its own, which does not outlive the call. */
static bool read_text_or_rest(struct tg_manifest_reading *r, char *problem, size_t room)
{
    struct tg_pull pull;
    r->pull = &pull;
    tg_pull_start(&pull, r->text, r->size);
    pull.map = r->map;
    bool good = read_document(r);
    if (!good) {
        describe(r, problem, room);
        good = read_damaged(r, pull.problem ? problem : NULL);
    }
    r->pull = NULL;
    return good;
}

tg_status tg_manifest_read_with(struct tg_manifest_reading *r, const char *name,
                                struct tg_error *error)
{
    char problem[120];
    r->recording->info.complete = true;
    bool good = read_text_or_rest(r, problem, sizeof problem);
    if (r->no_memory || r->recording->names.no_memory)
        return tg_file_no_memory(error); /* not the file's fault */
    if (!good)
        return tg_error_set(error, TG_BAD_ARGUMENT, "'%s' is not a manifest: %s", name, problem);
    return finish(r, name, error);
}

tg_status tg_manifest_read(struct tg_recording *recording, const struct tg_map *map,
                           const char *name, struct tg_error *error)
{
    struct tg_manifest_reading reading = {
        .recording = recording, .text = (const char *)map->bytes, .size = map->size, .map = map};
    return tg_manifest_read_with(&reading, name, error);
}

struct tg_recording *tg_manifest_peek(const char *text, size_t size, const char **list)
{
    static const char opens[] = "\"tensors\": [", closes[] = "]}";
    size_t most = size < LONGEST_HEAD ? size : LONGEST_HEAD;
    struct tg_recording *recording = NULL;
    const char *found = most > 0 ? memmem(text, most, opens, sizeof opens - 1) : NULL;
    if (!found)
        return NULL;
    *list = found + sizeof opens - 1;
    size_t length = (size_t)(*list - text);
    char *head = malloc(length + sizeof closes);
    if (!head)
        return NULL;
    memcpy(head, text, length);
    memcpy(head + length, closes, sizeof closes);
    (void)tg_recording_from_memory(head, length + sizeof closes - 1, NULL, 0, &recording, NULL);
    free(head);
    return recording;
}
