/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One record: one argument of one task at one stage. A stream on the device and readers of the journal
 * use the same 256 bytes, but three fields have another meaning on the device, as noted. The journal on
 * disk has most records in 128 bytes (wire/journal.h).
 *
 *   type, flags, check, sequence            kind and number of the record
 *   task_id, kernel[3], stage, role, …      the task, and which argument
 *   data_ptr, start, shape, strides         where the tensor was
 *   hash, bytes                             its content
 *   stored, position, value                 where its payload is now; a scalar's value
 *
 * Reserved bytes are zero. Integers are little-endian. Types 2 and 3 exist in journals only.
 */
#ifndef TASKGLASS_WIRE_RECORD_H
#define TASKGLASS_WIRE_RECORD_H

#include <stdint.h>
#include <taskglass/wire/assert.h>
#include <taskglass/wire/task.h>
#include <taskglass/wire/tensor.h>

/*
 * Fills device memory that is handed out, if a run asks for it: the 32-bit word at every address that
 * is a multiple of 4. What still has it after a task has ended was not written. The word and both of
 * its halves are quiet NaNs with a payload that no arithmetic makes, for float64, float32, float16 and
 * bfloat16 alike; its four bytes differ from those of fills, ramps and small integers.
 */
#define TG_POISON UINT32_C(0x7FFB7FD3)

/* What a record is; `type` of every record. */
enum tg_record_type {
    TG_RECORD_ARGUMENT = 1, /* struct tg_record */
    TG_RECORD_KERNEL = 2,   /* struct tg_record_kernel: the name of a kernel */
    TG_RECORD_SUMMARY = 3,  /* struct tg_record_summary: the last one of a complete journal */
    TG_RECORD_TASK = 4,     /* struct tg_record_task: on the device only */
    TG_RECORD_SCOPES = 5,   /* struct tg_record_scopes: on the device only */
    TG_RECORD_REST = 6,     /* in journals: the second half of the record before it (journal.h) */
    TG_RECORD_FACTS = 7     /* struct tg_record_task without a task: on the device only */
};

/* Flags of an ARGUMENT. */
enum tg_record_flag {
    TG_RECORD_CONTIGUOUS = 1 << 0,  /* the view was row-major without gaps */
    TG_RECORD_HASHED = 1 << 1,      /* `hash` is set; over all logical bytes, stored or not */
    TG_RECORD_PAYLOAD = 1 << 2,     /* the level asked for its payload */
    TG_RECORD_TRUNCATED = 1 << 3,   /* less of the payload is stored than asked for */
    TG_RECORD_OVERWRITTEN = 1 << 4, /* policy overwrite: its payload was overwritten */
    TG_RECORD_PARTIAL = 1 << 5,     /* read from a task that had not finished */
    TG_RECORD_MARKED = 1 << 6,      /* the orchestration marked it */
    TG_RECORD_MORE = 1 << 7,        /* on the device: more pieces follow; in a journal: a REST */
    TG_RECORD_READ = 1 << 8,        /* the orchestration read this value (tg_read_*), see below */
    TG_RECORD_EXCESS = 1 << 14,     /* a reader's: see tg_recording_payload */
    TG_RECORD_NO_VALUE = 1 << 15    /* a reader's: the files do not have the scalar's value */
};

/*
 * The tables of words, here and in stream.h, tensor.h and <taskglass/run.h>: constant, number, the
 * word in files, then further words. Names, parsers, settings and Python are made from these tables.
 */
#define TG_WORD_ENUM_(constant, number, ...) constant = (number),

/*
 * When a record was made: the word in files, the word that selects it, the word in file names.
 *
 * Records of stage orchestration are of two kinds. Without the flag READ they are the arguments of the
 * orchestration; their task id is all ones. With it, the record is a value that the orchestration read
 * back with tg_read_i64 or tg_read_real:
 *   task_id, kernel      the task that wrote the value last; all ones and TG_NO_KERNEL if no task did,
 *                        or if the device does not know any more which one did
 *   arg_index            the argument of that task that the value was written through;
 *                        TG_ARG_UNKNOWN: the orchestration named the task (`producer`), but the device
 *                        has not found the value among its outputs
 *   kind, role           scalar, input
 *   dtype, value         the value
 *   data_ptr, start      where the value lay: the storage, and the element in it
 *   stream, sequence     the reads of a run have a stream of their own, which counts them from 0
 */
/* clang-format off */
#define TG_STAGE_MAP(X)                                                                \
    X(TG_BEFORE_DISPATCH,     0, "before_dispatch",  "before",        "before")        \
    X(TG_AFTER_COMPLETION,    1, "after_completion", "after",         "after")         \
    X(TG_STAGE_ORCHESTRATION, 2, "orchestration",    "orchestration", "orch")

/* What an argument is. */
#define TG_KIND_MAP(X)                                                   \
    X(TG_KIND_TENSOR, 0, "tensor", "elements in memory")                 \
    X(TG_KIND_SCALAR, 1, "scalar", "one value, handed over with the task")
/* clang-format on */

