/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver cannot tell how much stack a thread needs, because kernels and orchestrations are
 * called through pointers. The image has the data to compute it:
 *
 *   .nv.info        the frame of each function
 *   .nv.callgraph   pairs of numbers, in sections that begin with the pair 0 and one of
 *                     -1   caller, callee
 *                     -2   function whose address is taken, its prototype
 *                     -3   caller, prototype that it calls through a pointer
 *                     -4   function, function whose address it takes
 *
 * A call through a pointer may reach any function of that prototype. Kernels and orchestrations are
 * the exception: only the device program calls them, and through pointers they call only the device
 * program or their own functions. Without this exception, every kernel that waits for the other
 * parts of its mix would seem to call all other kernels. And what the device program lets others call
 * enters no kernel or orchestration: without this one, a submit that calls through a pointer of the same
 * prototype would seem to begin the orchestration again. A prototype says only how large the
 * parameters are.
 */
#include "platform/cuda/process/stack_frames.h"
#include "platform/cuda/launch.h"
#include "platform/cuda/process/call_paths.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* Added to the known frames; the frame of a function of the driver, such as printf. */
enum { ROOM = 1024, DRIVERS_FRAME = 1024 };
enum { LEAST = 4096, MOST = 512 << 10 }; /* a GPU gives a thread at most this */
/* If there is no graph of calls: added to the largest frame of the workload. */
enum { KERNEL_ROOM = 2048, ORCHESTRATION_ROOM = 12288 };
/* If there are no frames. */
enum { KERNEL_GUESS = 8192, ORCHESTRATION_GUESS = 32768 };
/* A note has a format, an attribute and a count of bytes that follow. A frame's bytes are the
 * symbol and the size. */
enum { NOTE_WITH_BYTES = 4, NOTE_FRAME = 0x11 };
/* Larger frames, names or images are taken as damage. */
enum { MOST_FRAME = 1 << 20, MOST_NAME = 4096, MOST_IMAGE = 1 << 30 };
/* The mangled names of kernels and orchestrations end with their parameters. */
#define KERNEL_ENDING "PK6tg_ctx"
#define ORCHESTRATION_ENDING "P5tg_rtPK7tg_args"

/* ── the file ──────────────────────────────────────────────────────────────────────────── */

/* A part of the file, checked to be inside it. */
struct part {
    const char *bytes;
    uint64_t size;
};

struct image {
    struct part file, sections, section_names;
    struct part symbols, names, notes, calls;
};

static bool cut(struct part whole, uint64_t offset, uint64_t size, struct part *part)
{
    if (offset > whole.size || size > whole.size - offset)
        return false;
    *part = (struct part){whole.bytes + offset, size};
    return true;
}

/* Copies element `number` of an array of things of that size. */
static bool get(struct part part, uint64_t number, void *thing, size_t size)
{
    if (number >= part.size / size)
        return false;
    memcpy(thing, part.bytes + number * size, size);
    return true;
}

/* The string at that offset; "" if it is not there or does not end. */
static const char *text(struct part strings, uint64_t offset)
{
    uint64_t left = offset < strings.size ? strings.size - offset : 0;
    size_t most = left < MOST_NAME ? (size_t)left : MOST_NAME;
    return most > 0 && memchr(strings.bytes + offset, 0, most) ? strings.bytes + offset : "";
}

/* strlen is safe: text() gives only names that end. */
static bool ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name), wanted = strlen(ending);
    return length > wanted && strcmp(name + length - wanted, ending) == 0;
}

static bool get_section(const struct image *image, uint32_t number, Elf64_Shdr *section,
                        struct part *part)
{
    *part = (struct part){0};
    if (!get(image->sections, number, section, sizeof *section))
        return false;
    return section->sh_type == SHT_NOBITS ||
           cut(image->file, section->sh_offset, section->sh_size, part);
}

static bool get_head(struct part file, Elf64_Ehdr *head)
{
    return get(file, 0, head, sizeof *head) && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
           head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_ident[EI_DATA] == ELFDATA2LSB &&
           head->e_shentsize == sizeof(Elf64_Shdr);
}

