/* SPDX-License-Identifier: Apache-2.0 */
/* The suspects of a stomp in the order of suspicion, and whether one of them is proved to have done it. */
#include <stdlib.h>
#include <string.h>

#include "analysis/find_answer.h"
#include "analysis/stomp.h"
#include "base/error.h"
#include "base/grow.h"
#include "recording/reader.h"

#define WORD(constant, word, meaning) word,
#define MEANING(constant, word, meaning) meaning,

const char *tg_find_place_name(unsigned place)
{
    static const char *const words[] = {TG_FIND_PLACE_MAP(WORD)};
    return place < TG_FIND_PLACES ? words[place] : "?";
}

const char *tg_find_replayed_name(unsigned replayed)
{
    static const char *const words[] = {TG_FIND_REPLAYED_MAP(WORD)};
    return replayed < TG_FIND_REPLAYEDS ? words[replayed] : "?";
}

const char *tg_find_evidence_name(unsigned evidence)
{
    static const char *const words[] = {TG_FIND_EVIDENCE_MAP(WORD)};
    return evidence < TG_FIND_EVIDENCES ? words[evidence] : "?";
}

const char *tg_find_evidence_text(unsigned evidence)
{
    static const char *const meanings[] = {TG_FIND_EVIDENCE_MAP(MEANING)};
    return evidence < TG_FIND_EVIDENCES ? meanings[evidence] : "?";
}

/* --- the suspects of one finding -------------------------------------------------------------- */

/* A suspect while its finding is ranked. */
struct ranked {
    struct tg_find_suspect is;
    uint64_t began;
    uint32_t row;
    int score;
    bool wrote_values;
};

struct ranking {
    struct tg_find *find;
    struct tg_stomp *stomp;
    const struct tg_find_finding *finding;
    struct tg_stomp_window window;
    struct tg_stomp_bytes bytes, whole;
    struct ranked *at;
    size_t count, room;
};

static void name_kernels(const struct tg_find *find, const struct tg_task_row *row,
                         struct tg_find_suspect *suspect)
{
    if (row->count > 0) {
        suspect->record = find->tasks.ref[row->first].index;
        tg_recording_kernels(find->recording, suspect->record, suspect->kernel);
    } else if (row->deps != TG_NO_ROW) {
        memcpy(suspect->kernel, find->tasks.deps->task[row->deps].kernel, sizeof suspect->kernel);
    }
}

static bool add(struct ranking *ranking, uint32_t row)
{
    const struct tg_find *find = ranking->find;
    if (!tg_grow(&ranking->at, &ranking->room, ranking->count + 1, sizeof *ranking->at))
        return false;
    struct ranked *made = &ranking->at[ranking->count++];
    *made = (struct ranked){.is = {.task_id = find->tasks.row[row].id,
                                   .record = TG_NONE,
                                   .distance = TG_NONE,
                                   .misuse = ""},
                            .row = row,
                            .began = ranking->stomp->times[row].began};
    name_kernels(find, &find->tasks.row[row], &made->is);
    made->is.is_late = tg_stomp_has_times(find) && made->began >= ranking->window.read;
    tg_stomp_near(find, row, &ranking->whole, &ranking->bytes, &made->is);
    tg_stomp_judge(ranking->stomp, &ranking->bytes, &made->is);
    return true;
}

/* Without times it is not known when a task ran; then the order of the events decides, as it does for
 * tg_find_get_between, whose tasks are there already. */
static bool collect(struct ranking *ranking)
{
    const struct tg_find *find = ranking->find;
    bool good = true;
    if (tg_stomp_has_times(find)) {
        for (uint32_t row = 0; good && row < find->tasks.n_rows; row++)
            if (tg_stomp_may_have_run(find, ranking->stomp->times, &ranking->window, row))
                good = add(ranking, row);
        return good;
    }
    for (uint32_t i = 0; good && i < find->n_neighbours; i++)
        good = add(ranking, find->neighbour[i].row);
    return good;
}

