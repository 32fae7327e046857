/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether bytes are an ELF shared object of this machine that the dynamic linker can map. The linker
 * believes what a file says about itself: a segment that lies behind the end of the file is mapped all
 * the same, and the first access to it kills the process with SIGBUS.
 */
#ifndef TG_BASE_MODULE_ELF_H
#define TG_BASE_MODULE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of a module: `bytes` in memory, or if that is NULL a file that is read with pread. */
struct tg_module_bytes {
    const unsigned char *bytes;
    int fd;
    uint64_t size;
    int *cause; /* may be NULL; set to the errno of a read that failed */
};

/*
 * NULL: headers, segments, the dynamic section, its tables and the relocations lie where they must.
 * Otherwise what is wrong, as the end of a sentence: "ends before its program headers do".
 * *looks_beside: the linker would search its libraries relative to its own folder or to the current
 * one, so that what it loads depends on where it lies.
 */
const char *tg_module_elf_problem(const struct tg_module_bytes *module, bool *looks_beside);

/* Reads exactly that many bytes, or fails. */
bool tg_module_bytes_read(const struct tg_module_bytes *module, uint64_t at, void *to, size_t size);

#endif
