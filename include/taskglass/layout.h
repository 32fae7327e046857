/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory layout of the structures in these headers, for languages that cannot include them. The
 * Python package builds its structures from this table when it loads the library, so a new member
 * here needs no change there.
 *
 * A row with an empty member name describes a structure; the rows of its members follow it.
 */
#ifndef TASKGLASS_LAYOUT_H
#define TASKGLASS_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a member of a structure of this library lies, for bindings. */
struct tg_layout_info {
    const char *structure; /* "tg_run_result" */
    const char *member;    /* "tasks"; "": the structure itself */
    const char
        *type; /* "bool", "u8" … "u64", "i8" … "i64", "f64", "text" (a char pointer), "pointer",
                              "chars" (an array of char), or the name of a structure */
    uint32_t offset;
    uint32_t size; /* bytes; for an array, of all its elements */
};
/* Row `number` of the table; false past the end. */
TG_API bool tg_layout_get(uint32_t number, struct tg_layout_info *info);

#ifdef __cplusplus
}
#endif
#endif
