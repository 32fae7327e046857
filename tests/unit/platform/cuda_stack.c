/* SPDX-License-Identifier: Apache-2.0 */
/* How much stack the functions of an image need, for images made here: good, torn and hostile
 * ones. */
#include "platform/cuda/process/stack_frames.c"
#include "platform/cuda/process/call_paths.c"
#include "test.h"

enum { PAIRS = 64, SPACE = 16384 };
enum { GUESSED_KERNELS = 8192, GUESSED_ORCHESTRATIONS = 32768 };

/* Symbols of every image; MISSING has no frame. */
enum {
    NONE,
    MAIN,
    CREW,
    RUN,
    SUBMIT,
    MEET,
    KERNEL,
    OTHER,
    ORCHESTRATION,
    HELPER,
    BARRIER,
    MISSING,
    N_SYMBOLS
};
static const char *const symbol_names[N_SYMBOLS] = {
    "",
    "tg_cuda_main",
    "crew",
    "run",
    "submit",
    "meet",
    "_Z6kernelPK6tg_ctx",
    "_Z5otherPK6tg_ctx",
    "_Z1oP5tg_rtPK7tg_args",
    "helper",
    "_Z11tg_mix_meetPK6tg_ctx",
    "vprintf",
};
/* Prototypes: of kernels and of the barrier; of an orchestration; of a call that it makes. */
enum { AS_KERNEL = 1, AS_ORCHESTRATION = 24, AS_CALL = 11 };

/* The contents of the next image. */
static struct {
    uint32_t frame[N_SYMBOLS];
    uint32_t pair[PAIRS][2];
    uint32_t n_pairs;
    bool without_calls, without_frames;
} made;

static char image[SPACE];
static size_t image_size;

static void pair(uint32_t a, uint32_t b)
{
    made.pair[made.n_pairs][0] = a;
    made.pair[made.n_pairs++][1] = b;
}

static void part(int number)
{
    pair(0, (uint32_t)-number);
}

static uint64_t put(const void *bytes, size_t size)
{
    uint64_t at = image_size;
    memcpy(image + image_size, bytes, size);
    image_size += size;
    return at;
}

enum { INFO = 1, CALLS, SYMBOLS, NAMES, SECTION_NAMES, SECTIONS };

static void put_frames(void)
{
    const uint32_t without_bytes = 0x00000a01; /* a note that has only its head */
    for (uint32_t i = 1; i < N_SYMBOLS && !made.without_frames; i++) {
        uint32_t note[3] = {NOTE_WITH_BYTES | NOTE_FRAME << 8 | 8 << 16, i, made.frame[i]};
        if (i == MISSING)
            continue;
        put(note, sizeof note);
        put(&without_bytes, sizeof without_bytes);
    }
}

static void put_names(Elf64_Sym symbol[N_SYMBOLS])
{
    uint64_t first = image_size;
    for (uint32_t i = 0; i < N_SYMBOLS; i++)
        symbol[i].st_name = (uint32_t)(put(symbol_names[i], strlen(symbol_names[i]) + 1) - first);
}

/* Nothing is aligned, because nothing in a file has to be. */
static void make_image(void)
{
    static const char section_names[] = "\0.nv.info\0.nv.callgraph";
    static Elf64_Shdr section[SECTIONS];
    Elf64_Sym symbol[N_SYMBOLS] = {{0}};
    Elf64_Ehdr head = {.e_shentsize = sizeof section[0],
                       .e_shnum = SECTIONS,
                       .e_shstrndx = SECTION_NAMES,
                       .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB}};
    uint64_t at[SECTIONS + 1] = {0};
    memset(image, 0, sizeof image);
    image_size = sizeof head;
    put("x", 1);
    at[INFO] = image_size;
    put_frames();
    at[CALLS] = image_size;
    put(made.pair, made.n_pairs * sizeof made.pair[0]);
    at[NAMES] = image_size;
    put_names(symbol);
    at[SYMBOLS] = put(symbol, sizeof symbol);
    at[SECTION_NAMES] = put(section_names, sizeof section_names);
    section[INFO] = (Elf64_Shdr){.sh_name = 1, .sh_size = at[CALLS] - at[INFO]};
    section[CALLS] =
        (Elf64_Shdr){.sh_name = made.without_calls ? 0 : 10, .sh_size = at[NAMES] - at[CALLS]};
    section[SYMBOLS] =
        (Elf64_Shdr){.sh_type = SHT_SYMTAB, .sh_link = NAMES, .sh_size = sizeof symbol};
    section[NAMES] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_size = at[SYMBOLS] - at[NAMES]};
    section[SECTION_NAMES] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_size = sizeof section_names};
    for (uint32_t i = 1; i < SECTIONS; i++)
        section[i].sh_offset = at[i];
    head.e_shoff = put(section, sizeof section);
    memcpy(image, &head, sizeof head);
}

