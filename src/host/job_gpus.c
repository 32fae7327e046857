/* SPDX-License-Identifier: Apache-2.0 */
/* Which ranks share a GPU. A rank may see one GPU only, because its launcher shows each rank another one, so
 * that the number of GPUs that it sees tells nothing: the ranks compare which one they have. */
#include <string.h>

#include "host/job.h"

/* On another machine the same number is another GPU. */
static bool is_first(const struct tg_job *job, uint32_t rank)
{
    for (uint32_t r = 0; r < rank; r++)
        if (job->gpu[r] == job->gpu[rank] && strcmp(job->all[r].host, job->all[rank].host) == 0)
            return false;
    return true;
}

void tg_job_count_gpus(const struct tg_job *job, uint32_t *ranks, uint32_t *gpus)
{
    *ranks = *gpus = 0;
    for (uint32_t r = 0; r < job->ranks; r++) {
        *ranks += job->gpu[r] != 0;
        *gpus += job->gpu[r] != 0 && is_first(job, r);
    }
}
