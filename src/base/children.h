/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes that the library has started for this one: devices, and processes of references. They
 * have groups of their own, so Ctrl-Z reaches only this process, and a handler of SIGTSTP has to pass it
 * on. A signal handler gets no context; hence one table for the whole process.
 */
#ifndef TG_BASE_CHILDREN_H
#define TG_BASE_CHILDREN_H

#include <signal.h>
#include <sys/types.h>

/* Any thread may call these. `stop`: the signal that stops it. If the table is full, the process is left
 * out: it then runs on while this one is stopped. */
void tg_children_add(pid_t pid, int stop);
/* From now on this signal stops it. */
void tg_children_change(pid_t pid, int stop);
/* Call it before the process is reaped: afterwards its number may belong to another one. */
void tg_children_remove(pid_t pid);

/* Hold before you start a process, and release once it is in the table. In between this thread gets no
 * SIGTSTP, so a handler that stops all children does not miss the new one. */
void tg_children_hold(sigset_t *before);
void tg_children_release(const sigset_t *before);

/* Both are safe in a signal handler. */
void tg_children_stop(void);
void tg_children_continue(void);

#endif
