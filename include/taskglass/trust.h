/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which module may be loaded because a recording names it. Loading a module runs its code with the
 * user's rights, and run.json may be a stranger's. So tg_replay_task, tg_replay_bundle, tg_reference_run
 * and tg_reference_check load without a question only
 *
 *   - the module that the caller names,
 *   - a workload of this installation,
 *   - a file whose content this user has run on this machine: tg_execute notes the SHA-256 of the module
 *     in the file `modules` of $XDG_STATE_HOME/taskglass (default ~/.local/state/taskglass).
 *
 * The content that counts is that of the file on disk, with symbolic links followed. A program can let
 * its user decide about any other module (`ask` in the configs); without an answer the call fails with
 * NOT_TRUSTED.
 *
 * A NAME.cubin beside NAME.so, the same kernels for a GPU, must be known too. A file that another user
 * can replace at any moment, or that loads libraries from beside itself, is known only under the path
 * under which it was run.
 */
#ifndef TASKGLASS_TRUST_H
#define TASKGLASS_TRUST_H

#include <stdbool.h>
#include <taskglass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A module that a recording names and that is not known. The texts live until `ask` returns. */
struct tg_trust_question {
    const char *module;   /* its path, absolute, without symbolic links; may have any characters */
    const char *named_by; /* the path of the run.json that names it; the same */
    const char *why;      /* clean text, why it is not known: "it has changed since you ran it" */
};

/* True: load it, this time. Called on the thread of the call that needs the module, at most once. */
typedef bool (*tg_trust_fn)(void *context, const struct tg_trust_question *question);

/* Why a module is known here. */
enum tg_trust {
    TG_TRUST_NONE,      /* not known */
    TG_TRUST_INSTALLED, /* a workload of this installation */
    TG_TRUST_RUN_BEFORE /* this user has run this content on this machine */
};

/* Why the file would be loaded if a recording named it. Loads nothing. NOT_FOUND, BAD_ARGUMENT: it
 * cannot be opened, or is not a module. */
TG_API tg_status tg_trust_look(const char *module, enum tg_trust *trust, struct tg_error *error);

/*
 * Notes that this user has run the module. tg_execute does so by itself; this is for programs that run
 * modules with tg_device_load. Notes nothing of a module that is installed. IO_ERROR: nothing could be
 * noted, because there is no home, it cannot be written to, or others can write to the notes; the other
 * errors are those of tg_trust_look. Any thread of any process may call it at any time.
 */
TG_API tg_status tg_trust_note(const char *module, struct tg_error *error);

#ifdef __cplusplus
}
#endif
#endif
