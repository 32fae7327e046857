/* SPDX-License-Identifier: Apache-2.0 */
/* Files without a name, for what does not fit in memory. The kernel removes them with the last descriptor,
 * also if the process is killed. */
#ifndef TG_TRACE_TEMPORARY_H
#define TG_TRACE_TEMPORARY_H

#include <stddef.h>
#include <stdint.h>
#include <taskglass/status.h>

/* Opens such a file in the folder, for reading and writing. Returns -1 with errno set on failure. The
 * caller closes it. */
int tg_temporary_open(const char *folder);

/* Reads up to `size` bytes from that position; fewer only at the end of the file. Returns -1 with errno
 * set on failure, otherwise the number of bytes. */
int64_t tg_temporary_read(int fd, void *bytes, size_t size, uint64_t position);

/* IO_ERROR: "its temporary file in '…': No space left on device". Whoever writes a file by way of a
 * temporary one puts the file's name before it. */
tg_status tg_temporary_error(struct tg_error *error, const char *folder, int cause);

#endif
