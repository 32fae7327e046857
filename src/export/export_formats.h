/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of formats, in the order in which help lists them: name, ending of its files, one line
 * about it, and whether this library has it. A row here and a file export_NAME.c that defines
 *
 *     tg_status tg_export_as_NAME(struct tg_export_job *job)
 *
 * make a format: names, endings, the parser, the help of the command line and Python follow the
 * table.
 */
#ifndef TG_EXPORT_EXPORT_FORMATS_H
#define TG_EXPORT_EXPORT_FORMATS_H

#include <stdbool.h>
#include <taskglass/status.h>

/* clang-format off */
#define TG_EXPORT_FORMAT_MAP(X)                                                                  \
    X(npy,         ".npy",         "NumPy arrays, one file each",                    true)       \
    X(npz,         ".npz",         "NumPy arrays in one archive",                    true)       \
    X(safetensors, ".safetensors", "tensors as machine-learning tools load them",    true)       \
    X(sqlite,      ".sqlite",      "tasks, records, statistics and edges as tables",             \
                                                                       tg_export_has_sqlite())   \
    X(csv,         ".csv",         "one line per record, without the values",        true)       \
    X(trace,       ".trace.json",  "tasks on their cores, for Perfetto",             true)       \
    X(txt,         ".txt",         "every value as text",                            true)       \
    X(simpler,     ".simpler",     "a folder for simpler's dump_viewer and deps_viewer", true)
/* clang-format on */

struct tg_export_job;

#define TG_EXPORT_DECLARE_(name, ending, summary, available) \
    tg_status tg_export_as_##name(struct tg_export_job *job);
TG_EXPORT_FORMAT_MAP(TG_EXPORT_DECLARE_)
#undef TG_EXPORT_DECLARE_

/* True if the library was built with SQLite. */
bool tg_export_has_sqlite(void);

#endif
