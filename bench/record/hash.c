/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures what the content hash adds to the copy that computes it: tg_hash_copy and memcpy in
 * turn, from a pool of tensors into a buffer as large as an arena, as the recorder does it; then
 * once more with tensors and buffer in the cache, where the arithmetic costs most in proportion.
 */
#include "harness.h"

#include "common/hash.h"

#define POOL (UINT64_C(192) << 20)
#define ARENA (UINT64_C(4) << 20)
#define PIECE (ARENA / 4) /* larger tensors are recorded in pieces of this size */

static uint64_t sink; /* uses the hashes, so that the compiler keeps them */

typedef void (*copy_fn)(struct tg_hash *hash, char *to, const char *from, uint64_t size);

static void copy_only(struct tg_hash *hash, char *to, const char *from, uint64_t size)
{
    (void)hash;
    memcpy(to, from, size);
    __asm__ volatile("" ::: "memory");
}

static void copy_and_hash(struct tg_hash *hash, char *to, const char *from, uint64_t size)
{
    tg_hash_copy(hash, to, from, size);
}

static double run(copy_fn copy, char *arena, const char *pool, uint64_t pool_size, uint64_t tensor,
                  uint64_t total)
{
    double began = bench_seconds();
    uint64_t to = 0, from = 0;
    for (uint64_t at = 0; at < total; at += tensor) {
        struct tg_hash hash;
        tg_hash_init(&hash);
        for (uint64_t done = 0, n; done < tensor; done += n) {
            n = tensor - done < PIECE ? tensor - done : PIECE;
            to = to + n <= ARENA ? to : 0;
            copy(&hash, arena + to, pool + from + done, n);
            to += n;
        }
        sink += tg_hash_final(&hash, tensor);
        from = from + 2 * tensor <= pool_size ? from + tensor : 0;
    }
    return bench_seconds() - began;
}

static void compare(char *arena, const char *pool, uint64_t pool_size, uint64_t tensor,
                    uint64_t total, unsigned repeat, const char *where)
{
    double *ratio = calloc(repeat, sizeof *ratio), *plain = calloc(repeat, sizeof *plain),
           *hashed = calloc(repeat, sizeof *hashed);
    if (!ratio || !plain || !hashed)
        exit(1);
    run(copy_and_hash, arena, pool, pool_size, tensor, total);
    for (unsigned i = 0; i < repeat; i++) {
        plain[i] = run(copy_only, arena, pool, pool_size, tensor, total);
        hashed[i] = run(copy_and_hash, arena, pool, pool_size, tensor, total);
        ratio[i] = hashed[i] / plain[i];
    }
    printf("{\"tensor\":%llu,\"where\":\"%s\",\"copy_gbs\":%.3f,\"hash_copy_gbs\":%.3f,"
           "\"ratio\":%.4f}\n",
           (unsigned long long)tensor, where, (double)total / bench_median(plain, repeat) * 1e-9,
           (double)total / bench_median(hashed, repeat) * 1e-9, bench_median(ratio, repeat));
    free(ratio), free(plain), free(hashed);
}

int main(int argc, char **argv)
{
    static const uint64_t tensors[] = {4 << 10, 64 << 10, 1 << 20, 64 << 20};
    unsigned repeat = argc > 1 ? (unsigned)bench_size(argv[1]) : 15;
    char *pool = bench_bytes(POOL), *arena = bench_bytes(ARENA);
    for (unsigned i = 0; i < sizeof tensors / sizeof tensors[0]; i++)
        compare(arena, pool, POOL, tensors[i], POOL, repeat ? repeat : 1, "memory");
    compare(arena, pool, 64 << 10, 64 << 10, POOL, repeat ? repeat : 1, "cache");
    free(pool), free(arena);
    return sink == 1;
}
