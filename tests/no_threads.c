/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the place of pthread_create in the unit tests that start no thread (CMakeLists.txt): the thread
 * sanitizer does not run them, so one that does start a thread would go unseen. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument)
{
    (void)thread, (void)attributes, (void)run, (void)argument;
    fputs("this test starts a thread: add it to `threaded` in tests/CMakeLists.txt\n", stderr);
    abort();
}
