/* SPDX-License-Identifier: Apache-2.0 */
/* The requests about questions, which the server answers itself: questions, ask, job, cancel. */
#ifndef TG_SERVE_ASKS_H
#define TG_SERVE_ASKS_H

#include "serve/serve.h"
#include <microhttpd.h>

/* True if the request is one of these. */
bool serve_asks_take(const char *request);
enum MHD_Result serve_asks_answer(struct serve *serve, struct MHD_Connection *connection,
                                  const char *request);

#endif
