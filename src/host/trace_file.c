/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "host/trace_file.h"
#include "host/site_names.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ── names ─────────────────────────────────────────────────────────────────────────────── */

static bool name_cores(struct tg_trace_names *names, const struct tg_device *device, uint32_t n)
{
    static const char *const part[TG_PARTS] = {"AIC", "AIV0", "AIV1"};
    names->core = calloc(n ? n : 1, sizeof *names->core);
    if (names->core == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        bool stands_in = i / TG_PARTS >= device->head.n_cores / TG_PARTS; /* a short block */
        uint32_t kind = i % TG_PARTS == TG_PART_AIC ? TG_AIC : TG_AIV;
        names->core[i] = (struct tg_trace_core){
            .number = i, .kind = stands_in ? TG_EITHER : kind, .name = part[i % TG_PARTS]};
    }
    names->run.core = names->core;
    names->run.n_cores = n;
    return true;
}

static bool name_kernels(struct tg_trace_names *names, const struct tg_device *device)
{
    names->kernel = calloc(device->n_kernels + 1u, sizeof *names->kernel);
    if (names->kernel == NULL)
        return false;
    for (uint32_t k = 0; k < device->n_kernels; k++)
        names->kernel[k] = "?";
    for (const struct tg_module *m = device->modules; m != NULL; m = m->next)
        for (uint32_t k = 0; k < m->n_kernels; k++)
            names->kernel[m->first + k] = tg_module_kernel_name(m, k);
    names->run.kernel = names->kernel;
    names->run.n_kernels = device->n_kernels;
    return true;
}

static bool room_for_sites(struct tg_trace_names *names, uint32_t n)
{
    names->site = calloc(n + 1u, sizeof *names->site);
    names->n_sites = names->site ? n : 0;
    return names->site != NULL;
}

/* The lines that the orchestration on the device came to, as far as its memory is still there. */
static bool name_sites(struct tg_trace_names *names, const struct tg_graph *graph)
{
    struct tg_site_names known = {0};
    char name[TG_SITE_NAME];
    (void)tg_site_names_update(&known, graph->module->device, graph->orchestration,
                               graph->layout->orchestration.sites);
    bool good = room_for_sites(names, known.numbered + known.others);
    for (uint32_t i = 0; i < names->n_sites && good; i++)
        good = (names->site[i] = strdup(tg_site_name(&known, i, name))) != NULL;
    tg_site_names_free(&known);
    return good;
}

static bool copy_sites(struct tg_trace_names *names, const struct tg_graph *graph)
{
    bool good = room_for_sites(names, graph->n_sites);
    for (uint32_t i = 0; i < names->n_sites && good; i++)
        good = (names->site[i] = strdup(graph->site[i] ? graph->site[i] : "?")) != NULL;
    return good;
}

/* ── facts ─────────────────────────────────────────────────────────────────────────────── */

static void add_text(struct tg_trace_names *names, const char *key, const char *text)
{
    if (text != NULL && text[0] != '\0')
        names->fact[names->run.n_facts++] = (struct tg_trace_fact){.key = key, .text = text};
}

static void add_number(struct tg_trace_names *names, const char *key, uint64_t number)
{
    names->fact[names->run.n_facts++] = (struct tg_trace_fact){.key = key, .number = number};
}

static void add_facts(struct tg_trace_names *names, const struct tg_graph *graph,
                      const struct tg_trace_about *about, const struct tg_trace_numbers *numbers)
{
    const struct tg_device *device = graph->module->device;
    names->run.fact = names->fact;
    add_text(names, "workload", about->workload);
    add_text(names, "case", about->case_name);
    add_text(names, "platform", device->ops->name);
    add_text(names, "runtime", about->runtime);
    add_number(names, "cores", device->head.n_cores);
    add_number(names, "schedulers", device->head.n_schedulers);
    add_text(names, "result", tg_status_name(about->result->status));
    add_text(names, "error", about->error);
    add_number(names, "tasks", about->result->tasks);
    add_number(names, "finished", about->result->finished);
    add_number(names, "lost_events", numbers->lost);
    if (numbers->clock_ns != 0)
        add_number(names, "clock_resolution_ns", numbers->clock_ns);
}

static void add_capacities(struct tg_trace_run *run, const struct tg_orchestration *o)
{
    for (uint32_t r = 0; r < o->n_rings && r < TG_RINGS; r++) {
        run->capacity[r][TG_RESOURCE_SLOTS] = o->ring[r].n_slots;
        run->capacity[r][TG_RESOURCE_HEAP] = o->ring[r].heap_size;
        run->capacity[r][TG_RESOURCE_DEPS] = o->ring[r].n_deps;
        run->capacity[r][TG_RESOURCE_MAP] = o->map_size;
    }
}

tg_status tg_trace_names_make(struct tg_trace_names *names, struct tg_graph *graph,
                              const struct tg_trace_about *about,
                              const struct tg_trace_numbers *numbers)
{
    const struct tg_device *device = graph->module->device;
    *names = (struct tg_trace_names){.run = {.name = about->workload ? about->workload : "run",
                                             .begin = numbers->begin,
                                             .end = numbers->end}};
    if (!name_cores(names, device, numbers->n_cores) || !name_kernels(names, device) ||
        !(graph->layout ? name_sites(names, graph) : copy_sites(names, graph)))
        return TG_NO_MEMORY;
    names->run.site = (const char *const *)names->site;
    names->run.n_sites = names->n_sites;
    add_facts(names, graph, about, numbers);
    if (graph->layout)
        add_capacities(&names->run, &graph->layout->orchestration);
    return TG_OK;
}

void tg_trace_names_free(struct tg_trace_names *names)
{
    for (uint32_t i = 0; i < names->n_sites; i++)
        free(names->site[i]);
    free(names->site);
    free(names->kernel);
    free(names->core);
    *names = (struct tg_trace_names){0};
}
