/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A journal of any bytes. The first byte is not part of it: if it is odd, every record gets its
 * right check, as from a careful hostile writer.
 */
#define _GNU_SOURCE 1
#include "fuzz/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    bool seal = data[0] & 1;
    unsigned char *bytes = malloc(size);
    memcpy(bytes, data + 1, --size);
    if (seal)
        fuzz_seal(bytes, size);
    if (tg_journal_begins(bytes, size))
        fuzz_check_recording(bytes, size);
    free(bytes);
    return 0;
}
