/* SPDX-License-Identifier: Apache-2.0 */
/* The words of guarded replays, and what they cannot see. */
#include <stddef.h>
#include <taskglass/guard.h>

struct kind {
    const char *name;
    bool is_misuse;
};

static const struct kind *kind_of(uint32_t number)
{
#define KIND(constant, number, word, misuse) [constant] = {word, misuse},
    static const struct kind kinds[TG_GUARD_KINDS] = {TG_GUARD_KIND_MAP(KIND)};
    return number < TG_GUARD_KINDS ? &kinds[number] : NULL;
}

const char *tg_guard_kind_name(uint32_t kind)
{
    const struct kind *found = kind_of(kind);
    return found ? found->name : "?";
}

bool tg_guard_kind_is_misuse(uint32_t kind)
{
    const struct kind *found = kind_of(kind);
    return found && found->is_misuse;
}

/* A sentence, and the platforms on which it is true. */
struct limit {
    bool with_pages, without_pages;
    const char *text;
};

static const struct limit limits[] = {
    {true, true,
     "a read outside the arguments that neither faults nor changes an output, for example of a "
     "value that the kernel then ignores"},
    {true, true,
     "a read or write of memory that is not device memory: the kernel's stack, static variables "
     "and what it allocates itself"},
    {true, true,
     "what one part of a task does to memory that another of its arguments shares with it: only "
     "memory of no argument counts as outside"},
    {true, true,
     "a branch that the recorded inputs do not take: each task was judged for its recorded inputs "
     "alone"},
    {true, true,
     "reads outside the arguments by a kernel whose outputs vary from run to run, unless they "
     "fault"},
    {true, false,
     "an access outside its arguments that reaches other accessible memory of the device: more "
     "than 64 KiB off"},
    {false, true,
     "any read outside the arguments that changes no output, and any access farther off than the "
     "guard zones: this platform cannot protect pages"},
    {false, true,
     "a write that puts back the value that it has read, and a write of its own value to an "
     "input: this platform cannot protect pages"},
};

const char *tg_guard_unseen(bool has_pages, uint32_t number)
{
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        bool holds = has_pages ? limits[i].with_pages : limits[i].without_pages;
        if (holds && number-- == 0)
            return limits[i].text;
    }
    return NULL;
}
