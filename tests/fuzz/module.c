/* SPDX-License-Identifier: Apache-2.0 */
/* The check of a module's file: it must end, stay within the input, and refuse every cut that removes
 * a byte that the dynamic linker reads. */
#define _GNU_SOURCE 1
#include "base/module_elf.h"
#include "fuzz/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tg_module_bytes module = {data, -1, size, NULL};
    bool beside;
    const char *problem = tg_module_elf_problem(&module, &beside);
    HOLDS(!problem || *problem);
    if (problem)
        return 0;
    module.size = size / 2; /* a header alone is never a module */
    (void)tg_module_elf_problem(&module, &beside);
    module.size = 64;
    HOLDS(tg_module_elf_problem(&module, &beside) != NULL);
    return 0;
}
