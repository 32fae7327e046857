/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device: open it, copy bytes to its memory, load kernels, run graphs on it (graph.h, run.h),
 * close it. Several devices may be open at once.
 *
 * Threads: calls on one device, and on graphs and runs that use it, must not overlap, with one
 * exception: any thread may call tg_run_cancel. Different devices are independent.
 *
 * Addresses: tg_device_alloc returns an address on the device. The host must not follow it (that
 * faults); it copies, or calls tg_device_map if the platform lets the host see device memory.
 */
#ifndef TASKGLASS_DEVICE_H
#define TASKGLASS_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/status.h>
#include <taskglass/wire/record.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tg_device;
struct tg_module;

/* The version of the library in use, "0.1.0". */
TG_API const char *tg_version(void);

/* A platform that this library knows, even if this machine does not have it. */
struct tg_platform_info {
    const char *name;    /* "a2a3sim" */
    const char *summary; /* one line */
    uint32_t max_blocks; /* a block is 1 AIC + 2 AIV cores */
    uint32_t max_schedulers;
    bool host_sees_memory; /* tg_device_map works */
    bool available;        /* this machine has it */
};
/* How many platforms this library knows; tg_platform_get says more about each. */
TG_API uint32_t tg_platform_count(void);
/* False if there is no platform with that number. */
TG_API bool tg_platform_get(uint32_t number, struct tg_platform_info *info);

/* Whether the processes that run a module's code give up rights first (docs/security.md). */
/* clang-format off */
#define TG_SANDBOX_MAP(X)                                                \
    X(TG_SANDBOX_ON,  0, "on",  "all rights that this machine can take") \
    X(TG_SANDBOX_OFF, 1, "off", "none, for tools that need them")
/* clang-format on */
enum tg_sandbox { TG_SANDBOX_MAP(TG_WORD_ENUM_) TG_SANDBOXES };

/* Where an orchestration runs whose graph is built while it runs. Simulators have device threads alone: they
 * accept every word, and the result of a run says where its orchestration ran. */
/* clang-format off */
#define TG_ORCHESTRATOR_MAP(X)                                                                  \
    X(TG_ORCHESTRATOR_AUTO,   0, "auto",   "where the platform does it best")                   \
    X(TG_ORCHESTRATOR_HOST,   1, "host",   "cuda: on a CPU of the host, in the device's process") \
    X(TG_ORCHESTRATOR_DEVICE, 2, "device", "on a thread of the device; cuda: of the GPU")
/* clang-format on */
enum tg_orchestrator_place { TG_ORCHESTRATOR_MAP(TG_WORD_ENUM_) TG_ORCHESTRATOR_PLACES };

/* Zero means the default everywhere; start from `struct tg_device_config c = {0}`. */
struct tg_device_config {
    const char *platform;       /* NULL: "a2a3sim" */
    uint32_t cores;             /* AIC and AIV together; default: the CPUs here, in whole blocks */
    uint32_t schedulers;        /* threads that only schedule; default 0: cores do it themselves */
    uint64_t memory;            /* bytes of device memory; default 4 GiB, taken when touched */
    const char *device_program; /* simulators: the program to start; default: the installed one */
    double load_timeout;        /* seconds that loading a module may take; default 120 */
    bool poison;      /* fill memory with TG_POISON (wire/record.h) each time it is handed out */
    uint32_t sandbox; /* enum tg_sandbox; default: on */
    uint32_t gpu; /* cuda: which GPU of those that CUDA_VISIBLE_DEVICES shows; counted on from the
                         first if there are fewer, so that several devices share one */
    double
        linger; /* cuda: seconds that the GPU's kernel stays after a run, in which the next one starts
                      sooner; meanwhile it keeps the GPU busy. Default 0.005; below 0: it never stays */
    uint32_t orchestrator; /* enum tg_orchestrator_place; default: auto */
};

