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
    {true, false,
     "a read in a gap of a view, or of old contents of an output, that changes no output"},
    {false, true,
     "a read outside the arguments that changes no output (this platform cannot protect pages)"},
    {true, false,
     "an access more than 64 KiB outside an argument that hits memory which the device itself uses"},
    {false, true, "an access more than 16 KiB outside an argument"},
    {false, true, "a write outside an output, or to an input, of the value that was there already"},
    {true, true,
     "an access that misses one argument and hits another that lies between its elements or shares "
     "memory with it, unless it changes an input"},
    {true, true,
     "memory that is no argument: static variables, the stack, and what the kernel allocates"},
    {true, true, "what a kernel would do with other inputs: only the recorded ones were tried"},
    {true, true, "reads of kernels whose outputs vary from run to run, unless the read faults"},
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
