/* SPDX-License-Identifier: Apache-2.0 */
#include "host/partial.h"
#include "common/select.h"
#include "host/content.h"

static void record_output(struct tg_device *device, struct tg_dump_writer *writer,
                          const struct tg_subject *a, const struct tg_tensor *t, enum tg_want want)
{
    struct tg_record r;
    tg_record_describe(&r, a);
    tg_record_describe_tensor(&r, t);
    r.flags = (uint16_t)(r.flags | TG_RECORD_PARTIAL);
    r.stream = UINT16_MAX; /* no stream: the host makes this record */
    if (want >= TG_WANT_HASH)
        tg_content_take(device, t, want == TG_WANT_PAYLOAD ? writer : NULL, &r);
    tg_dump_append(writer, &r);
}

uint64_t tg_partial_record(struct tg_record_area *area, struct tg_dump_writer *writer,
                           const struct tg_task_desc *desc, const struct tg_tensor *tensors)
{
    struct tg_subject a = {.desc = desc, .stage = TG_AFTER_COMPLETION};
    uint64_t matched[TG_MAX_FILTERS] = {0}, records = 0;
    for (uint32_t i = 0; i < desc->n_tensors; i++) {
        enum tg_want want;
        a.index = i;
        a.role = desc->roles >> (2 * i) & 3;
        if (!tg_role_has_stage(a.role, TG_AFTER_COMPLETION))
            continue;
        want = tg_wanted(&area->setup, area->kernel_filters, &a, matched);
        if (want == TG_WANT_NOTHING)
            continue;
        record_output(area->device, writer, &a, &tensors[i], want);
        records++;
    }
    return records;
}
