/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the end of the journal. */
#include <inttypes.h>
#include <string.h>

#include "recording/reader.h"
#include "recording/verify_state.h"

static bool is_zero(const unsigned char *bytes, size_t size)
{
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* A killed host leaves part of a record, a crashed machine also zeros; anything else is damage. */
void tg_verify_journal(struct tg_verifier *verifier)
{
    const struct tg_recording *recording = verifier->recording;
    if (!recording->info.from_journal)
        return;
    const struct tg_map *map = &recording->map;
    const unsigned char *end =
        recording->arguments + recording->info.records * sizeof(struct tg_record);
    if (recording->info.complete)
        end += sizeof(struct tg_record);
    size_t rest = map->size - (size_t)(end - map->bytes);
    if (rest == 0)
        return;
    if (recording->info.complete)
        tg_verify_found(verifier, TG_PROBLEM_JOURNAL, TG_NONE, "%s has %zu bytes after its summary",
                        verifier->info.journal, rest);
    else if (rest < sizeof(struct tg_record) || is_zero(end, rest))
        verifier->result->torn = true;
    else
        tg_verify_found(verifier, TG_PROBLEM_JOURNAL, TG_NONE,
                        "%s is damaged after record %" PRIu64 "; the last %zu bytes are not read",
                        verifier->info.journal, verifier->info.records, rest);
}
