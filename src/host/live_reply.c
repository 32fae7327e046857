/* SPDX-License-Identifier: Apache-2.0 */
#include "host/live_reply.h"

#include <string.h>
#include <taskglass/text.h>

#include "base/error.h"
#include "base/json_pull.h"

#define WORD(constant, number, word, meaning) word,
const char *tg_live_phase_name(uint32_t phase)
{
    static const char *const names[] = {TG_LIVE_PHASE_MAP(WORD)};
    return phase < TG_LIVE_PHASES ? names[phase] : "unknown";
}
#undef WORD

/* ── members of an object ──────────────────────────────────────────────────────────────── */

enum kind { COUNT, REAL, FLAG, TEXT, NUMBER32, SIGNED };

/* A member of an answer: its key, and where its value goes. */
struct member {
    const char *key;
    enum kind kind;
    size_t at, room;
};
#define MEMBER(type, kind, key, name)                              \
    {                                                              \
        key, kind, offsetof(type, name), sizeof(((type *)0)->name) \
    }
#define OF_STATUS(kind, key, name) MEMBER(struct tg_live_status, kind, key, name)
#define OF_RING(kind, key, name) MEMBER(struct tg_live_ring, kind, key, name)
#define ENDS              \
    {                     \
        NULL, COUNT, 0, 0 \
    }

static const struct member about[] = {
    OF_STATUS(TEXT, "workload", workload),
    OF_STATUS(TEXT, "case", case_name),
    OF_STATUS(TEXT, "platform", platform),
    OF_STATUS(TEXT, "runtime", runtime),
    OF_STATUS(SIGNED, "pid", pid),
    OF_STATUS(REAL, "elapsed", elapsed),
    OF_STATUS(REAL, "run_seconds", run_seconds),
    OF_STATUS(REAL, "idle_seconds", idle_seconds),
    OF_STATUS(REAL, "hang_seconds", hang_seconds),
    OF_STATUS(COUNT, "waiting", waiting),
    OF_STATUS(FLAG, "more_waits", more_waits),
    OF_STATUS(FLAG, "rings_old", rings_old),
    OF_STATUS(COUNT, "tensormap", tensormap),
    ENDS,
};
static const struct member tasks[] = {
    OF_STATUS(COUNT, "submitted", submitted),
    OF_STATUS(COUNT, "finished", finished),
    OF_STATUS(COUNT, "edges", edges),
    OF_STATUS(COUNT, "total", total),
    ENDS,
};
static const struct member recorder[] = {
    OF_STATUS(TEXT, "level", level),
    OF_STATUS(TEXT, "policy", policy),
    OF_STATUS(COUNT, "records", records),
    OF_STATUS(COUNT, "attempted", attempted),
    OF_STATUS(COUNT, "bytes_recorded", bytes_recorded),
    OF_STATUS(COUNT, "bytes_written", bytes_written),
    OF_STATUS(COUNT, "arena", arena),
    OF_STATUS(COUNT, "truncated", truncated),
    OF_STATUS(REAL, "record_seconds", record_seconds),
    OF_STATUS(REAL, "wait_seconds", wait_seconds),
    ENDS,
};
static const struct member lost[] = {
    OF_STATUS(COUNT, "full", lost_full),
    OF_STATUS(COUNT, "gave_up", lost_gave_up),
    ENDS,
};
static const struct member orchestrator[] = {
    OF_STATUS(TEXT, "state", state),
    OF_STATUS(TEXT, "scope", scope),
    OF_STATUS(TEXT, "waits_for", waits_for),
    OF_STATUS(NUMBER32, "waits_ring", waits_ring),
    OF_STATUS(REAL, "ring_wait_seconds", ring_wait_seconds),
    ENDS,
};
static const struct member ring[] = {
    OF_RING(COUNT, "tasks", tasks),
    OF_RING(COUNT, "task_window", task_window),
    OF_RING(COUNT, "task_window_used", task_window_used),
    OF_RING(COUNT, "heap", heap),
    OF_RING(COUNT, "heap_used", heap_used),
    OF_RING(COUNT, "dep_pool", dep_pool),
    OF_RING(COUNT, "dep_pool_used", dep_pool_used),
    ENDS,
};
static const struct member core[] = {
    MEMBER(struct tg_live_core, NUMBER32, "core", core),
    MEMBER(struct tg_live_core, TEXT, "kind", kind),
    MEMBER(struct tg_live_core, COUNT, "task", task),
    MEMBER(struct tg_live_core, TEXT, "kernel", kernel),
    ENDS,
};
static const struct member wait[] = {
    MEMBER(struct tg_live_wait, COUNT, "task", task),
    MEMBER(struct tg_live_wait, COUNT, "waits_for", waits_for),
    ENDS,
};

