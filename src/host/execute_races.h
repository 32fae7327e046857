/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `run --races` does: a graph that the host built is searched before it runs, one that the device built
 * right after, from its recording, because it exists only then.
 */
#ifndef TG_HOST_EXECUTE_RACES_H
#define TG_HOST_EXECUTE_RACES_H

#include <taskglass/execute.h>
#include <taskglass/json.h>

struct tg_graph;

enum { TG_KEPT_RACES = 16, TG_RACE_TEXT = 200 };

/* One group, for run.json. */
struct tg_kept_race {
    uint64_t task_id[2];
    uint32_t argument[2];
    bool writes[2];
    char kernels[2][TG_RACE_TEXT], line[2][TG_RACE_TEXT], region[2][TG_RACE_TEXT];
    char fix[2 * TG_RACE_TEXT];
    uint64_t pairs;
};

/* Zeros: no run has looked for races. */
struct tg_execution_races {
    enum tg_races_mode mode;
    bool before;                     /* the run */
    bool judged;                     /* `summary` says what was found */
    struct tg_races_summary summary; /* of what was judged */
    char unknown[512];               /* why nothing was judged */
    uint32_t n_kept;
    struct tg_kept_race kept[TG_KEPT_RACES]; /* the first groups */
};

/* RACE: the mode is error and there are some. Any other error means that nothing was judged, and is kept. */
tg_status tg_execute_races_before(const struct tg_execute_config *config, struct tg_graph *graph,
                                  struct tg_execution_races *races, struct tg_error *error);
/* The same for the recording in the directory, after the run. */
tg_status tg_execute_races_after(const struct tg_execute_config *config, const char *directory,
                                 struct tg_execution_races *races, struct tg_error *error);
/* The member "races" of run.json: none if nobody asked, null if the run ended before. */
void tg_execute_races_put(struct tg_json *json, const struct tg_execution_races *races);

#endif
