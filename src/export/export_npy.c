/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export.h"

#include <taskglass/dtype.h>

#include "export/export_job.h"
#include "query/npy_type.h"
#include "query/npy_write.h"

const char *tg_export_type(unsigned dtype)
{
    return tg_dtype_name((int)tg_npy_held_as(dtype));
}

/* Where the bytes go, and whom to ask. */
struct target {
    FILE *file;
    struct tg_export_job *job;
};

static bool write_piece(void *context, const void *bytes, size_t size)
{
    const struct target *target = context;
    return (!target->job || tg_export_tell(target->job)) &&
           fwrite(bytes, 1, size, target->file) == size;
}

tg_status tg_export_npy(FILE *file, const struct tg_array *array, struct tg_export_job *job,
                        struct tg_error *error)
{
    struct target target = {file, job};
    if (tg_npy_pieces(array, write_piece, &target))
        return TG_OK;
    return tg_export_failed(job, error);
}
