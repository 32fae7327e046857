/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The product of two tiles by a thread block.
 *
 * The block goes over c in panels, and for each panel along k in slabs: while it multiplies one
 * slab of a and b from one half of block memory, it copies the next slab into the other half.
 * Outside the tiles a slab is zero, so that only the final store handles ragged edges.
 *
 *   copy 0 │ copy 1     │ copy 2     │ …      a slab: PANEL_ROWS by DEPTH of a,
 *          │ multiply 0 │ multiply 1 │                DEPTH by PANEL_COLS of b
 *          ▲ barrier    ▲ barrier    ▲
 *
 * Large tiles go to the tensor cores. These take factors of 11 bits (tf32), so each float32 is
 * split in two, x = high + low, and a·b is low·high + high·low + high·high. They also truncate sums
 * toward zero; so no sum stays in them for more than 8 products, but is added to a float32 with
 * proper rounding (Ootomo and Yokota, Recovering single precision accuracy from Tensor Cores while
 * surpassing the FP32 theoretical peak performance, 2022).
 *
 * The error, in units of 2^-24 of the sum of magnitudes: each low part may lack its last bit, 2 and
 * 2; low·low is left out, 4; eight products and the sum so far are aligned and truncated two bits
 * below float32's last bit, then once at that bit, 6.5; and one rounding for each 8 of k. For a
 * depth of 32 that is 19; cases.c allows 32. Smaller depths, and tiles too small to gain, use plain
 * fused multiply-adds. Either way the order of a sum depends only on the sizes, so the result is
 * the same each time.
 *
 * Infinity, and a value that rounds to it, has no low part: as a factor it gives NaN.
 */
#ifndef BGEMM_GPU_H
#define BGEMM_GPU_H

#include "ptx.h"
#include "tile.h"

/* The thread's index as an int, which makes addresses cheap to compute. */
__device__ __forceinline__ int thread(void)
{
    return (int)TG_THREAD_ID;
}

enum { THREADS = TG_BLOCK_THREADS, WARP = 32 };

/* A tile, or the rest of it from some element on. Sizes are int because registers are scarce. */
struct view {
    float *at;
    int64_t down;
    int rows, cols;
};

__device__ __forceinline__ view view_of(const struct tile &t)
{
    return {t.at, t.down, (int)t.rows, (int)t.cols};
}

__device__ __forceinline__ view rest_of(const view &v, int row, int col)
{
    return {v.at + row * v.down + col, v.down, v.rows - row, v.cols - col};
}

/* True if every row can be read and written in float4s from its beginning. */
__device__ __forceinline__ bool is_aligned(const view &v)
{
    return (uintptr_t)v.at % sizeof(float4) == 0 && v.down % 4 == 0;
}

/* ── slabs ─────────────────────────────────────────────────────────────────────────────────── */

/* Starts to copy the first ROWS by COLS elements of a tile, FLOATS at once, with zeros for elements
 * that the tile does not have. In block memory rows lie PITCH apart. */
template <int FLOATS, int ROWS, int COLS, int PITCH>
__device__ __forceinline__ void copy_in(float *to, const view &from)
{
    constexpr int PER_ROW = COLS / FLOATS, STEP = THREADS / PER_ROW;
    const int first = thread() / PER_ROW, col = thread() % PER_ROW * FLOATS;
    const int n = max(0, min(from.cols - col, FLOATS)), rows = n > 0 ? from.rows : 0;
    const float *source = from.at + first * from.down + col;
#pragma unroll 2
    for (int row = first; row < ROWS; row += STEP, source += STEP * from.down)
        copy_async<FLOATS>(to + row * PITCH + col, row < rows ? source : from.at,
                           row < rows ? n * (int)sizeof(float) : 0);
}

template <typename Core> struct slab {
    float a[Core::PANEL_ROWS * Core::A_PITCH];
    float b[Core::DEPTH * Core::B_PITCH];
};

template <typename Core, int FLOATS>
__device__ __forceinline__ void copy_slab(slab<Core> *to, const view &a, const view &b)
{
    copy_in<FLOATS, Core::PANEL_ROWS, Core::DEPTH, Core::A_PITCH>(to->a, a);
    copy_in<FLOATS, Core::DEPTH, Core::PANEL_COLS, Core::B_PITCH>(to->b, b);
}

/* ── two ways to multiply a slab ───────────────────────────────────────────────────────────── */

/* 2 by 2 elements for each thread, 16 apart, so that a tile of 16 by 16 keeps all threads busy. */
struct fma_core {
    enum { PANEL_ROWS = 32, PANEL_COLS = 32, DEPTH = 32 };
    enum { A_PITCH = DEPTH + 4, B_PITCH = PANEL_COLS }; /* a warp reads two rows of a at once */
    float sum[2][2];
    int row, col;