/* Only a task that writes the memory can race for it. */
static bool look_for_races(struct ranking *ranking)
{
    const struct tg_find *find = ranking->find;
    const struct tg_flow *flow = &find->flow;
    uint64_t reader = find->tasks.row[flow->event[ranking->window.last].row].id;
    uint64_t before = find->tasks.row[flow->event[ranking->window.first].row].id;
    for (size_t i = 0; i < ranking->count; i++) {
        struct ranked *suspect = &ranking->at[i];
        if (!suspect->is.writes)
            continue;
        if (!tg_stomp_find_races(ranking->stomp, find->recording))
            return false;
        suspect->is.races = tg_stomp_do_race(ranking->stomp, suspect->is.task_id, reader) ||
                            tg_stomp_do_race(ranking->stomp, suspect->is.task_id, before);
        suspect->wrote_values =
            suspect->is.races &&
            tg_stomp_wrote_values(find, suspect->row, ranking->finding->record, &ranking->bytes);
    }
    return true;
}

/* The larger, the more suspicious. Kernels that leave their outputs mostly do so by less than a page. */
static int score_of(const struct ranked *suspect)
{
    enum { NEAR = 4096 };
    const struct tg_find_suspect *is = &suspect->is;
    if (is->replayed == TG_FIND_REPLAYED_CONVICTS)
        return 10;
    if (suspect->wrote_values)
        return 9;
    if (is->is_late)
        return 0;
    if (is->writes)
        return 8;
    if (is->replayed == TG_FIND_REPLAYED_STRAYS)
        return 7;
    if (is->replayed == TG_FIND_REPLAYED_CLEARS)
        return 1;
    if (is->has_place && is->distance <= NEAR)
        return 6;
    if (is->is_given)
        return 5;
    return is->has_place ? 3
                         : 4; /* nothing is known of a task without outputs: it may be anywhere */
}

