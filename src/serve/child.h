/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process of the command line that answers a question: without a terminal or input, in a session of its own, with limits,
 * with few variables of the environment, and killed if the server ends in any way. One thread starts and ends them all:
 * the kernel kills a process when the thread that started it ends.
 */
#ifndef TG_SERVE_CHILD_H
#define TG_SERVE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct serve_child {
    pid_t pid;    /* 0: it has ended */
    int out, err; /* what it prints; -1: closed */
    int how;      /* its status, once it has ended */
};

/* Returns 0 or an errno. */
int serve_child_start(struct serve_child *child, const char *program, char *const argv[]);
/* Sends a signal to it and all that it has started. */
void serve_child_signal(const struct serve_child *child, int number);
/* True if it has ended; what it started in its group is killed then. */
bool serve_child_has_ended(struct serve_child *child);
/* Closes both pipes. */
void serve_child_close(struct serve_child *child);

#endif
