/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much stack a thread needs. The driver cannot tell, since kernels are called through pointers; but
 * the image has the frame of every function in its notes (.nv.info), and the longest way through the
 * device program is known. An orchestration holds the arguments of tasks and has the largest frames,
 * by far: a run without one does with less.
 */
#include "platform/cuda/device/device.h"
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Beside the largest frame of the workload: the device program's own, and a helper or two. */
enum { KERNEL_ROOM = 2048, ORCHESTRATION_ROOM = 12288, LEAST = 4096 };
/* Where the image cannot be read. */
enum { KERNEL_GUESS = 8192, ORCHESTRATION_GUESS = 32768 };
/* A note: format, attribute, bytes that follow. Frames: the symbol and the size. */
enum { NOTE_WITH_BYTES = 4, NOTE_FRAME = 0x11 };
/* How names of orchestrations end: they take a runtime and arguments. */
#define ORCHESTRATION_ENDING "P5tg_rtPK7tg_args"

struct file {
    const char *bytes;
    uint64_t size;
    const Elf64_Shdr *symbols;
};

/* NULL where the file is not that long. */
static const void *at(const struct file *f, uint64_t offset, uint64_t size)
{
    return offset <= f->size && size <= f->size - offset ? f->bytes + offset : NULL;
}

static const Elf64_Shdr *section(const struct file *f, uint32_t number)
{
    const Elf64_Ehdr *head = at(f, 0, sizeof *head);
    if (head == NULL || number >= head->e_shnum || head->e_shentsize != sizeof(Elf64_Shdr))
        return NULL;
    return at(f, head->e_shoff + number * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
}

/* "" where there is none, or no end to it. */
static const char *text(const struct file *f, uint32_t strings, uint64_t offset)
{
    const Elf64_Shdr *s = section(f, strings);
    const char *start = s && offset < s->sh_size ? at(f, s->sh_offset, s->sh_size) : NULL;
    return start && memchr(start + offset, 0, s->sh_size - offset) ? start + offset : "";
}

static bool is_orchestration(const struct file *f, uint32_t number)
{
    const Elf64_Sym *symbol =
        f->symbols ? at(f, f->symbols->sh_offset + number * sizeof *symbol, sizeof *symbol) : NULL;
    const char *name = symbol ? text(f, f->symbols->sh_link, symbol->st_name) : "";
    size_t length = strlen(name), ending = strlen(ORCHESTRATION_ENDING);
    return length > ending && strcmp(name + length - ending, ORCHESTRATION_ENDING) == 0;
}

static void read_notes(const struct file *f, const Elf64_Shdr *notes, size_t *kernels,
                       size_t *orchestrations)
{
    struct {
        uint8_t format, attribute;
        uint16_t size;
        uint32_t symbol, frame;
    } note;
    for (uint64_t offset = 0; offset + 4 <= notes->sh_size;) {
        const void *bytes = at(f, notes->sh_offset + offset, 4);
        if (bytes == NULL)
            return;
        memcpy(&note, bytes, 4);
        offset += 4u + (note.format == NOTE_WITH_BYTES ? note.size : 0);
        if (note.format != NOTE_WITH_BYTES || note.attribute != NOTE_FRAME || note.size != 8 ||
            (bytes = at(f, notes->sh_offset + offset - 8, 8)) == NULL)
            continue;
        memcpy(&note.symbol, bytes, 8);
        size_t *largest = is_orchestration(f, note.symbol) ? orchestrations : kernels;
        if (note.frame > *largest && note.frame < 1 << 20)
            *largest = note.frame;
    }
}

static size_t round_up(size_t bytes)
{
    bytes = (bytes + 1023) / 1024 * 1024;
    return bytes > LEAST ? bytes : LEAST;
}

static void measure(struct file *f, struct tg_cuda_image *image)
{
    const Elf64_Ehdr *head = at(f, 0, sizeof *head);
    size_t kernels = 0, orchestrations = 0;
    for (uint32_t i = 0; head && i < head->e_shnum; i++)
        if (section(f, i) && section(f, i)->sh_type == SHT_SYMTAB)
            f->symbols = section(f, i);
    for (uint32_t i = 0; head && i < head->e_shnum; i++)
        if (section(f, i) &&
            strcmp(text(f, head->e_shstrndx, section(f, i)->sh_name), ".nv.info") == 0)
            read_notes(f, section(f, i), &kernels, &orchestrations);
    if (kernels == 0)
        return;
    image->kernel_stack = round_up(kernels + KERNEL_ROOM);
    image->orchestration_stack = round_up(orchestrations + kernels + ORCHESTRATION_ROOM);
}

void tg_cuda_measure_stack(const char *path, struct tg_cuda_image *image)
{
    struct file f = {0};
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *map = MAP_FAILED;
    image->kernel_stack = KERNEL_GUESS;
    image->orchestration_stack = ORCHESTRATION_GUESS;
    if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0)
        map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map != MAP_FAILED) {
        f.bytes = map;
        f.size = (uint64_t)info.st_size;
        measure(&f, image);
        munmap(map, (size_t)info.st_size);
    }
    if (fd >= 0)
        close(fd);
}
