/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples as a page holds them: a few bytes each, since a run has hundreds of thousands. Per sample
 *
 *     byte        bit 0: an end; bits 1, 2: the ring; bit 3: site and depth follow;
 *                 bits 4 to 7: which of the four resources differ from before
 *     varint      site, depth                    (bit 3; else those that were to be expected)
 *     signed …    how much each one differs      (from the ring's last sample; the tensor map from
 *                                                the last sample of all)
 *     byte        of an end: bits 0 to 3: which peaks are above what is in use now
 *     varint …    how much
 *
 * A varint has 7 bits a byte, low ones first, bit 7 where more follow; a signed one has its sign in
 * bit 0. Expected is, at a beginning, one deeper than the innermost open scope and the site that
 * began there last, and at an end that scope itself. web/scope.html reads it.
 */
#ifndef TG_CLI_SCOPE_STREAM_H
#define TG_CLI_SCOPE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/scope_stats.h>

enum { SCOPE_STREAM_DEPTHS = 128 };

/* Numbers beyond are cut to it: a page counts in doubles. */
#define SCOPE_STREAM_MOST ((UINT64_C(1) << 53) - 1)

struct scope_stream {
    unsigned char *bytes;
    size_t size, room;
    uint64_t used[TG_SCOPE_RINGS][TG_SCOPE_RESOURCES]; /* of the last sample; [0] has the map */
    uint32_t depth;                                    /* of the next beginning */
    uint32_t site[SCOPE_STREAM_DEPTHS];                /* that began last at each depth */
};

/* Zero is an empty one. `sample` is as the tally left it; false where memory ran out. */
bool scope_stream_add(struct scope_stream *stream, uint32_t site,
                      const struct tg_scope_sample *sample);
void scope_stream_free(struct scope_stream *stream);

#endif
