/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tasks of any recording: reads and checks each of them, calls a reference for it, and lays out its
 * replay and its bundle. The first byte is not part of the recording: if it is odd, every record of a
 * journal gets its right check, as from a careful hostile writer.
 *
 * The functions of host/reference_process.h that calls need are here, so that references run in this
 * process: they touch every byte that they were promised, and a sanitizer sees a promise that was not kept.
 */
#define _GNU_SOURCE 1
#include "fuzz/recording.h"

#include "common/gather.h"
#include "host/bundle.h"
#include "host/reference.h"
#include "host/signature.h"
#include "recording/extents.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ANY, TYPED, REFERENCES, MOST_TASKS = 32 };
#define SIGNATURE "in:float32 out:float32 scalar:int64"

/* ── references ────────────────────────────────────────────────────────────────────────── */

tg_status tg_reference_process_reserve(struct tg_reference_process *process, uint64_t size,
                                       struct tg_error *error)
{
    (void)error;
    HOLDS(size < UINT64_C(256) << 20); /* 16 tensors of 4 KiB, each between guards */
    free(process->memory);
    process->memory = malloc(size);
    process->memory_size = size;
    return TG_OK;
}

tg_status tg_reference_process_renew(struct tg_reference_process *process, struct tg_error *error)
{
    (void)process;
    (void)error;
    return TG_OK;
}

/* Reads and writes an argument through the view that the reference gets. */
static void touch(char *base, const struct tg_reference_tensor *t)
{
    struct tg_tensor view =
        tg_tensor_make((uint64_t)(uintptr_t)base, t->dtype, (int)t->ndim, t->shape);
    int64_t numel = tg_tensor_numel(&view);
    HOLDS(tg_tensor_valid(&view));
    HOLDS(tg_bytes_of(view.dtype, numel) == t->bytes && view.storage_bytes == t->bytes);
    for (int64_t i = 0; i < numel; i++)
        tg_store_bits(view.dtype, base, i, tg_load_bits(view.dtype, base, i) ^ 1);
}

enum tg_reference_end tg_reference_process_call(struct tg_reference_process *process,
                                                struct tg_reference_request *request, double limit,
                                                char *text, size_t size)
{
    uint64_t end = 0;
    (void)limit;
    (void)text;
    (void)size;
    HOLDS(request->n_tensors <= TG_MAX_TENSORS && request->n_scalars <= TG_MAX_SCALARS);
    for (uint32_t i = 0; i < request->n_tensors; i++) {
        const struct tg_reference_tensor *t = &request->tensor[i];
        HOLDS(t->offset % TG_REFERENCE_ALIGN == 0 && t->offset >= end);
        HOLDS(t->offset <= process->memory_size && t->bytes <= process->memory_size - t->offset);
        end = t->offset + t->bytes;
        touch(process->memory + t->offset, t);
    }
    if (request->reference == TYPED) {
        HOLDS(request->n_tensors == 2 && request->n_scalars == 1);
        HOLDS(request->tensor[0].dtype == TG_FLOAT32 && request->tensor[1].dtype == TG_FLOAT32);
        HOLDS(request->scalar[0].dtype == TG_INT64);
    }
    return TG_CALLED_DONE;
}

static void check(const struct tg_recording *recording, const struct tg_task_record *record,
                  uint64_t n)
{
    static struct tg_reference_about about[REFERENCES] = {
        [ANY] = {.kernel = "any"}, [TYPED] = {.kernel = "typed"}};
    uint32_t loops[REFERENCES] = {0}, def;
    struct tg_reference_job job = {
        .recording = recording, .about = about, .n_about = REFERENCES, .loops = loops};
    struct tg_lane lane = {.job = &job, .process.pid = 1};
    struct tg_task_verdict verdict;
    struct tg_recorded_task task;
    struct tg_error error;
    if (!about[TYPED].signature.given)
        HOLDS(tg_signature_parse(&about[TYPED].signature, SIGNATURE, &error) == TG_OK);
    tg_reference_look(&job, record, n, &task, &def, &verdict);
    if (def != UINT32_MAX)
        HOLDS(tg_reference_judge(&lane, &task, def, &verdict, &error) == TG_OK);
    else
        HOLDS(verdict.why[0]);
    free(lane.process.memory);
}

/* ── a replay and a bundle ─────────────────────────────────────────────────────────────── */

