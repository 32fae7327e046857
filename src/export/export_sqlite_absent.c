/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces export_sqlite.c if the library is built without SQLite. */
#include "base/error.h"
#include "export/export_job.h"

bool tg_export_has_sqlite(void)
{
    return false;
}

tg_status tg_export_as_sqlite(struct tg_export_job *job)
{
    return tg_error_set(job->error, TG_UNSUPPORTED,
                        "this Taskglass was built without SQLite; install libsqlite3-dev and build "
                        "it again, or export csv");
}
