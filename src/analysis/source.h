/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the bytes of a tensor come from. A tensor lies in an object: a tensor that the run was given
 * from outside, or memory that the runtime handed out. Its bytes come from the tasks that wrote them
 * last, from outside, or from both.
 *
 * Addresses differ from run to run. An object's name (or the number of its argument), the offset
 * in it, and the task that wrote it mean the same in every run, so two runs can be compared by them.
 *
 *   source.c           objects, and the source of one record
 *   source_objects.c   the objects that a run was given: from run.json, or from the recording
 */
#ifndef TG_ANALYSIS_SOURCE_H
#define TG_ANALYSIS_SOURCE_H

#include "analysis/deps_flow.h"
#include "analysis/match.h"

#define TG_NO_ARGUMENT UINT32_MAX

/* A tensor that the run was given. */
struct tg_object {
    uint64_t address, bytes;
    uint32_t arg;     /* the number of the orchestration's argument; TG_NO_ARGUMENT */
    unsigned dtype;   /* TG_DTYPE_NONE if unknown */
    uint64_t record;  /* the record of that argument; TG_NONE */
    const char *name; /* as the case calls it; "" if unknown */
};

struct tg_sources {
    const struct tg_tasks *tasks;
    struct tg_object *object; /* sorted by address */
    uint32_t n_objects;
    struct tg_names names;
    bool has_flow;
    struct tg_flow flow; /* valid if has_flow */
};

/* Finds the objects, which takes little time. Treats a run.json that makes no sense as missing.
 * Fails with NO_MEMORY only. */
tg_status tg_sources_open(const struct tg_tasks *tasks, struct tg_sources *sources,
                          struct tg_error *error);
/* Follows the data of the whole recording, unless that is done already. Fails with NO_MEMORY only. */
tg_status tg_sources_follow(struct tg_sources *sources, struct tg_error *error);
/* The same for two recordings, at the same time if they are large. */
tg_status tg_sources_follow_both(struct tg_sources *a, struct tg_sources *b,
                                 struct tg_error *error);
void tg_sources_close(struct tg_sources *sources);

/* The object that holds this address; NULL if no such object is known. */
const struct tg_object *tg_sources_object(const struct tg_sources *sources, uint64_t address);
/* True if both are known and are the same tensor of the case: the same name, or without names the
 * same argument. */
bool tg_object_is(const struct tg_object *a, const struct tg_object *b);

/* How the objects of two recordings are told apart: by name if every object of both has one, by
 * argument if at least one side lacks names, and not at all if a side does not know its objects. */
struct tg_object_rule {
    bool is_known, by_name;
};
void tg_object_rule_make(const struct tg_sources *a, const struct tg_sources *b,
                         struct tg_object_rule *rule);
/* A number for an object, the same in both recordings; 0 for NULL, and if the rule knows none. */
uint64_t tg_object_key(const struct tg_object_rule *rule, const struct tg_object *object);
/* A number for the object and the element in it at which a view begins. */
uint64_t tg_object_place(const struct tg_sources *sources, const struct tg_object_rule *rule,
                         const struct tg_record *record);

enum tg_source_kind {
    TG_SOURCE_UNKNOWN, /* not a tensor, without an address, or the data was not followed */
    TG_SOURCE_TASKS,   /* recorded tasks wrote all of it */
    TG_SOURCE_OUTSIDE, /* no recorded task wrote any of it before */
    TG_SOURCE_MIXED    /* recorded tasks wrote a part of it */
};

struct tg_source {
    enum tg_source_kind kind;
    const uint32_t *writer; /* events of the flow that wrote it last, in their order */
    uint32_t n_writers;
    uint32_t row;                   /* the task of the latest writer; TG_NO_ROW */
    uint64_t record;                /* the record of the latest writer; TG_NONE */
    const struct tg_object *object; /* NULL: memory that the runtime handed out, or unknown */
    /* Elements from the beginning of the object (without one, of the view's storage) to the first
     * element of the view, to the lowest one it touches, and to the highest. Where the object does
     * not begin at a whole element, `offset` is rounded down. */
    int64_t offset, low, high;
};

/* The source of a record's bytes: for an input what the task read, for an output what was in its
 * place before. Without tg_sources_follow only the object is known. False if the record cannot be
 * read or is no tensor. */
bool tg_source_of(const struct tg_sources *sources, uint64_t record, struct tg_source *source);

/* True if both records are known to be the same view: of the same object, from the same element, with
 * the same shape, strides and dtype. For memory of the runtime the storage counts as the object; who
 * wrote it is not compared. */
bool tg_source_same_view(const struct tg_sources *a, uint64_t record_a, const struct tg_sources *b,
                         uint64_t record_b);

#endif
