/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device program as a GPU has it, on threads: a core without work polls, stands in line or waits at an heir
 * (device/heir.h), and nothing wakes it. Every file of the device program is compiled for such a target
 * here, so none of the library's is linked.
 */
#ifndef TG_TEST_POLLING_H
#define TG_TEST_POLLING_H

#include "rig.h"
#include "device/target.h"

#undef TG_TARGET_SLEEPERS_LOOK
#undef TG_TARGET_LINES_UP
#undef TG_TARGET_FILLS_QUEUES
#undef TG_TARGET_MOVES_ROLES
#define TG_TARGET_SLEEPERS_LOOK 1
#define TG_TARGET_LINES_UP 1
#define TG_TARGET_FILLS_QUEUES 1
#define TG_TARGET_MOVES_ROLES 0
/* There are more threads than CPUs. */
#define tg_target_wait(word, value) ((void)(word), (void)(value), tg_target_yield())
#define tg_target_pause tg_target_yield

#include "device/bag.c"
#include "device/comm.c"
#include "device/heir.c"
#include "device/mix.c"
#include "device/queue.c"
#include "device/stream.c"
/* Names that several files have for functions of their own. */
#define sleep_unless_needed sleep_unless_needed_in_core
#include "device/core.c"
#define finish finish_in_recorder
#include "device/recorder.c"
#define let_go let_go_in_role
#define take take_in_role
#include "device/role.c"
#define has_room has_room_in_trace
#include "device/trace.c"
#define end end_in_engine
#include "device/engine.c"
#undef end
#define sees_something sees_something_in_scheduler
#undef sleep_unless_needed
#define sleep_unless_needed sleep_unless_needed_in_scheduler
#define feed feed_in_scheduler
#include "device/scheduler.c"
#undef feed
#define pop pop_in_worker
#include "device/worker.c"

#endif
