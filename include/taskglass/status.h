/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one table of statuses: number, name, exit code of the process, meaning, and advice. Every
 * function that can fail returns a tg_status: 0 on success, negative on failure. The numbers are
 * part of run.json and of the ABI: never renumber, only append.
 */
#ifndef TASKGLASS_STATUS_H
#define TASKGLASS_STATUS_H

#include <stddef.h>
#include <taskglass/api.h>

/* clang-format off */
/* What can go wrong, and what to do about it. */
/*      name                      number exit  meaning, advice */
#define TG_STATUS_MAP(X)                                                                           \
    X(OK,                         0,    0, "success", "")                                          \
    X(MISMATCH,                  -1,    1, "outputs differ from the golden values",                \
      "record this run and a correct one with --dump-tensor; compare them with `taskglass diff`")   \
    X(BAD_ARGUMENT,              -2,    2, "an argument is not valid",                             \
      "`taskglass help VERB` shows options and what they accept, `taskglass list` cases and parameters") \
    X(NOT_FOUND,                 -3,    2, "what was named does not exist",                        \
      "`taskglass list` shows workloads, cases, platforms and runtimes")                           \
    X(UNSUPPORTED,               -4,    2, "not available here",                                   \
      "`taskglass list` shows what this machine has")                                              \
    X(NO_MEMORY,                 -5,    2, "it does not fit in memory",                            \
      "raise --device-memory if the case needs more; lower it if the machine has less")            \
    X(IO_ERROR,                  -6,    2, "a file or directory could not be used",                \
      "check the path, its permissions and the free space")                                        \
    X(ABI_MISMATCH,              -7,    2, "built against another version of Taskglass",           \
      "rebuild the module against the installed headers")                                          \
    X(BUSY,                      -8,    2, "the device, or a run's folder, is still in use",       \
      "wait for the run, or cancel it")                                                            \
    X(CYCLE,                     -9,    2, "the graph has a cycle",                                \
      "remove one of the named edges")                                                             \
    X(TIMED_OUT,                -10,    3, "not finished within the time given",                   \
      "wait again, or cancel")                                                                     \
    X(CANCELLED,                -11,    3, "cancelled before it finished",                         \
      "run it again; what was recorded before can be read")                                       \
    X(WORKLOAD_FAULT,           -12,    2, "a function of the workload crashed, exited or did not return", \
      "correct the function that the message names; raise --timeout if it is merely slow")         \
    X(NOT_TRUSTED,              -13,    2, "a recording names a module that is not known here",     \
      "name the module with --module if you trust it")                                             \
    X(RACE,                     -14,    1, "tasks that nothing keeps in order use the same bytes", \
      "add the edges that the report names; --races warn runs the graph all the same")             \
    X(KERNEL_FAULT,             -32,    3, "a kernel crashed",                                     \
      "check the kernel's bounds and pointers; the report names the task and its arguments")       \
    X(HANG,                     -33,    3, "no task finished within the no-progress limit",        \
      "look at the running tasks; raise --timeout if they are merely slow")                        \
    X(DEVICE_LOST,              -34,    3, "the device died",                                      \
      "open it again; if it ran out of memory, lower --device-memory or run a smaller case")       \
    X(COMM_MISMATCH,            -35,    3, "ranks called communication that does not fit together", \
      "compare the source lines that the message names; all ranks must call the same in the same order") \
    X(RANK_LOST,                -36,    3, "another rank of the job ended or failed",              \
      "look at that rank's report first: `taskglass explain DIR` reads those of all ranks")         \
    X(SCOPE_DEADLOCK,           -48,    3, "one scope needs more task slots than the ring has",    \
      "raise --ring-task-window")                                                                  \
    X(HEAP_RING_DEADLOCK,       -49,    3, "one scope needs more heap than the ring has",          \
      "raise --ring-heap")                                                                         \
    X(FLOW_CONTROL_DEADLOCK,    -50,    3, "the rings can never drain",                            \
      "raise --ring-task-window or close scopes earlier")                                          \
    X(DEP_POOL_OVERFLOW,        -51,    3, "one scope needs more dependency entries than there are",\
      "raise --ring-dep-pool")                                                                     \
    X(TENSORMAP_OVERFLOW,       -52,    3, "the tensor map is full of live tensors",               \
      "raise --tensormap")                                                                         \
    X(RING_BUFFER_BACKPRESSURE, -53,    0, "waiting for a full ring dominated the run (warning)",  \
      "raise the ring named in the message")
/* clang-format on */

#define TG_STATUS_ENUM_(name, number, exit_code, meaning, advice) TG_##name = (number),
typedef enum tg_status { TG_STATUS_MAP(TG_STATUS_ENUM_) } tg_status;
#undef TG_STATUS_ENUM_

#ifdef __cplusplus
extern "C" {
#endif

/* "KERNEL_FAULT" for TG_KERNEL_FAULT; "UNKNOWN" for an unknown number. Never NULL. */
TG_API const char *tg_status_name(tg_status status);
/* One line on its meaning, and one on what to do ("" if there is no advice). */
TG_API const char *tg_status_text(tg_status status);
TG_API const char *tg_status_advice(tg_status status);
/* Exit code of a command: 0 success, 1 outputs differ, 2 usage or input, 3 the device failed. */
TG_API int tg_status_exit_code(tg_status status);

/*
 * Where a function explains its failure. The caller owns it, may pass NULL, and may reuse it; the
 * function writes it only when it fails. `text` is one line without a newline: what is wrong,
 * where, and how to correct it.
 */
struct tg_error {
    tg_status status;
    char text[500];
};

#ifdef __cplusplus
}
#endif
#endif
