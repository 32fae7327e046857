/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <taskglass/device.h>

/* A global variable, because a signal handler gets no context. */
static volatile sig_atomic_t caught;

static void on_signal(int number)
{
    caught = number;
}

/* The threads of the program keep their own masks: one of them gets the signal, and all of them stop. */
static void on_stop(int number)
{
    (void)number;
    tg_suspend();
}

void cli_interrupt_catch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction old, action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART | (int)SA_RESETHAND;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    action.sa_handler = on_stop;
    action.sa_flags = SA_RESTART;
    if (sigaction(SIGTSTP, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(SIGTSTP, &action, NULL);
}

const char *cli_interrupt_name(void)
{
    return caught == SIGINT ? "SIGINT" : caught == SIGTERM ? "SIGTERM" : caught ? "SIGHUP" : "";
}

int cli_interrupt_caught(void)
{
    return caught;
}

void cli_interrupt_pass_on(void)
{
    if (!caught)
        return;
    fflush(NULL);
    signal(caught, SIG_DFL);
    raise(caught);
}
