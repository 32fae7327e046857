/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a page that needs no server: the page of web/dist with its style and its script inside, and in front of
 * the script the answers:
 *
 *     <script type="application/json" id="answers">{
 *     "runs": "eyJ2ZXJz…",                                         base64 of the answer's bytes
 *     "edges?run=x": {"http": 409, "error": {"status": …, "text": …}}   a request that fails
 *     }</script>
 *
 * A policy in the page (CSP) lets nothing run but that script, and nothing be loaded at all.
 */
#ifndef TG_WORKBENCH_PAGE_FILE_H
#define TG_WORKBENCH_PAGE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <taskglass/workbench.h>

struct tg_page_file {
    struct tg_new_file *file;
    FILE *stream;
    uint64_t bytes; /* so far */
    bool has_answers;
    const char *rest; /* of the page's HTML, behind the script */
    size_t rest_size;
};

/* Begins the file, up to the first answer. Errors are those of tg_new_file_open, and NO_MEMORY. */
tg_status tg_page_file_open(const char *path, bool overwrite, struct tg_page_file *page,
                            struct tg_error *error);
/* How many bytes the answer would add. */
uint64_t tg_page_file_cost(const char *request, const struct tg_workbench_answer *answer);
/* Adds an answer. NO_MEMORY. */
tg_status tg_page_file_add(struct tg_page_file *page, const char *request,
                           const struct tg_workbench_answer *answer, struct tg_error *error);
/* Ends the file; without `keep` nothing of it stays. */
tg_status tg_page_file_close(struct tg_page_file *page, bool keep, struct tg_error *error);

#endif
