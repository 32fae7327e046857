# SPDX-License-Identifier: Apache-2.0
"""examples/cholesky over ranks beside StarPU-MPI: the same kernels, tiles and owners, both over Open MPI.

A round runs every program once for each size and number of ranks. A time is that of the slowest rank, from before
the first task is submitted to the end of the last; StarPU-MPI's is the better one of its scheduling policies.

A row is crowded if there are fewer CPUs than busy threads. Its ratios must not be read as what a task or a message
costs: README.md. One rank, without messages, is there to compare.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

RUNTIMES = ("host_build_graph", "tensormap_and_ringbuffer")
POLICIES = ("lws", "eager")  # StarPU's default, and one queue for all workers
SECONDS = 300                # until mpirun ends a program that hangs

# One worker or core for each rank on both sides. Without NOBIND all ranks of a machine would share a CPU.
STARPU = {"STARPU_NCPU": "1", "STARPU_NCUDA": "0", "STARPU_NOPENCL": "0", "STARPU_WORKERS_NOBIND": "1",
          "STARPU_SILENT": "1"}


def is_there(options):
    return os.path.exists(f"{options.bin}/bench_comm_starpu_mpi") and os.path.exists(options.taskglass) \
        and shutil.which("mpirun.openmpi")


def call(launcher, ranks, command, more):
    whole = [*launcher, "--bind-to", "none", "--timeout", str(SECONDS), "-n", str(ranks), *command]
    done = subprocess.run(whole, check=False, capture_output=True, text=True, env={**os.environ, **more})
    if done.returncode != 0:
        sys.exit(f"{' '.join(whole)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def run_taskglass(launcher, options, case, runtime, folder):
    """`taskglass run` checks the result; StarPU's time contains submitting, so this one has building and sending."""
    ranks, n, tile = case
    where = f"{folder}/run"
    command = [options.taskglass, "run", "cholesky", "--set", f"n={n}", "--set", f"tile={tile}", "--runtime", runtime,
               "--platform", options.platform, "--cores", "1", "--comm", "mpi", "--output", where]
    call(launcher, ranks, command, {})
    times = []
    for rank in range(ranks):
        with open(f"{where}/rank{rank}/run.json", encoding="utf-8") as file:
            times.append(json.load(file)["times"])
    shutil.rmtree(where)
    return {"seconds": max(t["build_seconds"] + t["start_seconds"] + t["execute_seconds"] for t in times),
            "execute": max(t["execute_seconds"] for t in times)}


def run_starpu(launcher, options, case, policy, folder):
    ranks, n, tile = case
    text = call(launcher, ranks, [f"{options.bin}/bench_comm_starpu_mpi", str(n), str(tile)],
                {**STARPU, "STARPU_HOME": folder, "STARPU_SCHED": policy})
    return json.loads(next(line for line in text.splitlines() if line.startswith("{")))


def measure_round(launcher, options, case, folder):
    """What each program took, by its name."""
    figures = {runtime: run_taskglass(launcher, options, case, runtime, folder) for runtime in RUNTIMES}
    peers = [run_starpu(launcher, options, case, policy, folder) for policy in POLICIES]
    figures["starpu"] = {key: min(peer[key] for peer in peers) for key in ("seconds", "again")}
    return figures


def summarize(case, rounds, load):
    def median(name, key):
        return statistics.median(figures[name][key] for figures in rounds)

    ranks, n, tile = case
    row = {"mpi": "openmpi", "what": "cholesky", "ranks": ranks, "n": n, "tile": tile, "cpus": os.cpu_count(),
           "load": load, "crowded": max(2 * ranks, load) > os.cpu_count(),
           "starpu_s": median("starpu", "seconds"), "starpu_again_s": median("starpu", "again")}
    for runtime in RUNTIMES:
        row[f"{runtime}_s"] = median(runtime, "seconds")
        row[f"{runtime}_execute_s"] = median(runtime, "execute")
        for key, name in (("seconds", "faster"), ("again", "faster_than_again")):
            row[f"{runtime}_{name}"] = statistics.median(f["starpu"][key] / f[runtime]["seconds"] for f in rounds)
    return row


def measure(launcher, options):
    cases = [(ranks, n, tile) for ranks in options.ranks for n, tile in options.sizes]
    rounds = {case: [] for case in cases}
    load = os.getloadavg()[0]  # of others: later the benchmark's own threads are in it
    with tempfile.TemporaryDirectory(prefix="bench_comm.") as folder:
        for _ in range(options.rounds):
            for case in cases:
                rounds[case].append(measure_round(launcher, options, case, folder))
    return [summarize(case, rounds[case], load) for case in cases]


def show(row):
    ours = ", ".join(f"{runtime} {row[f'{runtime}_s'] * 1e3:.1f} ms ({row[f'{runtime}_faster']:.2f} times as fast)"
                     for runtime in RUNTIMES)
    crowded = ", crowded: see README.md" if row["crowded"] else ""
    print(f"{row['mpi']:8} cholesky of {row['n']} by {row['tile']} on {row['ranks']} rank{'s'[:row['ranks'] > 1]}: "
          f"StarPU-MPI {row['starpu_s'] * 1e3:.1f} ms (again {row['starpu_again_s'] * 1e3:.1f}), {ours}"
          f" [{row['cpus']} CPUs, load average {row['load']:.1f} before{crowded}]")