    __device__ __forceinline__ fma_core() : sum{}, row(thread() / 16), col(thread() % 16) {}

    __device__ __forceinline__ void multiply(const slab<fma_core> &s, const view &, int depth)
    {
        for (int k = 0; k < depth; k += 4) {
            float4 upper = *(const float4 *)&s.a[row * A_PITCH + k];
            float4 lower = *(const float4 *)&s.a[(row + 16) * A_PITCH + k];
            const float *b = &s.b[k * B_PITCH + col];
            add(upper.x, lower.x, b);
            add(upper.y, lower.y, b + B_PITCH);
            add(upper.z, lower.z, b + 2 * B_PITCH);
            add(upper.w, lower.w, b + 3 * B_PITCH);
        }
    }

    __device__ __forceinline__ void add(float upper, float lower, const float *b)
    {
        sum[0][0] = fmaf(upper, b[0], sum[0][0]);
        sum[0][1] = fmaf(upper, b[16], sum[0][1]);
        sum[1][0] = fmaf(lower, b[0], sum[1][0]);
        sum[1][1] = fmaf(lower, b[16], sum[1][1]);
    }

    __device__ __forceinline__ void store(const view &c, bool adds) const
    {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int r = row + i / 2 * 16, q = col + i % 2 * 16;
            float *to = c.at + r * c.down + q;
            if (r < c.rows && q < c.cols)
                *to = adds ? *to + sum[i / 2][i % 2] : sum[i / 2][i % 2];
        }
    }
};

/* High and low parts of one or more elements, in the form that an mma takes. */
template <int N> struct split {
    uint32_t high[N], low[N];

    /* high is x rounded to 11 bits, and low the exact rest. The tensor cores ignore its last 13
     * bits. */
    __device__ __forceinline__ void set(int i, float x)
    {
        high[i] = (__float_as_uint(x) + 0x1000) & 0xffffe000;
        low[i] = __float_as_uint(x - __uint_as_float(high[i]));
    }
};

/*
 * Each warp computes 32 by 32 elements, in 2 by 4 mma of 16 by 8. We may map columns of the slab to
 * columns of an mma as we like, as long as a and b agree about k, and b and c about columns:
 *
 *   k       its t and t + 4 are our 2t and 2t + 1: a thread's elements of a lie side by side
 *   column  its g, in the j-th mma of a row, is our 4g + j: so do a thread's four of b,
 *           and of c the eight from 8t on
 *
 * where lane = 4g + t. The pitches spread each such access over all banks.
 */
struct tensor_core {
    enum { PANEL_ROWS = 64, PANEL_COLS = 128, DEPTH = 32 };
    enum { A_PITCH = DEPTH + 8, B_PITCH = PANEL_COLS + 4 };
    enum { WARP_ROWS = 32, WARP_COLS = 32, M = WARP_ROWS / 16, N = WARP_COLS / 8 };
    float sum[M][N][4];
    int row, col; /* where the warp's elements begin */
    int g, t;

    __device__ __forceinline__ tensor_core() : sum{}
    {
        int warp = thread() / WARP, lane = thread() % WARP;
        row = warp % 2 * WARP_ROWS;
        col = warp / 2 * WARP_COLS;
        g = lane / 4;
        t = lane % 4;
    }

    __device__ __forceinline__ void multiply(const slab<tensor_core> &s, const view &c, int)
    {
        if (row >= c.rows || col >= c.cols)
            return; /* the whole warp */
#pragma unroll 1
        for (int k = 0; k < DEPTH; k += 8) {
            split<2> b[N];
            load_b(b, &s.b[(k + 2 * t) * B_PITCH + col + 4 * g]);
#pragma unroll
            for (int m = 0; m < M; m++) {
                split<4> a;
                load_a(&a, &s.a[(row + 16 * m + g) * A_PITCH + k + 2 * t]);
                add(sum[m], a, b);
            }
        }
    }

    __device__ __forceinline__ static void load_a(split<4> *a, const float *from)
    {
        float2 upper = *(const float2 *)from, lower = *(const float2 *)(from + 8 * A_PITCH);
        a->set(0, upper.x);
        a->set(1, lower.x);
        a->set(2, upper.y);
        a->set(3, lower.y);
    }