/* Reads the argument from its block, as after a run, and all of its recorded contents. */
static void check_tensor(const struct tg_recorded_task *task, const struct tg_recorded_tensor *t)
{
    const struct tg_recorded_block *block = &task->block[t->block];
    const struct tg_tensor *view = &t->tensor;
    int64_t numel = tg_tensor_numel(view);
    HOLDS(t->role >= TG_IN && t->role <= TG_INOUT && tg_tensor_valid(view));
    HOLDS(t->bytes == tg_bytes_of(view->dtype, numel) && t->block < task->n_blocks);
    HOLDS(t->offset <= block->size && view->storage_bytes <= block->size - t->offset);
    HOLDS(block->size == 0 || block->address % TG_BLOCK_ALIGN == 0);
    HOLDS((t->role == TG_OUT) == (t->before == NULL) && (t->role != TG_IN || t->after == NULL));
    if (t->before)
        (void)tg_content_hash(t->before, t->bytes);
    if (t->after)
        (void)tg_content_hash(t->after, t->bytes);
    char *bytes = calloc(1, t->bytes + 1);
    if (t->bytes > 0)
        tg_gather(bytes, block->image + t->offset, view, 0, numel);
    HOLDS(!t->before || t->bytes == 0 || tg_bits_of(view->dtype) < 8 ||
          memcmp(bytes, t->before, t->bytes) == 0);
    free(bytes);
}

static void check_source(const struct tg_recorded_task *task)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file;
    if (tg_bundle_check(task, NULL) != TG_OK)
        return;
    file = open_memstream(&text, &size);
    HOLDS(file != NULL);
    tg_bundle_put_task(file, task);
    HOLDS(fclose(file) == 0);
    for (size_t i = 0; i < size; i++)
        HOLDS(text[i] == '\n' || (text[i] >= ' ' && text[i] <= '~'));
    free(text);
}

static void lay_out(const struct tg_recording *recording, uint64_t id)
{
    struct tg_recorded_task task;
    struct tg_error error = {TG_OK, ""};
    uint64_t bytes = 0;
    if (tg_recorded_task_read(recording, id, 0, &task, &error) != TG_OK) {
        HOLDS(error.status != TG_OK && error.text[0]);
        return;
    }
    HOLDS(task.n_parts >= 1 && task.n_tensors <= TG_MAX_TENSORS && task.n_blocks <= task.n_tensors);
    for (uint32_t b = 0; b < task.n_blocks; b++)
        bytes += task.block[b].size;
    HOLDS(bytes <= tg_recording_memory_limit(recording));
    for (uint32_t i = 0; i < task.n_tensors; i++)
        check_tensor(&task, &task.tensor[i]);
    check_source(&task);
    tg_recorded_task_free(&task);
}

/* ── the target ────────────────────────────────────────────────────────────────────────── */

static bool is_listed(const uint64_t *id, uint32_t n, uint64_t wanted)
{
    for (uint32_t i = 0; i < n; i++)
        if (id[i] == wanted)
            return true;
    return false;
}

static void check_tasks(const struct tg_recording *recording)
{
    struct tg_recording_info info;
    struct tg_entry entry;
    uint64_t id[MOST_TASKS];
    uint32_t n_tasks = 0;
    tg_recording_get_info(recording, &info);
    struct tg_task_record *record = calloc(info.records + 1, sizeof *record);
    for (uint64_t i = 0; i < info.records && n_tasks < MOST_TASKS; i++)
        if (tg_recording_get(recording, i, &entry) && !is_listed(id, n_tasks, entry.record.task_id))
            id[n_tasks++] = entry.record.task_id;
    for (uint32_t t = 0; t < n_tasks; t++) {
        uint64_t n = 0;
        for (uint64_t i = 0; i < info.records; i++)
            if (tg_recording_get(recording, i, &entry) && entry.record.task_id == id[t])
                record[n++] = (struct tg_task_record){id[t], i, entry.record.stored};
        check(recording, record, n);
        lay_out(recording, id[t]);
    }
    free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tg_recording *recording;
    if (size < 1)
        return 0;
    bool seal = data[0] & 1;
    unsigned char *bytes = malloc(size), *payload = malloc(FUZZ_PAYLOAD);
    memcpy(bytes, data + 1, --size);
    for (size_t i = 0; i < FUZZ_PAYLOAD; i++)
        payload[i] = (unsigned char)(i / 512); /* so that many contents agree */
    if (seal && tg_journal_begins(bytes, size))
        fuzz_seal(bytes, size);
    if (tg_recording_from_memory(bytes, size, payload, FUZZ_PAYLOAD, &recording, NULL) == TG_OK) {
        check_tasks(recording);
        tg_recording_close(recording);
    }
    free(payload);
    free(bytes);
    return 0;
}