/* Calls (->) and indirect calls (=>) of the image: main -> crew => kernels; main -> run =>
 * orchestration -> helper => submit -> meet, which calls itself. */
static void begin(void)
{
    memset(&made, 0, sizeof made);
    for (uint32_t i = 1; i < N_SYMBOLS; i++)
        made.frame[i] = 1000;
    made.frame[MEET] = 100;
    part(1);
    pair(MAIN, CREW);
    pair(MAIN, RUN);
    pair(ORCHESTRATION, HELPER);
    pair(SUBMIT, MEET);
    pair(MEET, MEET);
}

static void end(void)
{
    part(2);
    pair(KERNEL, AS_KERNEL);
    pair(OTHER, AS_KERNEL);
    pair(BARRIER, AS_KERNEL);
    pair(ORCHESTRATION, AS_ORCHESTRATION);
    pair(SUBMIT, AS_CALL);
    part(3);
    pair(CREW, AS_KERNEL);
    pair(RUN, AS_ORCHESTRATION);
    pair(HELPER, AS_CALL);
    pair(KERNEL, AS_KERNEL); /* the barrier */
    part(4);
    pair(CREW, BARRIER);
    pair(MAIN, SUBMIT);
}

/* Checks the results in bytes, without the added reserve and the rounding. */
#define CHECK_STACKS(want_kernels, want_orchestrations)                                   \
    do {                                                                                  \
        struct tg_cuda_stacks got, largest;                                               \
        make_image();                                                                     \
        CHECK(tg_cuda_image_is_whole(image, image_size));                                 \
        find_stacks(image, image_size, &largest, &got);                                   \
        CHECK_EQ_U(got.kernels, round_up((uint64_t)(want_kernels) + ROOM));               \
        CHECK_EQ_U(got.orchestrations, round_up((uint64_t)(want_orchestrations) + ROOM)); \
    } while (0)

TEST(a_stack_is_the_longest_way_down)
{
    begin();
    end();
    /* main, crew, kernel, barrier; main, run, orchestration, helper, submit, 16 times meet */
    CHECK_STACKS(4000, 5000 + 1600);
}

TEST(a_helper_that_calls_a_helper_counts_with_it)
{
    begin();
    pair(KERNEL, HELPER);
    end();
    made.frame[HELPER] = 20000;
    CHECK_STACKS(4000 + 20000 + 1600, 24000 + 1600);
}

TEST(a_kernel_that_waits_for_its_mix_does_not_call_other_kernels)
{
    begin();
    end();
    made.frame[OTHER] = 30000;
    CHECK_STACKS(32000, 32000);
}

/* Their prototypes are alike if their parameters are as large. */
TEST(a_submit_that_calls_through_a_pointer_does_not_begin_the_orchestration_again)
{
    begin();
    part(3);
    pair(MEET, AS_ORCHESTRATION);
    pair(SUBMIT, AS_KERNEL);
    end();
    made.frame[OTHER] = 30000;
    CHECK_STACKS(32000, 32000);
    made.frame[OTHER] = 1000;
    CHECK_STACKS(4000, 5000 + 1600);
}

TEST(a_kernel_whose_address_a_workload_takes_may_be_called_by_it)
{
    begin();
    end();
    pair(KERNEL, OTHER);
    made.frame[OTHER] = 30000;
    CHECK_STACKS(33000, 33000);
}

