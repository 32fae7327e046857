/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "recording/reader.h"
#include "recording/record.h"

enum { RECORD = sizeof(struct tg_record), HEAD = sizeof(struct tg_journal_head) };

bool tg_journal_begins(const void *bytes, size_t size)
{
    uint64_t magic = TG_JOURNAL_MAGIC;
    return size >= sizeof magic && memcmp(bytes, &magic, sizeof magic) == 0;
}

static tg_status refuse(struct tg_error *error, const char *name, const char *what)
{
    return tg_error_set(error, TG_BAD_ARGUMENT, "'%s' is not a journal: %s", name, what);
}

static tg_status check_head(const struct tg_journal_head *head, const char *name,
                            struct tg_error *error)
{
    if (head->version != TG_JOURNAL_VERSION || head->incompatible != 0)
        return tg_error_set(error, TG_UNSUPPORTED,
                            "'%s' is a journal of version %u with flags 0x%x; this program reads "
                            "version %u without flags",
                            name, head->version, head->incompatible, TG_JOURNAL_VERSION);
    if (head->head_size != HEAD || head->record_size != RECORD)
        return refuse(error, name, "its head gives sizes other than 256 and 256");
    if (!memchr(head->bin_file, 0, sizeof head->bin_file) || !tg_path_is_plain(head->bin_file))
        return refuse(error, name, "the name of its payload file is not a plain file name");
    return TG_OK;
}

/* Copies record `index`, of any type, so that nothing can change it between the check and the
 * use. */
static bool get_slot(const struct tg_recording *recording, uint64_t index, struct tg_record *slot)
{
    memcpy(slot, recording->map.bytes + HEAD + index * RECORD, RECORD);
    return tg_record_intact(slot);
}

static uint64_t first_bad(const struct tg_recording *recording, uint64_t n)
{
    struct tg_record slot;
    for (uint64_t i = 0; i < n; i++)
        if (!get_slot(recording, i, &slot))
            return i;
    return n;
}

/* Counts the records of any type; finds the summary if it is the last of them. */
static uint64_t find_end(struct tg_recording *recording)
{
    struct tg_record last;
    uint64_t n = recording->whole_records;
    if (n > 0 && !get_slot(recording, n - 1, &last))
        n = first_bad(recording, n);
    if (n == 0 || !get_slot(recording, n - 1, &last) || last.type != TG_RECORD_SUMMARY)
        return n;
    memcpy(&recording->info.summary, &last, sizeof last);
    recording->info.complete = true;
    return n - 1;
}

static int by_number(const void *a, const void *b)
{
    const struct tg_kernel_name *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static uint64_t count_kernels(const struct tg_recording *recording, uint64_t n)
{
    struct tg_record slot;
    uint64_t kernels = 0;
    while (kernels < n && get_slot(recording, kernels, &slot) && slot.type == TG_RECORD_KERNEL)
        kernels++;
    return kernels;
}

static bool read_kernels(struct tg_recording *recording, uint64_t kernels)
{
    struct tg_record_kernel slot;
    recording->kernel = calloc(kernels + 1, sizeof *recording->kernel);
    if (!recording->kernel)
        return false;
    for (uint64_t i = 0; i < kernels; i++) {
        memcpy(&slot, recording->map.bytes + HEAD + i * RECORD, sizeof slot);
        recording->kernel[i].number = slot.kernel;
        recording->kernel[i].name =
            tg_names_add(&recording->names, slot.name, strnlen(slot.name, sizeof slot.name));
        if (!recording->kernel[i].name)
            return false;
    }
    recording->n_kernels = (size_t)kernels;
    qsort(recording->kernel, recording->n_kernels, sizeof *recording->kernel, by_number);
    return true;
}

const char *tg_journal_kernel(const struct tg_recording *recording, uint32_t number)
{
    struct tg_kernel_name wanted = {.number = number}, *found;
    found = bsearch(&wanted, recording->kernel, recording->n_kernels, sizeof wanted, by_number);
    return found ? found->name : "";
}

tg_status tg_journal_read(struct tg_recording *recording, const char *name, struct tg_error *error)
{
    struct tg_journal_head head;
    if (!tg_journal_begins(recording->map.bytes, recording->map.size))
        return refuse(error, name, "its first bytes are not those of a journal");
    if (recording->map.size < HEAD)
        return refuse(error, name, "it ends within its head");
    memcpy(&head, recording->map.bytes, sizeof head);
    tg_status status = check_head(&head, name, error);
    if (status != TG_OK)
        return status;
    tg_name_clean(head.run_dir, sizeof head.run_dir, recording->run_dir, sizeof recording->run_dir);
    memcpy(recording->payload_name, head.bin_file, sizeof head.bin_file);
    recording->info.from_journal = true;
    recording->info.level = head.level;
    recording->policy = head.policy;
    recording->info.poison = head.poison;
    recording->whole_records = (recording->map.size - HEAD) / RECORD;

    uint64_t n = find_end(recording), kernels = count_kernels(recording, n);
    if (!read_kernels(recording, kernels))
        return tg_file_no_memory(error);
    recording->arguments = recording->map.bytes + HEAD + kernels * RECORD;
    recording->info.records = n - kernels;
    return TG_OK;
}
