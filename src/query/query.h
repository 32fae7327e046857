/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a query: a selection, and the texts that it points into. */
#ifndef TG_QUERY_QUERY_H
#define TG_QUERY_QUERY_H

#include <taskglass/query.h>

#include "query/selection.h"

struct tg_query {
    struct tg_selection selection;
    char **text;
    size_t n_texts;
};

#endif
