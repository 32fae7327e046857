/* SPDX-License-Identifier: Apache-2.0 */
/* Code that the tests of scope stats share: samples of a ring whose cursors only grow, files, and
 * reading. */
#ifndef TASKGLASS_TEST_SCOPE_H
#define TASKGLASS_TEST_SCOPE_H

#include "scope/scope_advice.h"
#include "scope/scope_parse.h"
#include "scope/scope_reader.h"
#include "scope/scope_writer.h"
#include "unit/recording/recording.h"

static const struct tg_scope_limits scope_limits = {.n_rings = 4,
                                                    .task_window = {16, 32, 64, 128},
                                                    .heap = {4096, 8192, 16384, 32768},
                                                    .dep_pool = {100, 200, 300, 400},
                                                    .tensormap = 1000};

/* A sample with these amounts in use, wherever the cursors are. */
DUMP_FN struct tg_scope_sample scope_sample(const char *site, bool end, uint32_t depth,
                                            uint64_t tasks, uint64_t heap, uint64_t deps,
                                            uint64_t map)
{
    uint64_t base = UINT64_C(1) << 40;
    return (struct tg_scope_sample){.site = site,
                                    .end = end,
                                    .depth = depth,
                                    .ring = depth < 3 ? depth : 3,
                                    .task_window_start = base,
                                    .task_window_end = base + tasks,
                                    .heap_start = base,
                                    .heap_end = base + heap,
                                    .dep_pool_start = base,
                                    .dep_pool_end = base + deps,
                                    .tensormap = map};
}

DUMP_FN struct tg_scope_sample scope_begin(const char *site, uint32_t depth, uint64_t tasks)
{
    return scope_sample(site, false, depth, tasks, 0, 0, 0);
}

DUMP_FN struct tg_scope_sample scope_end(const char *site, uint32_t depth, uint64_t tasks,
                                         uint64_t peak)
{
    struct tg_scope_sample sample = scope_sample(site, true, depth, tasks, 0, 0, 0);
    sample.peak[TG_SCOPE_TASK_WINDOW] = peak;
    return sample;
}

/* The end of a scope with this many waits for the resource, each of a microsecond. */
DUMP_FN struct tg_scope_sample scope_waited(struct tg_scope_sample sample, unsigned resource,
                                            uint64_t waits)
{
    sample.waits_known = true;
    sample.waits[resource] = waits;
    sample.wait_ns = 1000 * waits;
    return sample;
}

DUMP_FN void scope_add(struct tg_scope_tally *tally, struct tg_scope_sample sample)
{
    uint32_t site;
    REQUIRE(tg_scope_tally_site(tally, sample.site, strlen(sample.site), &site));
    REQUIRE(tg_scope_tally_add(tally, site, &sample));
}

/* The row of a site on a ring; ends the test if there is none. */
DUMP_FN const struct tg_scope_row *scope_row(const struct tg_scope_tally *tally, const char *site,
                                             uint32_t ring)
{
    const struct tg_scope_row *found = NULL;
    for (uint32_t i = 0; i < tally->n_rows; i++)
        if (strcmp(tally->site[tally->row[i].site].name, site) == 0 && tally->row[i].ring == ring)
            found = &tally->row[i];
    REQUIRE(found);
    return found;
}

DUMP_FN const char *scope_path(const char *name)
{
    static char path[2][600];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/scope_stats/%s", dump_dir, name);
    return path[turn];
}

DUMP_FN struct tg_scope_writer *scope_create(const struct tg_scope_limits *limits)
{
    struct tg_scope_writer *writer;
    dump_make_dir();
    CHECK_EQ_I(tg_scope_writer_create(dump_dir, limits, &writer, &dump_error), TG_OK);
    REQUIRE(writer);
    return writer;
}

DUMP_FN void scope_write(struct tg_scope_writer *writer, struct tg_scope_sample sample)
{
    tg_scope_writer_add(writer, &sample);
}

DUMP_FN void scope_finish(struct tg_scope_writer *writer, uint64_t dropped, uint64_t total,
                          const struct tg_scope_fatal *fatal)
{
    CHECK_EQ_I(tg_scope_writer_finish(writer, dropped, total, fatal, &dump_error), TG_OK);
    tg_scope_writer_destroy(writer);
}

/* One of the two files as text; the caller frees it. */
DUMP_FN char *scope_text(const char *name)
{
    size_t size;
    return dump_read_file(scope_path(name), &size);
}

DUMP_FN void scope_read(struct tg_scope_stats *stats)
{
    tg_status status = tg_scope_stats_read(dump_dir, NULL, NULL, stats, NULL, &dump_error);
    if (status != TG_OK)
        fprintf(stderr, "%s\n", dump_error.text);
    REQUIRE(status == TG_OK);
}

DUMP_FN tg_status scope_parse(const char *text, struct tg_scope_stats *stats)
{
    dump_error.text[0] = '\0';
    return tg_scope_stats_parse("file", text, strlen(text), NULL, NULL, stats, &dump_error);
}

#endif
