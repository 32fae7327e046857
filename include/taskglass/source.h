/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an address in a module's code to the source line. A signal handler notes the place while the
 * crashed function is still on the stack; whoever reports the crash looks up the line afterwards.
 *
 *     before      tg_code_range_of(workload, &range)
 *     handler     tg_code_place_find(&range, 1, context, &place)
 *     report      tg_source_find(path, &place, &site), tg_source_text(&site, text, sizeof text)
 */
#ifndef TASKGLASS_SOURCE_H
#define TASKGLASS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The memory that a loaded module takes. */
struct tg_code_range {
    uint64_t begin, end;
    uint64_t shift; /* an address in memory less this one is the address in the module's file */
};

/* Where a thread is in the code of a module: addresses in its file; 0: not known. */
struct tg_code_place {
    uint64_t at;     /* the innermost function of the module */
    uint64_t from;   /* the outermost one that led there; 0 if it is the same */
    uint32_t module; /* number of the range */
    uint32_t reserved;
};

/* A line of a source. */
struct tg_source_line {
    char file[256]; /* as the compiler was called: absolute, or relative; "": not known */
    uint32_t line;
    char function[96];
};

/* The line of a place in a module. */
struct tg_source_site {
    struct tg_source_line at; /* where it was */
    struct tg_source_line
        called_at; /* where the outermost function called it; line 0: it is that one */
};

/* The module that this address lies in. False: none. Not for signal handlers. */
TG_API bool tg_code_range_of(const void *address, struct tg_code_range *range);

/*
 * For a handler that was installed with SA_SIGINFO: the innermost function of one of `n` modules that
 * was running when the signal came. `context` is the handler's third argument. It reads the stack,
 * which may be damaged: *place is filled in step by step, so a handler that is entered again because
 * of that can use what is there. False: the signal came from elsewhere.
 */
TG_API bool tg_code_place_find(const struct tg_code_range *range, uint32_t n, void *context,
                               struct tg_code_place *place);

/*
 * Looks up the lines in the debug information of the module. A separate process without rights reads
 * it, within a limit of time and memory, with addr2line of binutils or LLVM. NOT_FOUND: the module has
 * no line for this place, or its debug information cannot be read. UNSUPPORTED: there is no addr2line.
 */
TG_API tg_status tg_source_find(const char *module, const struct tg_code_place *place,
                                struct tg_source_site *site, struct tg_error *error);

/* "at model.c:42 in add", or "at last.c:7 in clamp, called at model.c:42 in add"; "" without a line.
 * A file under the current directory is named relative to it. */
TG_API void tg_source_text(const struct tg_source_site *site, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
