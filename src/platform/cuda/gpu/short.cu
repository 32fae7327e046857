/* SPDX-License-Identifier: Apache-2.0 */
/* Short tensors and records, by the leader's lanes: see short.h. */
#include "device/target.h"
#include "platform/cuda/gpu/words.h"

enum { LANES = 32, AT_ONCE = 8 };

/* Hashes and copies up to AT_ONCE · LANES pairs from pair `first` on: all loads are on their way before the
 * first is waited for. A lane without a pair adds nothing, and no lane goes another way than the others. */
TG_FN static inline void hash_some(struct tg_sums *s, const struct tg_lanes_bytes *bytes,
                                   uint32_t first, uint32_t n)
{
    const uint64_t key_step = 2 * LANES * TG_HASH_KEY;
    uint32_t lane = threadIdx.x % LANES;
    const char *from = bytes->from + 16 * (first + lane);
    char *to = bytes->to + 16 * (first + lane);
    uint64_t key = (bytes->words + 2 * (first + lane) + 1) * TG_HASH_KEY;
    bool copies = bytes->to != 0;
    ulonglong2 pair[AT_ONCE];
#pragma unroll
    for (uint32_t k = 0; k < AT_ONCE; k++) {
        bool is = first + lane + k * LANES < n;
        pair[k] = __ldcg((const ulonglong2 *)(is ? from + 16 * k * LANES : bytes->from));
    }
#pragma unroll
    for (uint32_t k = 0; k < AT_ONCE; k++, key += key_step) {
        bool is = first + lane + k * LANES < n;
        struct tg_sums more = {0, 0};
        if (copies && is)
            tg_words_store_pair(to + 16 * k * LANES, pair[k]);
        tg_words_add_pair(&more, pair[k], key);
        s->a += is ? more.a : 0;
        s->b += is ? more.b : 0;
    }
}

/* The leader adds up what all lanes have. To exchange the sums from lane to lane took longer than to hash: a
 * profile showed the lanes taking turns at each exchange. */
TG_FN TG_APART void tg_short_hash(void)
{
    struct tg_lanes_bytes *bytes = &tg_orders()->lanes.bytes;
    struct tg_sums *part = tg_orders()->near.part;
    uint32_t n = bytes->size / 16;
    struct tg_sums s = {0, 0};
    for (uint32_t first = 0; first < n; first += AT_ONCE * LANES)
        hash_some(&s, bytes, first, n);
    part[threadIdx.x % LANES] = s;
    __syncwarp();
    if (threadIdx.x % LANES != 0)
        return;
#pragma unroll
    for (uint32_t i = 1; i < LANES; i++) {
        s.a += part[i].a;
        s.b += part[i].b;
    }
    bytes->a = s.a;
    bytes->b = s.b;
}

/* The lanes' stores are together whole lines of the host's memory, each one transaction on the bus. */
TG_FN TG_APART void tg_short_store(void)
{
    const struct tg_lanes_bytes *bytes = &tg_orders()->lanes.bytes;
    uint32_t at = 16 * (threadIdx.x % LANES);
    if (at < bytes->size) {
        const uint64_t *words = (const uint64_t *)(bytes->from + at);
        tg_target_store16(bytes->to + at, words[0], words[1]);
    }
}
