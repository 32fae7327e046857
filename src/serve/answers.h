/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of the workbench, and the memory that they take until their clients have taken them. */
#ifndef TG_SERVE_ANSWERS_H
#define TG_SERVE_ANSWERS_H

#include "serve/serve.h"
#include <microhttpd.h>

/* Answers the request with what the workbench says, or with 503 if others fill the server. */
enum MHD_Result serve_answer(struct serve *serve, struct MHD_Connection *connection,
                             const char *request);

void serve_budget_init(struct serve_budget *budget);
void serve_budget_end(struct serve_budget *budget);

#endif
