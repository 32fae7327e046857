/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal, tensor_dump.rec: a head of 256 bytes, then slots of 128 bytes, appended as records
 * arrive. The host writes a record only after its payload is in the payload file.
 *
 *   ┌──────────┬──────────┬──────────┬──────────┬──────┬───  ─┬─────────┬──────┐
 *   │ head     │ KERNEL…  │ ARGUMENT │ ARGUMENT │ REST │  …   │ SUMMARY │ REST │
 *   └──────────┴──────────┴──────────┴──────────┴──────┴───  ─┴─────────┴──────┘
 *                            packed     needs two slots         makes it complete
 *
 * An argument takes one slot (struct tg_record_packed) if its numbers fit, as nearly all do. Every other
 * record is one of 256 bytes (wire/record.h) in two halves (struct tg_record_half): the first one has
 * the flag MORE, the second one is of type REST. A KERNEL whose name is short has no second half.
 *
 * A reader takes as many whole slots as the file has. A slot whose check is wrong is damaged; slots have
 * fixed places, so a reader skips it and goes on behind it. Zeros at the end of the file are what a file
 * system leaves after a power loss. An old reader must stop if `incompatible` has a flag that it does
 * not know.
 *
 * In journals of version 1 every record takes a slot of 256 bytes and is as in wire/record.h.
 */
#ifndef TASKGLASS_WIRE_JOURNAL_H
#define TASKGLASS_WIRE_JOURNAL_H

#include <taskglass/wire/record.h>

#define TG_JOURNAL_MAGIC UINT64_C(0x3130636572746774) /* "tgtrec01": also tells the byte order */
#define TG_JOURNAL_VERSION 2u

enum { TG_JOURNAL_SLOT = 128, TG_JOURNAL_SLOT_V1 = 256 };
enum { TG_JOURNAL_NAME = 232 }; /* most bytes of a kernel's name; version 1: 239 */

enum tg_journal_flag {
    TG_JOURNAL_CHECKED = 1 << 0 /* in `compatible`: `check` is set; older journals lack it */
};

struct tg_journal_head {
    uint64_t magic;
    uint32_t version;
    uint32_t head_size;    /* 256 */
    uint32_t record_size;  /* of a slot: 128; version 1: 256 */
    uint32_t compatible;   /* flags an old reader may ignore: enum tg_journal_flag */
    uint32_t incompatible; /* flags an old reader must not ignore: none yet */
    uint32_t level;        /* enum tg_record_level (wire/stream.h) */
    uint32_t policy;       /* enum tg_record_policy */
    uint32_t poison;   /* what fills memory that was handed out (TG_POISON); 0: it was not filled */
    char bin_file[80]; /* name of the payload file beside this one */
    char run_dir[132]; /* last part of the run directory's name, cut if it is longer */
    uint32_t check;    /* over the other bytes (docs/wire-format.md); older: the end of run_dir */
};
TG_WIRE_SIZE(struct tg_journal_head, 256);

/* Flags that an argument has in a slot only. Without MORE (wire/record.h) the slot is packed. */
enum tg_packed_flag {
    TG_PACKED_ROW_MAJOR =
        1 << 9 /* the strides are those of a row-major tensor; they are left out */
};

/*
 * An argument in one slot: the first 64 bytes are those of struct tg_record. `bytes` is left out, for
 * it follows from type and shape.
 */
enum { TG_PACKED_DIMS = 8 };
struct tg_record_packed {
    uint16_t type; /* TG_RECORD_ARGUMENT */
    uint16_t flags;
    uint32_t check;
    uint64_t sequence;
    uint64_t task_id;
    uint32_t kernel[TG_PARTS];
    uint8_t stage, role, kind, dtype, ndim, arg_index;
    uint16_t stream;
    uint32_t core;
    uint64_t data_ptr;
    int64_t start;
    uint64_t hash; /* of a scalar: its value */
    uint64_t stored;
    uint64_t position;
    uint64_t time;
    /* With ROW_MAJOR the shape; without, the shape of up to 4 dimensions, then from dims[4] on their
     * strides, as int32_t. */
    uint32_t dims[TG_PACKED_DIMS];
};
TG_WIRE_SIZE(struct tg_record_packed, TG_JOURNAL_SLOT);
TG_WIRE_AT(struct tg_record_packed, start, 56);
TG_WIRE_AT(struct tg_record_packed, hash, 64);
TG_WIRE_AT(struct tg_record_packed, dims, 96);

/*
 * Half of a record of 256 bytes: 120 bytes of it, from byte 8 on or from byte 128 on. Its last 8 bytes
 * are reserved in every type, and are left out. The first half has the record's type and flags, and MORE
 * if the other half follows. The check of a REST covers the check of the half before it in the place of
 * its own, so that it proves which one it belongs to.
 */
struct tg_record_half {
    uint16_t type; /* that of the record, or TG_RECORD_REST */
    uint16_t flags;
    uint32_t check;
    uint8_t bytes[120];
};
TG_WIRE_SIZE(struct tg_record_half, TG_JOURNAL_SLOT);

#endif
