/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The notes of the modules that this user has run: the file `modules` in $XDG_STATE_HOME/taskglass, or
 * in ~/.local/state/taskglass. One line for each content and path:
 *
 *     SHA-256 in hex, a space, the size in bytes, a space, the path, a line end
 *
 * Lines that look different are skipped. The size spares the hash of files that cannot be known.
 */
#ifndef TG_HOST_TRUST_NOTES_H
#define TG_HOST_TRUST_NOTES_H

#include "base/module_file.h"
#include <stdbool.h>
#include <stddef.h>

struct tg_trust_notes {
    char *text; /* the file's content, with a zero behind it; NULL: there is none */
    size_t size;
    int cause;         /* why they could not be read: a cause of base/files.h, or 0 */
    char why_not[320]; /* why the notes cannot be used; "": they can, or there are none yet */
};

/* Reads all notes. The caller frees them with tg_trust_notes_free, also if they cannot be used. */
void tg_trust_notes_read(struct tg_trust_notes *notes);
void tg_trust_notes_free(struct tg_trust_notes *notes);

/* What the notes say about a file. */
struct tg_trust_match {
    bool content;      /* it was run, somewhere */
    bool content_here; /* it was run under this path */
    bool other_here;   /* another content was run under this path */
    int cause;         /* why the file could not be read, an errno; 0: it was */
};
/* Reads the file's content only if a note has its size. */
void tg_trust_notes_find(const struct tg_trust_notes *notes, const struct tg_module_file *file,
                         const char *path, struct tg_trust_match *match);

/* Appends a line, unless it is there already. IO_ERROR. */
tg_status tg_trust_notes_add(const struct tg_module_file *file, const char *path,
                             struct tg_error *error);

#endif
