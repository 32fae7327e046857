/* SPDX-License-Identifier: Apache-2.0 */
/* The data stream of an HTML page, decoded in the way the page decodes it. */
#define _GNU_SOURCE 1
#include "test.h"

#include <stdlib.h>

#include "scope/scope_stream.h"

struct decoder {
    const unsigned char *at;
    uint64_t used[4][4];
    uint32_t open, site[TG_SCOPE_STREAM_DEPTHS];
};

struct decoded {
    bool end;
    uint32_t ring, site, depth;
    uint64_t used[4], peak[4];
};

static uint64_t take_varint(struct decoder *decoder)
{
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        unsigned char byte = *decoder->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return value;
    }
}

static struct decoded take(struct decoder *decoder)
{
    unsigned head = *decoder->at++;
    struct decoded d = {.end = head & 1, .ring = head >> 1 & 3};
    d.depth = decoder->open - (d.end && decoder->open > 0);
    d.site = decoder->site[d.depth < 127 ? d.depth : 127];
    if (head & 8) {
        d.site = (uint32_t)take_varint(decoder);
        d.depth = (uint32_t)take_varint(decoder);
    }
    decoder->site[d.depth < 127 ? d.depth : 127] = d.site;
    decoder->open = d.depth + !d.end;
    for (int i = 0; i < 4; i++) {
        uint64_t *last = &decoder->used[i == 3 ? 0 : d.ring][i];
        if (head >> (4 + i) & 1) {
            uint64_t change = take_varint(decoder);
            *last += change & 1 ? 0 - (change >> 1) : change >> 1;
        }
        d.used[i] = d.peak[i] = *last;
    }
    unsigned above = d.end ? *decoder->at++ : 0;
    for (int i = 0; i < 4; i++)
        if (above >> i & 1)
            d.peak[i] += take_varint(decoder);
    return d;
}

static uint64_t seed;

static uint64_t random_bits(int bits)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return bits == 0 ? 0 : seed >> (64 - bits);
}

static struct tg_scope_sample random_sample(int bits)
{
    struct tg_scope_sample sample = {.end = random_bits(1), .depth = (uint32_t)random_bits(3)};
    sample.ring = sample.depth < 3 ? sample.depth : 3;
    sample.task_window_end = random_bits(bits);
    sample.heap_end = random_bits(bits);
    sample.dep_pool_end = random_bits(bits);
    sample.tensormap = random_bits(bits);
    for (unsigned i = 0; i < TG_SCOPE_RESOURCES; i++)
        sample.peak[i] = tg_scope_used(&sample, i) + (random_bits(1) ? random_bits(bits) : 0);
    return sample;
}

static void check_round(int bits)
{
    enum { SAMPLES = 3000 };
    struct tg_scope_stream stream = {0};
    struct decoder decoder = {0};
    seed = (uint64_t)bits;
    for (int i = 0; i < SAMPLES; i++) {
        struct tg_scope_sample sample = random_sample(bits);
        REQUIRE(tg_scope_stream_add(&stream, (uint32_t)random_bits(9), &sample));
    }
    seed = (uint64_t)bits;
    decoder.at = stream.bytes;
    for (int i = 0; i < SAMPLES; i++) {
        struct tg_scope_sample sample = random_sample(bits);
        struct decoded d = take(&decoder);
        CHECK_EQ_U(d.site, random_bits(9));
        CHECK_EQ_U(d.depth, sample.depth);
        CHECK_EQ_U(d.ring, sample.ring);
        CHECK_EQ_U(d.end, sample.end);
        for (unsigned r = 0; r < TG_SCOPE_RESOURCES; r++) {
            REQUIRE(CHECK_EQ_U(d.used[r], tg_scope_used(&sample, r)));
            if (sample.end)
                CHECK_EQ_U(d.peak[r], sample.peak[r]);
        }
    }
    CHECK_EQ_U((uint64_t)(decoder.at - stream.bytes), stream.size);
    tg_scope_stream_free(&stream);
}

TEST(what_goes_in_comes_out)
{
    for (int bits = 0; bits <= 52; bits += 4)
        check_round(bits);
}

TEST(a_loop_of_scopes_takes_few_bytes)
{
    struct tg_scope_stream stream = {0};
    uint64_t tasks = 0;
    for (int i = 0; i < 1000; i++) {
        struct tg_scope_sample sample = {.depth = 1, .ring = 1, .task_window_end = tasks};
        CHECK(tg_scope_stream_add(&stream, 7, &sample));
        tasks += 8;
        sample = (struct tg_scope_sample){
            .end = true, .depth = 1, .ring = 1, .task_window_end = tasks, .peak = {tasks}};
        CHECK(tg_scope_stream_add(&stream, 7, &sample));
    }
    CHECK(stream.size < 4500);
    tg_scope_stream_free(&stream);
}

TEST(numbers_that_a_page_cannot_count_are_cut)
{
    struct tg_scope_stream stream = {0};
    struct decoder decoder = {0};
    struct tg_scope_sample sample = {.end = true,
                                     .depth = UINT32_MAX,
                                     .ring = 3,
                                     .heap_end = UINT64_MAX,
                                     .tensormap = UINT64_MAX - 5,
                                     .peak = {UINT64_MAX, UINT64_MAX, 0, UINT64_MAX}};
    CHECK(tg_scope_stream_add(&stream, UINT32_MAX, &sample));
    decoder.at = stream.bytes;
    struct decoded d = take(&decoder);
    CHECK_EQ_U(d.site, UINT32_MAX);
    CHECK_EQ_U(d.depth, UINT32_MAX);
    CHECK_EQ_U(d.used[TG_SCOPE_HEAP], TG_SCOPE_STREAM_MOST);
    CHECK_EQ_U(d.peak[TG_SCOPE_TENSORMAP], TG_SCOPE_STREAM_MOST);
    CHECK_EQ_U(d.peak[TG_SCOPE_TASK_WINDOW], TG_SCOPE_STREAM_MOST);
    tg_scope_stream_free(&stream);
}

TEST_MAIN()
