/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One case of a workload on the host: its parameters, the arguments that its `prepare` declares,
 * and the output values that its `golden` expects.
 *
 *     open  ──►  prepare  ──►  (the run fills `output` of each tensor but TG_IN)  ──►  golden
 */
#ifndef TG_HOST_CASE_H
#define TG_HOST_CASE_H

#include <stdbool.h>
#include "host/guard.h"
#include <taskglass/status.h>
#include <taskglass/workload.h>

struct tg_case_param {
    char *key;
    char *value;
};

struct tg_case_tensor {
    char *name;
    enum tg_role role;
    struct tg_tensor tensor; /* row-major; addr is set when the device has memory for it */
    uint64_t elements;
    uint64_t size;    /* bytes, packed */
    void *bytes;      /* before the run */
    void *output;     /* after the run; NULL until fetched */
    double *expected; /* golden fills this one or `exact` */
    void *exact;
    double atol, rtol;
};

struct tg_case_scalar {
    char *name;
    struct tg_scalar scalar;
};

struct tg_case_host; /* a struct tg_case plus the host's own fields */

/*
 * Opens the case of that name (NULL: the first) and changes its parameters by n_set texts
 * "key=value". memory_limit: prepare refuses tensors of more bytes than this in all, before any
 * device is opened; 0: no limit. NOT_FOUND lists the existing cases, BAD_ARGUMENT the existing
 * parameters.
 */
tg_status tg_case_open(const struct tg_workload *workload, const char *name, const char *const *set,
                       uint32_t n_set, uint64_t memory_limit, struct tg_case_host **host,
                       struct tg_error *error);
void tg_case_close(struct tg_case_host *host);
/* What tg_case_rank and tg_case_ranks say; before prepare. Without it: rank 0 of 1. */
void tg_case_set_rank(struct tg_case_host *host, uint32_t rank, uint32_t ranks);

/* Each calls the workload's function, through the guard unless that is NULL, and returns its first
 * error. After golden succeeds, every output has an expected value. */
tg_status tg_case_prepare(struct tg_case_host *host, const struct tg_guard *guard,
                          struct tg_error *error);
tg_status tg_case_golden(struct tg_case_host *host, const struct tg_guard *guard,
                         struct tg_error *error);

const char *tg_case_name(const struct tg_case_host *host);
uint32_t tg_case_param_count(const struct tg_case_host *host);
const struct tg_case_param *tg_case_param(const struct tg_case_host *host, uint32_t i);
uint32_t tg_case_tensor_count(const struct tg_case_host *host);
struct tg_case_tensor *tg_case_tensor_at(struct tg_case_host *host, uint32_t i);
uint32_t tg_case_scalar_count(const struct tg_case_host *host);
const struct tg_case_scalar *tg_case_scalar_at(const struct tg_case_host *host, uint32_t i);

#endif
