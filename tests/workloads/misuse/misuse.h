/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that misuse memory, and kernels that only look as if they did. Each case has one task of the
 * kernel with the name of the case. All its views lie in one arena, far from the arena's ends, so a
 * stray access meets mapped memory and the run ends well:
 *
 *     bystander 0 | left pad | out | right pad | bystander 1 | near pad | in | far pad
 *
 *     fill ──► look ──► bystander 0, THE KERNEL, bystander 1 ──► look again
 *
 * A look reads the pads, the input, and the gaps between the elements of a view. A bystander writes its
 * own part and nothing else: nobody may accuse it. tests/bugs/misuse.py says what each case does wrong.
 */
#ifndef MISUSE_H
#define MISUSE_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

/* The views of the task. VECTORS: one input, one output, without gaps. */
enum layout {
    VECTORS,
    STRIDED,   /* each second element */
    TILES,     /* ROWS × COLUMNS of a matrix that is WIDTH wide */
    BYTES,     /* int8, ODD elements */
    NIBBLES,   /* int4, N elements: whole bytes */
    HALF_BYTE, /* int4, ODD elements: half of the last byte belongs to nobody */
    IN_PLACE,  /* one tensor, inout */
    SAME,      /* the input is the output's memory */
    OVERLAP,   /* the input's second half is the output's first half */
    SHIFTED,   /* the output begins two elements behind the input, at an aligned address */
    PEELED,  /* one input, one output with an element less, both 12 bytes behind a vector's place */
    TWO_OUT, /* one input, two outputs side by side */
    TWO_IN,  /* two inputs side by side, one output */
    MIX,     /* as VECTORS, but two kernels */
    FLIPPED, /* the output's first element is its last in memory */
    BROADCAST, /* the input is one element, N times */
    EMPTY,     /* no elements */
    NOTHING,   /* no tensors, one scalar */
};

enum { N = 100, ODD = 101, ROWS = 6, COLUMNS = 5, WIDTH = 16, FORGOTTEN = 12 };
enum { PAGE = 4096, FLOATS_PER_PAGE = PAGE / 4, FAR = 25 * PAGE / 4, BYTES_OF_BYSTANDER = 512 };
/* Where the parts of the arena begin, in bytes. */
enum { AT_OUT = 3 * PAGE + 256, AT_BYSTANDER = 7 * PAGE, AT_IN = 9 * PAGE, ARENA = 40 * PAGE };