TEST(a_function_of_the_drivers_gets_some_room)
{
    begin();
    pair(HELPER, MISSING);
    made.frame[SUBMIT] = made.frame[MEET] = 0;
    end();
    CHECK_STACKS(4000, 4000 + DRIVERS_FRAME);
}

TEST(recursion_of_a_workload_is_as_deep_as_scopes_or_as_there_is_room)
{
    begin();
    pair(HELPER, HELPER);
    end();
    made.frame[HELPER] = 100;
    CHECK_STACKS(4000, 4000 + 65 * 100 + 1600);
    made.frame[HELPER] = 3000;
    CHECK_STACKS(4000, 4000 + 10 * 3000 + 1600);
    made.frame[HELPER] = 50000;
    CHECK_STACKS(4000, 4000 + 2 * 50000 + 1600);
}

TEST(a_circle_of_several_is_counted_as_a_whole)
{
    begin();
    pair(HELPER, MISSING);
    pair(MISSING, OTHER);
    pair(OTHER, HELPER);
    end();
    made.frame[HELPER] = 1976;
    made.frame[OTHER] = 1096; /* 4096 with the driver's part, eight times */
    CHECK_STACKS(2000 + 8 * 4096 + 2600, 3000 + 8 * 4096 + 2600);
}

TEST(of_ways_down_and_largest_frames_the_larger_counts)
{
    struct tg_cuda_stacks got;
    begin();
    end();
    make_image();
    tg_cuda_image_stacks(image, image_size, &got);
    CHECK_EQ_U(got.kernels, round_up(4000 + ROOM));
    CHECK_EQ_U(got.orchestrations, round_up(2000 + ORCHESTRATION_ROOM));
}

TEST(no_stack_is_larger_than_a_gpu_gives)
{
    begin();
    end();
    made.frame[HELPER] = made.frame[ORCHESTRATION] = made.frame[SUBMIT] = MOST_FRAME - 1;
    make_image();
    struct tg_cuda_stacks got;
    tg_cuda_image_stacks(image, image_size, &got);
    CHECK_EQ_U(got.orchestrations, MOST);
}

TEST(without_a_graph_of_calls_the_largest_frames_count)
{
    struct tg_cuda_stacks got;
    begin();
    end();
    made.without_calls = true;
    made.frame[ORCHESTRATION] = 7000;
    make_image();
    tg_cuda_image_stacks(image, image_size, &got);
    CHECK_EQ_U(got.kernels, round_up(1000 + KERNEL_ROOM));
    CHECK_EQ_U(got.orchestrations, round_up(8000 + ORCHESTRATION_ROOM));
}

TEST(calls_of_functions_that_are_not_there_are_no_graph)
{
    struct tg_cuda_stacks got;
    begin();
    pair(KERNEL, 100000);
    end();
    make_image();
    tg_cuda_image_stacks(image, image_size, &got);
    CHECK_EQ_U(got.kernels, round_up(1000 + KERNEL_ROOM));
}

TEST(without_frames_it_is_a_guess)
{
    struct tg_cuda_stacks got;
    begin();
    end();
    made.without_frames = true;
    make_image();
    tg_cuda_image_stacks(image, image_size, &got);
    CHECK_EQ_U(got.kernels, GUESSED_KERNELS);
    CHECK_EQ_U(got.orchestrations, GUESSED_ORCHESTRATIONS);
    tg_cuda_image_stacks("nothing", 7, &got);
    CHECK_EQ_U(got.kernels, GUESSED_KERNELS);
    tg_cuda_image_stacks(image, 0, &got);
    CHECK_EQ_U(got.kernels, GUESSED_KERNELS);
}

/* Looks at a copy in memory of exactly that size, so that a sanitizer reports any access beyond
 * it. */
static void look_at_copy(size_t size)
{
    struct tg_cuda_stacks got;
    char *copy = malloc(size ? size : 1);
    REQUIRE(copy != NULL);
    memcpy(copy, image, size);
    (void)tg_cuda_image_is_whole(copy, size);
    tg_cuda_image_stacks(copy, size, &got);
    CHECK(got.kernels >= LEAST && got.kernels <= MOST);
    CHECK(got.orchestrations >= LEAST && got.orchestrations <= MOST);
    free(copy);
}

