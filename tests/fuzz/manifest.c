/* SPDX-License-Identifier: Apache-2.0 */
/* A manifest of any bytes. */
#define _GNU_SOURCE 1
#include "fuzz/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!tg_journal_begins(data, size))
        fuzz_check_recording(data, size);
    return 0;
}