/* Properties of an open device. The strings live as long as the device. */
struct tg_device_info {
    const char *platform;
    uint32_t cores;
    uint32_t blocks;
    uint32_t schedulers;
    uint64_t memory;
    uint64_t memory_used;
    int pid; /* the device's process, 0 if there is none */
    bool host_sees_memory;
    bool lost; /* it died: memory can still be read, nothing can run */
    /* What keeps its process from using all rights of the user; all 0 with TG_SANDBOX_OFF. */
    bool no_new_privs;
    bool seccomp;
    uint32_t landlock; /* the version of Landlock that is used, 0: none */
    uint32_t gpus;     /* cuda: how many GPUs its process sees; 0: the platform has none */
    uint32_t gpu;      /* the one that it has, from 0 */
    uint64_t gpu_id;   /* the same in all processes of the machine; 0: not known */
    char gpu_name[96]; /* "": not known */
};

/*
 * Opens a device. On success the caller must close *device with tg_device_close.
 * BAD_ARGUMENT: more cores or schedulers than the platform has; UNSUPPORTED: not on this machine;
 * DEVICE_LOST: it did not start.
 */
TG_API tg_status tg_device_open(const struct tg_device_config *config, struct tg_device **device,
                                struct tg_error *error);
/* Ends the device and frees everything that belongs to it: memory, modules. NULL is allowed.
 * The caller must destroy graphs and runs that use it before. */
TG_API void tg_device_close(struct tg_device *device);
/*
 * Stops this process until it is continued (SIGCONT), and with it all devices and processes of references
 * that the library has started for it. Does otherwise what SIGTSTP does by default, so it does nothing if
 * nobody could continue the process (its group is orphaned). Safe in a signal handler: the handler of
 * SIGTSTP, which Ctrl-Z sends, is the place to call it, as the command `taskglass` does.
 *
 * Devices have process groups of their own. In a program that does not call this, Ctrl-Z stops the
 * program alone: a device runs on until it has to wait, and no limit counts that time.
 */
TG_API void tg_suspend(void);
TG_API void tg_device_get_info(const struct tg_device *device, struct tg_device_info *info);

/* Allocates memory, aligned to 256 bytes, with undefined content, which is TG_POISON if the device was
 * opened with `poison`. NO_MEMORY says how much was free. */
TG_API tg_status tg_device_alloc(struct tg_device *device, uint64_t bytes, uint64_t *address,
                                 struct tg_error *error);
/* Frees memory. BAD_ARGUMENT if the address is not the start of an allocation. */
TG_API tg_status tg_device_free(struct tg_device *device, uint64_t address, struct tg_error *error);

/* Copies between host and device; the whole range must lie in device memory. Also works on a lost
 * device, if the platform's memory outlives the device. */
TG_API tg_status tg_device_copy_in(struct tg_device *device, uint64_t address, const void *bytes,
                                   uint64_t size, struct tg_error *error);
TG_API tg_status tg_device_copy_out(struct tg_device *device, void *bytes, uint64_t address,
                                    uint64_t size, struct tg_error *error);

/* The host's pointer to the range, valid until the device is closed. NULL if the range is outside
 * device memory, or if the platform does not let the host see its memory. */
TG_API void *tg_device_map(struct tg_device *device, uint64_t address, uint64_t size);

/*
 * Loads a workload module's kernels. The module belongs to the device; loading the same path
 * again gives the same module. NOT_FOUND; ABI_MISMATCH; BAD_ARGUMENT: no workload in it, or an
 * invalid kernel signature.
 */
TG_API tg_status tg_device_load(struct tg_device *device, const char *path,
                                struct tg_module **module, struct tg_error *error);
/* The index of the kernel with this name; TG_NO_KERNEL (wire/task.h) if the module has none. */
TG_API uint32_t tg_module_kernel(const struct tg_module *module, const char *name);

#ifdef __cplusplus
}
#endif
#endif