static void take_text(const struct tg_pull *pull, char *to, size_t room)
{
    char text[200];
    if (pull->token != TG_PULL_STRING)
        return;
    tg_pull_text(pull, text, sizeof text);
    tg_text_clean(text, to, room);
}

/* Stores the value that the last token began, if it is one of that kind; otherwise the member stays 0. */
static void take(const struct tg_pull *pull, const struct member *m, char *object)
{
    uint64_t count = 0;
    double real = 0;
    switch (m->kind) {
    case TEXT:
        take_text(pull, object + m->at, m->room);
        break;
    case FLAG:
        *(bool *)(object + m->at) = pull->token == TG_PULL_TRUE;
        break;
    case REAL:
        if (tg_pull_double(pull, &real) && real >= 0 && real < 1e12)
            memcpy(object + m->at, &real, sizeof real);
        break;
    case COUNT:
        if (tg_pull_u64(pull, &count))
            memcpy(object + m->at, &count, sizeof count);
        break;
    case SIGNED:
        if (tg_pull_u64(pull, &count) && count <= INT64_MAX)
            memcpy(object + m->at, &count, sizeof count);
        break;
    case NUMBER32:
        if (tg_pull_u64(pull, &count) && count <= UINT32_MAX)
            *(uint32_t *)(object + m->at) = (uint32_t)count;
        break;
    }
}

static const struct member *find(const struct tg_pull *pull, const struct member *members)
{
    for (; members->key != NULL; members++)
        if (tg_pull_is(pull, members->key))
            return members;
    return NULL;
}

/* ── the parts of an answer ────────────────────────────────────────────────────────────── */

struct reply {
    struct tg_pull pull;
    struct tg_live_status *status;
    struct tg_live_lists *lists;
    uint64_t version;
    char problem[200]; /* what the run says that is wrong with the request */
};

/* Reads the object that the last token began. For the member that needs more than that, `other` is called
 * with the first token of its value; it reads the value, or returns false. */
static bool read_object(struct reply *r, const struct member *members, void *object,
                        bool (*other)(struct reply *r, const char *key))
{
    char key[24];
    while (tg_pull_next(&r->pull) == TG_PULL_KEY) {
        const struct member *m = find(&r->pull, members);
        tg_pull_text(&r->pull, key, sizeof key);
        if (tg_pull_next(&r->pull) == TG_PULL_ERROR)
            return false;
        if (m != NULL)
            take(&r->pull, m, object);
        if (m == NULL && other != NULL && other(r, key))
            continue;
        if (!tg_pull_skip(&r->pull))
            return false;
    }
    return r->pull.token == TG_PULL_END_OBJECT;
}

/* Reads a list of objects, of which the first `room` are kept. */
static bool read_list(struct reply *r, const struct member *members, void *list, size_t size,
                      uint32_t room, uint32_t *count)
{
    *count = 0;
    memset(list, 0, room * size);
    while (tg_pull_next(&r->pull) == TG_PULL_BEGIN_OBJECT) {
        if (*count == room) {
            if (!tg_pull_skip(&r->pull))
                return false;
            continue;
        }
        if (!read_object(r, members, (char *)list + *count * size, NULL))
            return false;
        ++*count;
    }
    return r->pull.token == TG_PULL_END_ARRAY;
}

