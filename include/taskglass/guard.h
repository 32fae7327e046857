/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What guarded replays find: a recorded task runs again, several times, with its tensors placed between
 * guard zones and inaccessible pages and filled with different patterns, so that a kernel that leaves its
 * arguments shows. tg_replay_all of taskglass/replay.h runs tasks like this if its config asks for guards.
 */
#ifndef TASKGLASS_GUARD_H
#define TASKGLASS_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/wire/record.h>
#include <taskglass/wire/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of findings: constant, number, the word that JSON has, and whether it is misuse of memory. */
/* clang-format off */
#define TG_GUARD_KIND_MAP(X)                                       \
    X(TG_GUARD_WROTE_BEFORE,   0, "wrote before", true)            \
    X(TG_GUARD_WROTE_BEHIND,   1, "wrote behind", true)            \
    X(TG_GUARD_WROTE_GAP,      2, "wrote in a gap", true)          \
    X(TG_GUARD_WROTE_INPUT,    3, "wrote an input", true)          \
    X(TG_GUARD_READ_BEFORE,    4, "read before", true)             \
    X(TG_GUARD_READ_BEHIND,    5, "read behind", true)             \
    X(TG_GUARD_READ_GAP,       6, "read in a gap", true)           \
    X(TG_GUARD_READ_OUTSIDE,   7, "read outside", true)            \
    X(TG_GUARD_USED_BEFORE,    8, "used memory before", true)      \
    X(TG_GUARD_USED_BEHIND,    9, "used memory behind", true)      \
    X(TG_GUARD_UNWRITTEN,     10, "never written", true)           \
    X(TG_GUARD_OLD_CONTENTS,  11, "depends on old contents", true) \
    X(TG_GUARD_FAULT,         12, "faulted elsewhere", true)       \
    X(TG_GUARD_LOST,          13, "ended the device", false)       \
    X(TG_GUARD_HANG,          14, "did not return", false)
/* clang-format on */
/* USED_…: a fault of which the platform does not say whether the kernel read or wrote. READ_OUTSIDE: an output
 * changes with memory around arguments, it is not known which. */
enum tg_guard_kind { TG_GUARD_KIND_MAP(TG_WORD_ENUM_) TG_GUARD_KINDS };

/* One thing that a guarded task did. */
struct tg_guard_finding {
    uint32_t kind;     /* enum tg_guard_kind */
    uint32_t argument; /* UINT32_MAX: not known */
    /* The first element that this is about. Of findings before and behind, the nearest element of the view. */
    bool has_element;
    uint32_t ndim;
    int64_t index[TG_MAX_DIMS];
    uint64_t element;  /* its number in the view, as the recording numbers it */
    uint64_t distance; /* before, behind and in gaps: elements from it to the place; 1 is next */
    int64_t place;     /* the same, in memory from the view's lowest element: -1 is before it */
    uint64_t count;    /* elements concerned, as far as seen; 0: only the first is known */
    char site[400];    /* "at model.c:42 in add", where a fault has a line; or "" */
    char text[1000];   /* a sentence, with the site: "argument 2 (output): wrote …" */
};
enum { TG_GUARD_MOST = 16 };

/* What guards showed of one task. */
struct tg_guard_report {
    bool on;        /* the task ran with guards */
    bool has_pages; /* false: zones and patterns alone, the platform cannot protect pages */
    bool varies;   /* equal runs gave different outputs, so patterns could not show what it reads */
    uint32_t runs; /* of the kernel */
    uint32_t misuse; /* findings that are misuse */
    uint32_t n_findings;
    uint32_t more; /* findings beyond those in the list */
    struct tg_guard_finding finding[TG_GUARD_MOST];
};

/* The word of a kind: "wrote behind"; "?" for another number. */
TG_API const char *tg_guard_kind_name(uint32_t kind);
/* True if a finding of that kind is misuse of memory. */
TG_API bool tg_guard_kind_is_misuse(uint32_t kind);
/* What guards cannot see, one sentence for each number from 0; NULL past the last. Platforms that cannot
 * protect pages (`has_pages` is false) see less. */
TG_API const char *tg_guard_unseen(bool has_pages, uint32_t number);

#ifdef __cplusplus
}
#endif
#endif
