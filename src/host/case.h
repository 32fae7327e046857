/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One case of a workload on the host: its parameters, the arguments its `prepare` declares, and
 * what its `golden` expects of the outputs.
 *
 *     open  ──►  prepare  ──►  (the run fills `output` of what is not TG_IN)  ──►  golden
 */
#ifndef TG_HOST_CASE_H
#define TG_HOST_CASE_H

#include <stdbool.h>
#include <taskglass/status.h>
#include <taskglass/workload.h>

struct tg_case_param {
    char *key;
    char *value;
};

struct tg_case_tensor {
    char *name;
    enum tg_role role;
    struct tg_tensor tensor; /* row-major; addr is set when it has a place on the device */
    uint64_t elements;
    uint64_t size;    /* bytes, packed */
    void *bytes;      /* before the run */
    void *output;     /* after it; NULL until fetched */
    double *expected; /* this one or the next, from golden */
    void *exact;
    double atol, rtol;
};

struct tg_case_scalar {
    char *name;
    struct tg_scalar scalar;
};

struct tg_case_host; /* a struct tg_case with what the host knows about it */

/*
 * The case of that name (NULL: the first), its parameters changed by n_set texts "key=value".
 * memory_limit: more bytes of tensors than this are refused before any device is opened; 0: no
 * limit. NOT_FOUND names the cases there are; BAD_ARGUMENT a parameter that there is not.
 */
tg_status tg_case_open(const struct tg_workload *workload, const char *name, const char *const *set,
                       uint32_t n_set, uint64_t memory_limit, struct tg_case_host **host,
                       struct tg_error *error);
void tg_case_close(struct tg_case_host *host);

/* Calls the workload's function and gives the first error it made. After golden, every output
 * has its expectation. */
tg_status tg_case_prepare(struct tg_case_host *host, struct tg_error *error);
tg_status tg_case_golden(struct tg_case_host *host, struct tg_error *error);

const char *tg_case_name(const struct tg_case_host *host);
uint32_t tg_case_param_count(const struct tg_case_host *host);
const struct tg_case_param *tg_case_param(const struct tg_case_host *host, uint32_t i);
uint32_t tg_case_tensor_count(const struct tg_case_host *host);
struct tg_case_tensor *tg_case_tensor_at(struct tg_case_host *host, uint32_t i);
uint32_t tg_case_scalar_count(const struct tg_case_host *host);
const struct tg_case_scalar *tg_case_scalar_at(const struct tg_case_host *host, uint32_t i);

#endif
