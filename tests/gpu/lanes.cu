/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walks of tests/unit/device/walk_scene.h, at every count, on the 32 lanes of a GPU's control warp
 * and on a single thread, which walks as a simulated core does. Exits with 77 without a GPU.
 */
#define SCENE_LANES (threadIdx.x == TG_BLOCK_THREADS ? 32u : 1u)
#define SCENE_BEGIN(s)                   \
    if (threadIdx.x == TG_BLOCK_THREADS) \
    tg_lanes_begin((s)->e, (s)->w)
#include "unit/device/walk_scene.h"
#include "platform/cuda/launch.h"
#include "platform/cuda/gpu/block.h"
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

/* The build generates these for a module; here no kernel runs. */
extern __device__ const tg_kernel_fn tg_cuda_kernels[1] = {0};
extern __device__ const tg_orchestrate_fn tg_cuda_orchestrations[1] = {0};

struct outcome {
    int line;
    uint32_t kind, count, lanes;
};

__device__ static void try_all(struct scene *s, void *memory, struct outcome *o, uint32_t lanes)
{
    scene_open(s, memory);
    for (uint32_t kind = 0; kind < SCENE_KINDS; kind++) {
        for (uint32_t count = 0; count < SCENE_COUNTS; count++) {
            int line = scene_try(s, (enum scene_kind)kind, count);
            if (line && !o->line)
                *o = {line, kind, count, lanes};
        }
    }
}

__global__ void engine_size(uint64_t *size)
{
    *size = tg_engine_size(1, 0);
}

/* A block as the device program has it: first one thread of the crew walks alone, then the leader. */
__global__ void __launch_bounds__(TG_CUDA_BLOCK)
    walks(struct scene *s, void *memory, struct outcome *outcome)
{
    tg_block_init();
    if (threadIdx.x == 0)
        try_all(s, memory, &outcome[0], 1);
    __syncthreads();
    if (threadIdx.x == TG_CUDA_THREADS) {
        try_all(s, memory, &outcome[1], 32);
        tg_lanes_dismiss(s->e);
    } else if (threadIdx.x > TG_CUDA_THREADS) {
        tg_lanes_help(s->e);
    }
}

static void must(cudaError_t status)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "lanes-gpu: %s\n", cudaGetErrorString(status));
    exit(1);
}

int main(void)
{
    struct outcome *outcome;
    struct scene *scene;
    uint64_t *size;
    void *memory;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        fprintf(stderr, "lanes-gpu: no CUDA device\n");
        return 77;
    }
    must(cudaMallocManaged(&outcome, 2 * sizeof *outcome));
    must(cudaMallocManaged(&size, sizeof *size));
    must(cudaMalloc(&scene, sizeof *scene));
    must(cudaMemset(scene, 0, sizeof *scene));
    outcome[0] = outcome[1] = {0, 0, 0, 0};
    engine_size<<<1, 1>>>(size);
    must(cudaDeviceSynchronize());
    must(cudaMalloc(&memory, *size));
    must(cudaMemset(memory, 0, *size));
    must(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
    must(cudaFuncSetAttribute(walks, cudaFuncAttributeMaxDynamicSharedMemorySize, TG_CUDA_SHARED));
    walks<<<1, TG_CUDA_BLOCK, TG_CUDA_SHARED>>>(scene, memory, outcome);
    must(cudaGetLastError());
    must(cudaDeviceSynchronize());
    for (int i = 0; i < 2; i++)
        if (outcome[i].line)
            printf("%u lanes, kind %u, %u entries: walk_scene.h:%d\n", outcome[i].lanes,
                   outcome[i].kind, outcome[i].count, outcome[i].line);
    printf("walks of %d kinds over 0 to %d entries, on 1 lane and on 32\n", (int)SCENE_KINDS,
           SCENE_COUNTS - 1);
    return outcome[0].line || outcome[1].line;
}
