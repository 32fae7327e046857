/* SPDX-License-Identifier: Apache-2.0 */
/* tg_array_print for a caller that may be told to stop: the text of one large array takes long. */
#ifndef TG_QUERY_ARRAY_PRINT_H
#define TG_QUERY_ARRAY_PRINT_H

#include <taskglass/array.h>

/* Called once in a few thousand elements; returns false to stop. */
struct tg_array_asked {
    bool (*goes_on)(void *context);
    void *context;
};

/* As tg_array_print. Returns false if it was stopped: the text is then incomplete. */
bool tg_array_print_asking(FILE *file, const struct tg_array *array,
                           const struct tg_array_layout *layout,
                           const struct tg_array_asked *asked);

#endif