TEST(an_image_that_is_cut_short_is_not_taken_for_a_whole_one)
{
    begin();
    end();
    make_image();
    for (size_t size = SELFMAG; size < image_size; size++) {
        CHECK(!tg_cuda_image_is_whole(image, size));
        look_at_copy(size);
    }
    CHECK(tg_cuda_image_is_whole(image, image_size));
    CHECK(tg_cuda_image_is_whole("PTX or so", 9)); /* the driver checks such images */
}

TEST(no_byte_of_an_image_leads_outside_of_it)
{
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    begin();
    end();
    make_image();
    for (size_t at = SELFMAG; at < image_size; at++) {
        char was = image[at];
        for (size_t v = 0; v < sizeof values; v++) {
            image[at] = (char)values[v];
            look_at_copy(image_size);
        }
        image[at] = was;
    }
}

TEST(random_changes_lead_nowhere_either)
{
    uint64_t seed = 1;
    begin();
    end();
    for (int round = 0; round < 20000; round++) {
        make_image();
        for (int i = 0; i < 8; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            image[sizeof(Elf64_Ehdr) + (seed >> 33) % (image_size - sizeof(Elf64_Ehdr))] =
                (char)(seed >> 24);
        }
        look_at_copy(image_size);
    }
}

/* ── the graph alone ───────────────────────────────────────────────────────────────────── */

/* A chain so long that recursion would overflow the host's stack, and the same as a circle. */
TEST(a_very_deep_graph_takes_no_stack_of_ours)
{
    enum { DEEP = 2000000 };
    struct tg_call *call = calloc(DEEP, sizeof *call);
    uint32_t *bytes = calloc(DEEP, sizeof *bytes);
    uint8_t *marks = calloc(DEEP, 1);
    REQUIRE(call && bytes && marks);
    for (uint32_t i = 0; i < DEEP; i++) {
        call[i] = (struct tg_call){i, (i + 1) % DEEP};
        bytes[i] = 1;
    }
    for (uint32_t circle = 0; circle < 2; circle++) {
        struct tg_calls calls;
        uint64_t deepest = 0;
        REQUIRE(tg_calls_init(&calls, DEEP, call, DEEP - 1 + circle));
        CHECK(tg_calls_deepest(&calls, bytes, marks, 0, &deepest));
        CHECK_EQ_U(deepest, circle ? 2 * DEEP : DEEP);
        tg_calls_destroy(&calls);
    }
    free(call);
    free(bytes);
    free(marks);
}

/* Layers in which each function calls all functions of the next layer: far too many paths to visit
 * one by one. */
TEST(a_graph_of_many_ways_takes_no_longer_than_its_calls)
{
    enum { LAYERS = 60, WIDE = 20, NODES = LAYERS * WIDE + 1 };
    static struct tg_call call[LAYERS * WIDE * WIDE];
    static uint32_t bytes[NODES];
    static uint8_t marks[NODES];
    struct tg_calls calls;
    uint64_t deepest = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < WIDE; i++)
        call[n++] = (struct tg_call){0, 1 + i};
    for (uint32_t layer = 0; layer + 1 < LAYERS; layer++)
        for (uint32_t a = 0; a < WIDE; a++)
            for (uint32_t b = 0; b < WIDE; b++)
                call[n++] = (struct tg_call){1 + layer * WIDE + a, 1 + (layer + 1) * WIDE + b};
    for (uint32_t i = 0; i < NODES; i++)
        bytes[i] = i % WIDE + 1; /* node 0: 1; in each layer one node has WIDE */
    REQUIRE(tg_calls_init(&calls, NODES, call, n));
    CHECK(tg_calls_deepest(&calls, bytes, marks, 0, &deepest));
    CHECK_EQ_U(deepest, 1 + LAYERS * WIDE);
    tg_calls_destroy(&calls);
}

TEST_MAIN()
