/* SPDX-License-Identifier: Apache-2.0 */
/* Code that the tests of recordings share: a temporary folder, and records with known contents. */
#ifndef TASKGLASS_TEST_DUMP_H
#define TASKGLASS_TEST_DUMP_H

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <taskglass/recording.h>
#include <taskglass/recover.h>
#include <taskglass/tensor.h>
#include <taskglass/wire/stream.h>
#include <unistd.h>

#include "common/hash.h"
#include "recording/reader.h"
#include "recording/record.h"
#include "recording/slots.h"
#include "recording/writer.h"
#include "test.h"

#define DUMP_FN static __attribute__((unused))

static char dump_dir[256]; /* a run's directory */
static struct tg_error dump_error;

DUMP_FN int dump_remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)type, (void)where;
    return remove(path);
}

DUMP_FN void dump_remove_dir(void)
{
    if (dump_dir[0])
        nftw(dump_dir, dump_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    dump_dir[0] = '\0';
}

/* Makes a new directory; removes the one before, and the last one at the end. */
DUMP_FN void dump_make_dir(void)
{
    const char *base = getenv("TMPDIR");
    static bool registered;
    dump_remove_dir();
    snprintf(dump_dir, sizeof dump_dir, "%s/taskglass_test_XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(dump_dir))
        dump_dir[0] = '\0';
    if (!registered)
        atexit(dump_remove_dir);
    registered = true;
    REQUIRE(dump_dir[0]);
}

/* The path of a file of the recording. */
DUMP_FN const char *dump_path(const char *name)
{
    static char path[2][600];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/tensor_dump/%s", dump_dir, name);
    return path[turn];
}

DUMP_FN char *dump_read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    REQUIRE(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size + 1);
    bytes[fread(bytes, 1, *size, file)] = '\0';
    fclose(file);
    return bytes;
}

DUMP_FN void dump_write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    REQUIRE(file);
    CHECK_EQ_U(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* A float32 tensor of n elements whose payload begins at `position`. */
DUMP_FN struct tg_record dump_tensor(uint64_t task, int64_t n, uint64_t position)
{
    struct tg_record record = {.type = TG_RECORD_ARGUMENT,
                               .flags = TG_RECORD_CONTIGUOUS | TG_RECORD_PAYLOAD,
                               .task_id = task,
                               .kernel = {TG_NO_KERNEL, 0, TG_NO_KERNEL},
                               .role = TG_IN,
                               .dtype = TG_FLOAT32,
                               .ndim = 1,
                               .data_ptr = 0x1000 * task,
                               .shape = {n},
                               .strides = {1},
                               .position = position};
    record.bytes = record.stored = (uint64_t)n * 4;
    return record;
}

DUMP_FN struct tg_record dump_scalar(uint64_t task, unsigned dtype, uint64_t bits)
{
    return (struct tg_record){.type = TG_RECORD_ARGUMENT,
                              .task_id = task,
                              .kernel = {0, TG_NO_KERNEL, TG_NO_KERNEL},
                              .role = TG_IN,
                              .kind = TG_KIND_SCALAR,
                              .dtype = (uint8_t)dtype,
                              .arg_index = 3,
                              .value = bits};
}

/* Byte i of task t's payload. */
DUMP_FN unsigned char dump_byte(uint64_t task, uint64_t i)
{
    return (unsigned char)(task * 31 + i * 7);
}

/* Reserves, writes and appends tensor `task` of n elements. */
DUMP_FN bool dump_add_tensor(struct tg_dump_writer *writer, uint64_t task, int64_t n)
{
    size_t size = (size_t)n * 4;
    unsigned char *bytes = malloc(size + 1);
    uint64_t position = tg_dump_reserve(writer, size);
    struct tg_record record = dump_tensor(task, n, position);
    for (size_t i = 0; i < size; i++)
        bytes[i] = dump_byte(task, i);
    record.hash = tg_content_hash(bytes, size);
    record.flags |= TG_RECORD_HASHED;
    bool good = tg_dump_payload(writer, position, bytes, size);
    free(bytes);
    return tg_dump_append(writer, &record) && good;
}

DUMP_FN struct tg_dump_writer *dump_create(void)
{
    struct tg_dump_writer *writer;
    dump_make_dir();
    CHECK_EQ_I(tg_dump_create(dump_dir, TG_LEVEL_FULL, TG_POLICY_BLOCK, 0, &writer, &dump_error),
               TG_OK);
    REQUIRE(writer);
    return writer;
}

/* A finished recording of n tensors, task i with `elements` elements. */
DUMP_FN void dump_make(uint64_t n, int64_t elements)
{
    struct tg_dump_writer *writer = dump_create();
    CHECK_EQ_I(tg_dump_add_kernel(writer, 0, TG_AIV, "add"), TG_OK);
    for (uint64_t i = 0; i < n; i++)
        CHECK(dump_add_tensor(writer, i, elements));
    struct tg_dump_account account = {.attempted = n};
    tg_dump_account(writer, &account);
    CHECK_EQ_I(tg_dump_finish(writer, &dump_error), TG_OK);
    tg_dump_destroy(writer);
}

DUMP_FN struct tg_recording *dump_open(const char *path)
{
    struct tg_recording *recording;
    dump_error.text[0] = '\0';
    tg_status status = tg_recording_open(path, &recording, &dump_error);
    if (status != TG_OK)
        fprintf(stderr, "%s\n", dump_error.text);
    REQUIRE(status == TG_OK);
    return recording;
}

DUMP_FN struct tg_recording_info dump_info(const struct tg_recording *recording)
{
    struct tg_recording_info info;
    tg_recording_get_info(recording, &info);
    return info;
}

/* Checks that record i is tensor i as dump_add_tensor made it, whole. */
DUMP_FN void dump_check_tensor(const struct tg_recording *recording, uint64_t i, int64_t elements)
{
    struct tg_entry entry;
    REQUIRE(tg_recording_get(recording, i, &entry));
    CHECK_EQ_U(entry.record.task_id, i);
    CHECK_EQ_U(entry.record.stored, (uint64_t)elements * 4);
    CHECK_EQ_U(entry.record.flags & TG_RECORD_TRUNCATED, 0);
    const unsigned char *bytes = tg_recording_payload(recording, &entry);
    REQUIRE(bytes);
    for (uint64_t at = 0; at < entry.record.stored; at++)
        if (!CHECK_EQ_U(bytes[at], dump_byte(i, at)))
            break;
    CHECK_EQ_U(tg_content_hash(bytes, entry.record.stored), entry.record.hash);
}

/* Opens bytes as a recording; NULL if they are refused, and dump_error says why. */
DUMP_FN struct tg_recording *dump_from(const void *bytes, size_t size, size_t payload_size)
{
    static const unsigned char payload[4096];
    struct tg_recording *recording;
    dump_error = (struct tg_error){0};
    tg_recording_from_memory(bytes, size, payload, payload_size, &recording, &dump_error);
    return recording;
}

/* Writes the journal again as version 1 has it: 256 bytes for every record. */
DUMP_FN void dump_make_old(void)
{
    size_t size, used = sizeof(struct tg_journal_head);
    char *journal = dump_read_file(dump_path("tensor_dump.rec"), &size);
    const unsigned char *slots = (unsigned char *)journal + used;
    uint64_t n = (size - used) / TG_JOURNAL_SLOT;
    char *old = malloc(2 * size);
    struct tg_journal_head head;
    struct tg_record record;
    memcpy(&head, journal, sizeof head);
    head.version = 1;
    head.record_size = TG_JOURNAL_SLOT_V1;
    head.check = tg_journal_head_check(&head);
    memcpy(old, &head, sizeof head);
    for (uint64_t i = 0; i < n; i++)
        if (tg_slot_take(slots, TG_JOURNAL_SLOT, i, n, &record) == TG_SLOT_RECORD) {
            tg_record_seal(&record, sizeof record);
            memcpy(old + used, &record, sizeof record);
            used += sizeof record;
        }
    dump_write_file(dump_path("tensor_dump.rec"), old, used);
    free(old);
    free(journal);
}

#endif
