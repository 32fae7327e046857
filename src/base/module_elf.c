/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "base/module_elf.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than any compiler writes. They bound the memory and the time that a hostile file costs. */
enum { MOST_SEGMENTS = 256, MOST_ENTRIES = 4096, PIECE = 512, PATH_PART = 4096 };
/* The memory that a module may ask for at once, its zeros included. */
#define MOST_MEMORY (UINT64_C(64) << 30)

#ifndef DT_RELRSZ
#define DT_RELRSZ 35
#define DT_RELR 36
#endif

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#elif defined(__riscv)
enum { MACHINE = EM_RISCV };
#else
enum { MACHINE = EM_NONE }; /* any: the dynamic linker knows better */
#endif

static const char no_memory[] = "could not be checked: out of host memory";

struct elf {
    const struct tg_module_bytes *module;
    Elf64_Phdr segment[MOST_SEGMENTS];
    unsigned n_segments;
    /* From the dynamic section; a size or an address that it does not have is 0. */
    Elf64_Dyn entry[MOST_ENTRIES];
    unsigned n_entries;
    uint64_t strings, strings_size, symbols;
    bool has_text_relocations;
};

bool tg_module_bytes_read(const struct tg_module_bytes *module, uint64_t at, void *to, size_t size)
{
    if (at > module->size || size > module->size - at)
        return false;
    if (module->bytes) {
        memcpy(to, module->bytes + at, size);
        return true;
    }
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(module->fd, (char *)to + done, size - done, (off_t)(at + done));
        if (n < 0 && errno != EINTR && module->cause)
            *module->cause = errno;
        if (n == 0 || (n < 0 && errno != EINTR))
            return false; /* the file is shorter than a moment ago */
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* ── headers ───────────────────────────────────────────────────────────────────────────── */

static const char *check_head(struct elf *e)
{
    Elf64_Ehdr head;
    uint64_t most = e->module->size;
    if (!tg_module_bytes_read(e->module, 0, &head, sizeof head) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return "is not a shared object: it does not begin with an ELF header";
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
        (MACHINE != EM_NONE && head.e_machine != MACHINE))
        return "is not a shared object for this machine";
    if (head.e_type != ET_DYN || head.e_version != EV_CURRENT)
        return "is an ELF file, but not a shared object";
    if (head.e_phentsize != sizeof e->segment[0] || head.e_phnum == 0 ||
        head.e_phnum > MOST_SEGMENTS || head.e_phoff % sizeof(uint64_t) != 0)
        return "has program headers that cannot be right";
    e->n_segments = head.e_phnum;
    if (head.e_phoff > most || !tg_module_bytes_read(e->module, head.e_phoff, e->segment,
                                                     e->n_segments * sizeof e->segment[0]))
        return "is cut short: it ends before its program headers do";
    /* The linker does not read sections, but a file without its end is not what its author built. */
    if (head.e_shnum > 0 &&
        (head.e_shoff > most || (uint64_t)head.e_shnum * head.e_shentsize > most - head.e_shoff))
        return "is cut short: it ends before its section headers do";
    return NULL;
}

static const char *check_load(const struct elf *e, const Elf64_Phdr *p, uint64_t first,
                              uint64_t after)
{
    uint64_t size = e->module->size;
    if (p->p_offset > size || p->p_filesz > size - p->p_offset)
        return "is cut short: it ends before its segments do";
    if (p->p_filesz > p->p_memsz || (p->p_align & (p->p_align - 1)) != 0 ||
        (p->p_align > 1 && (p->p_vaddr - p->p_offset) % p->p_align != 0) || p->p_vaddr < after)
        return "has segments that cannot be right";
    if (p->p_vaddr - first > MOST_MEMORY || p->p_memsz > MOST_MEMORY - (p->p_vaddr - first))
        return "asks for more than 64 GiB of memory";
    return NULL;
}

static const char *check_loads(const struct elf *e)
{
    uint64_t first = 0, after = 0;
    bool has_one = false;
    for (unsigned i = 0; i < e->n_segments; i++) {
        const Elf64_Phdr *p = &e->segment[i];
        const char *problem;
        if (p->p_type != PT_LOAD)
            continue;
        if (!has_one)
            first = p->p_vaddr;
        has_one = true;
        problem = check_load(e, p, first, after);
        if (problem)
            return problem;
        after = p->p_vaddr + p->p_memsz;
    }
    return has_one && first <= MOST_MEMORY ? NULL : "has no segments to load";
}

/* The loaded segment that has these addresses: as bytes of the file, or as memory with its zeros. */
static const Elf64_Phdr *holder(const struct elf *e, uint64_t address, uint64_t size, bool in_file)
{
    for (unsigned i = 0; i < e->n_segments; i++) {
        const Elf64_Phdr *p = &e->segment[i];
        uint64_t room = in_file ? p->p_filesz : p->p_memsz;
        if (p->p_type == PT_LOAD && address >= p->p_vaddr && address - p->p_vaddr <= room &&
            size <= room - (address - p->p_vaddr))
            return p;
    }
    return NULL;
}

static bool in_file(const struct elf *e, uint64_t address, uint64_t size)
{
    return holder(e, address, size, true) != NULL;
}

/* Reads from an address as the module will have it. */
static bool read_address(const struct elf *e, uint64_t address, void *to, size_t size)
{
    const Elf64_Phdr *p = holder(e, address, size, true);
    return p && tg_module_bytes_read(e->module, p->p_offset + (address - p->p_vaddr), to, size);
}

/* The linker reads notes and copies the thread's variables from where these headers say. */
static const char *check_other_segments(const struct elf *e)
{
    for (unsigned i = 0; i < e->n_segments; i++) {
        const Elf64_Phdr *p = &e->segment[i];
        bool is_note = p->p_type == PT_NOTE || p->p_type == PT_GNU_PROPERTY;
        if ((is_note && p->p_memsz > 0 && !in_file(e, p->p_vaddr, p->p_memsz)) ||
            (p->p_type == PT_TLS && (p->p_filesz > p->p_memsz || p->p_memsz > MOST_MEMORY ||
                                     (p->p_align & (p->p_align - 1)) != 0 || p->p_align > 1 << 20 ||
                                     (p->p_filesz > 0 && !in_file(e, p->p_vaddr, p->p_filesz)))))
            return "has segments that cannot be right";
    }
    return NULL;
}

/* ── the dynamic section ───────────────────────────────────────────────────────────────── */

static const char bad_dynamic[] = "has a dynamic section that cannot be right";

static const char *read_dynamic(struct elf *e)
{
    const Elf64_Phdr *dynamic = NULL;
    uint64_t room;
    for (unsigned i = 0; i < e->n_segments; i++) {
        if (e->segment[i].p_type != PT_DYNAMIC)
            continue;
        if (dynamic)
            return bad_dynamic;
        dynamic = &e->segment[i];
    }
    if (!dynamic)
        return "has no dynamic section: it is not a shared object";
    room = dynamic->p_memsz / sizeof e->entry[0];
    room = room < MOST_ENTRIES ? room : MOST_ENTRIES;
    if (dynamic->p_vaddr % sizeof(uint64_t) != 0 ||
        !read_address(e, dynamic->p_vaddr, e->entry, room * sizeof e->entry[0]))
        return bad_dynamic;
    while (e->n_entries < room && e->entry[e->n_entries].d_tag != DT_NULL)
        e->n_entries++;
    return e->n_entries < room ? NULL : bad_dynamic;
}

/* The value of the last entry with that tag, as the linker takes it; 0 if there is none. */
static uint64_t value_of(const struct elf *e, int64_t tag)
{
    for (unsigned i = e->n_entries; i-- > 0;)
        if (e->entry[i].d_tag == tag)
            return e->entry[i].d_un.d_val;
    return 0;
}

/* A table with its size in another entry. A module without the table is good. */
static bool holds_table(const struct elf *e, int64_t address, int64_t size, uint64_t row,
                        bool from_file)
{
    uint64_t at = value_of(e, address), bytes = value_of(e, size);
    return bytes == 0 ||
           (bytes % row == 0 && at % 4 == 0 && holder(e, at, bytes, from_file) != NULL);
}

/* nbucket, nchain, the buckets, the chains: one chain for each symbol. */
static bool holds_hash(const struct elf *e)
{
    uint64_t at = value_of(e, DT_HASH);
    uint32_t head[2];
    return at == 0 || (read_address(e, at, head, sizeof head) && head[0] > 0 &&
                       in_file(e, at, 4 * (UINT64_C(2) + head[0] + head[1])) &&
                       in_file(e, e->symbols, sizeof(Elf64_Sym) * (uint64_t)head[1]));
}

/* nbuckets, the first symbol, words of the Bloom filter, its shift; the filter; the buckets. */
static bool holds_gnu_hash(const struct elf *e)
{
    uint64_t at = value_of(e, DT_GNU_HASH);
    uint32_t head[4];
    return at == 0 || (read_address(e, at, head, sizeof head) && head[0] > 0 && head[2] > 0 &&
                       (head[2] & (head[2] - 1)) == 0 &&
                       in_file(e, at, sizeof head + 8 * (uint64_t)head[2] + 4 * (uint64_t)head[0]));
}

static bool holds_strings(struct elf *e)
{
    char last = 1;
    e->strings = value_of(e, DT_STRTAB);
    e->strings_size = value_of(e, DT_STRSZ);
    e->symbols = value_of(e, DT_SYMTAB);
    if (e->strings_size == 0 || !in_file(e, e->strings, e->strings_size) ||
        !read_address(e, e->strings + e->strings_size - 1, &last, 1) || last != '\0')
        return false;
    for (unsigned i = 0; i < e->n_entries; i++) {
        int64_t tag = e->entry[i].d_tag;
        if ((tag == DT_NEEDED || tag == DT_SONAME || tag == DT_RPATH || tag == DT_RUNPATH) &&
            e->entry[i].d_un.d_val >= e->strings_size)
            return false;
    }
    return in_file(e, e->symbols, sizeof(Elf64_Sym)) && e->symbols % 8 == 0;
}

static const char *check_dynamic(struct elf *e)
{
    uint64_t versions = value_of(e, DT_VERSYM), needed = value_of(e, DT_VERNEED),
             defined = value_of(e, DT_VERDEF), init = value_of(e, DT_INIT),
             fini = value_of(e, DT_FINI);
    bool good = holds_strings(e) && holds_hash(e) && holds_gnu_hash(e) &&
                holds_table(e, DT_RELA, DT_RELASZ, sizeof(Elf64_Rela), true) &&
                holds_table(e, DT_JMPREL, DT_PLTRELSZ, sizeof(Elf64_Rela), true) &&
                holds_table(e, DT_RELR, DT_RELRSZ, 8, true) &&
                holds_table(e, DT_INIT_ARRAY, DT_INIT_ARRAYSZ, 8, false) &&
                holds_table(e, DT_FINI_ARRAY, DT_FINI_ARRAYSZ, 8, false) &&
                (value_of(e, DT_PLTRELSZ) == 0 || value_of(e, DT_PLTREL) == DT_RELA) &&
                (versions == 0 || in_file(e, versions, 2)) &&
                (needed == 0 || in_file(e, needed, sizeof(Elf64_Verneed))) &&
                (defined == 0 || in_file(e, defined, sizeof(Elf64_Verdef))) &&
                (init == 0 || in_file(e, init, 1)) && (fini == 0 || in_file(e, fini, 1));
    e->has_text_relocations = (value_of(e, DT_FLAGS) & DF_TEXTREL) != 0;
    for (unsigned i = 0; i < e->n_entries; i++)
        e->has_text_relocations |= e->entry[i].d_tag == DT_TEXTREL;
    return good ? NULL : bad_dynamic;
}

/* ── relocations ───────────────────────────────────────────────────────────────────────── */

/* The linker writes 8 bytes at the offset, for most kinds after it has read the symbol. */
static bool is_good(const struct elf *e, const Elf64_Rela *rela)
{
    const Elf64_Phdr *p;
    uint64_t symbol = ELF64_R_SYM(rela->r_info);
    if (ELF64_R_TYPE(rela->r_info) == 0)
        return true;
    p = holder(e, rela->r_offset, 8, false);
    return p && (p->p_flags & PF_W || e->has_text_relocations) &&
           (symbol == 0 || in_file(e, e->symbols + symbol * sizeof(Elf64_Sym), sizeof(Elf64_Sym)));
}

static bool are_good(const struct elf *e, int64_t address, int64_t size)
{
    uint64_t at = value_of(e, address), left = value_of(e, size) / sizeof(Elf64_Rela);
    Elf64_Rela piece[PIECE];
    while (left > 0) {
        uint64_t n = left < PIECE ? left : PIECE;
        if (!read_address(e, at, piece, n * sizeof piece[0]))
            return false;
        for (uint64_t i = 0; i < n; i++)
            if (!is_good(e, &piece[i]))
                return false;
        at += n * sizeof piece[0];
        left -= n;
    }
    return true;
}

static const char *check_relocations(const struct elf *e)
{
    return are_good(e, DT_RELA, DT_RELASZ) && are_good(e, DT_JMPREL, DT_PLTRELSZ)
               ? NULL
               : "has relocations that cannot be right";
}

/* ── where it looks for libraries ──────────────────────────────────────────────────────── */

/* True if a part of a search path does not begin with a slash: "$ORIGIN/../lib", "lib", "". */
static bool is_relative(const struct elf *e, uint64_t string)
{
    char text[PATH_PART];
    uint64_t room = e->strings_size - string;
    size_t size = room < sizeof text ? (size_t)room : sizeof text;
    if (!read_address(e, e->strings + string, text, size) || !memchr(text, '\0', size))
        return true;
    for (const char *part = text;; part++) {
        if (*part != '/')
            return true;
        part += strcspn(part, ":");
        if (*part == '\0')
            return false;
    }
}

static bool has_relative_slash(const struct elf *e, uint64_t string)
{
    char text[PATH_PART];
    uint64_t room = e->strings_size - string;
    size_t size = room < sizeof text ? (size_t)room : sizeof text;
    if (!read_address(e, e->strings + string, text, size) || !memchr(text, '\0', size))
        return true;
    return *text != '/' && (strchr(text, '/') || strchr(text, '$'));
}

static bool is_looking_beside(const struct elf *e)
{
    for (unsigned i = 0; i < e->n_entries; i++) {
        uint64_t value = e->entry[i].d_un.d_val;
        switch (e->entry[i].d_tag) {
        case DT_RPATH:
        case DT_RUNPATH:
            if (is_relative(e, value))
                return true;
            break;
        case DT_NEEDED:
            if (has_relative_slash(e, value))
                return true;
            break;
        case DT_AUXILIARY:
        case DT_FILTER:
        case DT_AUDIT:
        case DT_DEPAUDIT:
            return true;
        default:
            break;
        }
    }
    return false;
}

const char *tg_module_elf_problem(const struct tg_module_bytes *module, bool *looks_beside)
{
    struct elf *e = calloc(1, sizeof *e);
    const char *problem = e ? NULL : no_memory;
    if (!e && module->cause)
        *module->cause = ENOMEM;
    *looks_beside = true;
    if (problem)
        return problem;
    e->module = module;
    problem = check_head(e);
    if (!problem)
        problem = check_loads(e);
    if (!problem)
        problem = check_other_segments(e);
    if (!problem)
        problem = read_dynamic(e);
    if (!problem)
        problem = check_dynamic(e);
    if (!problem)
        problem = check_relocations(e);
    if (!problem)
        *looks_beside = is_looking_beside(e);
    free(e);
    return problem;
}
