/* SPDX-License-Identifier: Apache-2.0 */
/* Marks what libtaskglass exports. The library hides everything without TG_API. */
#ifndef TASKGLASS_API_H
#define TASKGLASS_API_H

/* A function of the library. */
#define TG_API __attribute__((visibility("default")))

#endif
