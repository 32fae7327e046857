/* SPDX-License-Identifier: Apache-2.0 */
/* Where a thread is in a module's code. The device program has this file too. */
#define _GNU_SOURCE 1
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <taskglass/source.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

/* A recursion may be deeper. Then the outermost function stays unknown. */
enum { MOST_FRAMES = 256 };

struct search {
    uint64_t address;
    struct tg_code_range *range;
};

static int look_at_object(struct dl_phdr_info *object, size_t size, void *argument)
{
    struct search *search = argument;
    uint64_t begin = UINT64_MAX, end = 0;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uint64_t first = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD)
            continue;
        begin = first < begin ? first : begin;
        end = first + segment->p_memsz > end ? first + segment->p_memsz : end;
    }
    if (search->address < begin || search->address >= end)
        return 0;
    *search->range = (struct tg_code_range){begin, end, object->dlpi_addr};
    return 1;
}

bool tg_code_range_of(const void *address, struct tg_code_range *range)
{
    struct search search = {(uint64_t)(uintptr_t)address, range};
    return range != NULL && dl_iterate_phdr(look_at_object, &search) == 1;
}

/* ── in a signal handler ───────────────────────────────────────────────────────────────── */

struct walk {
    const struct tg_code_range *range;
    uint32_t n;
    int frames;
    struct tg_code_place *place;
};

/* The registers of the thread when the signal came: where it was, its stack, and where the function that
 * it was about to enter would return to, as far as the machine has a register for that. */
static void read_registers(const ucontext_t *context, uint64_t *at, uint64_t *stack, uint64_t *back)
{
    *at = *stack = *back = 0;
#if defined(__x86_64__)
    *at = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    *stack = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    *at = context->uc_mcontext.pc;
    *stack = context->uc_mcontext.sp;
    *back = context->uc_mcontext.regs[30];
#else
    (void)context;
#endif
}

static bool take(const struct walk *walk, uint64_t address, uint64_t *to)
{
    for (uint32_t i = 0; i < walk->n; i++) {
        const struct tg_code_range *range = &walk->range[i];
        bool is_other = walk->place->at != 0 && walk->place->module != i;
        if (is_other || address < range->begin || address >= range->end)
            continue;
        walk->place->module = i;
        *to = address - range->shift;
        return true;
    }
    return false;
}

/* The frames of the handler come first; they are in no module. */
static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *context, void *argument)
{
    struct walk *walk = argument;
    int is_exact = 0;
    uint64_t address = _Unwind_GetIPInfo(context, &is_exact), outer;
    if (++walk->frames > MOST_FRAMES) {
        walk->place->from = 0;
        return _URC_END_OF_STACK;
    }
    /* A call returns to the instruction behind it, which may belong to another line. */
    address -= is_exact == 0;
    if (walk->place->at == 0) {
        (void)take(walk, address, &walk->place->at);
        return _URC_NO_REASON;
    }
    if (!take(walk, address, &outer))
        return _URC_END_OF_STACK;
    walk->place->from = outer == walk->place->at ? 0 : outer;
    return _URC_NO_REASON;
}

/* Whether the process has memory at that address. */
static bool is_mapped(uint64_t address)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    unsigned char there;
    return mincore((void *)(uintptr_t)(address / page * page), 1, &there) == 0;
}

/* A call of a function that does not exist has left its return address on the stack, or in a register. */
static void take_caller(const struct walk *walk, uint64_t stack, uint64_t back)
{
    if (back == 0 && stack % sizeof back == 0 && stack != 0 && is_mapped(stack))
        memcpy(&back, (const void *)(uintptr_t)stack, sizeof back);
    if (back != 0)
        (void)take(walk, back - 1, &walk->place->at);
}

bool tg_code_place_find(const struct tg_code_range *range, uint32_t n, void *context,
                        struct tg_code_place *place)
{
    struct walk walk = {.range = range, .n = n, .place = place};
    uint64_t at, stack, back;
    if (place == NULL)
        return false;
    *place = (struct tg_code_place){0};
    if (n == 0 || range == NULL || context == NULL)
        return false;
    read_registers(context, &at, &stack, &back);
    if (take(&walk, at, &place->at)) {
        struct tg_code_place inner = *place, whole = {0};
        walk.place = &whole;
        _Unwind_Backtrace(look_at_frame, &walk);
        if (whole.at == inner.at && whole.module == inner.module)
            place->from = whole.from;
        return true;
    }
    /* The unwinder reads the code at `at`, and must not where a wild call has led to no memory. */
    if (at == 0 || is_mapped(at))
        _Unwind_Backtrace(look_at_frame, &walk);
    if (place->at == 0)
        take_caller(&walk, stack, back);
    return place->at != 0;
}
