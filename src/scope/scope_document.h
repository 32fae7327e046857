/* SPDX-License-Identifier: Apache-2.0 */
/* The document that pages show: peaks, advice and all samples of a run's scopes. scope_page.c puts it into its page,
 * the workbench into an answer. */
#ifndef TG_SCOPE_DOCUMENT_H
#define TG_SCOPE_DOCUMENT_H

#include <taskglass/json.h>
#include <taskglass/scope_stats.h>

#include "scope/scope_stream.h"

struct tg_scope_document {
    struct tg_scope_stats *stats;
    struct tg_scope_stats_info info;
    struct tg_scope_stream stream; /* the samples */
    tg_scope_watch_fn watch;
    void *context;
    bool is_cancelled;
};

/* Reads the scope stats at `path`. Errors are those of tg_scope_stats_open, and CANCELLED if `watch`, which may be
 * NULL, says so. The caller closes the document, also after a failure. */
tg_status tg_scope_document_open(const char *path, tg_scope_watch_fn watch, void *context,
                                 struct tg_scope_document *document, struct tg_error *error);
void tg_scope_document_close(struct tg_scope_document *document);

/* Writes the members into the object that is open. NO_MEMORY. */
tg_status tg_scope_document_write(const struct tg_scope_document *document, struct tg_json *json);

#endif
