/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "recording/reader.h"
#include "recording/record.h"
#include "recording/slots.h"

enum { HEAD = sizeof(struct tg_journal_head) };

bool tg_journal_begins(const void *bytes, size_t size)
{
    uint64_t magic = TG_JOURNAL_MAGIC;
    return size >= sizeof magic && memcmp(bytes, &magic, sizeof magic) == 0;
}

static tg_status refuse(struct tg_error *error, const char *name, const char *what)
{
    return tg_error_set(error, TG_BAD_ARGUMENT, "'%s' is not a journal: %s", name, what);
}

/* --- the head ------------------------------------------------------------------------------------ */

static tg_status check_head(const struct tg_journal_head *head, const char *name,
                            struct tg_error *error)
{
    static const struct tg_journal_head zeros;
    if (memcmp(head, &zeros, sizeof zeros) == 0)
        return refuse(error, name, "it begins with zeros, as a power loss leaves them");
    if (!tg_journal_begins(head, sizeof *head))
        return refuse(error, name, "its first bytes are not those of a journal");
    if (head->version < 1 || head->version > TG_JOURNAL_VERSION || head->incompatible != 0)
        return tg_error_set(error, TG_UNSUPPORTED,
                            "'%s' is a journal of version %u with flags 0x%x; this program reads "
                            "versions 1 to %u without flags",
                            name, head->version, head->incompatible, TG_JOURNAL_VERSION);
    size_t slot = head->version == 1 ? TG_JOURNAL_SLOT_V1 : TG_JOURNAL_SLOT;
    if (head->head_size != HEAD || head->record_size != slot)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "'%s' is not a journal: its head gives sizes other than 256 and %zu",
                            name, slot);
    if (!memchr(head->bin_file, 0, sizeof head->bin_file) || !tg_path_is_plain(head->bin_file))
        return refuse(error, name, "the name of its payload file is not a plain file name");
    return TG_OK;
}

/* True if there are only zeros after the first one. */
static bool is_padded(const char *text, size_t room)
{
    for (size_t i = strnlen(text, room); i < room; i++)
        if (text[i] != '\0')
            return false;
    return true;
}

/* Older heads have no check; their text reaches to the end, and zeros fill it up. */
static enum tg_text_check head_check(const struct tg_journal_head *head)
{
    const char *run_dir = (const char *)head + offsetof(struct tg_journal_head, run_dir);
    if (head->compatible & TG_JOURNAL_CHECKED)
        return head->check == tg_journal_head_check(head) ? TG_TEXT_INTACT : TG_TEXT_DAMAGED;
    bool padded = is_padded(head->bin_file, sizeof head->bin_file) &&
                  is_padded(run_dir, sizeof head->run_dir + sizeof head->check);
    return padded ? TG_TEXT_UNCHECKED : TG_TEXT_DAMAGED;
}

/* Takes from a damaged head what cannot be wrong or does no harm; the manifest may know the rest. */
static void take_head(struct tg_recording *recording, const struct tg_journal_head *head,
                      bool is_damaged)
{
    const char *run_dir = (const char *)head + offsetof(struct tg_journal_head, run_dir);
    size_t room = sizeof head->run_dir + (head->compatible & TG_JOURNAL_CHECKED ? 0 : 4);
    bool is_plain =
        memchr(head->bin_file, 0, sizeof head->bin_file) && tg_path_is_plain(head->bin_file);
    tg_name_clean(run_dir, room, recording->run_dir, sizeof recording->run_dir);
    (void)snprintf(recording->payload_name, sizeof recording->payload_name, "%s",
                   is_plain ? head->bin_file : TG_DUMP_PAYLOAD);
    recording->info.from_journal = true;
    recording->damage.journal_head = is_damaged;
    recording->info.level = is_damaged ? 0 : head->level;
    recording->policy = head->policy;
    recording->info.poison = is_damaged && head->poison != TG_POISON ? 0 : head->poison;
}