static bool open_image(struct image *image, const void *bytes, size_t size)
{
    Elf64_Ehdr head;
    Elf64_Shdr section;
    *image = (struct image){.file = {bytes, size}};
    if (size > MOST_IMAGE || !get_head(image->file, &head) ||
        !cut(image->file, head.e_shoff, (uint64_t)head.e_shnum * sizeof section, &image->sections))
        return false;
    (void)get_section(image, head.e_shstrndx, &section, &image->section_names);
    for (uint32_t i = 0; i < head.e_shnum; i++) {
        struct part part;
        Elf64_Shdr names;
        const char *name;
        if (!get_section(image, i, &section, &part))
            continue;
        name = text(image->section_names, section.sh_name);
        if (section.sh_type == SHT_SYMTAB &&
            get_section(image, section.sh_link, &names, &image->names))
            image->symbols = part;
        else if (strcmp(name, ".nv.info") == 0)
            image->notes = part;
        else if (strcmp(name, ".nv.callgraph") == 0)
            image->calls = part;
    }
    return true;
}

bool tg_cuda_image_is_whole(const void *bytes, size_t size)
{
    struct part file = {bytes, size}, part;
    Elf64_Ehdr head;
    struct image image = {.file = file};
    if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return true;
    if (!get_head(file, &head) ||
        !cut(file, head.e_shoff, (uint64_t)head.e_shnum * head.e_shentsize, &image.sections) ||
        !cut(file, head.e_phoff, (uint64_t)head.e_phnum * head.e_phentsize, &part))
        return false;
    for (uint32_t i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr section;
        if (!get_section(&image, i, &section, &part))
            return false;
    }
    return true;
}

/* ── the image's functions ─────────────────────────────────────────────────────────────── */

/* A function and a prototype. */
struct typed {
    uint32_t function, type;
};

struct functions {
    const struct image *image;
    uint32_t n; /* symbols; behind them are two numbers per `taken`, which stand for a prototype */
    uint32_t *frame;
    uint8_t *marks;
    uint32_t n_calls, n_takes, n_taken, n_callers;
    struct tg_call *calls, *takes;
    struct typed *taken, *callers;
    uint32_t main;
};

static const char *name_of(const struct functions *f, uint32_t function)
{
    Elf64_Sym symbol;
    return get(f->image->symbols, function, &symbol, sizeof symbol)
               ? text(f->image->names, symbol.st_name)
               : "";
}

static bool read_frames(struct functions *f)
{
    struct part notes = f->image->notes, bytes;
    bool found = false;
    for (uint64_t at = 0; cut(notes, at, 4, &bytes);) {
        uint8_t format = (uint8_t)bytes.bytes[0], attribute = (uint8_t)bytes.bytes[1];
        uint16_t size;
        uint32_t frame[2]; /* symbol, bytes */
        memcpy(&size, bytes.bytes + 2, sizeof size);
        at += 4;
        if (format != NOTE_WITH_BYTES)
            continue;
        if (attribute == NOTE_FRAME && size == sizeof frame && cut(notes, at, size, &bytes)) {
            memcpy(frame, bytes.bytes, sizeof frame);
            if (frame[0] < f->n && frame[1] < MOST_FRAME) {
                f->frame[frame[0]] = frame[1];
                found = true;
            }
        }
        at += size;
    }
    return found;
}

/* False if there are no calls, or a number is out of range. */
static bool read_calls(struct functions *f)
{
    uint32_t part = 0, pair[2];
    for (uint64_t i = 0; get(f->image->calls, i, pair, sizeof pair); i++) {
        if (pair[0] == 0 && pair[1] > UINT32_MAX - 4) {
            part = UINT32_MAX - pair[1] + 1;
            continue;
        }
        if (pair[0] >= f->n || ((part == 1 || part == 4) && pair[1] >= f->n))
            return false;
        if (part == 1)
            f->calls[f->n_calls++] = (struct tg_call){pair[0], pair[1]};
        else if (part == 2)
            f->taken[f->n_taken++] = (struct typed){pair[0], pair[1]};
        else if (part == 3)
            f->callers[f->n_callers++] = (struct typed){pair[0], pair[1]};
        else if (part == 4)
            f->takes[f->n_takes++] = (struct tg_call){pair[0], pair[1]};
    }
    return f->n_calls > 0;
}

/* Marks the device program's functions: what its entry calls, and functions whose addresses those
 * take. */
