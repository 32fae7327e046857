/* SPDX-License-Identifier: Apache-2.0 */
/* Runs all recorded tasks again, each alone, on several devices. */
#include <taskglass/replay.h>

#include "base/error.h"

tg_status tg_replay_all(const struct tg_settings *settings, const struct tg_recording *recording,
                        const struct tg_replay_all_config *config, tg_replay_fn tell, void *context,
                        struct tg_replay_summary *summary, struct tg_error *error)
{
    TG_REFUSE_NULL(error, settings);
    TG_REFUSE_NULL(error, recording);
    (void)config, (void)tell, (void)context, (void)summary;
    return tg_error_set(error, TG_UNSUPPORTED, "this version replays one task at a time");
}
