/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the device program needs from the target it runs on. Each target has a header of its own,
 * always named target_impl.h: src/platform/sim/device/target_impl.h says what the functions do,
 * src/platform/cuda/gpu/target_impl.h is a GPU's.
 *
 *   waiting     a simulated core sleeps on a futex; a GPU has no way to sleep, so it backs off and
 *               looks again
 *   calling     a simulated core is one thread and calls the kernel; on a GPU one warp of a thread
 *               block runs the device program and has the others run kernels, copies and hashes
 *   telling     what the host is shown of a worker: in memory that both have, or, on a GPU, across
 *               a bus, where a store is cheap, a load is not, and fewer are better
 */
#ifndef TG_DEVICE_TARGET_H
#define TG_DEVICE_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/kernel.h>
#include <taskglass/target.h>
#include <taskglass/wire/device.h>
#include <taskglass/wire/record.h>

struct tg_hash;

/* The target's own header. The compiler finds it by its include path, which the build sets for each
 * target: -I src/platform/sim/device, or -I src/platform/cuda/gpu for nvcc. */
#include <target_impl.h>

/* And both: tg_target_call(kernel, ctx) runs the kernel with these arguments, and comes back when all
 * of it has. As fast as the target can: tg_hash_update and tg_hash_copy of common/hash.h. */
TG_FN void tg_target_hash(struct tg_hash *hash, const void *bytes, uint64_t size);
TG_FN void tg_target_hash_copy(struct tg_hash *hash, void *to, const void *from, uint64_t size);
/* The same of a view that is no straight run of bytes: its logical bytes [offset, offset + size),
 * packed; both multiples of 64 except at the end. Where `to` is 0 they are only hashed. */
TG_FN void tg_target_gather(struct tg_hash *hash, void *to, const struct tg_tensor *tensor,
                            uint64_t offset, uint64_t size);

#endif
