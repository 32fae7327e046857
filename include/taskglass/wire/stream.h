/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How recordings leave the device. Each lane owns one stream and writes it; one collector on the host
 * reads all streams. All streams have the same size and lie one after the other:
 *
 *   setup ─► streams ─► ┌ stream 0 ───────────────────────────────────────────────┐┌ stream 1 …
 *                       │ head │ free queue │ ready queue │ record buffers │ arena ││
 *                       └─────────────────────────────────────────────────────────┘└
 *
 * Record buffers rotate:
 *
 *        host                    device                          host
 *   free queue ──take──► current buffer: records are added ──push when full──► ready queue
 *        ▲                        └ `current` shows how many are in it already    │
 *        └──────────────────── when the host has handled all its records ◄────────┘
 *
 * The payload arena is a circle with two cursors that only grow: `written` (device) and `freed`
 * (host). A byte of cursor c lies at arena + c % arena_size; a piece never crosses the end of the
 * arena, the device skips the rest instead. written - freed never exceeds arena_size, except under
 * policy overwrite, where the device ignores `freed`, and a piece that begins before
 * written - arena_size is overwritten.
 *
 * A tensor too large for one piece comes as several records with the same sequence number; all but
 * the last have TG_RECORD_MORE. `value` says where in the tensor a piece begins, `stored` its size.
 *
 * Words. Five words of the head are written by one side while the other reads them: `current`,
 * `ready_tail` and `written` by the device, `freed` and `free_tail` by the host. A host that copies
 * (a5sim: pread and pwrite; a GPU: the driver) has no promise that a word is copied whole. So each of
 * them has its value in the low 48 bits and a check over the value in the high 16:
 *
 *     check = ((value ^ TG_WORD_SALT) * TG_WORD_FACTOR) >> 48        modulo 2^64
 *
 * The writer stores the word at once. A reader that finds a wrong check reads again, and then keeps the
 * last value that it believed; so a word that was not read whole costs time and nothing else. A host
 * that copies puts a full fence after it has read a word (acquire) and before it writes one (release).
 * Everything else is written before the word that publishes it, so it need not be whole at once.
 *
 * Limit. Under policy block a lane that finds no room waits, up to wait_limit_ns. Only time in which the
 * host runs counts: a thread of the host that does nothing else changes the word at `pulse` every
 * pulse_ns. When a waiting lane sees that the word has changed, it counts the time since it last saw a
 * change, but two periods at most, because the lane itself may have been stopped meanwhile. Which values
 * the word has does not matter.
 *
 * Ownership: the comments in the head say who writes which part. Named edges:
 *   W1  current, ready_tail   release by the device, acquire by the host: records and payload
 *   W2  freed, free_tail      release by the host, acquire by the device: room to write again
 *   W3  written               grows before bytes are overwritten; the host checks it after reading
 */
#ifndef TASKGLASS_WIRE_STREAM_H
#define TASKGLASS_WIRE_STREAM_H

#include <taskglass/wire/record.h>

#define TG_STREAM_MAGIC UINT64_C(0x31306D7274736774) /* "tgstrm01" */
#define TG_SETUP_MAGIC UINT64_C(0x3130707465736774)  /* "tgsetp01" */
#define TG_STREAM_VERSION 3u                         /* of streams and of the setup */

/* See "Words" above. */
enum { TG_WORD_BITS = 48, TG_CURRENT_COUNT_BITS = 16, TG_CURSOR_UNIT = 64 };
#define TG_WORD_SALT UINT64_C(0x5A17C0DEF00D)
#define TG_WORD_FACTOR UINT64_C(0x9E3779B97F4A7C15)

/* clang-format off */
/* How much is recorded. */
#define TG_LEVEL_MAP(X)                                                        \
    X(TG_LEVEL_OFF,    0, "off",    "nothing")                                 \
    X(TG_LEVEL_META,   1, "meta",   "every argument: metadata and scalars")    \
    X(TG_LEVEL_HASH,   2, "hash",   "and the hash of every tensor")            \
    X(TG_LEVEL_MARKED, 3, "marked", "only marked arguments, with payload")     \
    X(TG_LEVEL_HYBRID, 4, "hybrid", "every argument, payload for marked ones") \
    X(TG_LEVEL_FULL,   5, "full",   "every argument with payload")