enum { TG_ARG_UNKNOWN = 255 };

enum tg_stage { TG_STAGE_MAP(TG_WORD_ENUM_) TG_STAGES };
enum tg_kind { TG_KIND_MAP(TG_WORD_ENUM_) TG_KINDS };

/* One argument of one task at one stage. */
struct tg_record {
    uint16_t type;     /* enum tg_record_type */
    uint16_t flags;    /* enum tg_record_flag */
    uint32_t check;    /* in a journal: over the other bytes (docs/wire-format.md); else 0 */
    uint64_t sequence; /* counts the records of one stream */
    uint64_t task_id;
    uint32_t kernel[TG_PARTS]; /* numbers of the task's kernels; TG_NO_KERNEL for an empty part */
    uint8_t stage;             /* enum tg_stage */
    uint8_t role;              /* enum tg_role */
    uint8_t kind;              /* enum tg_kind */
    uint8_t dtype;             /* enum tg_dtype */
    uint8_t ndim;              /* 0 for scalars */
    uint8_t arg_index;         /* tensors first, then scalars; or TG_ARG_UNKNOWN */
    uint16_t stream;           /* which stream it came through; all ones: the host made it */
    uint32_t core;             /* the lane that ran the task */
    uint64_t data_ptr;         /* device address of the storage */
    int64_t start;             /* as in struct tg_tensor */
    int64_t shape[TG_MAX_DIMS];
    int64_t strides[TG_MAX_DIMS];
    uint64_t hash;
    uint64_t bytes;    /* logical bytes of the view */
    uint64_t stored;   /* how many of them are in the payload file; on the device: in this piece */
    uint64_t position; /* in the payload file; on the device: arena cursor */
    uint64_t value;    /* a scalar's bits; on the device: where in the tensor the piece begins */
    uint64_t time;     /* nanoseconds on the device's clock */
    uint64_t reserved[2];
};
TG_WIRE_SIZE(struct tg_record, 256);
TG_WIRE_AT(struct tg_record, task_id, 16);
TG_WIRE_AT(struct tg_record, stage, 36);
TG_WIRE_AT(struct tg_record, data_ptr, 48);
TG_WIRE_AT(struct tg_record, shape, 64);
TG_WIRE_AT(struct tg_record, hash, 192);
TG_WIRE_AT(struct tg_record, time, 232);

/* The name of a kernel. */
struct tg_record_kernel {
    uint16_t type;
    uint16_t flags; /* 0 */
    uint32_t check;
    uint32_t kernel; /* its number */
    uint32_t core;   /* enum tg_core_kind */
    char name[240];  /* ends in a zero byte */
};
TG_WIRE_SIZE(struct tg_record_kernel, 256);

/* Why records or payloads are missing. Part of run.json, manifest and summary: never renumber. */
/* clang-format off */
#define TG_LOSS_MAP(X)                                                                           \
    X(TG_LOSS_FULL,        0, "full",        "policy drop: no room in the stream")               \
    X(TG_LOSS_GAVE_UP,     1, "gave_up",     "policy block: the host did not drain within the limit") \
    X(TG_LOSS_OVERWRITTEN, 2, "overwritten", "policy overwrite: overwritten before the host read it") \
    X(TG_LOSS_DISK,        3, "disk",        "the payload or the record could not be written")   \
    X(TG_LOSS_CORRUPT,     4, "corrupt",     "the host found the device's record invalid")       \
    X(TG_LOSS_UNFINISHED,  5, "unfinished",  "the device died while it made the record")
/* clang-format on */
enum tg_loss { TG_LOSS_MAP(TG_WORD_ENUM_) TG_LOSS_CAUSES };

/*
 * An entry of a task's record: its kind << 60 | a value. Edges have the numbers of enum tg_edge_kind, and
 * the id of the task that is waited for. The others are facts about the time before the task was
 * submitted, in the order of time. Facts for which the record has no room come before it in records of
 * type TG_RECORD_FACTS, which name no task.
 */
enum tg_fact_kind {
    TG_FACT_SEEN = 8,   /* a task's id: the orchestrator has waited until it had completed */
    TG_FACT_GIVEN = 9,  /* the address of memory that a ring's heap gave out; its size comes next */
    TG_FACT_BYTES = 10, /* the size of the memory before it */
    TG_FACT_ENDED = 11, /* a ring: a scope with memory of its heap has ended, and none is open */
    TG_FACT_DONE = 12,  /* ring << 56 | n: the first n tasks of the ring had completed when the
                           tensor map was full and forgot them: later tasks lack edges to them */
    TG_FACT_LET_GO = 13 /* a task's id: the TG_SCOPE_HELD that held it back has ended */
};

/* A task that the device submitted, and the tasks that it waits for. If it has more entries than fit,
 * more records of the same task follow. */
