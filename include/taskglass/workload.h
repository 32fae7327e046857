/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For people who write workloads. A workload is a shared object with kernels, the orchestration
 * function and cases (inputs and golden outputs). Host and device load the same file, and it needs
 * no symbol of libtaskglass. It exports one object:
 *
 *     TG_WORKLOAD = {
 *         TG_WORKLOAD_HEAD,
 *         .name = "scale", .summary = "y = k * x",
 *         .kernels = kernels, .n_kernels = 1,
 *         .cases = cases, .n_cases = 2,
 *         .orchestrate = orchestrate, .orchestrate_site = TG_SITE,
 *         .prepare = prepare, .golden = golden,
 *     };
 */
#ifndef TASKGLASS_WORKLOAD_H
#define TASKGLASS_WORKLOAD_H

#include <taskglass/dtype.h>
#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

/* The version of struct tg_workload, and the name of the object that a module exports. */
#define TG_WORKLOAD_ABI 3u
#define TG_WORKLOAD_SYMBOL "tg_workload"

/*
 * signature: the kernel's arguments, one word each, tensors before scalars: `in`, `out`, `inout`
 * or `scalar`, with an optional type: "in:float32 inout scalar:int64". The runtime refuses a task
 * that does not match. NULL: any arguments.
 */
struct tg_kernel_def {
    const char *name;
    tg_kernel_fn fn;
    uint32_t core; /* TG_AIC, TG_AIV, or TG_EITHER: any core may run its tasks, but no mix has it */
    const char *signature;
};

/*
 * A reference function computes the same as a kernel, independently of it, and aims to be correct
 * rather than fast; `taskglass check` recomputes recorded tasks with it. It runs on the host, gets
 * the arguments as the kernel does (every tensor contiguous, outputs zero), and may use libc. A
 * recorded output passes if |output - reference| <= atol + rtol * |reference|.
 */
struct tg_reference_def {
    const char *kernel;
    tg_kernel_fn fn;
    double atol, rtol;
};

/* params: the case's parameters with their values, "n=1024 scale=0.5"; --set changes them. */
struct tg_case_def {
    const char *name;
    const char *summary;
    const char *params;
};

struct tg_case;

/* The functions behind the tg_case macros below; `prepare` and `golden` use those. */
struct tg_case_ops {
    const char *(*text)(struct tg_case *c, const char *key);
    int64_t (*integer)(struct tg_case *c, const char *key);
    double (*real)(struct tg_case *c, const char *key);
    void *(*tensor)(struct tg_case *c, const char *name, enum tg_role role, unsigned dtype,
                    int ndim, const int64_t *shape);
    void (*scalar)(struct tg_case *c, const char *name, unsigned dtype, uint64_t bits);
    const void *(*input)(struct tg_case *c, const char *name);
    double *(*expect)(struct tg_case *c, const char *name, double atol, double rtol);
    void *(*expect_exact)(struct tg_case *c, const char *name);
    void (*fail)(struct tg_case *c, const char *text);
    int32_t (*rank)(struct tg_case *c);
    int32_t (*ranks)(struct tg_case *c);
};

/* A case that is being prepared; use the macros below. */
struct tg_case {
    const struct tg_case_ops *ops;
};

/* What a module exports: see above. */
struct tg_workload {
    uint32_t abi;
    uint32_t size;
    const char *name;
    const char *summary;
    const struct tg_kernel_def *kernels;
    uint32_t n_kernels;
    uint32_t n_cases;
    const struct tg_case_def *cases;
    tg_orchestrate_fn orchestrate;
    const char *orchestrate_site;
    /* Declares the arguments of the orchestration in order, and fills the inputs. */
    void (*prepare)(struct tg_case *c);
    /* Computes the expected outputs from the inputs, independently of the kernels. Required: an
     * output without expected values is an error. */
    void (*golden)(struct tg_case *c);
    /* Optional: reference functions of kernels. */
    const struct tg_reference_def *references;
    uint32_t n_references;
    uint32_t communicates; /* 1: the orchestration may call tg_send, tg_all_reduce and the like */
};

/* The first two members, and the beginning of the object: see above. */
#define TG_WORKLOAD_HEAD .abi = TG_WORKLOAD_ABI, .size = (uint32_t)sizeof(struct tg_workload)
#define TG_WORKLOAD                                                                     \
    __attribute__((visibility("default"))) extern const struct tg_workload tg_workload; \
    const struct tg_workload tg_workload

/*
 * For prepare and golden. Every mistake (a key that the case does not declare, a value that is not a
 * number, an invalid shape …) ends the run with exit 2, and the call does not return, so hold no
 * memory that you would have to free. A tensor and a scalar may have the same name. A name has at
 * most 100 letters, digits and _ . + -.
 */
/* A parameter's value. */
#define tg_case_text(c, key) ((c)->ops->text((c), (key)))
#define tg_case_int(c, key) ((c)->ops->integer((c), (key)))
#define tg_case_real(c, key) ((c)->ops->real((c), (key)))

/* Declares the next tensor argument and returns its zeroed host bytes (row-major, packed), never
 * NULL; an invalid declaration ends the run. Fill the bytes if it is an input. They are also what
 * an output holds on the device before the run. */
#define tg_case_tensor(c, name, role, dtype, ndim, shape) \
    ((c)->ops->tensor((c), (name), (role), (dtype), (ndim), (shape)))
/* Declares the next scalar argument. */
#define tg_case_scalar(c, name, dtype, bits) ((c)->ops->scalar((c), (name), (dtype), (bits)))

/* In golden: the tensor's bytes before the run. */
#define tg_case_input(c, name) ((c)->ops->input((c), (name)))
/* In golden: an array of one double per element, to be filled. The output passes if
 * |output - expected| <= atol + rtol * |expected|; NaN matches NaN. */
#define tg_case_expect(c, name, atol, rtol) ((c)->ops->expect((c), (name), (atol), (rtol)))
/* In golden: bytes to be filled; the output must equal them bit for bit. */
#define tg_case_expect_exact(c, name) ((c)->ops->expect_exact((c), (name)))
/* This rank and how many there are (comm.h): 0 and 1 for a device alone. Each rank prepares its own
 * part, and golden computes what that rank's outputs must be. */
#define tg_case_rank(c) ((c)->ops->rank((c)))
#define tg_case_ranks(c) ((c)->ops->ranks((c)))
/* Ends the run with exit 2 and this text. */
#define tg_case_fail(c, text) ((c)->ops->fail((c), (text)))

#endif
