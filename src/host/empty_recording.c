/* SPDX-License-Identifier: Apache-2.0 */
#include "host/empty_recording.h"

#include "recording/record.h"
#include "recording/run_folder.h"
#include "recording/writer.h"

void tg_empty_recording_write(const char *dir, const struct tg_record_config *config, bool shared,
                              uint32_t poison, tg_status ended, struct tg_record_result *result)
{
    struct tg_dump_writer *writer;
    if (shared)
        tg_run_folder_share(dir, TG_DUMP_FOLDER);
    if (tg_dump_create(dir, config->level, config->policy, poison, &writer, NULL) != TG_OK)
        return;
    tg_dump_set_result(writer, ended);
    tg_status status = tg_dump_finish(writer, NULL);
    if (status == TG_OK)
        *result = (struct tg_record_result){
            .on = true, .summary = *tg_dump_summary(writer), .status = status};
    tg_dump_destroy(writer);
}
