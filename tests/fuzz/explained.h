/* SPDX-License-Identifier: Apache-2.0 */
/* What holds of an explanation, whoever wrote what it was read from. */
#ifndef FUZZ_EXPLAINED_H
#define FUZZ_EXPLAINED_H

#include <ctype.h>

#include "fuzz/recording.h"
#include "host/explain.h"

static inline void explained_text(const char *text, size_t room)
{
    HOLDS(memchr(text, '\0', room) != NULL);
    for (const char *c = text; *c; c++)
        HOLDS(!iscntrl((unsigned char)*c));
}
#define EXPLAINED_TEXT(member) explained_text(member, sizeof(member))

/* Lists are no longer than there is room for, texts end, and no terminal obeys them. */
static inline void explained_check(const struct tg_explanation *e)
{
    HOLDS(e->state < TG_EXPLAIN_STATES && e->root_kind < TG_EXPLAIN_ROOTS);
    HOLDS(e->n_links <= TG_EXPLAIN_LINKS && e->n_cores <= TG_EXPLAIN_CORES);
    HOLDS(e->n_also <= TG_EXPLAIN_ALSO && e->n_unknown <= TG_EXPLAIN_UNKNOWN);
    EXPLAINED_TEXT(e->root);
    EXPLAINED_TEXT(e->error);
    EXPLAINED_TEXT(e->status);
    EXPLAINED_TEXT(e->workload);
    for (uint32_t i = 0; i < e->n_links; i++)
        EXPLAINED_TEXT(e->link[i].text);
    for (uint32_t i = 0; i < e->n_cores; i++) {
        EXPLAINED_TEXT(e->core[i].kernel);
        EXPLAINED_TEXT(e->core[i].at.at.file);
        HOLDS(memchr(e->core[i].module, '\0', sizeof e->core[i].module) != NULL);
        HOLDS(e->core[i].seconds >= 0 && e->core[i].seconds < 1e12);
    }
    for (uint32_t i = 0; i < e->n_also; i++)
        EXPLAINED_TEXT(e->also[i]);
    for (uint32_t i = 0; i < e->n_unknown; i++)
        EXPLAINED_TEXT(e->unknown[i]);
}

#endif
