/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as text, for pages that contain them. */
#ifndef TG_BASE_BASE64_H
#define TG_BASE_BASE64_H

#include <stddef.h>

/* The bytes as base64, on the heap; NULL if memory ran out. Leaves out the padding, which browsers do not need. */
char *tg_base64(const void *bytes, size_t size);

#endif
