/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the answers of a run, which may be anything. */
#ifndef TG_HOST_LIVE_REPLY_H
#define TG_HOST_LIVE_REPLY_H

#include <stddef.h>
#include <taskglass/live.h>

/* The lists of an answer. */
struct tg_live_lists {
    struct tg_live_core core[TG_LIVE_MAX_CORES];
    struct tg_live_wait wait[TG_LIVE_MAX_WAITS];
};

/* IO_ERROR: it is no answer. UNSUPPORTED: of another version. BUSY: the run says that it cannot answer
 * now. What status->cores and status->waits point to is in *lists. */
tg_status tg_live_reply_read(const char *text, size_t size, struct tg_live_status *status,
                             struct tg_live_lists *lists, struct tg_error *error);

#endif
