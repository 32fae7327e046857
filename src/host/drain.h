/* SPDX-License-Identifier: Apache-2.0 */
/* Drains one stream. While it runs, it belongs to one thread of the pump at a time. */
#ifndef TG_HOST_DRAIN_H
#define TG_HOST_DRAIN_H

#include "recording/writer.h"
#include "host/record_setup.h"

/* Small enough to stay in a core's cache between two copies. */
enum { TG_BOUNCE = 1 << 18, TG_BATCH = 16 * TG_PER_BUFFER };

/* Payload bytes that wait for one write, and the records that wait for them. The bytes are contiguous in the
 * file. In the arena every tensor begins on a cache line, so there they are parts with small gaps. */
struct tg_batch {
    uint64_t from;    /* arena cursor */
    uint64_t span;    /* bytes of the arena, with the gaps */
    uint64_t to;      /* file position */
    uint64_t size;    /* without the gaps */
    uint64_t reserve; /* bytes of the file to reserve: of the tensors that begin in this batch */
    uint32_t n_parts;
    uint32_t n_records;
    struct {
        uint32_t at, size; /* in the span; of a single part only the batch has the size */
    } part[TG_BATCH];
    /* Appended once the bytes are written. The records that are taken next lie behind them. */
    struct tg_record record[TG_BATCH];
    uint64_t piece[TG_BATCH]; /* per record: the arena cursor of its oldest piece here */
};

/* Memory that the drains of one thread share: between two calls of tg_drain_run nothing of it is used. */
struct tg_drain_room {
    struct tg_batch batch;
    char bounce[TG_BOUNCE];
};

/* The host's own state of a stream. The host never reads it back from the device. */
struct tg_drain {
    struct tg_record_area *area;
    struct tg_dump_writer *writer;                                /* gets arguments, or */
    void (*other)(void *context, const struct tg_record *record); /* gets other records */
    void *context;
    struct tg_drain_room *room; /* of the thread that runs the drain; NULL with `other` */
    uint64_t address;           /* of the stream's head */
    uint32_t index;
    uint32_t taken;      /* atomic: a thread of the pump runs the drain */
    uint64_t ready_head; /* buffers received */
    uint64_t free_tail;  /* buffers given back */
    /* words of the device, as last believed */
    uint64_t current, ready_tail, written;
    uint32_t part_buffer; /* a buffer of which the first records are taken */
    uint32_t part_count;
    uint32_t given;          /* the buffer returned last, while `current` may still name it */
    uint64_t freed;          /* arena cursor */
    uint64_t sequence;       /* the next record's */
    uint64_t corrupt;        /* records that failed the checks */
    bool open;               /* a tensor has begun whose last piece is still missing */
    struct tg_record record; /* its last piece */
    uint64_t position;       /* its place in the payload file, or in what the batch reserves */
    uint64_t oldest;         /* arena cursor of its oldest piece that is not in the file yet */
    bool overwritten;        /* policy overwrite: the device overwrote a piece of it */
    uint64_t file_end;       /* the file has nothing of it from here on; or all ones */
};

void tg_drain_init(struct tg_drain *drain, struct tg_record_area *area, uint32_t index,
                   struct tg_dump_writer *writer, struct tg_drain_room *room);
/* For a stream that does not carry arguments: calls `other` for each record, exactly as the device
 * wrote it, without checks. */
void tg_drain_init_other(struct tg_drain *drain, struct tg_record_area *area, uint32_t index,
                         void (*other)(void *context, const struct tg_record *record),
                         void *context);
/* Takes everything that is in the stream now. Returns the number of records. */
uint64_t tg_drain_run(struct tg_drain *drain);
/* Call it when nothing more will come. A tensor whose last piece is missing becomes truncated. */
void tg_drain_end(struct tg_drain *drain);

#endif
