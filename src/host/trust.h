/* SPDX-License-Identifier: Apache-2.0 */
/* Which module a recorded task is repeated with; taskglass/trust.h has the rule. */
#ifndef TG_HOST_TRUST_H
#define TG_HOST_TRUST_H

#include "base/module_file.h"
#include <limits.h>
#include <taskglass/recording.h>
#include <taskglass/trust.h>

/* A module that may be loaded. */
struct tg_trusted {
    char path[PATH_MAX];
    bool is_recorded;           /* the recording named it, not the caller */
    struct tg_module_file file; /* closed; says whether the path still names what was looked at */
};

/* `given`, or if that is NULL or "" the module that the recording's run.json names, if it is known or
 * `ask` says yes. NOT_FOUND: there is no such file, or no run.json; BAD_ARGUMENT: it is not a module;
 * NOT_TRUSTED. A given module is not looked at: whoever loads it checks it. */
tg_status tg_trust_choose(const struct tg_recording *recording, const char *given, tg_trust_fn ask,
                          void *context, struct tg_trusted *module, struct tg_error *error);

/* To be asked as late as possible before, and again after the module is loaded: NOT_TRUSTED if the
 * path names another file by now than the one that was chosen. */
tg_status tg_trust_still(const struct tg_trusted *module, struct tg_error *error);

/* Like tg_trust_note, for a module that is loaded: notes nothing if the file was replaced since. An error
 * means that the module is not known now; if an earlier note is there, a failure does not matter. */
tg_status tg_trust_note_loaded(const char *path, const struct tg_module_file *was,
                               struct tg_error *error);

#endif
