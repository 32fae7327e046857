/* SPDX-License-Identifier: Apache-2.0 */
/* Reads ahead: while the user opens the address, a thread lets the workbench read what the page will ask for first. */
#ifndef TG_SERVE_AHEAD_H
#define TG_SERVE_AHEAD_H

#include "serve/serve.h"

/* Starts the thread if one run is served. Without a thread the first request reads. */
void serve_ahead_start(struct serve *serve);
/* Waits for its end; must come before the workbench is closed. */
void serve_ahead_end(struct serve *serve);

#endif
