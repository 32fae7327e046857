/* SPDX-License-Identifier: Apache-2.0 */
/* A view in the words of its case: the part of a tensor that a task used. */
#ifndef TG_ANALYSIS_VIEW_NAME_H
#define TG_ANALYSIS_VIEW_NAME_H

#include "analysis/source.h"

/* "x[0:16, 3]", "x" for all of it, or "x, bytes 64 to 128" if the view is no slice of it. False, with "", if it lies in
 * no tensor that the run was given. `room` is at least 300. */
bool tg_view_name(const struct tg_recording *recording, const struct tg_sources *sources,
                  const struct tg_tensor *view, char *text, size_t room);

/* Bytes from the object's first to the first and behind the last of the view. False if they do not fit 64 bits. */
bool tg_view_hull(const struct tg_tensor *view, int64_t *lo, int64_t *hi);

#endif