static bool read_lost(struct reply *r, const char *key)
{
    return strcmp(key, "lost") == 0 && r->pull.token == TG_PULL_BEGIN_OBJECT &&
           read_object(r, lost, r->status, NULL);
}

/* A core that runs something has the name of its kernel. */
static void mark_busy(struct reply *r)
{
    for (uint32_t i = 0; i < r->status->n_cores; i++) {
        r->lists->core[i].busy = r->lists->core[i].kernel[0] != '\0';
        r->status->running += r->lists->core[i].busy;
    }
}

static bool read_section(struct reply *r, const char *key)
{
    struct tg_live_status *s = r->status;
    if (r->pull.token == TG_PULL_BEGIN_OBJECT) {
        if (strcmp(key, "tasks") == 0)
            return read_object(r, tasks, s, NULL);
        if (strcmp(key, "recorder") == 0)
            return s->recorded = read_object(r, recorder, s, read_lost);
        if (strcmp(key, "orchestrator") == 0)
            return s->orchestrated = read_object(r, orchestrator, s, NULL);
    } else if (r->pull.token == TG_PULL_BEGIN_ARRAY) {
        if (strcmp(key, "rings") == 0)
            return read_list(r, ring, s->ring, sizeof s->ring[0], TG_LIVE_MAX_RINGS, &s->n_rings);
        if (strcmp(key, "cores") == 0)
            return read_list(r, core, r->lists->core, sizeof r->lists->core[0], TG_LIVE_MAX_CORES,
                             &s->n_cores);
        if (strcmp(key, "waits") == 0)
            return read_list(r, wait, r->lists->wait, sizeof r->lists->wait[0], TG_LIVE_MAX_WAITS,
                             &s->n_waits);
    }
    return false;
}

static bool read_top(struct reply *r, const char *key)
{
    char word[16] = "";
    if (strcmp(key, "version") == 0) {
        (void)tg_pull_u64(&r->pull, &r->version);
    } else if (strcmp(key, "error") == 0) {
        take_text(&r->pull, r->problem, sizeof r->problem);
    } else if (strcmp(key, "phase") == 0) {
        take_text(&r->pull, word, sizeof word);
        for (uint32_t i = 0; i < TG_LIVE_PHASES; i++)
            if (strcmp(word, tg_live_phase_name(i)) == 0)
                r->status->phase = i;
    }
    return read_section(r, key);
}

tg_status tg_live_reply_read(const char *text, size_t size, struct tg_live_status *status,
                             struct tg_live_lists *lists, struct tg_error *error)
{
    struct reply r = {.status = status, .lists = lists};
    memset(status, 0, sizeof *status);
    status->total = UINT64_MAX; /* null leaves it so */
    tg_pull_start(&r.pull, text, size);
    bool good = tg_pull_next(&r.pull) == TG_PULL_BEGIN_OBJECT &&
                read_object(&r, about, status, read_top) && tg_pull_next(&r.pull) == TG_PULL_END;
    status->total_known = status->total != UINT64_MAX;
    status->total = status->total_known ? status->total : 0;
    status->cores = status->n_cores ? lists->core : NULL;
    status->waits = status->n_waits ? lists->wait : NULL;
    mark_busy(&r);
    if (!good || r.version == 0)
        return tg_error_set(error, TG_IO_ERROR, "what came is no answer of a run%s%s",
                            r.pull.problem ? ": " : "", r.pull.problem ? r.pull.problem : "");
    if (r.version != TG_LIVE_VERSION)
        return tg_error_set(error, TG_UNSUPPORTED,
                            "the run speaks version %llu of the protocol, and this program version "
                            "%u; use both from one version of Taskglass",
                            (unsigned long long)r.version, TG_LIVE_VERSION);
    if (r.problem[0] != '\0')
        return tg_error_set(error, TG_BUSY, "the run answers: %s", r.problem);
    return TG_OK;
}