/* --- kernels ------------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const struct tg_kernel_name *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static bool add_kernel(struct tg_recording *recording, uint32_t number, uint32_t core,
                       const char *name, size_t length)
{
    const char *kept = tg_names_add(&recording->names, name, length);
    if (!kept || !tg_grow(&recording->kernel, &recording->kernel_room, recording->n_kernels + 1,
                          sizeof *recording->kernel))
        return false;
    recording->kernel[recording->n_kernels++] = (struct tg_kernel_name){number, core, kept};
    return true;
}

static bool read_kernels(struct tg_recording *recording)
{
    struct tg_record_kernel slot;
    struct tg_record record;
    for (size_t i = 0; i < recording->n_marks; i++) {
        if (recording->mark[i].kind != TG_MARK_KERNEL)
            continue;
        tg_journal_record(recording, recording->mark[i].slot, &record);
        memcpy(&slot, &record, sizeof slot);
        if (!add_kernel(recording, slot.kernel, slot.core, slot.name,
                        strnlen(slot.name, sizeof slot.name)))
            return false;
    }
    if (recording->n_kernels > 0)
        qsort(recording->kernel, recording->n_kernels, sizeof *recording->kernel, by_number);
    return true;
}

static const struct tg_kernel_name *find_kernel(const struct tg_recording *recording,
                                                uint32_t number)
{
    struct tg_kernel_name wanted = {.number = number};
    if (number < recording->n_kernels && recording->kernel[number].number == number)
        return &recording->kernel[number]; /* nearly always: they are numbered from 0 */
    if (recording->n_kernels == 0)
        return NULL;
    return bsearch(&wanted, recording->kernel, recording->n_kernels, sizeof wanted, by_number);
}

const char *tg_journal_kernel(const struct tg_recording *recording, uint32_t number)
{
    const struct tg_kernel_name *found = find_kernel(recording, number);
    return found ? found->name : "";
}

uint32_t tg_journal_kernel_core(const struct tg_recording *recording, uint32_t number)
{
    const struct tg_kernel_name *found = find_kernel(recording, number);
    return found && found->core < TG_CORE_KINDS ? found->core : TG_CORE_KINDS;
}

bool tg_journal_add_kernel(struct tg_recording *recording, uint32_t number, const char *name)
{
    if (find_kernel(recording, number))
        return true;
    if (!add_kernel(recording, number, TG_CORE_KINDS, name, strlen(name)))
        return false;
    qsort(recording->kernel, recording->n_kernels, sizeof *recording->kernel, by_number);
    return true;
}

/* --- records ------------------------------------------------------------------------------------- */

/* The journal is complete if no intact argument or name follows its summary. */
static void find_summary(struct tg_recording *recording)
{
    uint64_t after = recording->slots;
    for (size_t i = recording->n_marks; i > 0; i--) {
        const struct tg_mark *mark = &recording->mark[i - 1];
        if (mark->slot + mark->count != after || mark->kind == TG_MARK_KERNEL)
            return;
        after = mark->slot;
        if (mark->kind == TG_MARK_SUMMARY) {
            struct tg_record record;
            tg_journal_record(recording, mark->slot, &record);
            memcpy(&recording->info.summary, &record, sizeof recording->info.summary);
            recording->info.complete = true;
            return;
        }
    }
}

static bool is_old(const struct tg_recording *recording)
{
    return recording->slot_size == TG_JOURNAL_SLOT_V1;
}

/* A guess at what a damaged slot was: its bytes say so, unless the damage is just there. */
static bool was_argument(const struct tg_recording *recording, uint64_t slot, bool before_name)
{
    uint16_t type;
    memcpy(&type, tg_journal_slot(recording, slot), sizeof type);
    if (type == TG_RECORD_KERNEL || (type == TG_RECORD_REST && !is_old(recording)))
        return false;
    if (type == TG_RECORD_SUMMARY)
        return slot + (is_old(recording) ? 1 : TG_MOST_SLOTS) < recording->slots;
    return type == TG_RECORD_ARGUMENT || !before_name;
}

