/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of a file, each once, with numbers in the order in which they come. */
#ifndef TG_WORKBENCH_TEXTS_H
#define TG_WORKBENCH_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tg_texts {
    char **text; /* by number */
    uint32_t count;
    size_t room;
    /* Private. */
    uint32_t *slot; /* number + 1; open addressing, at most half full */
    size_t n_slots;
    uint32_t
        last; /* the number that was given out last: most tasks have the text of the task before */
};

/* The number of the text; false if memory ran out. */
bool tg_texts_add(struct tg_texts *texts, const char *text, uint32_t *number);
void tg_texts_free(struct tg_texts *texts);

#endif
