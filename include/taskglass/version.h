/* SPDX-License-Identifier: Apache-2.0 */
/* The version of these headers. tg_version() in device.h is that of the library in use. */
#ifndef TASKGLASS_VERSION_H
#define TASKGLASS_VERSION_H

/* As numbers, and as text. */
#define TG_VERSION_MAJOR 0
#define TG_VERSION_MINOR 1
#define TG_VERSION_PATCH 0
#define TG_VERSION_STRING "0.1.0"

#endif
