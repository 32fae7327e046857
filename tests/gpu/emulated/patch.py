# SPDX-License-Identifier: Apache-2.0
"""Replaces what g++ cannot compile in a copy of the GPU's sources: inline PTX, and what only nvcc defines.
Each place must be there; a source that has changed fails with one line that names the place."""

import re
import sys

IMPLEMENTATION = "src/platform/cuda/gpu/target_impl.h"

# file: (what is there, what takes its place)
TEXTS = {
    "include/taskglass/target.h": (
        ("#if defined(__CUDACC__)\n/* See", "#if defined(EMULATED)\n/* See"),
        ("#if defined(__CUDA_ARCH__)", "#if defined(EMULATED)"),
        ("TG_BLOCK_THREADS = 256", "TG_BLOCK_THREADS = EMU_CREW"),
        ("extern __shared__ __align__(128) char tg_block_memory[];",
         "#define tg_block_memory emu_shared()"),
        ('asm volatile("barrier.sync 1, 256;" ::: "memory")', "emu_crew_meet()"),
        ("(__threadfence_system(), __trap())", 'emu_fail("a trap")'),
    ),
    "src/platform/cuda/launch.h": (
        ("TG_CUDA_THREADS = 256", "TG_CUDA_THREADS = EMU_CREW"),
    ),
    "src/platform/cuda/gpu/block.cu": (
        ("static __shared__ struct block block;",
         "static struct block block_of[EMU_BLOCKS];\n#define block block_of[emu_block()]"),
    ),
    # Meetings of a warp are compared up to this function (meetings.cpp).
    "src/platform/cuda/gpu/lanes.cu": (
        ("TG_FN TG_APART uint32_t tg_lanes_walk(",
         'TG_FN TG_APART __attribute__((section("emu_walk"))) uint32_t tg_lanes_walk('),
    ),
}

# Functions of target_impl.h, and their bodies here.
BODIES = {
    "tg_target_now": "    return emu_time();",
    "tg_target_store16": "    emu_store16(to, first, second);",
    "tg_target_say_submitted": "    emu_access(&status->task_id);\n    status->task_id = tasks;",
    "tg_await_copies": "    emu_await_copies();",
    "tg_begin_copy": "    emu_begin_copy(to, from, size);",
    "tg_barrier_init": "    emu_barrier_init(barrier, arrivals);",
    "tg_barrier_arrive": "    emu_barrier_arrive(barrier);",
    "tg_barrier_passed": "    return emu_barrier_passed(barrier, parity);",
    "tg_barrier_wait": "    for (uint32_t i = 0; i < looks; i++)\n"
                       "        if (tg_barrier_passed(barrier, parity))\n"
                       "            return;\n"
                       "    while (!emu_barrier_try(barrier, parity))\n"
                       "        ;",
    "tg_target_prefetch": "    (void)p;",
}

# Two mistakes, which every self-test plants and must find: file, what is there, what takes its place.
MUTANTS = {
    "a kept descriptor is used twice": (
        "src/platform/cuda/gpu/chain.cu",
        "    if (c->lane == 0)\n        near->kept = TG_NO_TASK;\n    __syncwarp();\n    return desc;",
        "    return desc;"),
    "a chain is never called away": (
        "src/platform/cuda/gpu/chain.cu",
        "        if (tg_chain_check(c))\n            found = i + 1;",
        "        tg_chain_check(c);"),
}


def replace(root, name, old, new):
    path = root / name
    text = path.read_text()
    if text.count(old) != 1:
        sys.exit(f"taskglass: tests/gpu/emulated/patch.py: {name}: not there once, but {text.count(old)} times: "
                 f"{old.splitlines()[0].strip()}")
    path.write_text(text.replace(old, new))


def replace_body(root, name, function, body):
    path = root / name
    text = path.read_text()
    head = rf"(TG_FN static inline [^\n;]*?\b{function}\([^;{{]*?\)\n{{\n).*?(\n}}\n)"
    text, n = re.subn(head, lambda found: found[1] + body + found[2], text, flags=re.S)
    if n != 1:
        sys.exit(f"taskglass: tests/gpu/emulated/patch.py: {name}: {function} is not defined once, but {n} times")
    path.write_text(text)


def patch(root):
    """`root`: a copy of include/ and of what run.py copies of src/."""
    for name, texts in TEXTS.items():
        for old, new in texts:
            replace(root, name, old, new)
    for function, body in BODIES.items():
        replace_body(root, IMPLEMENTATION, function, body)
    left = re.sub(r"/\*.*?\*/", "", (root / IMPLEMENTATION).read_text(), flags=re.S)
    if re.search(r"\basm\b", left):
        sys.exit(f"taskglass: tests/gpu/emulated/patch.py: {IMPLEMENTATION} has PTX that BODIES does not name")


def plant(root, mutant):
    replace(root, *MUTANTS[mutant])
