/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device: open it, put bytes into its memory, load kernels, run graphs on it (graph.h, run.h),
 * close it. Several devices may be open at once.
 *
 * Threads: calls on one device, and on graphs and runs that use it, must not overlap, with one
 * exception: tg_run_cancel may come from any thread. Different devices are independent.
 *
 * Addresses: what tg_device_alloc gives is an address on the device. The host must not follow
 * it (it faults); it copies, or maps where the platform lets the host see device memory.
 */
#ifndef TASKGLASS_DEVICE_H
#define TASKGLASS_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tg_device;
struct tg_module;

/* The version of the library in use, "0.1.0". */
TG_API const char *tg_version(void);

/* A platform this library knows, whether or not this machine has it. */
struct tg_platform_info {
    const char *name;    /* "a2a3sim" */
    const char *summary; /* one line */
    uint32_t max_blocks; /* a block is 1 AIC + 2 AIV cores */
    uint32_t max_schedulers;
    bool host_sees_memory; /* tg_device_map works */
    bool available;        /* can be opened here */
};
TG_API uint32_t tg_platform_count(void);
/* False where there is no platform of that number. */
TG_API bool tg_platform_get(uint32_t number, struct tg_platform_info *info);

/* Zero means the default everywhere; start from `struct tg_device_config c = {0}`. */
struct tg_device_config {
    const char *platform;       /* NULL: "a2a3sim" */
    uint32_t cores;             /* AIC and AIV together; default: the CPUs here, in whole blocks */
    uint32_t schedulers;        /* threads that only schedule; default 0: cores do it themselves */
    uint64_t memory;            /* bytes of device memory; default 4 GiB, taken as it is touched */
    const char *device_program; /* simulators: the program to start; default: the installed one */
};

/* What the device turned out to be. The strings live as long as the device. */
struct tg_device_info {
    const char *platform;
    uint32_t cores;
    uint32_t blocks;
    uint32_t schedulers;
    uint64_t memory;
    uint64_t memory_used;
    int pid; /* the simulator's process, 0 where there is none */
    bool host_sees_memory;
    bool lost; /* it died: memory can still be read, nothing can run */
};

/*
 * Opens a device. On success *device must be closed with tg_device_close.
 * BAD_ARGUMENT (counts beyond the platform's), UNSUPPORTED (not on this machine), DEVICE_LOST
 * (it did not start).
 */
TG_API tg_status tg_device_open(const struct tg_device_config *config, struct tg_device **device,
                                struct tg_error *error);
/* Ends the device and frees everything that belongs to it: memory, modules. NULL is allowed.
 * Graphs and runs that used it must be destroyed before. */
TG_API void tg_device_close(struct tg_device *device);
TG_API void tg_device_get_info(const struct tg_device *device, struct tg_device_info *info);

/* Memory, aligned to 256 bytes, its content undefined. NO_MEMORY says how much was free. */
TG_API tg_status tg_device_alloc(struct tg_device *device, uint64_t bytes, uint64_t *address,
                                 struct tg_error *error);
/* Gives memory back. BAD_ARGUMENT where the address is not the start of an allocation. */
TG_API tg_status tg_device_free(struct tg_device *device, uint64_t address, struct tg_error *error);

/* Copies between host and device; the whole range must lie in device memory. Works on a lost
 * device too, where the platform's memory outlives it. */
TG_API tg_status tg_device_copy_in(struct tg_device *device, uint64_t address, const void *bytes,
                                   uint64_t size, struct tg_error *error);
TG_API tg_status tg_device_copy_out(struct tg_device *device, void *bytes, uint64_t address,
                                    uint64_t size, struct tg_error *error);

/* Where the host sees the range, or NULL: outside device memory, or a platform whose memory the
 * host cannot see. Valid until the device is closed. */
TG_API void *tg_device_map(struct tg_device *device, uint64_t address, uint64_t size);

/*
 * Loads a workload module's kernels. The module belongs to the device; loading the same path
 * again gives the same module. NOT_FOUND, ABI_MISMATCH, BAD_ARGUMENT (no workload in it, a
 * kernel signature that makes no sense).
 */
TG_API tg_status tg_device_load(struct tg_device *device, const char *path,
                                struct tg_module **module, struct tg_error *error);
/* A kernel's index in its module, by name; TG_NO_KERNEL (wire/task.h) where it has none. */
TG_API uint32_t tg_module_kernel(const struct tg_module *module, const char *name);

#ifdef __cplusplus
}
#endif
#endif
