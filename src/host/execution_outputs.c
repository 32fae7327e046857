/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <taskglass/outputs.h>

#include "host/execution.h"

/* Takes the bytes from the case, which is closed next. Keeps fewer outputs if memory runs out. */
void tg_execution_keep_outputs(struct tg_execution *e, struct tg_case_host *test_case)
{
    uint32_t count = tg_case_tensor_count(test_case);
    for (uint32_t i = 0; i < count; i++) {
        struct tg_case_tensor *t = tg_case_tensor_at(test_case, i);
        struct tg_output *kept = &e->kept[e->n_kept];
        char *name = t->output ? strdup(t->name) : NULL;
        if (!name)
            continue;
        *kept = (struct tg_output){.name = name,
                                   .dtype = t->tensor.dtype,
                                   .ndim = t->tensor.ndim,
                                   .bytes = t->output,
                                   .size = t->size};
        memcpy(kept->shape, t->tensor.shape, sizeof kept->shape);
        t->output = NULL;
        e->n_kept++;
    }
}

void tg_execution_free_outputs(struct tg_execution *e)
{
    for (uint32_t i = 0; i < e->n_kept; i++) {
        free((char *)e->kept[i].name);
        free((void *)e->kept[i].bytes);
    }
    e->n_kept = 0;
}

bool tg_execution_output(const struct tg_execution *e, uint32_t number, struct tg_output *output)
{
    if (e == NULL || output == NULL)
        return false;
    if (number >= e->n_kept)
        return false;
    *output = e->kept[number];
    return true;
}
