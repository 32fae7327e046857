/* SPDX-License-Identifier: Apache-2.0 */
/* What the verdicts on all replayed tasks mean together. */
#include "host/replay.h"
#include <inttypes.h>
#include <stdio.h>
#include <taskglass/analysis.h>
#include <taskglass/replay.h>

const char *tg_replay_is_name(uint32_t is)
{
#define WORD(constant, number, word, meaning) [number] = (word),
    static const char *const words[] = {TG_REPLAY_MAP(WORD)};
#undef WORD
    return is < TG_REPLAY_WORDS ? words[is] : NULL;
}

bool tg_replay_had_no_tasks(const struct tg_recording *recording, char *reason, size_t room)
{
    struct tg_error error;
    struct tg_find *find;
    if (tg_find_open(recording, TG_FIND_NAN, NULL, NULL, &find, &error) == TG_OK) {
        tg_find_close(find);
        return true;
    }
    snprintf(reason, room, "%s", error.text);
    return false;
}

const char *tg_replay_all_word(const struct tg_recording *recording,
                               const struct tg_replay_summary *summary,
                               struct tg_replay_reason *reason)
{
    struct tg_replay_reason unread;
    reason = reason ? reason : &unread;
    reason->text[0] = '\0';
    if (recording == NULL || summary == NULL)
        return "not known";
    if (summary->tasks == 0 && summary->communication > 0) {
        snprintf(reason->text, sizeof reason->text,
                 "all of the %" PRIu64 " tasks are communication, which is not replayed",
                 summary->communication);
        return "not known";
    }
    if (summary->tasks == 0)
        return tg_replay_had_no_tasks(recording, reason->text, sizeof reason->text) ? "same"
                                                                                    : "not known";
    if (summary->count[TG_REPLAY_MISUSE] > 0)
        return "misuse";
    if (summary->count[TG_REPLAY_DIFFERS] + summary->count[TG_REPLAY_VARIES] +
            summary->count[TG_REPLAY_FAULTS] + summary->count[TG_REPLAY_HANGS] >
        0)
        return "differs";
    if (summary->count[TG_REPLAY_SAME] > 0)
        return "same";
    snprintf(reason->text, sizeof reason->text, "none of the %" PRIu64 " tasks could be judged",
             summary->tasks);
    return "not known";
}
