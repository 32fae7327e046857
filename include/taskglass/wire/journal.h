/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal, tensor_dump.rec: a head of 256 bytes, then records of 256 bytes, appended as they
 * arrive. The host writes a record only after its payload is in the payload file.
 *
 *   ┌──────────┬──────────┬──────────┬───  ─┬──────────┐
 *   │ head     │ KERNEL…  │ ARGUMENT │  …   │ SUMMARY  │   a summary makes it complete
 *   └──────────┴──────────┴──────────┴───  ─┴──────────┘
 *
 * A reader takes as many whole records as the file has. A record whose check is wrong is damaged;
 * records have fixed places, so a reader skips it and goes on behind it. Zeros at the end of the file
 * are what a file system leaves after a power loss. An old reader must stop if `incompatible` has a
 * flag that it does not know.
 */
#ifndef TASKGLASS_WIRE_JOURNAL_H
#define TASKGLASS_WIRE_JOURNAL_H

#include <taskglass/wire/record.h>

#define TG_JOURNAL_MAGIC UINT64_C(0x3130636572746774) /* "tgtrec01": also tells the byte order */
#define TG_JOURNAL_VERSION 1u

enum tg_journal_flag {
    TG_JOURNAL_CHECKED = 1 << 0 /* in `compatible`: `check` is set; older journals lack it */
};

struct tg_journal_head {
    uint64_t magic;
    uint32_t version;
    uint32_t head_size;    /* 256 */
    uint32_t record_size;  /* 256 */
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

#endif
