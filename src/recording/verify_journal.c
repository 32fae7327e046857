/* SPDX-License-Identifier: Apache-2.0 */
/* Reports what the reader found damaged in the files. */
#include <inttypes.h>

#include "recording/reader.h"
#include "recording/verify_state.h"

static const char *const words[] = {[TG_MARK_KERNEL] = "the name of a kernel",
                                    [TG_MARK_SUMMARY] = "a summary",
                                    [TG_MARK_COPY] = "a copy of an earlier one",
                                    [TG_MARK_OTHER] = "of a type that this program does not know"};

/* Names stand before the arguments, the summary behind them. `before`: slots that the marks before this
 * one have. */
static bool is_in_place(const struct tg_recording *recording, const struct tg_mark *mark,
                        uint64_t before)
{
    if (mark->kind == TG_MARK_REST)
        return true; /* the reader has checked what it belongs to */
    if (mark->kind == TG_MARK_KERNEL)
        return mark->slot == before;
    const struct tg_mark *last = &recording->mark[recording->n_marks - 1];
    uint64_t behind = mark->slot + 1;
    if (last == mark + 1 && last->kind == TG_MARK_REST)
        behind++;
    return mark->kind == TG_MARK_SUMMARY && behind == recording->slots;
}

/* Names damaged records one by one, but zeros in one line: a hole may have any size. */
static void report_damage(struct tg_verifier *verifier, const struct tg_mark *mark)
{
    if (mark->kind == TG_MARK_ZEROS && mark->count > 1) {
        tg_verify_found(verifier, TG_PROBLEM_JOURNAL, TG_NONE,
                        "%" PRIu64 " records from byte %" PRIu64
                        " of %s on are damaged: they are zeros",
                        mark->count, (uint64_t)tg_journal_place(verifier->recording, mark->slot),
                        verifier->info.journal);
        return;
    }
    for (uint64_t slot = mark->slot; slot < mark->slot + mark->count; slot++)
        tg_verify_found(verifier, TG_PROBLEM_JOURNAL, TG_NONE,
                        "the record at byte %" PRIu64 " of %s is damaged: its check is wrong",
                        (uint64_t)tg_journal_place(verifier->recording, slot),
                        verifier->info.journal);
}

static void verify_slots(struct tg_verifier *verifier)
{
    const struct tg_recording *recording = verifier->recording;
    uint64_t before = 0;
    for (size_t i = 0; i < recording->n_marks; i++) {
        const struct tg_mark *mark = &recording->mark[i];
        if (tg_mark_is_damage(mark))
            report_damage(verifier, mark);
        else if (!is_in_place(recording, mark, before))
            tg_verify_found(verifier, TG_PROBLEM_JOURNAL, TG_NONE,
                            "the record at byte %" PRIu64 " of %s is %s, where an argument belongs",
                            (uint64_t)tg_journal_place(verifier->recording, mark->slot),
                            verifier->info.journal, words[mark->kind]);
        before += mark->count;
    }
}

static bool ends_in_summary(const struct tg_recording *recording)
{
    size_t n = recording->n_marks;
    if (n > 1 && recording->mark[n - 1].kind == TG_MARK_REST)
        n--;
    return n > 0 && recording->mark[n - 1].kind == TG_MARK_SUMMARY;
}

/* A killed host leaves part of a record, a crashed machine also zeros: neither is damage, unless the
 * manifest has records that were there. Damaged records are named one by one. */
void tg_verify_journal(struct tg_verifier *verifier)
{
    const struct tg_recording *recording = verifier->recording;
    const struct tg_recording_info *info = &recording->info;
    if (recording->damage.journal[0])
        tg_verify_found(verifier, TG_PROBLEM_JOURNAL, TG_NONE, "%s", recording->damage.journal);
    if (!info->from_journal)
        return;
    if (recording->damage.journal_head)
        tg_verify_found(verifier, TG_PROBLEM_JOURNAL, TG_NONE,
                        "the first %zu bytes of %s, its head, are damaged",
                        sizeof(struct tg_journal_head), verifier->info.journal);
    verify_slots(verifier);
    if (recording->damage.from_manifest > recording->damage.slots)
        tg_verify_found(verifier, TG_PROBLEM_JOURNAL, TG_NONE,
                        "%s lacks %" PRIu64 " of the records that %s has", verifier->info.journal,
                        recording->damage.from_manifest, verifier->info.manifest);
    verifier->result->torn = info->torn_bytes > 0;
    if (info->torn_bytes > 0 && info->complete && ends_in_summary(recording))
        tg_verify_found(verifier, TG_PROBLEM_JOURNAL, TG_NONE,
                        "%s has %" PRIu64 " bytes after its summary", verifier->info.journal,
                        info->torn_bytes);
}

void tg_verify_damage(struct tg_verifier *verifier, const struct tg_recording *manifest)
{
    const struct tg_damage *damage = &manifest->damage;
    const char *file = verifier->info.manifest;
    if (damage->manifest_head)
        tg_verify_found(verifier, TG_PROBLEM_MANIFEST, TG_NONE,
                        "the members before the entries of %s are damaged: their check is wrong",
                        file);
    if (damage->entries > 0)
        tg_verify_found(verifier, TG_PROBLEM_MANIFEST, TG_NONE,
                        "%" PRIu64 " of the entries of %s %s damaged", damage->entries, file,
                        damage->entries == 1 ? "is" : "are");
    if (damage->manifest[0])
        tg_verify_found(verifier, TG_PROBLEM_MANIFEST, TG_NONE, "%s is damaged: %s", file,
                        damage->manifest);
}
