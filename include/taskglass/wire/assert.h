/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and offsets that cross memory or disk are asserted where they are declared. */
#ifndef TASKGLASS_WIRE_ASSERT_H
#define TASKGLASS_WIRE_ASSERT_H

#include <stddef.h>

#ifdef __cplusplus
#define TG_WIRE_ASSERT(what) static_assert(what, #what)
#else
#define TG_WIRE_ASSERT(what) _Static_assert(what, #what)
#endif

#define TG_WIRE_SIZE(type, bytes) TG_WIRE_ASSERT(sizeof(type) == (bytes))
#define TG_WIRE_AT(type, field, offset) TG_WIRE_ASSERT(offsetof(type, field) == (offset))

#endif
