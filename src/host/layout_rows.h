/* SPDX-License-Identifier: Apache-2.0 */
/* How the tables of members for other languages are written. Each table describes a structure
 * before those that have it as a member; the second may use what the first describes. */
#ifndef TG_HOST_LAYOUT_ROWS_H
#define TG_HOST_LAYOUT_ROWS_H

#include <stddef.h>
#include <taskglass/layout.h>

/* clang-format off */
#define TYPE_OF(value)                                                                   \
    _Generic((value),                                                                    \
        bool: "bool", uint8_t: "u8", uint16_t: "u16", uint32_t: "u32", uint64_t: "u64",  \
        int8_t: "i8", int16_t: "i16", int32_t: "i32", int64_t: "i64", double: "f64",     \
        const char *: "text")

#define AT(s, m) (((const struct s *)0)->m)
#define ROW(s, m, type) {#s, #m, type, offsetof(struct s, m), sizeof AT(s, m)}

#define STRUCTURE(s) {#s, "", "", 0, sizeof(struct s)}
#define MEMBER(s, m) ROW(s, m, TYPE_OF(AT(s, m)))       /* a number, or a text */
#define NUMBERS(s, m) ROW(s, m, TYPE_OF(AT(s, m)[0]))   /* an array of them */
#define POINTER(s, m) {#s, #m, "pointer", offsetof(struct s, m), sizeof(void *)}
#define CHARS(s, m) ROW(s, m, "chars")
#define NESTED(s, m, inner) ROW(s, m, #inner)           /* a structure, or an array of them */
/* clang-format on */

/* The structures of runs with several ranks; false past the end. */
bool tg_layout_get_ranks(size_t number, struct tg_layout_info *info);

#endif
