/* SPDX-License-Identifier: Apache-2.0 */
/* What a slice shows, whatever the format is. */
#include "trace/out.h"

static void put_task(struct tg_trace_out *out, const struct tg_trace_slice *slice,
                     struct tg_bytes *body)
{
    const struct tg_trace_body_ops *ops = out->ops->body;
    const struct tg_spool_event *event = &slice->event;
    uint32_t kernel = tg_trace_kernel_name(out, event->number);
    ops->begin(out, body, TG_CATEGORY_TASK, kernel != TG_SPOOL_NO_NAME ? kernel : TG_WORD_TASK);
    ops->put_task(body, event->id);
    ops->put_name(out, body, TG_KEY_KERNEL, kernel);
    if (event->part < TG_PARTS)
        ops->put_name(out, body, TG_KEY_PART, TG_WORD_AIC + event->part);
    ops->put_name(out, body, TG_KEY_SCOPE, tg_trace_site_name(out, slice->site));
    if (event->at != TG_SPOOL_NO_TIME)
        ops->put_number(body, TG_KEY_WAIT_NS, event->begin - event->at);
    if (slice->n_after > 0)
        ops->put_after(out, body, slice);
    ops->put_bool(body, TG_KEY_COMPLETED, !(event->flags & TG_SPOOL_PARTIAL));
    if (event->flags & TG_SPOOL_NO_BEGIN)
        ops->put_bool(body, TG_KEY_BEGAN, false);
    for (size_t i = 0; i < slice->n_texts; i++)
        ops->put_text(body, slice->texts + slice->text[i].key, slice->texts + slice->text[i].text);
}

static void put_wait(struct tg_trace_out *out, const struct tg_trace_slice *slice,
                     struct tg_bytes *body)
{
    const struct tg_trace_body_ops *ops = out->ops->body;
    const struct tg_spool_event *event = &slice->event;
    bool is_known = event->part > TG_RESOURCE_NONE && event->part < TG_RESOURCES;
    ops->begin(out, body, TG_CATEGORY_ORCHESTRATOR,
               is_known ? TG_WORD_WAIT + event->part : TG_WORD_WAIT);
    ops->put_number(body, TG_KEY_RING, event->core);
    if (is_known)
        ops->put_name(out, body, TG_KEY_RESOURCE, TG_WORD_SLOTS + event->part - TG_RESOURCE_SLOTS);
    if (event->id != TG_TASK_NONE)
        ops->put_task(body, event->id);
    ops->put_name(out, body, TG_KEY_SCOPE, tg_trace_site_name(out, slice->site));
}

static void put_scope(struct tg_trace_out *out, const struct tg_trace_slice *slice,
                      struct tg_bytes *body)
{
    const struct tg_trace_body_ops *ops = out->ops->body;
    const struct tg_spool_event *event = &slice->event;
    uint32_t site = tg_trace_site_name(out, slice->site);
    ops->begin(out, body, TG_CATEGORY_SCOPE, site != TG_SPOOL_NO_NAME ? site : TG_WORD_SCOPE);
    ops->put_number(body, TG_KEY_DEPTH, event->part);
    ops->put_number(body, TG_KEY_RING, event->core);
    ops->put_number(body, TG_KEY_TASKS, event->id);
    ops->put_bool(body, TG_KEY_COMPLETED, !(event->flags & TG_SPOOL_PARTIAL));
}

static void put_submit(struct tg_trace_out *out, const struct tg_trace_slice *slice,
                       struct tg_bytes *body)
{
    const struct tg_trace_body_ops *ops = out->ops->body;
    ops->begin(out, body, TG_CATEGORY_ORCHESTRATOR, TG_WORD_SUBMIT);
    ops->put_task(body, slice->event.id);
    ops->put_name(out, body, TG_KEY_SCOPE, tg_trace_site_name(out, slice->site));
}

void tg_trace_encode(struct tg_trace_out *out, const struct tg_trace_slice *slice,
                     struct tg_bytes *body)
{
    switch (slice->event.type) {
    case TG_SPOOL_TASK:
        put_task(out, slice, body);
        break;
    case TG_SPOOL_WAIT:
        put_wait(out, slice, body);
        break;
    case TG_SPOOL_SCOPE:
        put_scope(out, slice, body);
        break;
    default:
        put_submit(out, slice, body);
        break;
    }
    out->ops->body->end(body);
}
