/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aligns two sequences of kernels so that the fewest are left over: Myers' greedy algorithm (An
 * O(ND) Difference Algorithm and Its Variations, 1986). Names are compared by pointer.
 *
 * For each number d of items left over, the search keeps how far it got on each diagonal k = x - y,
 * because the way back needs it. That is d + 1 numbers for each d, so at most TG_ALIGN_MOST² / 2 of
 * them.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/match.h"

struct side {
    const char *const *item;
    uint32_t count;
};

struct alignment {
    struct side a, b;
    uint32_t *partner; /* of a's items */
    uint32_t offset;   /* added to an index of side b to get its index in `b` */
    int64_t **reached; /* [d][k + d], k of the same parity as d */
};

static int64_t reached(const struct alignment *align, int64_t d, int64_t k)
{
    return k < -d || k > d ? -1 : align->reached[d][(k + d) / 2];
}

/* Where diagonal k begins with d left over: one step from a neighbour with d - 1. */
static int64_t begin_of(const struct alignment *align, int64_t d, int64_t k)
{
    if (d == 0)
        return 0;
    int64_t down = reached(align, d - 1, k + 1), right = reached(align, d - 1, k - 1) + 1;
    return k == -d || (k != d && right <= down) ? down : right;
}

static int64_t slide(const struct alignment *align, int64_t x, int64_t y)
{
    while (x < align->a.count && y < align->b.count && align->a.item[x] == align->b.item[y])
        x++, y++;
    return x;
}

/* Returns d, or -1 if it would be too large. Sets *no_memory if memory ran out. */
static int64_t search(struct alignment *align, bool *no_memory)
{
    int64_t n = align->a.count, m = align->b.count;
    for (int64_t d = 0; d <= TG_ALIGN_MOST && d <= n + m; d++) {
        align->reached[d] = malloc((size_t)(d + 1) * sizeof **align->reached);
        *no_memory = !align->reached[d];
        if (*no_memory)
            return -1;
        for (int64_t k = -d; k <= d; k += 2) {
            int64_t x = begin_of(align, d, k);
            /* A diagonal that has left the field stays outside. */
            if (x <= n && x - k <= m && x - k >= 0)
                x = slide(align, x, x - k);
            align->reached[d][(k + d) / 2] = x;
            if (k == n - m && x >= n)
                return d;
        }
    }
    return -1;
}

static void walk_back(const struct alignment *align, int64_t d)
{
    int64_t x = align->a.count, y = align->b.count;
    for (; d >= 0; d--) {
        int64_t k = x - y, begin = begin_of(align, d, k);
        for (; x > begin && x > 0 && y > 0; x--, y--)
            align->partner[x - 1] = (uint32_t)(y - 1) + align->offset;
        if (d == 0)
            return;
        bool is_down = begin == reached(align, d - 1, k + 1);
        if (k == d)
            is_down = false;
        if (k == -d)
            is_down = true;
        if (is_down)
            y--;
        else
            x--;
    }
}

static bool align_middle(struct alignment *align)
{
    bool no_memory = false;
    align->reached = calloc(TG_ALIGN_MOST + 1, sizeof *align->reached);
    if (!align->reached)
        return false;
    int64_t d = search(align, &no_memory);
    if (d >= 0)
        walk_back(align, d);
    for (int i = 0; i <= TG_ALIGN_MOST; i++)
        free(align->reached[i]);
    free(align->reached);
    return !no_memory;
}

bool tg_align(const char *const *a, uint32_t n_a, const char *const *b, uint32_t n_b,
              uint32_t *partner)
{
    uint32_t begin = 0, end = 0;
    for (uint32_t i = 0; i < n_a; i++)
        partner[i] = TG_NO_ROW;
    for (; begin < n_a && begin < n_b && a[begin] == b[begin]; begin++)
        partner[begin] = begin;
    for (; end < n_a - begin && end < n_b - begin && a[n_a - 1 - end] == b[n_b - 1 - end]; end++)
        partner[n_a - 1 - end] = n_b - 1 - end;
    struct alignment align = {.a = {a + begin, n_a - begin - end},
                              .b = {b + begin, n_b - begin - end},
                              .partner = partner + begin,
                              .offset = begin};
    return align.a.count == 0 || align.b.count == 0 || align_middle(&align);
}