    __device__ __forceinline__ static void load_b(split<2> (&b)[N], const float *from)
    {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float4 row = *(const float4 *)(from + i * B_PITCH);
            b[0].set(i, row.x);
            b[1].set(i, row.y);
            b[2].set(i, row.z);
            b[3].set(i, row.w);
        }
    }

    /* Adds the small products first. Each step is N mma that do not wait for one another. */
    __device__ __forceinline__ static void add(float (&sum)[N][4], const split<4> &a,
                                               const split<2> (&b)[N])
    {
        const float zero[4] = {0, 0, 0, 0};
        float part[N][4];
#pragma unroll
        for (int n = 0; n < N; n++)
            mma_tf32(part[n], a.low, b[n].high, zero);
#pragma unroll
        for (int n = 0; n < N; n++)
            mma_tf32(part[n], a.high, b[n].low, part[n]);
#pragma unroll
        for (int n = 0; n < N; n++)
            mma_tf32(part[n], a.high, b[n].high, part[n]);
#pragma unroll
        for (int i = 0; i < 4 * N; i++)
            sum[i / 4][i % 4] += part[i / 4][i % 4];
    }

    /* The first two of an mma's four elements are in its row g, the others in row g + 8. */
    __device__ __forceinline__ void store(const view &c, bool adds) const
    {
        const bool whole = is_aligned(c) && col + 8 * t + 8 <= c.cols;
#pragma unroll
        for (int i = 0; i < 2 * M; i++) {
            const int r = row + 8 * i + g;
            if (r < c.rows)
                store_row(c.at + r * c.down + col + 8 * t, i, c.cols - col - 8 * t, whole, adds);
        }
    }

    /* Element j of the eight that this thread has in its i-th row. */
    __device__ __forceinline__ float element(int i, int j) const
    {
        return sum[i / 2][j % 4][i % 2 * 2 + j / 4];
    }

    __device__ __forceinline__ void store_row(float *to, int i, int n, bool whole, bool adds) const
    {
        if (whole) {
#pragma unroll
            for (int j = 0; j < 8; j += 4) {
                float4 old = adds ? *(float4 *)(to + j) : make_float4(0, 0, 0, 0);
                *(float4 *)(to + j) =
                    make_float4(old.x + element(i, j), old.y + element(i, j + 1),
                                old.z + element(i, j + 2), old.w + element(i, j + 3));
            }
            return;
        }
#pragma unroll
        for (int j = 0; j < 8; j++)
            if (j < n)
                to[j] = adds ? to[j] + element(i, j) : element(i, j);
    }
};

/* ── the product ───────────────────────────────────────────────────────────────────────────── */

/* Computes one panel: `c` is the rest of the tile from the panel's first element on, `a` the rest
 * of the rows, `b` the rest of the columns. */
template <typename Core, int FLOATS>
__device__ __forceinline__ void multiply_panel(const view &a, const view &b, const view &c,
                                               bool adds)
{
    slab<Core> *slabs = (slab<Core> *)TG_BLOCK_MEMORY;
    static_assert(2 * sizeof *slabs <= TG_BLOCK_MEMORY_BYTES, "two slabs at a time");
    const int depth = a.cols;
    Core core;
    int half = 0;

    TG_BARRIER(); /* threads may still use the panel before */
    if (depth > 0)
        copy_slab<Core, FLOATS>(&slabs[0], a, b);
    for (int k = 0; k < depth; k += Core::DEPTH, half ^= 1) {
        const int next = k + Core::DEPTH;
        copy_async_wait();
        TG_BARRIER(); /* this slab has arrived, and no thread reads the other half any more */
        if (next < depth)
            copy_slab<Core, FLOATS>(&slabs[half ^ 1], rest_of(a, 0, next), rest_of(b, next, 0));
        core.multiply(slabs[half], c, min(depth - k, (int)Core::DEPTH));
    }
    core.store(c, adds);
}

template <typename Core, int FLOATS>
__device__ __noinline__ void multiply_panels(const view &a, const view &b, const view &c, bool adds)
{
    for (int row = 0; row < c.rows; row += Core::PANEL_ROWS)
        for (int col = 0; col < c.cols; col += Core::PANEL_COLS)
            multiply_panel<Core, FLOATS>(rest_of(a, row, 0), rest_of(b, 0, col),
                                         rest_of(c, row, col), adds);
}

template <typename Core>
__device__ void multiply_with(const view &a, const view &b, const view &c, bool adds)
{
    if (is_aligned(a) && is_aligned(b))
        multiply_panels<Core, 4>(a, b, c, adds);
    else
        multiply_panels<Core, 1>(a, b, c, adds);
}

/* c = a · b, or c += a · b */
__device__ inline void multiply(const struct tile &a, const struct tile &b, const struct tile &c,
                                bool adds)
{
    const bool is_small = c.rows <= fma_core::PANEL_ROWS && c.cols <= fma_core::PANEL_COLS;
    if (is_small || a.cols < tensor_core::DEPTH)
        multiply_with<fma_core>(view_of(a), view_of(b), view_of(c), adds);
    else
        multiply_with<tensor_core>(view_of(a), view_of(b), view_of(c), adds);
}

#endif
