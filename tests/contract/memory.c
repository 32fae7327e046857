/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory: allocation, copies, mapping, and that the host cannot dereference a device
 * pointer. */
#define _GNU_SOURCE 1
#include "contract.h"
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SMALL_MEMORY = 8 << 20 };

static struct tg_device *open_small(struct tg_device_info *info)
{
    struct tg_device_config config = device_config(1, 0);
    struct tg_device *device = NULL;
    config.memory = SMALL_MEMORY;
    GOOD(tg_device_open(&config, &device, error));
    tg_device_get_info(device, info);
    return device;
}

static void fill(unsigned char *bytes, uint64_t size, uint64_t seed)
{
    for (uint64_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(next_random(&seed) >> 11);
}

CONTRACT(what_is_copied_in_comes_out_again)
{
    const uint64_t sizes[] = {1, 2, 255, 256, 257, 4095, 4096, 4097, 65536, 3000001};
    struct tg_device *device = open_device(1, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t size = sizes[i], address = alloc_device(device, size);
        unsigned char *in = malloc(size), *out = calloc(1, size);
        fill(in, size, i);
        GOOD(tg_device_copy_in(device, address, in, size, error));
        GOOD(tg_device_copy_out(device, out, address, size, error));
        CHECK_EQ_MEM(out, in, size);
        free(in);
        free(out);
    }
    tg_device_close(device);
}

CONTRACT(a_copy_touches_its_range_and_nothing_beside_it)
{
    struct tg_device *device = open_device(1, 0);
    uint64_t address = alloc_device(device, 300);
    unsigned char want[300], got[300];
    fill(want, sizeof want, 1);
    GOOD(tg_device_copy_in(device, address, want, sizeof want, error));
    for (int i = 100; i < 200; i++)
        want[i] = 0xee;
    GOOD(tg_device_copy_in(device, address + 100, want + 100, 100, error));
    GOOD(tg_device_copy_out(device, got, address, sizeof got, error));
    CHECK_EQ_MEM(got, want, sizeof want);
    GOOD(tg_device_copy_out(device, got, address + 99, 2, error));
    CHECK_EQ_MEM(got, want + 99, 2);
    tg_device_close(device);
}

CONTRACT(copying_nothing_is_allowed_and_looks_at_no_pointer)
{
    struct tg_device *device = open_device(1, 0);
    uint64_t address = alloc_device(device, 1);
    GOOD(tg_device_copy_in(device, address, NULL, 0, error));
    GOOD(tg_device_copy_out(device, NULL, address, 0, error));
    tg_device_close(device);
}

CONTRACT(a_copy_outside_device_memory_is_refused_with_the_range)
{
    struct tg_device_info info;
    struct tg_device *device = open_small(&info);
    uint64_t left = info.memory - info.memory_used, base, end;
    bool first = control_comes_first(device); /* if so, its address is the start of memory */
    char bytes[64] = "";
    end = alloc_device(device, left) + left;
    base = first ? control_of(device) : end - left;
    CHECK(!first || base + info.memory == end);
    const struct {
        uint64_t address, size;
    } wrong[] = {{first ? base - 1 : 1, 1},
                 {first ? base - 1 : 1, 64},
                 {end, 1},
                 {end - 1, 2},
                 {end - 63, 64},
                 {0, 64},
                 {0, 1},
                 {UINT64_MAX, 1},
                 {UINT64_MAX - 10, 64},
                 {base, UINT64_MAX},
                 {base, info.memory + 1},
                 {end - 1, UINT64_MAX}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        REFUSED(BAD_ARGUMENT, "outside device memory",
                tg_device_copy_in(device, wrong[i].address, bytes, wrong[i].size, error));
        REFUSED(BAD_ARGUMENT, "outside device memory",
                tg_device_copy_out(device, bytes, wrong[i].address, wrong[i].size, error));
        CHECK(tg_device_map(device, wrong[i].address, wrong[i].size) == NULL);
    }
    GOOD(tg_device_copy_out(device, bytes, end - 64, 64, error));
    tg_device_close(device);
}

CONTRACT(allocations_are_aligned_and_do_not_overlap)
{
    enum { N = 500 };
    struct tg_device *device = open_device(1, 0);
    uint64_t address[N], size[N], random = 7;
    for (int i = 0; i < N; i++) {
        size[i] = next_random(&random) % 5000;
        address[i] = alloc_device(device, size[i]);
        CHECK_EQ_U(address[i] % 256, 0);
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++)
            if (address[i] < address[j] + size[j] && address[j] < address[i] + size[i])
                REQUIRE(!"two allocations overlap");
    tg_device_close(device);
}

CONTRACT(an_allocation_of_nothing_has_an_address_of_its_own)
{
    struct tg_device *device = open_device(1, 0);
    uint64_t a = alloc_device(device, 0), b = alloc_device(device, 0);
    CHECK(a != b);
    GOOD(tg_device_free(device, a, error));
    GOOD(tg_device_free(device, b, error));
    tg_device_close(device);
}

CONTRACT(an_allocation_never_reaches_into_the_control_area)
{
    struct tg_device_info info;
    struct tg_device *device = open_small(&info);
    struct tg_control_head head;
    if (!control_comes_first(device)) {
        tg_device_close(device);
        SKIP("the control area is not at the start of device memory");
    }
    uint64_t address = alloc_device(device, info.memory - info.memory_used);
    GOOD(tg_device_copy_out(device, &head, address - info.memory_used, sizeof head, error));
    CHECK(head.magic == TG_CONTROL_MAGIC);
    CHECK_EQ_U(head.base + head.control_size, address);
    tg_device_close(device);
}

CONTRACT(freeing_what_is_not_an_allocation_is_refused)
{
    struct tg_device *device = open_device(1, 0);
    uint64_t address = alloc_device(device, 1000);
    const uint64_t wrong[] = {0, 1, address + 1, address + 256, address - 256, UINT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        REFUSED(BAD_ARGUMENT, "not the start of an allocation",
                tg_device_free(device, wrong[i], error));
    GOOD(tg_device_free(device, address, error));
    tg_device_close(device);
}

CONTRACT(freeing_twice_is_refused)
{
    struct tg_device *device = open_device(1, 0);
    uint64_t address = alloc_device(device, 10 << 20);
    GOOD(tg_device_free(device, address, error));
    REFUSED(BAD_ARGUMENT, "not the start of an allocation", tg_device_free(device, address, error));
    tg_device_close(device);
}

CONTRACT(what_was_freed_is_handed_out_again)
{
    struct tg_device_info info;
    struct tg_device *device = open_small(&info);
    for (int i = 0; i < 100; i++) {
        uint64_t address = alloc_device(device, info.memory - info.memory_used);
        GOOD(tg_device_free(device, address, error));
    }
    tg_device_close(device);
}

CONTRACT(memory_used_counts_what_is_handed_out)
{
    struct tg_device *device = open_device(1, 0);
    struct tg_device_info before, during, after;
    tg_device_get_info(device, &before);
    uint64_t address = alloc_device(device, 1 << 20);
    tg_device_get_info(device, &during);
    GOOD(tg_device_free(device, address, error));
    tg_device_get_info(device, &after);
    CHECK_EQ_U(during.memory_used, before.memory_used + (1 << 20));
    CHECK_EQ_U(after.memory_used, before.memory_used);
    tg_device_close(device);
}

CONTRACT(exhaustion_says_what_was_wanted_and_what_is_free)
{
    struct tg_device_info info;
    struct tg_device *device = open_small(&info);
    uint64_t left = info.memory - info.memory_used, address;
    char text[64];
    snprintf(text, sizeof text, "%llu bytes wanted, but %llu of", (unsigned long long)left + 1,
             (unsigned long long)left);
    REFUSED(NO_MEMORY, text, tg_device_alloc(device, left + 1, &address, error));
    REFUSED(NO_MEMORY, "free", tg_device_alloc(device, UINT64_MAX, &address, error));
    REFUSED(NO_MEMORY, "free", tg_device_alloc(device, UINT64_MAX - 100, &address, error));
    alloc_device(device, left);
    REFUSED(NO_MEMORY, "but 0 of", tg_device_alloc(device, 1, &address, error));
    tg_device_close(device);
}

CONTRACT(fragments_are_joined_again)
{
    enum { N = 64 };
    struct tg_device_info info;
    struct tg_device *device = open_small(&info);
    uint64_t piece = (info.memory - info.memory_used) / N / 256 * 256, at[N], random = 3, address;
    for (int i = 0; i < N; i++)
        at[i] = alloc_device(device, piece);
    for (int i = 0; i < N; i += 2)
        GOOD(tg_device_free(device, at[i], error));
    REFUSED(NO_MEMORY, "largest piece", tg_device_alloc(device, 2 * piece, &address, error));
    for (int i = 1; i < N; i += 2) { /* the other pieces */
        int other = 1 + 2 * (int)(next_random(&random) % (N / 2));
        uint64_t swap = at[i];
        at[i] = at[other];
        at[other] = swap;
    }
    for (int i = 1; i < N; i += 2)
        GOOD(tg_device_free(device, at[i], error));
    alloc_device(device, info.memory - info.memory_used);
    tg_device_close(device);
}

CONTRACT(the_map_and_the_copies_see_the_same_bytes)
{
    struct tg_device *device = open_device(1, 0);
    uint64_t address = alloc_device(device, 10000);
    unsigned char *map = tg_device_map(device, address, 10000), bytes[10000], out[10000];
    fill(bytes, sizeof bytes, 5);
    if (map != NULL) {
        GOOD(tg_device_copy_in(device, address, bytes, sizeof bytes, error));
        CHECK_EQ_MEM(map, bytes, sizeof bytes);
        memset(map + 5000, 0x5a, 100);
        GOOD(tg_device_copy_out(device, out, address, sizeof out, error));
        CHECK_EQ_MEM(out, map, sizeof out);
        CHECK(tg_device_map(device, address + 77, 1) == map + 77);
    }
    tg_device_close(device);
}

CONTRACT(the_host_maps_device_memory_at_another_address)
{
    struct tg_device *device = open_device(1, 0);
    uint64_t address = alloc_device(device, 4096);
    void *map = tg_device_map(device, address, 4096);
    CHECK(map == NULL || (uint64_t)(uintptr_t)map != address);
    tg_device_close(device);
}

/* The signal that ends a child which dereferences the pointer. */
static int signal_of_following(uint64_t address, bool write)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        volatile char *pointer = (volatile char *)(uintptr_t)address;
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        if (write)
            *pointer = 1;
        else
            (void)*pointer;
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

CONTRACT(a_device_pointer_followed_on_the_host_faults)
{
    struct tg_device_info info;
    struct tg_device *device = open_small(&info);
    uint64_t size = info.memory - info.memory_used, address = alloc_device(device, size);
    const uint64_t offsets[] = {0, 1, size / 2, size - 1};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        CHECK_EQ_I(signal_of_following(address + offsets[i], false), SIGSEGV);
        CHECK_EQ_I(signal_of_following(address + offsets[i], true), SIGSEGV);
    }
    tg_device_close(device);
}

CONTRACT(a_device_pointer_faults_whatever_the_host_maps_later)
{
    struct tg_device *device = open_device(1, 0);
    uint64_t address = alloc_device(device, 4096);
    for (int i = 0; i < 50; i++) /* large blocks, which malloc maps */
        free(calloc(1, (size_t)1 << 20 << i % 6));
    CHECK_EQ_I(signal_of_following(address, true), SIGSEGV);
    tg_device_close(device);
}

/* The system follows a hint where the addresses are free. */
CONTRACT(nothing_of_the_host_comes_to_lie_at_a_device_address)
{
    struct tg_device *device = open_device(1, 0);
    uint64_t address = alloc_device(device, 65536);
    void *page = (void *)(uintptr_t)((address + 4095) / 4096 * 4096);
    void *map = mmap(page, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(map != MAP_FAILED && map != page);
    munmap(map, 4096);
    tg_device_close(device);
}

/* The bytes that the system provides for the device's memory. */
static uint64_t provided(void)
{
    for (int fd = 0; fd < 256; fd++) {
        char path[32], name[64] = "";
        struct stat is;
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (readlink(path, name, sizeof name - 1) > 0 && strstr(name, "taskglass-device-memory") &&
            fstat(fd, &is) == 0)
            return (uint64_t)is.st_blocks * 512;
    }
    REQUIRE(!"the device's memory is among the open files");
    return 0;
}

/* Allocates that much, writes all of it, and frees it. */
static void use(struct tg_device *device, uint64_t mib)
{
    static unsigned char bytes[1 << 20];
    uint64_t address = alloc_device(device, mib << 20);
    memset(bytes, 0x5a, sizeof bytes);
    for (uint64_t i = 0; i < mib; i++)
        GOOD(tg_device_copy_in(device, address + (i << 20), bytes, sizeof bytes, error));
    GOOD(tg_device_free(device, address, error));
}

CONTRACT(a_device_keeps_little_freed_memory_and_gives_much_of_it_back)
{
    if (!kernels_are_in_a_process())
        SKIP("the memory of this platform is not the system's");
    struct tg_device *device = open_device(1, 0);
    use(device, 16);
    CHECK(provided() >= (uint64_t)16 << 20);
    use(device, 96);
    CHECK(provided() < (uint64_t)64 << 20);
    tg_device_close(device);
}

TEST_MAIN()
