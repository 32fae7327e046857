/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "platform/cuda/device/blame.h"
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a dump: an ELF file with a section that is the table of multiprocessors. */
#define SECTION_OF_MULTIPROCESSORS 0x8000000bu
struct multiprocessor {
    uint32_t number;
    uint32_t reserved;
    uint32_t exception; /* 0: none */
    uint32_t has_pc;
};

/* The process's one dump, and what it says. */
enum { MULTIPROCESSORS = 1024 };
static int dump = -1;
static bool excepted[MULTIPROCESSORS];

/* The driver says on standard error that it begins a dump, and nowhere else. All of it is read here:
 * the terminal is the host's. */
static int heard[2] = {-1, -1};

static void *listen_to_driver(void *busy)
{
    char text[512];
    ssize_t n;
    while ((n = read(heard[0], text, sizeof text)) > 0)
        if (memmem(text, (size_t)n, "coredump", strlen("coredump")) != NULL)
            __atomic_store_n((uint32_t *)busy, 1u, __ATOMIC_RELEASE);
    return NULL;
}

static void redirect(uint32_t *busy)
{
    pthread_t thread;
    if (pipe2(heard, O_CLOEXEC) != 0 || pthread_create(&thread, NULL, listen_to_driver, busy) != 0)
        return;
    pthread_detach(thread);
    dup2(heard[1], STDERR_FILENO);
    dup2(heard[1], STDOUT_FILENO);
}

void tg_blame_prepare(uint32_t *busy)
{
    char path[64];
    redirect(busy);
    dump = memfd_create("taskglass-gpu-dump", MFD_CLOEXEC);
    if (dump < 0 || getenv("CUDA_ENABLE_COREDUMP_ON_EXCEPTION") != NULL)
        return; /* the user's own wishes come first */
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), dump);
    setenv("CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "1", 1);
    setenv("CUDA_ENABLE_LIGHTWEIGHT_COREDUMP", "1", 1);
    setenv("CUDA_COREDUMP_FILE", path, 1);
    setenv("CUDA_COREDUMP_GENERATION_FLAGS",
           "skip_nonrelocated_elf_images,skip_global_memory,skip_shared_memory,skip_local_memory,"
           "skip_constbank_memory,skip_abort",
           1);
}

/* Sections there are: with very many, the number is in the first one. */
static uint64_t count_sections(const Elf64_Ehdr *head, uint64_t size)
{
    Elf64_Shdr first;
    if (head->e_shoff > size || sizeof first > size - head->e_shoff)
        return 0;
    memcpy(&first, (const char *)head + head->e_shoff, sizeof first);
    uint64_t n = head->e_shnum ? head->e_shnum : first.sh_size;
    uint64_t room = (size - head->e_shoff) / sizeof first;
    return n < room ? n : room;
}

static void note_exceptions(const char *bytes, uint64_t size, const Elf64_Shdr *section)
{
    struct multiprocessor m;
    if (section->sh_entsize < sizeof m || section->sh_offset > size ||
        section->sh_size > size - section->sh_offset)
        return;
    for (uint64_t at = 0; at + section->sh_entsize <= section->sh_size; at += section->sh_entsize) {
        memcpy(&m, bytes + section->sh_offset + at, sizeof m);
        if (m.exception != 0 && m.number < MULTIPROCESSORS)
            excepted[m.number] = true;
    }
}

void tg_blame_read(void)
{
    struct stat info;
    const Elf64_Ehdr *head;
    const Elf64_Shdr *section;
    uint64_t size, n;
    if (dump < 0 || fstat(dump, &info) != 0 || (uint64_t)info.st_size < sizeof *head)
        return;
    size = (uint64_t)info.st_size;
    head = mmap(NULL, size, PROT_READ, MAP_SHARED, dump, 0);
    if (head == MAP_FAILED || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_shentsize != sizeof *section)
        return;
    n = count_sections(head, size);
    section = (const Elf64_Shdr *)((const char *)head + head->e_shoff);
    for (uint64_t i = 0; i < n; i++) {
        Elf64_Shdr copy; /* the table need not be aligned */
        memcpy(&copy, section + i, sizeof copy);
        if (copy.sh_type == SECTION_OF_MULTIPROCESSORS)
            note_exceptions((const char *)head, size, &copy);
    }
}

bool tg_blame_has(uint32_t number)
{
    return number < MULTIPROCESSORS && excepted[number];
}
