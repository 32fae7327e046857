/* SPDX-License-Identifier: Apache-2.0 */
/* The races of a graph that the host has built, before it runs: its memory is given out once, and only its
 * edges keep tasks in order. */
#include <inttypes.h>
#include <stdio.h>
#include <taskglass/race.h>

#include "base/error.h"
#include "host/graph.h"
#include "host/text.h"
#include "race/race.h"

enum { TEXT = 512 };

/* Who wants to know, and room for what it is told. */
struct telling {
    struct tg_graph *graph;
    const struct tg_races_config *config;
    tg_race_fn tell;
    void *context;
    uint64_t tasks;
    char kernels[2][TEXT], region[2][TEXT], fix[2 * TEXT];
};

static void name_kernels(const struct tg_graph *graph, const struct tg_task_desc *desc, char *text)
{
    size_t length = 0;
    text[0] = '\0';
    for (int part = 0; part < TG_PARTS && length < TEXT; part++)
        if (desc->kernel[part] != TG_NO_KERNEL)
            length += (size_t)snprintf(text + length, TEXT - length, "%s%s", length ? "+" : "",
                                       tg_graph_kernel_name(graph, desc->kernel[part]));
}

/* The bytes from the view's first to its last. False if it has none, or is no tensor. */
static bool span_of(const struct tg_tensor *t, uint64_t *first, uint64_t *last)
{
    int64_t low = t->start, high = t->start;
    uint32_t bits = tg_bits_of(t->dtype);
    if (!tg_tensor_valid(t) || tg_tensor_numel(t) == 0)
        return false;
    for (uint32_t i = 0; i < t->ndim; i++) {
        int64_t reach = (t->shape[i] - 1) * t->strides[i];
        low += reach < 0 ? reach : 0;
        high += reach > 0 ? reach : 0;
    }
    *first = t->addr + (uint64_t)(low * bits / 8);
    *last = t->addr + (uint64_t)(((high + 1) * bits + 7) / 8) - 1;
    return true;
}

/* Names the bytes by the tensor of the case that has them, or by their addresses. */
static void name_region(const struct tg_graph *graph, const struct tg_tensor *t, char *text)
{
    const struct tg_args *given = graph->given;
    uint64_t first, last;
    text[0] = '\0';
    if (!span_of(t, &first, &last))
        return;
    for (uint32_t i = 0; given && graph->names && i < given->n_tensors; i++) {
        const struct tg_tensor *of = &given->tensor[i];
        if (first < of->addr || last - of->addr >= of->storage_bytes || !graph->names[i])
            continue;
        snprintf(text, TEXT, "%s, bytes %" PRIu64 " to %" PRIu64, graph->names[i], first - of->addr,
                 last - of->addr);
        return;
    }
    snprintf(text, TEXT, "0x%" PRIx64 " to 0x%" PRIx64, first, last);
}

static void fill_side(struct telling *telling, const struct tg_race_end *end, int number,
                      struct tg_race_side *side)
{
    struct tg_graph *graph = telling->graph;
    struct tg_tensor tensor[TG_MAX_TENSORS];
    struct tg_task_desc desc = tg_graph_desc(graph, end->task);
    name_kernels(graph, &desc, telling->kernels[number]);
    telling->region[number][0] = '\0';
    *side = (struct tg_race_side){.task_id = desc.id,
                                  .position = end->task,
                                  .kernels = telling->kernels[number],
                                  .line = tg_graph_line(graph, end->task),
                                  .scope = tg_graph_site(graph, end->task),
                                  .argument = end->argument,
                                  .reads = end->reads,
                                  .writes = end->writes,
                                  .region = telling->region[number]};
    if (end->argument >= desc.n_tensors || !tg_graph_tensors(graph, &desc, tensor))
        return;
    side->tensor = tensor[end->argument];
    name_region(graph, &side->tensor, telling->region[number]);
}

static int on_group(void *context, const struct tg_race_group *group)
{
    struct telling *telling = context;
    struct tg_race race = {
        .pairs = group->pairs,
        .bytes = group->bytes == UINT64_MAX ? TG_NONE : group->bytes,
        .fix = telling->fix,
    };
    if (!telling->tell)
        return 0;
    fill_side(telling, &group->first, 0, &race.first);
    fill_side(telling, &group->second, 1, &race.second);
    snprintf(telling->fix, sizeof telling->fix,
             "tg_args_after(&args, task %" PRIu64 ") before task %" PRIu64 " is submitted%s%s",
             race.first.position, race.second.position, *race.second.line ? " at " : "",
             race.second.line);
    return telling->tell(telling->context, &race);
}

static int on_pair(void *context, uint32_t first, uint32_t second)
{
    const struct telling *telling = context;
    return telling->config->each(telling->config->each_context, first, second);
}

static int on_watch(void *context, uint64_t done, uint64_t total)
{
    const struct telling *telling = context;
    return telling->config->watch(telling->config->watch_context, done, total);
}

