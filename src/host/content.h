/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the content of a tensor from device memory, for the records that the host itself makes. No
 * task may write the tensor meanwhile. */
#ifndef TG_HOST_CONTENT_H
#define TG_HOST_CONTENT_H

#include "host/device.h"
#include "recording/writer.h"

/* Hashes the elements, and writes them to the payload file if `writer` is not NULL. Sets the hash, the
 * flags and the payload's place in the record, which describes the tensor already. If the content
 * cannot be read or written, the record says that it is truncated. */
void tg_content_take(struct tg_device *device, const struct tg_tensor *tensor,
                     struct tg_dump_writer *writer, struct tg_record *record);

#endif
