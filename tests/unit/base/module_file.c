/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "base/module_file.h"
#include "base/module_elf.h"
#include "test.h"
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* A shared object that every machine with this test has: the C library that the test itself uses. */
static const char *some_library(void)
{
    Dl_info info;
    void *function = dlsym(RTLD_DEFAULT, "strtol");
    return dladdr(function, &info) ? info.dli_fname : "";
}

/* A copy in memory; the caller frees it. */
static unsigned char *library_bytes(size_t *size)
{
    FILE *file = fopen(some_library(), "rb");
    unsigned char *bytes = malloc(64 << 20);
    *size = file ? fread(bytes, 1, 64 << 20, file) : 0;
    if (file)
        fclose(file);
    return bytes;
}

static const char *problem_of(const unsigned char *bytes, size_t size)
{
    struct tg_module_bytes module = {bytes, -1, size, NULL};
    bool beside;
    return tg_module_elf_problem(&module, &beside);
}

TEST(a_library_that_is_cut_short_is_refused_at_every_length)
{
    size_t size;
    unsigned char *bytes = library_bytes(&size);
    REQUIRE(size > 0);
    CHECK_EQ_S(problem_of(bytes, size), NULL);
    for (size_t cut = 0; cut < size; cut += cut < 8192 || cut + 8192 > size ? 1 : 997)
        if (!CHECK(problem_of(bytes, cut) != NULL))
            break;
    free(bytes);
}

/* Without section headers, as some tools leave a module, the segments alone must be there. */
TEST(a_library_without_sections_is_refused_at_every_length_that_lacks_a_segment)
{
    size_t size, end = 0;
    unsigned char *bytes = library_bytes(&size);
    Elf64_Ehdr *head = (Elf64_Ehdr *)bytes;
    REQUIRE(size > 0);
    head->e_shnum = 0;
    for (unsigned i = 0; i < head->e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, bytes + head->e_phoff + i * sizeof p, sizeof p);
        if (p.p_type == PT_LOAD && p.p_offset + p.p_filesz > end)
            end = p.p_offset + p.p_filesz;
    }
    for (size_t cut = 0; cut < end; cut += cut < 8192 || cut + 8192 > end ? 1 : 997)
        if (!CHECK(problem_of(bytes, cut) != NULL))
            break;
    CHECK_EQ_S(problem_of(bytes, end), NULL);
    free(bytes);
}

/* Changes one program header of a copy. */
static const char *with_segment(uint32_t type, size_t member, uint64_t value)
{
    size_t size;
    unsigned char *bytes = library_bytes(&size);
    const char *problem = "no such segment";
    Elf64_Ehdr head;
    memcpy(&head, bytes, sizeof head);
    for (unsigned i = 0; i < head.e_phnum; i++) {
        unsigned char *at = bytes + head.e_phoff + i * sizeof(Elf64_Phdr);
        Elf64_Phdr p;
        memcpy(&p, at, sizeof p);
        if (p.p_type != type)
            continue;
        memcpy(at + member, &value, sizeof value);
        problem = problem_of(bytes, size);
        break;
    }
    free(bytes);
    return problem;
}

TEST(segments_that_are_elsewhere_or_too_large_are_refused)
{
    CHECK_HAS(with_segment(PT_LOAD, offsetof(Elf64_Phdr, p_memsz), UINT64_C(1) << 62), "64 GiB");
    CHECK_HAS(with_segment(PT_LOAD, offsetof(Elf64_Phdr, p_filesz), UINT64_MAX), "cut short");
    CHECK_HAS(with_segment(PT_LOAD, offsetof(Elf64_Phdr, p_offset), UINT64_MAX - 4095),
              "cut short");
    CHECK_HAS(with_segment(PT_LOAD, offsetof(Elf64_Phdr, p_vaddr), UINT64_C(1) << 62), "segments");
    CHECK_HAS(with_segment(PT_LOAD, offsetof(Elf64_Phdr, p_align), 3), "segments");
    CHECK_HAS(with_segment(PT_DYNAMIC, offsetof(Elf64_Phdr, p_vaddr), UINT64_C(1) << 40),
              "dynamic");
    CHECK_HAS(with_segment(PT_DYNAMIC, offsetof(Elf64_Phdr, p_memsz), 16), "dynamic");
}

TEST(an_executable_and_another_machine_are_refused)
{
    size_t size;
    unsigned char *bytes = library_bytes(&size);
    Elf64_Ehdr *head = (Elf64_Ehdr *)bytes;
    head->e_type = ET_EXEC;
    CHECK_HAS(problem_of(bytes, size), "not a shared object");
    head->e_type = ET_DYN;
    head->e_machine = EM_68K;
    CHECK_HAS(problem_of(bytes, size), "not a shared object for this machine");
    free(bytes);
}

static tg_status open_status(const char *path, struct tg_error *error)
{
    struct tg_module_file file;
    tg_status status = tg_module_file_open(path, &file, error);
    if (status == TG_OK)
        tg_module_file_close(&file);
    return status;
}

TEST(only_a_regular_file_can_be_a_module)
{
    char folder[] = "/tmp/tg-module-XXXXXX", pipe[64];
    struct tg_error error = {TG_OK, ""};
    REQUIRE(mkdtemp(folder) != NULL);
    snprintf(pipe, sizeof pipe, "%s/pipe.so", folder);
    REQUIRE(mkfifo(pipe, 0600) == 0);
    CHECK_EQ_I(open_status(pipe, &error), TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, "is not a file");
    CHECK_EQ_I(open_status(folder, &error), TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, "is not a file");
    CHECK_EQ_I(open_status("/dev/zero", &error), TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, "is not a file");
    CHECK_EQ_I(open_status("/proc/self/status", &error), TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, "does not begin with an ELF header");
    CHECK_EQ_I(open_status("/no/such/file.so", &error), TG_NOT_FOUND);
    CHECK_EQ_I(open_status(some_library(), &error), TG_OK);
    unlink(pipe);
    rmdir(folder);
}

TEST(a_copy_has_the_hash_of_the_file_and_a_change_is_noticed)
{
    char path[] = "/tmp/tg-module-XXXXXX", one[TG_SHA256_TEXT], two[TG_SHA256_TEXT];
    struct tg_module_file file, copy;
    struct tg_error error;
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    REQUIRE(tg_module_file_open(some_library(), &file, &error) == TG_OK);
    CHECK_EQ_I(tg_module_file_copy(&file, fd, NULL, NULL), 0);
    REQUIRE(tg_module_file_open(path, &copy, &error) == TG_OK);
    CHECK(tg_module_file_hash(&file, one) && tg_module_file_hash(&copy, two));
    CHECK_EQ_S(one, two);
    CHECK(tg_module_file_is(&copy, path) && !tg_module_file_is(&copy, some_library()));
    CHECK(pwrite(fd, "x", 1, (off_t)copy.size) == 1);
    CHECK(!tg_module_file_is(&copy, path));
    tg_module_file_close(&file);
    tg_module_file_close(&copy);
    close(fd);
    unlink(path);
}

TEST_MAIN()