static int by_suspicion(const void *a, const void *b)
{
    const struct ranked *left = a, *right = b;
    if (left->score != right->score)
        return left->score > right->score ? -1 : 1;
    if (left->is.distance != right->is.distance)
        return left->is.distance < right->is.distance ? -1 : 1;
    if (left->began != right->began)
        return left->began < right->began ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

/* --- the one ---------------------------------------------------------------------------------- */

/* True if a heap gave the memory out between the two tasks: its contents may have been replaced. */
static bool was_given_out(const struct ranking *ranking)
{
    const struct tg_find *find = ranking->find;
    const struct tg_deps *deps = find->tasks.deps;
    const struct tg_flow_event *event = find->flow.event;
    uint32_t first = find->tasks.row[event[ranking->window.first].row].deps;
    uint32_t last = find->tasks.row[event[ranking->window.last].row].deps;
    for (size_t i = 0; i < deps->n_allocations; i++) {
        const struct tg_deps_allocation *given = &deps->allocation[i];
        if (given->given > first && given->given <= last &&
            tg_stomp_bytes_meet(&ranking->whole, given->address, given->address + given->bytes))
            return true;
    }
    return false;
}

/* Whether all tasks of the run, and what they write, are known. */
static bool knows_everybody(const struct ranking *ranking)
{
    const struct tg_find *find = ranking->find;
    const struct tg_deps *deps = find->tasks.deps;
    return tg_stomp_has_times(find) && deps && deps->lost == 0 && !find->is_selective &&
           (deps->knows_memory || find->tasks.info.poison == 0) && !was_given_out(ranking);
}

static size_t count_convicts(const struct ranking *ranking)
{
    size_t count = 0;
    for (size_t i = 0; i < ranking->count; i++)
        count += ranking->at[i].is.replayed == TG_FIND_REPLAYED_CONVICTS;
    return count;
}

static size_t count_racers(const struct ranking *ranking)
{
    size_t count = 0;
    for (size_t i = 0; i < ranking->count; i++)
        count += ranking->at[i].wrote_values;
    return count;
}

/* Of the sorted suspects. */
static enum tg_find_evidence evidence_of(const struct ranking *ranking)
{
    size_t convicts = count_convicts(ranking), racers = count_racers(ranking);
    if (convicts + racers > 0)
        return convicts + racers > 1 ? TG_FIND_EVIDENCE_NONE
               : convicts == 1       ? TG_FIND_EVIDENCE_GUARDS
                                     : TG_FIND_EVIDENCE_RACE;
    return ranking->count == 1 && ranking->at[0].is.replayed != TG_FIND_REPLAYED_CLEARS &&
                   knows_everybody(ranking)
               ? TG_FIND_EVIDENCE_ALONE
               : TG_FIND_EVIDENCE_NONE;
}

static bool keep(struct tg_stomp *stomp, const struct ranking *ranking, uint64_t number)
{
    struct tg_find_suspect *suspect = malloc((ranking->count + 1) * sizeof *suspect);
    if (!suspect)
        return false;
    for (size_t i = 0; i < ranking->count; i++)
        suspect[i] = ranking->at[i].is;
    free(stomp->suspect);
    stomp->suspect = suspect;
    stomp->n_suspects = ranking->count;
    stomp->suspects_of = number;
    stomp->evidence = evidence_of(ranking);
    return true;
}

bool tg_stomp_rank(struct tg_find *find, struct tg_stomp *stomp, uint64_t number)
{
    const struct tg_find_finding *finding = &find->finding[number];
    struct ranking ranking = {.find = find,
                              .stomp = stomp,
                              .finding = finding,
                              .window = tg_stomp_window_of(find, stomp->times, finding)};
    if (!tg_find_neighbours(find, number))
        return false;
    if (stomp->suspects_of == number)
        return true;
    bool good = tg_stomp_bytes_of(find, finding, &ranking.bytes) &&
                tg_stomp_bytes_whole(find, finding->record, &ranking.whole) && collect(&ranking) &&
                look_for_races(&ranking);
    if (good) {
        for (size_t i = 0; i < ranking.count; i++)
            ranking.at[i].score = score_of(&ranking.at[i]);
        if (ranking.count > 0)
            qsort(ranking.at, ranking.count, sizeof *ranking.at, by_suspicion);
        good = keep(stomp, &ranking, number);
    }
    tg_stomp_bytes_free(&ranking.bytes);
    tg_stomp_bytes_free(&ranking.whole);
    free(ranking.at);
    return good;
}

/* --- asking ----------------------------------------------------------------------------------- */

struct tg_stomp *tg_stomp_open(const struct tg_find *find)
{
    struct tg_stomp *stomp = calloc(1, sizeof *stomp);
    if (!stomp)
        return NULL;
    stomp->suspects_of = TG_NONE;
    stomp->times = tg_stomp_times(find);
    if (stomp->times)
        return stomp;
    free(stomp);
    return NULL;
}

void tg_stomp_close(struct tg_stomp *stomp)
{
    if (!stomp)
        return;
    free(stomp->times);
    free(stomp->race);
    free(stomp->verdict);
    free(stomp->suspect);
    free(stomp);
}

static bool rank(struct tg_find_answer *answer, uint64_t finding)
{
    return answer != NULL && answer->stomp != NULL && finding < answer->find->n_findings &&
           tg_stomp_rank(answer->find, answer->stomp, finding);
}

tg_status tg_find_answer_rank(struct tg_find_answer *answer, uint64_t finding,
                              struct tg_error *error)
{
    TG_REFUSE_NULL(error, answer);
    if (answer->stomp == NULL || finding >= answer->find->n_findings || rank(answer, finding))
        return TG_OK;
    return tg_error_set(error, TG_NO_MEMORY, "no memory to rank suspects");
}

bool tg_find_answer_suspect(struct tg_find_answer *answer, uint64_t finding, uint64_t number,
                            struct tg_find_suspect *suspect)
{
    if (suspect == NULL || !rank(answer, finding) || number >= answer->stomp->n_suspects)
        return false;
    *suspect = answer->stomp->suspect[number];
    return true;
}

enum tg_find_evidence tg_find_answer_evidence(struct tg_find_answer *answer, uint64_t finding)
{
    return rank(answer, finding) ? answer->stomp->evidence : TG_FIND_EVIDENCE_NONE;
}
