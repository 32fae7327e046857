/* SPDX-License-Identifier: Apache-2.0 */
/* Draining one stream; owned by the collector's thread. */
#ifndef TG_HOST_DRAIN_H
#define TG_HOST_DRAIN_H

#include "recording/writer.h"
#include "host/record_setup.h"

/* What the host knows of a stream. Nothing here is read back from the device. */
struct tg_drain {
    struct tg_record_area *area;
    struct tg_dump_writer *writer;                                /* where arguments go; or NULL: */
    void (*other)(void *context, const struct tg_record *record); /* who gets what else comes */
    void *context;
    char *bounce;     /* shared by all drains of a collector: TG_BOUNCE bytes */
    uint64_t address; /* of the stream's head */
    uint32_t index;
    uint32_t ready_head;  /* buffers received */
    uint32_t free_tail;   /* buffers given back */
    uint32_t part_buffer; /* a buffer some of whose records have been dealt with already */
    uint32_t part_count;
    uint32_t given;          /* the buffer given back last, while `current` may still show it */
    uint64_t freed;          /* arena cursor */
    uint64_t sequence;       /* of the next record */
    uint64_t corrupt;        /* records that made no sense */
    bool open;               /* a tensor of which pieces have come, but not the last */
    struct tg_record record; /* its last piece */
    uint64_t position;       /* its place in the payload file */
    uint64_t oldest;         /* arena cursor of its oldest piece that is not in the file yet */
    bool overwritten;        /* policy overwrite: some piece of it was gone */
    uint64_t file_end;       /* from there on the file has nothing of it; or all ones */
};

enum { TG_BOUNCE = 1 << 18 }; /* stays in a core's own cache between the two copies */

void tg_drain_init(struct tg_drain *drain, struct tg_record_area *area, uint32_t index,
                   struct tg_dump_writer *writer, char *bounce);
/* For a stream that carries something else than arguments: one call for each record, which is as the
 * device wrote it. */
void tg_drain_init_other(struct tg_drain *drain, struct tg_record_area *area, uint32_t index,
                         void (*other)(void *context, const struct tg_record *record),
                         void *context);
/* Deals with everything that is there now. How many records that was. */
uint64_t tg_drain_run(struct tg_drain *drain);
/* When nothing more will come: a tensor whose last piece is missing ends where it is. */
void tg_drain_end(struct tg_drain *drain);

#endif
