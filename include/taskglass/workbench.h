/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers for a page that shows runs: `taskglass serve` gives them over HTTP, `taskglass view --html` writes them
 * into the page. docs/workbench-protocol.md describes every request.
 *
 *     tg_workbench_open(&(struct tg_workbench_config){.path = "outputs"}, &bench, &error)
 *     tg_workbench_ask(bench, "tensor?run=matmul_small&record=5", &answer)
 *     …                                            answer.status, answer.part[0].bytes
 *     tg_workbench_answer_free(&answer)
 *     tg_workbench_close(bench)
 *
 * Requests and recordings may come from strangers. A request names a run by a key of the list and never by a path;
 * no number in it decides how much memory or time it takes. Several threads may ask at the same time.
 */
#ifndef TASKGLASS_WORKBENCH_H
#define TASKGLASS_WORKBENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tg_workbench;

/* What to show. Zeros are the defaults. */
struct tg_workbench_config {
    const char *path;  /* a run, a recording, or a directory of runs; NULL: outputs/ */
    const char *other; /* a second run, to compare `path` with; NULL: none */
};

/* Finds the runs and opens none. NOT_FOUND: there is no such path; BAD_ARGUMENT: `path` or `other` must be a run and
 * is none; IO_ERROR, NO_MEMORY. The caller closes *bench. */
TG_API tg_status tg_workbench_open(const struct tg_workbench_config *config,
                                   struct tg_workbench **bench, struct tg_error *error);
/* NULL is allowed. Free its answers first. */
TG_API void tg_workbench_close(struct tg_workbench *bench);

/* The path of the run that requests call `key`, for a program that wants to start a command for it. It lives as long
 * as the workbench. NULL: there is no such run. */
TG_API const char *tg_workbench_run_path(struct tg_workbench *bench, const char *key);

/* An answer: one or two pieces of bytes, one after the other. */
struct tg_workbench_answer {
    int status;       /* of HTTP: 200, 400, 404, 409, 413, 500 */
    const char *type; /* "application/json" or "application/octet-stream"; static */
    char file[256];   /* a name for a download; "": it is none */
    struct {
        const void *bytes;
        size_t size;
    } part[2];
    void *own; /* private */
};

/*
 * Answers a request: its name, and behind a '?' its parameters as in an address. There is always an answer, also to
 * nonsense and without memory. The caller frees it.
 */
TG_API void tg_workbench_ask(struct tg_workbench *bench, const char *request,
                             struct tg_workbench_answer *answer);
/* Its bytes must not be used any more. */
TG_API void tg_workbench_answer_free(struct tg_workbench_answer *answer);

/* The files of the page, for a server: "" (the page itself), "app.js", "app.css". NULL: no such file. Static. */
TG_API const void *tg_workbench_file(const char *name, const char **type, size_t *size);

/* How to write a page that needs no server. Zeros are the defaults. */
struct tg_workbench_page_config {
    bool overwrite;
    uint64_t most; /* bytes of the page, about; default 32 MiB */
    /* NULL, or called from time to time; a return other than 0 cancels. */
    int (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};
/* What was written. */
struct tg_workbench_page {
    uint64_t bytes;
    uint64_t tensors;  /* whose values are in the page */
    uint64_t left_out; /* whose values would not fit */
};
/* Writes one file that shows a run in any browser. The graph, the times and the records must fit; values of tensors
 * are left out where they do not, and the page says so. BAD_ARGUMENT: the file exists, is one of the run, or the run
 * is too large for a page; CANCELLED; NOT_FOUND, IO_ERROR, NO_MEMORY. */
TG_API tg_status tg_workbench_write_page(const char *run, const char *file,
                                         const struct tg_workbench_page_config *config,
                                         struct tg_workbench_page *page, struct tg_error *error);

#ifdef __cplusplus
}
#endif
#endif