/* ── what the graph has ────────────────────────────────────────────────────────────────── */

static tg_status add_task(struct tg_graph *graph, struct tg_race_search *search, uint32_t task,
                          uint64_t *accesses, struct tg_error *error)
{
    struct tg_tensor tensor[TG_MAX_TENSORS];
    struct tg_task_desc desc = tg_graph_desc(graph, task);
    if (!tg_graph_tensors(graph, &desc, tensor))
        return tg_error_set(error, TG_DEVICE_LOST, "the arguments of task %u cannot be read",
                            (unsigned)task);
    for (uint32_t i = 0; i < desc.n_tensors; i++) {
        uint32_t role = desc.roles >> (2 * i) & TG_INOUT;
        struct tg_race_access access = {.task = task,
                                        .argument = i,
                                        .reads = (role & TG_IN) != 0,
                                        .writes = (role & TG_OUT) != 0,
                                        .tensor = &tensor[i]};
        if (!tg_race_add_access(search, &access))
            return tg_error_set(error, TG_NO_MEMORY, "out of host memory for the search for races");
    }
    *accesses += desc.n_tensors;
    return TG_OK;
}

static tg_status add_all(struct tg_graph *graph, struct tg_race_search *search, uint64_t *accesses,
                         struct tg_error *error)
{
    uint64_t n_edges;
    const struct tg_edge *edge = tg_graph_edge_list(graph, &n_edges);
    tg_status status = TG_OK;
    for (uint64_t i = 0; i < n_edges; i++)
        if (!tg_race_add_edge(search, edge[i].before, edge[i].after))
            return tg_error_set(error, TG_NO_MEMORY, "out of host memory for the search for races");
    for (uint64_t i = 0; i < tg_graph_tasks(graph) && status == TG_OK; i++)
        status = add_task(graph, search, (uint32_t)i, accesses, error);
    return status;
}

/* ── what it means ─────────────────────────────────────────────────────────────────────── */

static void add_note(struct tg_races_summary *summary, const char *text, uint64_t count)
{
    struct tg_note *note = &summary->note[summary->n_notes++];
    snprintf(note->text, sizeof note->text, "%" PRIu64 " %s", count, text);
}

static void conclude(const struct tg_race_result *result, struct tg_races_summary *summary)
{
    summary->pairs = result->pairs;
    summary->groups = result->groups;
    summary->unclear = result->unclear;
    summary->is_exact = result->is_exact;
    if (result->unclear > 0)
        add_note(summary, "pairs of views are too irregular to be compared", result->unclear);
    if (result->left_out > 0)
        add_note(summary, "tensors have no bytes that could be compared", result->left_out);
    if (result->judged < summary->tasks)
        add_note(summary, "tasks were not looked at, because the search took too long",
                 summary->tasks - result->judged);
    summary->is_proof = summary->n_notes == 0;
    summary->result = result->pairs > 0   ? "found"
                      : summary->is_proof ? "nothing found"
                                          : "nothing found in what was searched";
    summary->exit_code = result->pairs > 0;
}

static tg_status search_in(struct telling *telling, struct tg_race_search *search,
                           struct tg_races_summary *summary, struct tg_error *error)
{
    const struct tg_races_config *config = telling->config;
    struct tg_race_config how = {.group = on_group,
                                 .pair = config->each ? on_pair : NULL,
                                 .watch = config->watch ? on_watch : NULL,
                                 .context = telling,
                                 .work = config->work};
    struct tg_race_result result = {0};
    tg_status status = add_all(telling->graph, search, &summary->accesses, error);
    if (status == TG_OK)
        status = tg_race_search_run(search, &how, &result, error);
    if (status == TG_OK)
        conclude(&result, summary);
    return status;
}

tg_status tg_graph_races(struct tg_graph *graph, const struct tg_races_config *config,
                         tg_race_fn tell, void *context, struct tg_races_summary *summary,
                         struct tg_error *error)
{
    static const struct tg_races_config plain;
    TG_REFUSE_NULL(error, graph);
    TG_REFUSE_NULL(error, summary);
    struct telling telling = {
        .graph = graph, .config = config ? config : &plain, .tell = tell, .context = context};
    struct tg_race_search *search = NULL;
    *summary = (struct tg_races_summary){
        .result = "not known", .exit_code = 2, .tasks = tg_graph_tasks(graph)};
    if (graph->layout)
        return tg_error_set(error, TG_UNSUPPORTED,
                            "the device builds this graph while it runs; search the recording of a "
                            "run with tg_races_find");
    if (telling.config->query)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "a query selects records, and a graph has none; use no query");
    tg_status status = tg_race_search_new((uint32_t)summary->tasks, &search, error);
    if (status == TG_OK)
        status = search_in(&telling, search, summary, error);
    tg_race_search_free(search);
    return status;
}
