/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines from files: a recording with its deps.json, another implementation's swimlane, a trace. */
#ifndef TG_ANALYSIS_TIMELINE_LOAD_H
#define TG_ANALYSIS_TIMELINE_LOAD_H

#include <taskglass/recording.h>

#include "trace/timeline.h"

/* On success the caller frees *timeline, which is finished; otherwise there is nothing to free. Errors are
 * those of tg_timing_open. If the path leads to a recording, the caller closes *recording; otherwise it is
 * NULL. */
tg_status tg_timeline_load(const char *path, struct tg_timeline *timeline,
                           struct tg_recording **recording, struct tg_error *error);
tg_status tg_timeline_of_recording(const struct tg_recording *recording,
                                   struct tg_timeline *timeline, struct tg_error *error);
/* `path`: the file of the swimlane; the edges come from the deps.json beside it. */
tg_status tg_timeline_of_swimlane(const char *path, struct tg_timeline *timeline,
                                  struct tg_error *error);

/* For tests: reads the text of a swimlane; adds no edges and does not finish the timeline. `name` is for
 * messages. */
tg_status tg_swimlane_parse(const char *text, size_t size, const char *name,
                            struct tg_timeline *timeline, struct tg_error *error);
/* Adds the tasks and edges of a deps.json; that of a swimlane also has the kernels of its parts. */
struct tg_deps;
tg_status tg_swimlane_add_deps(const struct tg_deps *deps, struct tg_timeline *timeline,
                               struct tg_error *error);
tg_status tg_timeline_add_deps(const struct tg_deps *deps, struct tg_timeline *timeline,
                               struct tg_error *error);

#endif