/* X(kernel, layout, signature, summary): the guilty, then the innocent. */
#define ONE "in out"
#define MISUSE_MAP(X)                                                                         \
    X(write_behind, VECTORS, ONE, "writes one element behind the output")                     \
    X(write_before, VECTORS, ONE, "writes one element before the output")                     \
    X(write_page_behind, VECTORS, ONE, "writes one page behind the output's last element")    \
    X(write_page_before, VECTORS, ONE, "writes one page before the output's first element")   \
    X(write_both_sides, VECTORS, ONE, "writes one element before the output and one behind")  \
    X(rewrite_behind, VECTORS, ONE, "reads the element behind the output and writes it back") \
    X(write_gap, STRIDED, ONE, "writes between the elements of a strided output")             \
    X(write_tile_column, TILES, ONE, "writes one column too many of a tile")                  \
    X(write_tile_row, TILES, ONE, "writes one row too many of a tile")                        \
    X(write_input, VECTORS, ONE, "changes an element of its input")                           \
    X(rewrite_input, VECTORS, ONE, "writes an element of its input back as it was")           \
    X(write_other_output, TWO_OUT, "in out out",                                              \
      "writes behind its first output, into the second")                                      \
    X(write_hidden, TWO_OUT, "in out out", "does so before it writes the second output")      \
    X(write_inout_behind, IN_PLACE, "inout", "writes one element behind an inout")            \
    X(write_int8_behind, BYTES, ONE, "writes one byte behind an int8 output")                 \
    X(write_int4_behind, NIBBLES, ONE, "writes one element behind an int4 output")            \
    X(write_int4_half, HALF_BYTE, ONE, "writes the other half of an int4 output's last byte") \
    X(write_mix_behind, MIX, ONE, "one kernel of a mix writes behind the output")             \
    X(read_behind, VECTORS, ONE, "reads one element behind the input")                        \
    X(read_before, VECTORS, ONE, "reads one element before the input")                        \
    X(read_page_behind, VECTORS, ONE, "reads one page behind the input's last element")       \
    X(read_page_before, VECTORS, ONE, "reads one page before the input's first element")      \
    X(read_gap, STRIDED, ONE, "reads between the elements of a strided input")                \
    X(read_tile_column, TILES, ONE, "reads one column too many of a tile")                    \
    X(read_unused, VECTORS, ONE, "reads one element behind the input and does not use it")    \
    X(read_both_unused, TWO_IN, "in in out", "does so behind two inputs")                     \
    X(read_gap_times_zero, STRIDED, ONE, "multiplies what lies in a gap with zero")           \
    X(read_other_input, TWO_IN, "in in out", "reads behind its first input, from the second") \
    X(read_inout_behind, IN_PLACE, "inout", "reads one element behind an inout")              \
    X(read_int8_behind, BYTES, ONE, "reads one byte behind an int8 input")                    \
    X(unwritten_tail, VECTORS, ONE, "does not write the output's last elements")              \
    X(unwritten_middle, VECTORS, ONE, "does not write one element in the output's middle")    \
    X(unwritten_all, VECTORS, ONE, "writes nothing")                                          \
    X(unwritten_strided, STRIDED, ONE, "does not write one element of a strided output")      \
    X(unwritten_int8, BYTES, ONE, "does not write the last byte of an int8 output")           \
    X(unwritten_int4, NIBBLES, ONE, "does not write one element of an int4 output")           \
    X(old_contents, VECTORS, ONE, "adds to an output that it was not given")                  \
    X(old_some, VECTORS, ONE, "does so with some elements only")                              \
    X(old_maximum, VECTORS, ONE, "keeps an old value that is larger")                         \
    X(old_element, VECTORS, ONE, "uses the old value of one element for all others")          \
    X(old_is_zero, VECTORS, ONE, "only asks whether old values are zero")                     \
    X(read_is_zero, STRIDED, ONE, "only asks whether what lies in a gap is zero")             \
    X(read_far_behind, VECTORS, ONE, "reads 100 KiB behind the input's last element")         \
    X(clean_plain, VECTORS, ONE, "does nothing unusual")                                      \
    X(clean_inout, IN_PLACE, "inout", "reads and writes an inout")                            \
    X(clean_one_of_inout, IN_PLACE, "inout", "writes one element of an inout")                \
    X(clean_aligned, BYTES, ONE, "relies on the alignment of its arguments")                  \
    X(clean_twice, VECTORS, ONE, "writes each element twice")                                 \
    X(clean_accumulate, VECTORS, ONE, "clears its output, then adds to it")                   \
    X(clean_scratch, VECTORS, ONE, "keeps intermediate values in its output")                 \
    X(clean_pattern, VECTORS, ONE, "writes the patterns that poison memory")                  \
    X(clean_not_numbers, VECTORS, ONE, "writes NaN")                                          \
    X(clean_same, SAME, ONE, "writes over its input, which is its output too")                \
    X(clean_overlap, OVERLAP, ONE, "moves its input within overlapping memory")               \
    X(clean_shifted, SHIFTED, ONE, "relies on the alignment of one of two such tensors")      \
    X(clean_peeled, PEELED, ONE, "relies on the same remainder of two addresses")             \
    X(clean_strided, STRIDED, ONE, "writes all elements of a strided output")                 \
    X(clean_tile, TILES, ONE, "writes all elements of a tile")                                \
    X(clean_flipped, FLIPPED, ONE, "writes an output with a negative stride")                 \
    X(clean_broadcast, BROADCAST, ONE, "reads an input with a stride of 0")                   \
    X(clean_two_outputs, TWO_OUT, "in out out", "writes two outputs side by side")            \
    X(clean_two_inputs, TWO_IN, "in in out", "reads two inputs side by side")                 \
    X(clean_half_byte, HALF_BYTE, ONE, "keeps the other half of the last byte")               \
    X(clean_mix, MIX, ONE, "two kernels write half of the output each")                       \
    X(clean_ignored_input, VECTORS, ONE, "does not read its input")                           \
    X(clean_empty, EMPTY, ONE, "has no elements to read or write")                            \
    X(clean_nothing, NOTHING, "scalar:int64", "has no tensors")

#define MISUSE_NUMBER(name, layout, signature, summary) K_##name,
enum {
    MISUSE_MAP(MISUSE_NUMBER) MISUSES,
    K_fill = MISUSES,
    K_bystander,
    K_look,
    K_other_half,
    K_ALL
};

#define MISUSE_KERNEL(name, layout, signature, summary) TG_KERNEL(name);
MISUSE_MAP(MISUSE_KERNEL)
TG_KERNEL(fill);
TG_KERNEL(bystander);
TG_KERNEL(look);
TG_KERNEL(other_half);
TG_ORCHESTRATION(misuse);

/* An element of an argument's memory, counted from its first element: any number, also outside. */
TG_FN static inline double peek(const struct tg_ctx *ctx, uint32_t argument, int64_t at)
{
    const struct tg_tensor *t = tg_arg_tensor(ctx, argument);
    return tg_load(t->dtype, TG_DEVICE_PTR(const char, t->addr), t->start + at);
}

TG_FN static inline void poke(const struct tg_ctx *ctx, uint32_t argument, int64_t at, double value)
{
    const struct tg_tensor *t = tg_arg_tensor(ctx, argument);
    TG_BARRIER(); /* what is written already may be changed again */
    TG_FOR(once, 1)
        tg_store(t->dtype, TG_DEVICE_PTR(char, t->addr), t->start + at, value);
}

/* to[i] = from[i] / 2 + 1, except elements from `skipped` to `end`. An iteration writes two elements, which
 * may be halves of one byte. */
TG_FN static inline void halve(const struct tg_ctx *ctx, uint32_t from, uint32_t to,
                               int64_t skipped, int64_t end)
{
    int64_t n = tg_arg_numel(ctx, to);
    TG_FOR(pair, (n + 1) / 2)
        for (int64_t i = 2 * pair; i < n && i < 2 * pair + 2; i++)
            if (i < skipped || i >= end)
                tg_arg_store(ctx, to, i, tg_arg_load(ctx, from, i) / 2 + 1);
}

#define HALVE_ALL(ctx, from, to) halve(ctx, from, to, 0, 0)

#endif
