/* SPDX-License-Identifier: Apache-2.0 */
/* Server-sent events of a run that goes on: what it answers, that its files have grown, and its end. */
#ifndef TG_SERVE_EVENTS_H
#define TG_SERVE_EVENTS_H

#include "serve/serve.h"
#include <microhttpd.h>

/* Begins a stream; `query` is "run=KEY". 503: there are too many streams. */
enum MHD_Result serve_events_answer(struct serve *serve, struct MHD_Connection *connection,
                                    const char *query);

#endif
