/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/deps_peer.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/json_pull.h"
#include "base/names.h"

struct reading {
    struct tg_pull pull;
    struct tg_deps_peer *peer;
    size_t room;
    const char *problem;
};

static bool wrong(struct reading *r, const char *problem)
{
    r->problem = problem;
    return false;
}

static bool read_edge(struct reading *r, struct tg_deps_peer_edge *edge)
{
    bool has_before = false, has_after = false;
    if (r->pull.token != TG_PULL_BEGIN_OBJECT)
        return wrong(r, "a value of the wrong kind where an edge belongs");
    while (tg_pull_next(&r->pull) == TG_PULL_KEY) {
        bool is_before = tg_pull_is(&r->pull, "pred"), is_after = tg_pull_is(&r->pull, "succ");
        bool is_kind = tg_pull_is(&r->pull, "source");
        enum tg_pull_token token = tg_pull_next(&r->pull);
        if (is_before)
            has_before = tg_pull_u64(&r->pull, &edge->edge.before);
        else if (is_after)
            has_after = tg_pull_u64(&r->pull, &edge->after);
        else if (is_kind && token == TG_PULL_STRING) {
            char raw[TG_DEPS_KIND];
            size_t length = tg_pull_text(&r->pull, raw, sizeof raw);
            tg_name_clean(raw, length, edge->edge.kind, sizeof edge->edge.kind);
        }
        if (token == TG_PULL_ERROR || !tg_pull_skip(&r->pull))
            return false;
    }
    if (r->pull.token != TG_PULL_END_OBJECT)
        return false;
    return (has_before && has_after) || wrong(r, "an edge without the ids of its two tasks");
}

static bool read_list(struct reading *r)
{
    struct tg_deps_peer *peer = r->peer;
    if (tg_pull_next(&r->pull) != TG_PULL_BEGIN_ARRAY)
        return wrong(r, "a value of the wrong kind where the edges belong");
    while (tg_pull_next(&r->pull) != TG_PULL_END_ARRAY) {
        struct tg_deps_peer_edge edge = {.place = peer->count};
        if (r->pull.token == TG_PULL_ERROR || !read_edge(r, &edge))
            return false;
        if (!tg_grow(&peer->edge, &r->room, peer->count + 1, sizeof edge))
            return false;
        peer->edge[peer->count++] = edge;
    }
    return true;
}

static bool read_document(struct reading *r)
{
    if (tg_pull_next(&r->pull) != TG_PULL_BEGIN_OBJECT)
        return true; /* the reader of the tasks says what is wrong */
    while (tg_pull_next(&r->pull) == TG_PULL_KEY) {
        bool is_list = tg_pull_is(&r->pull, "edges");
        if (is_list ? !read_list(r)
                    : tg_pull_next(&r->pull) == TG_PULL_ERROR || !tg_pull_skip(&r->pull))
            return false;
    }
    return r->pull.token == TG_PULL_END_OBJECT;
}

static int by_tasks(const void *a, const void *b)
{
    const struct tg_deps_peer_edge *x = a, *y = b;
    if (x->after != y->after)
        return x->after < y->after ? -1 : 1;
    if (x->edge.before != y->edge.before)
        return x->edge.before < y->edge.before ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Keeps the first edge of each pair of tasks. */
static void keep_pairs(struct tg_deps_peer *peer)
{
    size_t kept = 0;
    for (size_t i = 0; i < peer->count; i++) {
        const struct tg_deps_peer_edge *edge = &peer->edge[i];
        if (kept == 0 || edge->after != peer->edge[kept - 1].after ||
            edge->edge.before != peer->edge[kept - 1].edge.before)
            peer->edge[kept++] = *edge;
    }
    peer->count = kept;
}

bool tg_deps_peer_read(const char *text, size_t size, struct tg_deps_peer *peer,
                       const char **problem)
{
    struct reading r = {.peer = peer};
    *peer = (struct tg_deps_peer){0};
    tg_pull_start(&r.pull, text, size);
    bool good = read_document(&r);
    if (r.pull.token == TG_PULL_ERROR && !r.problem)
        r.problem = r.pull.problem ? r.pull.problem : "the file ends too early";
    *problem = r.problem;
    if (!good)
        return false;
    if (peer->count > 0)
        qsort(peer->edge, peer->count, sizeof *peer->edge, by_tasks);
    keep_pairs(peer);
    return true;
}

const struct tg_deps_peer_edge *tg_deps_peer_of(const struct tg_deps_peer *peer, uint64_t task,
                                                size_t *count)
{
    size_t low = 0, high = peer->count, end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (peer->edge[middle].after < task)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < peer->count && peer->edge[end].after == task; end++)
        ;
    *count = end - low;
    return *count > 0 ? &peer->edge[low] : NULL;
}

void tg_deps_peer_free(struct tg_deps_peer *peer)
{
    free(peer->edge);
    *peer = (struct tg_deps_peer){0};
}
