/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the structures of these headers lie in memory, for languages that cannot include them: the
 * Python package builds its own from this table when it loads the library, so that neither has to be
 * changed when the other gets another member.
 *
 * A row without a member's name is a structure's own, and comes before those of its members.
 */
#ifndef TASKGLASS_LAYOUT_H
#define TASKGLASS_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/api.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tg_layout_info {
    const char *structure; /* "tg_run_result" */
    const char *member;    /* "tasks"; "": the structure itself */
    const char
        *type; /* "bool", "u8" … "u64", "i8" … "i64", "f64", "text" (a char pointer), "pointer",
                              "chars" (an array of char), or the name of a structure */
    uint32_t offset;
    uint32_t size; /* of all elements, where it is an array */
};
/* False past the end. */
TG_API bool tg_layout_get(uint32_t number, struct tg_layout_info *info);

#ifdef __cplusplus
}
#endif
#endif
