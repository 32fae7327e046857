#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A step of paged attention with every tensor of every task saved: Taskglass beside PyTorch.

Taskglass: `taskglass run paged_attention --dump-tensor`. PyTorch: the same tasks as modules on the
GPU, with forward hooks that torch.save their inputs and outputs, which is the usual way to look
into a model. Both save the same number of tensors and bytes. Prints one JSON line for each.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CASE = {"batch": 4, "heads": 32, "kv_heads": 8, "head_dim": 128, "block": 64, "context": 1024,
        "shorter": 0, "blocks": 64, "dtype": "bfloat16"}
SMALL = dict(CASE, batch=1, context=256, blocks=4)
MASKED = -1e30
RUN_LIMIT_S = 120


# ── Taskglass ───────────────────────────────────────────────────────────────────────────


def saved_tensors(folder):
    """The number of task tensors in a recording, and their bytes."""
    with open(os.path.join(folder, "tensor_dump", "tensor_dump.json"), encoding="utf-8") as file:
        records = [record for record in json.load(file)["tensors"]
                   if record["kind"] == "tensor" and record["stage"] != "orchestration"]
    return len(records), sum(record["bin_size"] for record in records)


def run_taskglass(options, case, *arguments):
    """The run.json of one run; the caller removes the folder."""
    folder = tempfile.mkdtemp(prefix="attention.", dir=options.dir)
    command = [options.taskglass, "run", "paged_attention", "--platform", options.platform,
               "--output", folder, *arguments]
    for key, value in case.items():
        command += ["--set", f"{key}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          timeout=RUN_LIMIT_S)
    if done.returncode != 0:
        shutil.rmtree(folder, ignore_errors=True)
        sys.exit(f"attention.py: {' '.join(command)}: exit {done.returncode}: "
                 f"{(done.stderr or done.stdout).strip()}")
    with open(os.path.join(folder, "run.json"), encoding="utf-8") as file:
        return json.load(file), folder


def measure_taskglass(options, case):
    plain, recorded, execute = [], [], []
    tensors = size = tasks = 0
    for _ in range(options.repeat):
        run, folder = run_taskglass(options, case)
        plain.append(run["times"]["start_seconds"] + run["times"]["execute_seconds"])
        shutil.rmtree(folder)
        run, folder = run_taskglass(options, case, "--dump-tensor")
        execute.append(run["times"]["execute_seconds"])
        recorded.append(run["times"]["start_seconds"] + run["times"]["execute_seconds"] +
                        run["recorder"]["finish_seconds"])
        tasks = run["counters"]["tasks"]
        tensors, size = saved_tensors(folder)
        shutil.rmtree(folder)
    return {"program": "attention", "peer": "taskglass", "platform": options.platform,
            "tasks": tasks, "tensors": tensors, "bytes": size,
            "plain_s": statistics.median(plain), "saved_s": statistics.median(recorded),
            "execute_s": statistics.median(execute)}


# ── PyTorch ─────────────────────────────────────────────────────────────────────────────


def make_modules(torch):
    """The tasks of examples/paged_attention as modules. A task that changes a tensor changes it in
    place."""

    class Start(torch.nn.Module):
        def forward(self, maximum, total_weight, total):
            return maximum.fill_(MASKED), total_weight.zero_(), total.zero_()

    class Scores(torch.nn.Module):
        def forward(self, q, keys, entry, length, position, scale):
            block = torch.index_select(keys, 0, entry.view(1))[0].float()
            place = torch.arange(block.shape[0], device=q.device) + position
            return torch.where(place < length, scale * (q @ block.T), MASKED)

    class Softmax(torch.nn.Module):
        def forward(self, scores, maximum, total_weight):
            largest = torch.maximum(maximum, scores.amax(dim=1))
            weights = torch.exp(scores - largest[:, None])
            correction = torch.exp(maximum - largest)
            total_weight.mul_(correction).add_(weights.sum(dim=1))
            maximum.copy_(largest)
            return maximum, total_weight, weights, correction

    class Values(torch.nn.Module):
        def forward(self, weights, values, entry):
            return weights @ torch.index_select(values, 0, entry.view(1))[0].float()

    class Update(torch.nn.Module):
        def forward(self, partial, correction, total):
            return total.mul_(correction[:, None]).add_(partial)

    class Finish(torch.nn.Module):
        def forward(self, total, total_weight, out):
            return out.copy_(total / total_weight[:, None])

    return {"start": Start(), "qk": Scores(), "softmax": Softmax(), "pv": Values(),
            "update": Update(), "finish": Finish()}


class Attention:
    """Inputs on the GPU, and the walk over sequences, heads of the cache and blocks."""

    def __init__(self, torch, case, device):
        self.torch, self.case, self.device = torch, case, device
        self.modules = make_modules(torch)
        dtype = getattr(torch, case["dtype"])
        entries = -(-case["context"] // case["block"])
        cache = (case["blocks"], case["block"], case["kv_heads"], case["head_dim"])
        generator = torch.Generator(device=device).manual_seed(1)

        def uniform(*shape):
            return torch.rand(shape, generator=generator, device=device) * 2 - 1

        self.q = uniform(case["batch"], case["heads"], case["head_dim"])
        self.k, self.v = uniform(*cache).to(dtype), uniform(*cache).to(dtype)
        number = torch.arange(case["batch"] * entries, device=device) * 1000003 % case["blocks"]
        self.table = number.view(case["batch"], entries).to(torch.int32)
        self.lengths = torch.full((case["batch"],), case["context"], dtype=torch.int32,
                                  device=device)
        self.scale = case["head_dim"] ** -0.5
        self.out = torch.zeros_like(self.q)

    def group(self, sequence, head):
        torch, m, case = self.torch, self.modules, self.case
        heads = case["heads"] // case["kv_heads"]
        rows = slice(head * heads, (head + 1) * heads)
        q, keys, values = self.q[sequence, rows], self.k[:, :, head], self.v[:, :, head]
        maximum = torch.empty(heads, device=self.device)
        total_weight = torch.empty_like(maximum)
        total = torch.empty(heads, case["head_dim"], device=self.device)
        m["start"](maximum, total_weight, total)
        for number in range(self.table.shape[1]):
            entry = self.table[sequence, number]
            scores = m["qk"](q, keys, entry, self.lengths[sequence], number * case["block"],
                             self.scale)
            _, _, weights, correction = m["softmax"](scores, maximum, total_weight)
            partial = m["pv"](weights, values, entry)
            m["update"](partial, correction, total)
        m["finish"](total, total_weight, self.out[sequence, rows])

    def run(self):
        """Runs one step; returns its seconds."""
        self.synchronize()
        began = time.monotonic()
        with self.torch.no_grad():
            for sequence in range(self.case["batch"]):
                for head in range(self.case["kv_heads"]):
                    self.group(sequence, head)
        self.synchronize()
        return time.monotonic() - began

    def synchronize(self):
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def largest_error(self):
        """The largest difference to plain attention, computed over the whole context at once."""
        worst = 0.0
        group = self.case["heads"] // self.case["kv_heads"]
        for sequence in range(self.case["batch"]):
            blocks = self.table[sequence].long()
            k, v = (cache[blocks].flatten(0, 1)[:self.case["context"]].double()
                    .repeat_interleave(group, dim=1) for cache in (self.k, self.v))
            scores = self.torch.einsum("hd,thd->ht", self.q[sequence].double(), k) * self.scale
            out = self.torch.einsum("ht,thd->hd", scores.softmax(dim=1), v)
            worst = max(worst, (out - self.out[sequence].double()).abs().max().item())
        return worst


class Saver:
    """Hooks that save the inputs and outputs of each module."""

    def __init__(self, torch, modules, folder):
        self.torch, self.folder = torch, folder
        self.calls = self.tensors = self.bytes = 0
        self.hooks = []
        for name, module in modules.items():
            self.hooks.append(module.register_forward_pre_hook(self.before(name)))
            self.hooks.append(module.register_forward_hook(self.after(name)))

    def save(self, name, values):
        """Writes one file for each call. A view is saved alone, without the rest of its storage."""
        values = values if isinstance(values, tuple) else (values,)
        kept = [value.detach().contiguous().cpu() for value in values
                if isinstance(value, self.torch.Tensor)]
        self.tensors += len(kept)
        self.bytes += sum(value.numel() * value.element_size() for value in kept)
        self.torch.save(kept, os.path.join(self.folder, f"{self.calls:06d}_{name}.pt"))

    def before(self, name):
        # start and finish get tensors to write into, which are not inputs.
        inputs = {"start": 0, "finish": 2}.get(name)

        def hook(_module, arguments):
            self.calls += 1
            if inputs != 0:
                self.save(f"{name}_in", tuple(arguments[:inputs]))
        return hook

    def after(self, name):
        def hook(_module, _arguments, output):
            self.save(f"{name}_out", output)
        return hook

    def remove(self):
        for hook in self.hooks:
            hook.remove()


def measure_torch(options, case):
    try:
        import torch
    except ImportError:
        return {"program": "attention", "peer": "torch", "skipped": "PyTorch is not installed"}
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu" and not options.torch_cpu:
        return {"program": "attention", "peer": "torch", "skipped": "PyTorch sees no GPU"}
    attention = Attention(torch, case, device)
    attention.run()  # warm-up
    plain = [attention.run() for _ in range(options.repeat)]
    error, saved, saver = attention.largest_error(), [], None
    for _ in range(options.repeat):
        folder = tempfile.mkdtemp(prefix="attention.", dir=options.dir)
        saver = Saver(torch, attention.modules, folder)
        saved.append(attention.run())
        saver.remove()
        shutil.rmtree(folder)
    return {"program": "attention", "peer": "torch", "version": torch.__version__,
            "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
            "tasks": saver.calls, "tensors": saver.tensors, "bytes": saver.bytes,
            "plain_s": statistics.median(plain), "saved_s": statistics.median(saved),
            "largest_error": error}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--taskglass", metavar="FILE",
                        default=os.path.join(HERE, "../../build/bin/taskglass"))
    parser.add_argument("--dir", default=tempfile.gettempdir(),
                        help="where both save (default: %(default)s)")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="one short sequence")
    parser.add_argument("--platform", default="cuda", help=argparse.SUPPRESS)
    parser.add_argument("--torch-cpu", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = parse_arguments()
    case = SMALL if options.quick else CASE
    for measure in (measure_taskglass, measure_torch):
        line = measure(options, case)
        line["case"] = " ".join(f"{key}={value}" for key, value in case.items())
        print(json.dumps(line), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
