/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest, tensor_dump.json: everything the journal says, for people and for programs that
 * read JSON. The writer reads an open recording record by record and writes one line for each. It
 * counts the records that it lists; the numbers of lost records come from the journal's summary.
 */
#ifndef TG_RECORDING_MANIFEST_H
#define TG_RECORDING_MANIFEST_H

#include <taskglass/recording.h>

#include <taskglass/json.h>

enum { TG_MANIFEST_VERSION = 1 };

/* Writes dir/tensor_dump.json under a temporary name and renames it when it is whole. IO_ERROR
 * names path and cause. */
tg_status tg_manifest_write(const struct tg_recording *recording, const char *dir,
                            struct tg_error *error);
/* Writes the text itself, from the file's beginning. Returns 0 or an errno. */
int tg_manifest_print(const struct tg_recording *recording, int fd);

/* One entry: an object on one line. `json` has a buffer of 16 KiB or more. Manifests of older versions
 * have no checks. */
void tg_manifest_put_entry(struct tg_json *json, const struct tg_entry *entry, bool with_check);
/* What stands before the entries, up to the bracket that opens their list. `counted`: the records,
 * added up. */
void tg_manifest_put_head(struct tg_json *json, const struct tg_recording *recording,
                          const struct tg_record_summary *counted);

#endif
