/* SPDX-License-Identifier: Apache-2.0 */
/* Visibility of what libtaskglass exports. Everything without TG_API stays inside. */
#ifndef TASKGLASS_API_H
#define TASKGLASS_API_H

#define TG_API __attribute__((visibility("default")))

#endif