enum { TG_EDGES_PER_RECORD = 25 };
struct tg_record_task {
    uint16_t type;  /* TG_RECORD_TASK or TG_RECORD_FACTS */
    uint16_t flags; /* TG_RECORD_MORE: not the task's first record */
    uint32_t check; /* 0 */
    uint64_t sequence;
    uint64_t task_id;
    uint32_t kernel[TG_PARTS];
    uint32_t site;    /* of its scope */
    uint32_t n_edges; /* entries in this record */
    uint32_t line;    /* 1 + the site of the call that submitted it; 0: not known */
    uint64_t time;    /* nanoseconds on the device's clock */
    uint64_t edge[TG_EDGES_PER_RECORD]; /* entries */
};
TG_WIRE_SIZE(struct tg_record_task, 256);

/* What the scope's ring held when the scope began or ended. Cursors are totals that never wrap;
 * end - start is in use. */
struct tg_scope_sample_wire {
    uint32_t site;
    uint8_t depth;
    uint8_t ring;
    uint8_t end;   /* enum tg_scope_entry_kind */
    uint8_t rings; /* at an end: bit r: the scope, or one inside it, took room of ring r */
    uint64_t task_window_start, task_window_end;
    uint64_t heap_start, heap_end;
    uint64_t dep_pool_start, dep_pool_end;
    uint32_t tensormap;
    /* At an end: the most in use at one time while the scope was open. A resource that was full when
     * the orchestration asked for more counts as full. */
    uint32_t peak_tensormap;
    uint32_t peak_task_window;
    uint32_t peak_dep_pool;
    uint64_t peak_heap;
};
TG_WIRE_SIZE(struct tg_scope_sample_wire, 80);

/* Comes before the sample of an end if the orchestration waited in that scope (scopes inside it not
 * included), and before the end of the outermost scope. */
struct tg_scope_waits_wire {
    uint32_t site;
    uint8_t depth;
    uint8_t ring;
    uint8_t end; /* enum tg_scope_entry_kind */
    uint8_t reserved0;
    uint32_t waits[4]; /* for slots, heap, dependencies, map entries */
    uint64_t wait_ns;
    /* Totals since the run began. With as much room, nothing would ever be full. */
    uint64_t asked_deps[4]; /* dependencies that tasks of each ring asked for */
    uint64_t asked_map;     /* map entries that tasks asked for */
    uint64_t reserved1;
};
TG_WIRE_SIZE(struct tg_scope_waits_wire, 80);

/* What an entry of struct tg_record_scopes is; `end` says which. */
enum tg_scope_entry_kind { TG_SCOPE_BEGINS = 0, TG_SCOPE_ENDS = 1, TG_SCOPE_WAITED = 2 };
/* An entry; the first members of both are the same. */
union tg_scope_entry {
    struct tg_scope_sample_wire sample;
    struct tg_scope_waits_wire waits;
};

enum { TG_SAMPLES_PER_RECORD = 3 };
/* Entries about scopes, in the order of time. */
struct tg_record_scopes {
    uint16_t type;
    uint16_t n; /* entries so far; grows until the record is published */
    uint32_t check;
    uint64_t sequence;
    union tg_scope_entry entry[TG_SAMPLES_PER_RECORD];
};
TG_WIRE_SIZE(struct tg_record_scopes, 256);

/* Why one task waits for another. */
/* clang-format off */
#define TG_EDGE_MAP(X)                                                \
    X(TG_EDGE_EXPLICIT, 0, "explicit", "the orchestration named the edge") \
    X(TG_EDGE_RAW,      1, "raw",      "it reads what the other wrote") \
    X(TG_EDGE_WAR,      2, "war",      "it writes what the other reads") \
    X(TG_EDGE_WAW,      3, "waw",      "it writes what the other wrote")
/* clang-format on */
enum tg_edge_kind { TG_EDGE_MAP(TG_WORD_ENUM_) TG_EDGE_KINDS };

/* Flags of a SUMMARY. */
enum tg_summary_flag {
    TG_SUMMARY_RESULT = 1 << 0 /* `result` is set; older journals lack it */
};

/* The last record of a complete journal: totals of the run. */
struct tg_record_summary {
    uint16_t type;
    uint16_t flags; /* enum tg_summary_flag */
    uint32_t check;
    uint64_t attempted;            /* records that host and device started to make */
    uint64_t recorded;             /* records in the journal, of type ARGUMENT */
    uint64_t lost[TG_LOSS_CAUSES]; /* records missing from the journal, by cause */
    uint64_t truncated;            /* records with the flag TRUNCATED */
    uint64_t overwritten;          /* records with the flag OVERWRITTEN */
    uint64_t payload_bytes;        /* size of the payload file */
    uint64_t before_dispatch, after_completion, orchestration; /* records by stage */
    uint64_t inputs, outputs, inouts;                          /* tensors by role */
    uint64_t scalars;
    uint64_t record_ns; /* device time spent recording, all lanes */
    uint64_t wait_ns;   /* part of record_ns: waiting for the host */
    int32_t result;     /* how the run ended: tg_status */
    uint32_t reserved0;
    uint64_t reserved[10];
};
TG_WIRE_SIZE(struct tg_record_summary, 256);
TG_WIRE_AT(struct tg_record_summary, result, 168);

#endif