static bool find_ours(struct functions *f)
{
    struct tg_calls calls;
    bool good;
    f->main = UINT32_MAX;
    for (uint32_t i = 0; i < f->n; i++) {
        const char *name = name_of(f, i);
        if (strcmp(name, TG_CUDA_MAIN_NAME) != 0)
            continue;
        f->main = i;
        f->marks[i] |= TG_CALLED_OURS;
    }
    /* Append `takes` to `calls` for this search only. */
    memcpy(f->calls + f->n_calls, f->takes, f->n_takes * sizeof *f->takes);
    if (f->main == UINT32_MAX || !tg_calls_init(&calls, f->n, f->calls, f->n_calls + f->n_takes))
        return false;
    good = tg_calls_spread(&calls, f->marks, TG_CALLED_OURS);
    tg_calls_destroy(&calls);
    return good;
}

/* ── calls through pointers ────────────────────────────────────────────────────────────── */

/* More marks: a function of the device program that is called through a pointer, or that such a function
 * calls; a kernel or orchestration that only the device program calls; an orchestration. */
enum { IS_CALLED_BACK = 32, IS_ENTERED = 64, IS_ORCHESTRATION = 128 };

/* Before calls through pointers are added. */
static bool find_called_back(struct functions *f)
{
    struct tg_calls calls;
    bool good;
    for (uint32_t i = 0; i < f->n_taken; i++)
        if (f->marks[f->taken[i].function] & TG_CALLED_OURS)
            f->marks[f->taken[i].function] |= IS_CALLED_BACK;
    if (!tg_calls_init(&calls, f->n, f->calls, f->n_calls))
        return false;
    good = tg_calls_spread(&calls, f->marks, IS_CALLED_BACK);
    tg_calls_destroy(&calls);
    return good;
}

static void find_entered(struct functions *f)
{
    for (uint32_t i = 0; i < f->n_taken; i++) {
        uint32_t function = f->taken[i].function;
        const char *name = name_of(f, function);
        if (f->marks[function] & TG_CALLED_OURS)
            continue;
        if (ends_in(name, KERNEL_ENDING))
            f->marks[function] |= IS_ENTERED;
        else if (ends_in(name, ORCHESTRATION_ENDING))
            f->marks[function] |= IS_ENTERED | IS_ORCHESTRATION;
    }
    /* A workload that takes such an address itself may also call through it. */
    for (uint32_t i = 0; i < f->n_takes; i++)
        if (!(f->marks[f->takes[i].from] & TG_CALLED_OURS))
            f->marks[f->takes[i].to] &= (uint8_t)~IS_ENTERED;
}

static int by_type(const void *a, const void *b)
{
    uint32_t x = ((const struct typed *)a)->type, y = ((const struct typed *)b)->type;
    return (x > y) - (x < y);
}

/* The index of the first function of that prototype in `taken`, which is sorted. */
static uint32_t find_type(const struct functions *f, uint32_t type)
{
    uint32_t low = 0, high = f->n_taken;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (f->taken[middle].type < type)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Adds two functions without stack for each prototype: the first calls all functions of the
 * prototype, the second only those that are not entered. */
static uint32_t add_indirect(struct functions *f, struct tg_call *calls)
{
    uint32_t n = 0;
    qsort(f->taken, f->n_taken, sizeof *f->taken, by_type);
    for (uint32_t i = 0; i < f->n_taken; i++) {
        uint32_t function = f->taken[i].function;
        uint32_t type = f->n + 2 * find_type(f, f->taken[i].type);
        calls[n++] = (struct tg_call){type, function};
        if (!(f->marks[function] & IS_ENTERED))
            calls[n++] = (struct tg_call){type + 1, function};
    }
    for (uint32_t i = 0; i < f->n_callers; i++) {
        uint32_t caller = f->callers[i].function, first = find_type(f, f->callers[i].type);
        bool enters = (f->marks[caller] & (TG_CALLED_OURS | IS_CALLED_BACK)) == TG_CALLED_OURS;
        if (first < f->n_taken && f->taken[first].type == f->callers[i].type)
            calls[n++] = (struct tg_call){caller, f->n + 2 * first + !enters};
    }
    return n;
}

/* ── measuring the stacks ──────────────────────────────────────────────────────────────── */

static size_t round_up(uint64_t bytes)
{
    bytes = bytes < MOST ? (bytes + 1023) / 1024 * 1024 : MOST;
    return bytes > LEAST ? (size_t)bytes : LEAST;
}

/* A coarse measure that needs no calls: the largest frame of each kind. */
static void add_largest(const struct functions *f, struct tg_cuda_stacks *stacks)
{
    size_t kernels = 0, orchestrations = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        size_t *largest = &kernels;
        if (f->frame[i] == UINT32_MAX)
            continue;
        if (ends_in(name_of(f, i), ORCHESTRATION_ENDING))
            largest = &orchestrations;
        if (f->frame[i] > *largest)
            *largest = f->frame[i];
    }
    stacks->kernels = round_up(kernels + KERNEL_ROOM);
    stacks->orchestrations = round_up(orchestrations + kernels + ORCHESTRATION_ROOM);
    stacks->is_guess = false;
}

