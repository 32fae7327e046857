/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the place of the functions that start threads in the unit tests that start none (CMakeLists.txt):
 * the thread sanitizer does not run them, so one that does start a thread would go unseen. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>

static _Noreturn void refuse(void)
{
    fputs("this test starts a thread: add it to `threaded` in tests/CMakeLists.txt\n", stderr);
    abort();
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument)
{
    (void)thread, (void)attributes, (void)run, (void)argument;
    refuse();
}

int __wrap_thrd_create(thrd_t *thread, thrd_start_t run, void *argument);

int __wrap_thrd_create(thrd_t *thread, thrd_start_t run, void *argument)
{
    (void)thread, (void)run, (void)argument;
    refuse();
}
