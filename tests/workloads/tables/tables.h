/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orchestrations that read their input with tg_table and pass on what they read: a task for each
 * element stores it as a double and as a whole number. The first ones are good; the others make a
 * mistake, which every runtime must refuse in the same words.
 */
#ifndef TABLES_H
#define TABLES_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

/* name, what it does */
/* clang-format off */
#define TABLES_MAP(X)                                                      \
    X(whole,    "every element, in row-major order")                       \
    X(view,     "every element of a view: sliced, transposed, flipped")    \
    X(alone,    "one element of a view without dimensions, by tg_read too") \
    X(far,      "the first elements and the last ones")                    \
    X(early,    "reads before a task that writes the table")               \
    X(outside,  "an index equal to the extent")                            \
    X(negative, "an index of -1")                                          \
    X(in_view,  "an index outside of a view but inside of its tensor")     \
    X(few,      "fewer indices than dimensions")                           \
    X(many,     "more indices than dimensions")                            \
    X(output,   "an output of the run")                                    \
    X(written,  "a table that a task writes")                              \
    X(late,     "a view of a table that a task writes elsewhere")          \
    X(own,      "memory of the orchestration")                             \
    X(invalid,  "a view that leaves its tensor")                           \
    X(missing, "a tensor that the case does not have")                      \
    X(crafted,  "strides that leave the storage")
/* clang-format on */

enum tables_what {
#define TABLES_ENUM(name, summary) TABLES_##name,
    TABLES_MAP(TABLES_ENUM)
#undef TABLES_ENUM
        TABLES_WHATS
};
enum { TABLES_GOOD = TABLES_outside }; /* the first that makes a mistake */

enum { TABLES_STORE, TABLES_TOUCH, TABLES_KERNELS };

/* Every second row of the table, its last two dimensions exchanged, and the last of them reversed. */
TG_INLINE struct tg_tensor tables_view(struct tg_tensor table)
{
    int last = table.ndim - 1;
    table = tg_tensor_slice(table, 0, 0, table.shape[0], 2);
    return last > 0 ? tg_tensor_flip(tg_tensor_transpose(table, last - 1, last), last) : table;
}

TG_KERNEL(tables_store);
TG_KERNEL(tables_touch);
TG_ORCHESTRATION(tables);

#endif
