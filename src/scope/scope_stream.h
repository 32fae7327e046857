/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples in a page. Each takes only a few bytes, because a run may have hundreds of thousands:
 *
 *     byte        bit 0: an end; bits 1, 2: the ring; bit 3: site and depth follow;
 *                 bits 4 to 7: which of the four resources have changed
 *     varint      site, depth                    (only with bit 3; otherwise the predicted ones)
 *     signed …    the change of each             (since the ring's last sample; for the tensor map
 *                                                since the last sample of any ring)
 *     byte        only for an end: bits 0 to 3: which peaks exceed the current use
 *     varint …    by how much each
 *
 * A varint has 7 bits in each byte, the low bits first; bit 7 is set if more bytes follow. A signed
 * varint has its sign in bit 0. For a beginning, the prediction is one level below the innermost open scope,
 * and the site of the last scope that began at that depth. For an end it is the innermost open scope.
 * web/src/rings/samples.ts reads this format.
 */
#ifndef TG_SCOPE_SCOPE_STREAM_H
#define TG_SCOPE_SCOPE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/scope_stats.h>

enum { TG_SCOPE_STREAM_DEPTHS = 128 };

/* Larger numbers are cut to this one, because the page computes with doubles. */
#define TG_SCOPE_STREAM_MOST ((UINT64_C(1) << 53) - 1)

struct tg_scope_stream {
    unsigned char *bytes;
    size_t size, room;
    uint64_t used[TG_SCOPE_RINGS][TG_SCOPE_RESOURCES]; /* of the last sample; map in [0] */
    uint32_t depth;                                    /* predicted for the next beginning */
    uint32_t site[TG_SCOPE_STREAM_DEPTHS];             /* of the last beginning at each depth */
};

/* An empty stream is all zeros. `sample` comes from the tally, which sets its peaks. False if memory
 * ran out. */
bool tg_scope_stream_add(struct tg_scope_stream *stream, uint32_t site,
                         const struct tg_scope_sample *sample);
void tg_scope_stream_free(struct tg_scope_stream *stream);

#endif
