/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of a workload that is one file. The file has the arrays `kernels` and `cases`, the functions
 * prepare, golden and orchestrate, and ends with
 *
 *     TG_WORKLOAD = {TABLE("name", "summary")};
 *     TG_WORKLOAD = {TABLE("name", "summary"), TABLE_REFERENCES};    with an array `references`
 */
#ifndef TABLE_H
#define TABLE_H

#include <taskglass/workload.h>

#define TABLE_SIZE(array) (sizeof(array) / sizeof(array)[0])

/* clang-format off */
#define TABLE(workload, text) \
    TG_WORKLOAD_HEAD, .name = workload, .summary = text, \
    .kernels = kernels, .n_kernels = TABLE_SIZE(kernels), \
    .cases = cases, .n_cases = TABLE_SIZE(cases), \
    .orchestrate = orchestrate, .orchestrate_site = TG_SITE, .prepare = prepare, .golden = golden
#define TABLE_REFERENCES .references = references, .n_references = TABLE_SIZE(references)
/* clang-format on */

#endif