static void add_deepest(struct functions *f, const struct tg_calls *calls,
                        struct tg_cuda_stacks *stacks)
{
    uint64_t kernels, orchestrations;
    for (uint32_t i = 0; i < f->n; i++)
        if (f->frame[i] == UINT32_MAX)
            f->frame[i] = DRIVERS_FRAME;
    if (!tg_calls_deepest(calls, f->frame, f->marks, f->main, &orchestrations))
        return;
    for (uint32_t i = 0; i < f->n; i++)
        if (f->marks[i] & IS_ORCHESTRATION)
            f->marks[i] |= TG_CALLED_GONE;
    if (!tg_calls_deepest(calls, f->frame, f->marks, f->main, &kernels))
        return;
    stacks->kernels = round_up(kernels + ROOM);
    stacks->orchestrations = round_up(orchestrations + ROOM);
}

/* If a step fails, the results of the steps before it stay. */
static void measure(struct functions *f, struct tg_cuda_stacks *largest,
                    struct tg_cuda_stacks *stacks)
{
    struct tg_calls calls;
    if (!read_frames(f))
        return;
    add_largest(f, largest);
    *stacks = *largest;
    if (!read_calls(f) || !find_ours(f) || !find_called_back(f))
        return;
    find_entered(f);
    f->n_calls += add_indirect(f, f->calls + f->n_calls);
    if (!tg_calls_init(&calls, f->n + 2 * f->n_taken, f->calls, f->n_calls))
        return;
    add_deepest(f, &calls, stacks);
    tg_calls_destroy(&calls);
}

/* Measures by the largest frames, and by the longest path of calls if that is known. */
static void find_stacks(const void *bytes, size_t size, struct tg_cuda_stacks *largest,
                        struct tg_cuda_stacks *stacks)
{
    struct image image;
    struct functions f = {.image = &image};
    size_t n_pairs;
    *largest = *stacks = (struct tg_cuda_stacks){KERNEL_GUESS, ORCHESTRATION_GUESS, true};
    if (!open_image(&image, bytes, size))
        return;
    f.n = (uint32_t)(image.symbols.size / sizeof(Elf64_Sym));
    n_pairs = image.calls.size / 8 + 1;
    f.frame = calloc(f.n + 2 * n_pairs, sizeof *f.frame);
    f.marks = calloc(f.n + 2 * n_pairs, sizeof *f.marks);
    f.calls = calloc(3 * n_pairs, sizeof *f.calls);
    f.takes = calloc(n_pairs, sizeof *f.takes);
    f.taken = calloc(n_pairs, sizeof *f.taken);
    f.callers = calloc(n_pairs, sizeof *f.callers);
    if (f.frame && f.marks && f.calls && f.takes && f.taken && f.callers) {
        memset(f.frame, 0xff, f.n * sizeof *f.frame);
        measure(&f, largest, stacks);
    }
    free(f.frame);
    free(f.marks);
    free(f.calls);
    free(f.takes);
    free(f.taken);
    free(f.callers);
}

/* Takes the larger of both measures, because memory is cheaper than a fault. */
void tg_cuda_image_stacks(const void *bytes, size_t size, struct tg_cuda_stacks *stacks)
{
    struct tg_cuda_stacks largest;
    find_stacks(bytes, size, &largest, stacks);
    if (stacks->kernels < largest.kernels)
        stacks->kernels = largest.kernels;
    if (stacks->orchestrations < largest.orchestrations)
        stacks->orchestrations = largest.orchestrations;
}
