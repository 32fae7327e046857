/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the leader's lanes do for the recorder: they hash and copy a short tensor, and store a record to the
 * host's memory. It takes the crew longer than that to hear of an order and to say that it is done, and the
 * crew may be telling the host of the records before. Only target_impl.h includes this.
 */
#ifndef TG_CUDA_GPU_SHORT_H
#define TG_CUDA_GPU_SHORT_H

/* More bytes than this are the crew's. */
enum { TG_SHORT_BYTES = 8192 };

/* All lanes, in tg_lanes_walk. */
TG_FN void tg_short_hash(void);
TG_FN void tg_short_store(void);

TG_FN static inline bool tg_short_is_possible(const void *from, uint64_t size)
{
    return threadIdx.x == TG_BLOCK_THREADS && size <= TG_SHORT_BYTES &&
           ((uint64_t)from | size) % 16 == 0;
}

/* The leader, which hands the lanes `size` bytes. */
TG_FN static inline void tg_short_order(uint32_t kind, void *to, const void *from, uint32_t size)
{
    struct tg_lanes *lanes = &tg_orders()->lanes;
    lanes->kind = kind;
    lanes->bytes.to = (char *)to;
    lanes->bytes.from = (const char *)from;
    lanes->bytes.size = size;
    tg_lanes_walk(0);
}

TG_FN static inline void tg_target_copy_record(struct tg_record *to, const struct tg_record *from)
{
    const uint64_t *words = (const uint64_t *)from;
    if (threadIdx.x == TG_BLOCK_THREADS) {
        tg_short_order(TG_LANES_STORE, to, from, sizeof *to);
        return;
    }
    for (uint32_t i = 0; i < sizeof *to / 8; i += 2)
        tg_target_store16((uint64_t *)to + i, words[i], words[i + 1]);
}

#endif
