/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The edges of the other implementation's deps.json. Its tasks do not name the tasks that they waited
 * for: one list, "edges", behind the tasks has {"pred": "4294967296", "succ": "4294967297", "source":
 * "tensormap", …}, and a pair of tasks comes once for each argument that ties them.
 */
#ifndef TG_ANALYSIS_DEPS_PEER_H
#define TG_ANALYSIS_DEPS_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TG_DEPS_KIND = 16 };

struct tg_deps_read_edge {
    uint64_t before;
    char kind[TG_DEPS_KIND]; /* "explicit", "raw" …; "" if the file has none */
};

struct tg_deps_peer_edge {
    uint64_t after;
    struct tg_deps_read_edge edge;
    size_t place; /* in the file */
};

struct tg_deps_peer {
    struct tg_deps_peer_edge *edge; /* sorted by `after`; each pair of tasks once */
    size_t count;
};

/* Reads the list of a document in memory. A document without one has no edges. False if memory ran
 * out, or with *problem if an edge is broken. */
bool tg_deps_peer_read(const char *text, size_t size, struct tg_deps_peer *peer,
                       const char **problem);
/* The edges of one task. */
const struct tg_deps_peer_edge *tg_deps_peer_of(const struct tg_deps_peer *peer, uint64_t task,
                                                size_t *count);
void tg_deps_peer_free(struct tg_deps_peer *peer);

#endif