/* What the recorder does when its stream is full. */
#define TG_POLICY_MAP(X)                                             \
    X(TG_POLICY_BLOCK,     0, "block",     "the recorder waits for the host") \
    X(TG_POLICY_DROP,      1, "drop",      "the recorder drops the record")   \
    X(TG_POLICY_OVERWRITE, 2, "overwrite", "the recorder overwrites payloads")
/* clang-format on */

enum tg_record_level { TG_LEVEL_MAP(TG_WORD_ENUM_) TG_LEVELS };
enum tg_record_policy { TG_POLICY_MAP(TG_WORD_ENUM_) TG_POLICIES };

enum { TG_MAX_FILTERS = 8 };

/* One --dump-filter: an argument passes if every field lets it pass. With several filters it is
 * enough to pass one; without filters every argument passes. Kernels: bit f of kernel_filters[k]
 * is set if filter f lets kernel k pass. */
struct tg_filter {
    uint64_t first_task; /* task ids, both inclusive */
    uint64_t last_task;
    uint32_t arguments; /* bit i: argument i */
    uint8_t stages;     /* bit s: enum tg_stage s */
    uint8_t roles;      /* bit r: enum tg_role r; bit 0: scalars */
    uint8_t any_kernel; /* 1: it names no kernel, so it also lets pass what belongs to none */
    uint8_t reserved;
};
TG_WIRE_SIZE(struct tg_filter, 24);

/* The host writes it before launch; the device only reads. */
struct tg_record_setup {
    uint64_t magic;
    uint32_t version;
    uint32_t setup_size;
    uint32_t level;  /* enum tg_record_level */
    uint32_t policy; /* enum tg_record_policy */
    uint32_t n_streams;
    uint32_t n_filters;
    uint64_t streams;        /* device address of stream 0 */
    uint64_t stream_size;    /* bytes of one */
    uint64_t kernel_filters; /* device address of uint8_t[n_kernels], 0 if there are no filters */
    uint64_t wait_limit_ns;  /* policy block: how long a lane waits before it gives up */
    uint64_t pulse;          /* device address of a word that changes while the host runs */
    uint64_t pulse_ns;       /* how often it changes */
    struct tg_filter filter[TG_MAX_FILTERS];
};
TG_WIRE_SIZE(struct tg_record_setup, 272);
TG_WIRE_AT(struct tg_record_setup, pulse, 64);

/* The head of a stream: who writes which member is above. */
struct tg_stream_head {
    /* written by the host before launch */
    uint64_t magic;
    uint32_t version;
    uint32_t head_size;
    uint32_t index; /* which stream: the lane's number; after the lanes, the orchestrator's */
    uint32_t n_buffers;
    uint32_t per_buffer; /* records in one */
    uint32_t record_size;
    uint64_t free_queue;  /* offsets from the head: uint32_t[n_buffers] */
    uint64_t ready_queue; /* uint32_t[n_buffers]; a buffer in it is full or the stream has ended */
    uint64_t buffers;     /* records[n_buffers][per_buffer] */
    uint64_t arena;
    uint64_t arena_size;
    uint64_t piece_limit; /* most bytes of one piece; a multiple of 64 */
    uint64_t reserved0[6];
    /* written by the device */
    uint64_t current;    /* word: buffer << 16 | records in it; buffer all ones: none */
    uint64_t ready_tail; /* word: buffers pushed */
    uint64_t written;    /* word: arena cursor / 64 */
    uint64_t attempted;  /* records it started to make */
    uint64_t recorded;   /* records it made */
    uint64_t lost_full;
    uint64_t lost_gave_up;
    uint64_t truncated;
    uint64_t record_ns;
    uint64_t wait_ns;
    uint64_t matched[TG_MAX_FILTERS]; /* arguments each filter let pass */
    uint64_t free_head;               /* buffers taken */
    uint64_t reserved1[5];
    /* written by the host */
    uint64_t freed;      /* word: arena cursor / 64 */
    uint64_t free_tail;  /* word: buffers given back */
    uint64_t ready_head; /* buffers received */
    uint64_t reserved2[13];
};
TG_WIRE_SIZE(struct tg_stream_head, 448);
TG_WIRE_AT(struct tg_stream_head, current, 128);
TG_WIRE_AT(struct tg_stream_head, freed, 320);

/* Cursors are multiples of TG_CURSOR_UNIT, and counters do not wrap: 2^48 buffers or 2^54 bytes would
 * take years. */
#define TG_NO_BUFFER UINT32_MAX

#endif
