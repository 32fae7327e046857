/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest that a recovery finds beside the journal. */
#ifndef TG_RECORDING_RECOVER_OLD_H
#define TG_RECORDING_RECOVER_OLD_H

#include <stdint.h>
#include <taskglass/recording.h>

enum tg_old_manifest {
    TG_OLD_REPLACE,    /* there is none, it does not prove itself, or the recording has all of it */
    TG_OLD_HAS_MORE,   /* it proves itself, and has payloads that the payload file lacks */
    TG_OLD_CONTRADICTS /* it proves itself, and the journal tells something else */
};

tg_status tg_old_manifest_judge(const struct tg_recording *recording, enum tg_old_manifest *old,
                                struct tg_error *error);
/* Keeps it as tensor_dump.json.damaged, or .damaged.2 and so on, whichever is free first. *number: 1 for
 * the first of these names; unchanged if there is no manifest. */
tg_status tg_old_manifest_put_aside(const struct tg_recording *recording, uint32_t *number,
                                    struct tg_error *error);

#endif
