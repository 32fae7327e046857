/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that hold for every recording that opens, whatever its bytes: entries are within their
 * limits, and a manifest written from it reads back the same.
 */
#ifndef TASKGLASS_FUZZ_RECORDING_H
#define TASKGLASS_FUZZ_RECORDING_H

#include "recording/manifest.h"
#include "recording/reader.h"
#include "recording/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <taskglass/dtype.h>
#include <taskglass/tensor.h>
#include <unistd.h>

#define HOLDS(cond)                                                              \
    do {                                                                         \
        if (!(cond)) {                                                           \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #cond); \
            abort();                                                             \
        }                                                                        \
    } while (0)

enum { FUZZ_PAYLOAD = 4096 };

static inline void fuzz_check_entry(const struct tg_recording *recording,
                                    const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    int64_t numel = tg_record_numel(record);
    HOLDS(record->stage <= TG_STAGE_ORCHESTRATION && record->kind <= TG_KIND_SCALAR);
    HOLDS(record->role >= TG_IN && record->role <= TG_INOUT);
    HOLDS(record->dtype < TG_DTYPE_END && record->ndim <= TG_MAX_DIMS);
    HOLDS(numel >= 0 && numel <= TG_MAX_ELEMENTS);
    HOLDS(record->stored <= record->bytes);
    if (record->dtype != TG_DTYPE_NONE && record->bytes > 0)
        HOLDS(record->bytes == tg_bytes_of(record->dtype, numel));
    for (int part = 0; part < TG_PARTS; part++)
        HOLDS(!entry->kernel[part] || strlen(entry->kernel[part]) <= TG_NAME_MAX);
    const void *payload = tg_recording_payload(recording, entry);
    HOLDS((payload != NULL) == (record->stored > 0));
    if (payload)
        (void)tg_content_hash(payload, record->stored); /* every byte can be read */
}

/* Counts the readable entries, from the first on. */
static inline uint64_t fuzz_check_entries(const struct tg_recording *recording)
{
    struct tg_recording_info info;
    struct tg_entry entry;
    uint64_t readable = 0;
    tg_recording_get_info(recording, &info);
    HOLDS(!tg_recording_get(recording, info.records, &entry));
    for (uint64_t i = 0; i < info.records; i++)
        if (tg_recording_get(recording, i, &entry)) {
            fuzz_check_entry(recording, &entry);
            readable += readable == i;
        }
    return readable;
}

static inline bool fuzz_same(const struct tg_entry *a, const struct tg_entry *b)
{
    const struct tg_record *x = &a->record, *y = &b->record;
    return x->task_id == y->task_id && x->stage == y->stage && x->role == y->role &&
           x->kind == y->kind && x->dtype == y->dtype && x->ndim == y->ndim &&
           x->arg_index == y->arg_index && x->stored == y->stored && x->position == y->position &&
           x->data_ptr == y->data_ptr && (x->kind == TG_KIND_TENSOR || x->value == y->value) &&
           memcmp(x->shape, y->shape, sizeof x->shape) == 0 &&
           memcmp(x->strides, y->strides, sizeof x->strides) == 0;
}

/* Writes the manifest, reads it, compares. */
static inline void fuzz_check_manifest(const struct tg_recording *recording, uint64_t readable)
{
    static int fd = -1;
    static unsigned char payload[FUZZ_PAYLOAD];
    struct tg_recording *again;
    struct tg_error error;
    struct tg_entry before, after;
    if (fd < 0)
        fd = memfd_create("manifest", 0);
    HOLDS(ftruncate(fd, 0) == 0 && tg_manifest_print(recording, fd) == 0);
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = malloc((size_t)size);
    HOLDS(pread(fd, text, (size_t)size, 0) == size);
    tg_status status = tg_recording_from_memory(text, (size_t)size, payload,
                                                recording->payload.size, &again, &error);
    if (status != TG_OK)
        fprintf(stderr, "%s\n%.*s\n", error.text, (int)size, text);
    HOLDS(status == TG_OK);
    HOLDS(again->info.records == readable && !again->info.foreign);
    for (uint64_t i = 0; i < readable; i++) {
        HOLDS(tg_recording_get(recording, i, &before) && tg_recording_get(again, i, &after));
        HOLDS(fuzz_same(&before, &after));
    }
    tg_recording_close(again);
    free(text);
}

static inline void fuzz_check_recording(const void *bytes, size_t size)
{
    static unsigned char payload[FUZZ_PAYLOAD];
    struct tg_recording *recording;
    struct tg_error error = {0};
    if (tg_recording_from_memory(bytes, size, payload, sizeof payload, &recording, &error) !=
        TG_OK) {
        HOLDS(!recording && error.text[0]);
        return;
    }
    fuzz_check_manifest(recording, fuzz_check_entries(recording));
    tg_recording_close(recording);
}

/* Gives every slot of a journal its right check, as a careful hostile writer would. */
static __attribute__((unused)) void fuzz_seal(unsigned char *bytes, size_t size)
{
    struct tg_journal_head head;
    if (size < sizeof head)
        return;
    memcpy(&head, bytes, sizeof head);
    size_t slot = head.version == 1 ? TG_JOURNAL_SLOT_V1 : TG_JOURNAL_SLOT;
    for (size_t at = sizeof head; size >= at + slot; at += slot) {
        uint16_t type;
        memcpy(&type, bytes + at, sizeof type);
        if (slot == TG_JOURNAL_SLOT && type == TG_RECORD_REST && at > sizeof head)
            memcpy(bytes + at + 4, bytes + at - slot + 4, 4);
        else
            memset(bytes + at + 4, 0, 4);
        uint32_t check = tg_record_check(bytes + at, slot);
        memcpy(bytes + at + 4, &check, sizeof check);
    }
}

#endif