/* The guess for every slot of mark `i`. Zeros are not looked at again: there may be very many. */
static uint64_t count_arguments(const struct tg_recording *recording, size_t i)
{
    const struct tg_mark *mark = &recording->mark[i];
    const struct tg_mark *next = i + 1 < recording->n_marks ? mark + 1 : NULL;
    uint64_t count = 0, end = mark->slot + mark->count;
    bool before_name = next && next->slot == end && next->kind == TG_MARK_KERNEL;
    if (mark->kind == TG_MARK_ZEROS)
        return mark->count - before_name;
    for (uint64_t slot = mark->slot; slot < end; slot++) {
        count += was_argument(recording, slot, before_name && slot + 1 == end);
        tg_journal_let_go(recording, slot);
    }
    return count;
}

static void count_damage(struct tg_recording *recording)
{
    for (size_t i = 0; i < recording->n_marks; i++)
        if (tg_mark_is_damage(&recording->mark[i])) {
            recording->damage.slots += recording->mark[i].count;
            recording->info.damaged += count_arguments(recording, i);
        }
}

static bool drop_copies(struct tg_recording *recording)
{
    size_t before = recording->n_marks;
    if (!tg_journal_mark_copies(recording))
        return false;
    if (recording->n_marks == before)
        return true;
    find_summary(recording); /* a copy may have followed it */
    return tg_spans_make(recording);
}

/* Slots that hold what they held when they were written. */
static uint64_t count_intact(const struct tg_recording *recording)
{
    uint64_t damaged = 0;
    for (size_t i = 0; i < recording->n_marks; i++)
        damaged += tg_mark_is_damage(&recording->mark[i]) ? recording->mark[i].count : 0;
    return recording->slots - damaged;
}

static bool scan_as(struct tg_recording *recording, size_t slot_size)
{
    free(recording->mark);
    recording->mark = NULL;
    recording->info.torn_bytes = recording->info.zero_bytes = 0;
    recording->slot_size = slot_size;
    return tg_journal_scan(recording);
}

/* A damaged head does not tell how large the slots are; the records do. False if memory ran out. */
static bool scan(struct tg_recording *recording, const struct tg_journal_head *head, bool is_good)
{
    bool is_first = is_good ? head->version == 1 : false;
    if (!scan_as(recording, is_first ? TG_JOURNAL_SLOT_V1 : TG_JOURNAL_SLOT))
        return false;
    uint64_t intact = is_good ? 1 : count_intact(recording);
    if (intact > 0)
        return true;
    if (!scan_as(recording, TG_JOURNAL_SLOT_V1))
        return false;
    return count_intact(recording) > 0 || scan_as(recording, TG_JOURNAL_SLOT);
}

tg_status tg_journal_read(struct tg_recording *recording, const char *name, struct tg_error *error)
{
    struct tg_journal_head head;
    if (recording->map.size < HEAD)
        return refuse(error, name,
                      tg_journal_begins(recording->map.bytes, recording->map.size)
                          ? "it ends within its head"
                          : "its first bytes are not those of a journal");
    memcpy(&head, recording->map.bytes, sizeof head);
    enum tg_text_check check = head_check(&head);
    tg_status status = check_head(&head, name, error);
    if (status != TG_OK && check == TG_TEXT_INTACT)
        return status; /* the head proves itself, but is not for this program */
    if (!scan(recording, &head, status == TG_OK && check != TG_TEXT_DAMAGED))
        return tg_file_no_memory(error);
    count_damage(recording);
    if (status != TG_OK && recording->damage.slots == recording->slots)
        return status; /* nothing here is known to be a journal's */
    take_head(recording, &head, status != TG_OK || check == TG_TEXT_DAMAGED);
    find_summary(recording);
    if (!read_kernels(recording) || !tg_spans_make(recording) || !drop_copies(recording))
        return tg_file_no_memory(error);
    return TG_OK;
}
