#!/usr/bin/env python3
"""Simulated annealing of MaxCut instances by ergocl and by dwave-samplers (PyPI), on one machine.

Both anneal by Metropolis, geometrically between the same two temperatures, which follow from local fields, from random starts. dwave's annealer runs on
one core; so does ergocl on PoCL with --cores 1. Rates are of processor time: the seconds of a long run less those of a
short one, so that neither imports nor compilers count, nor what else runs on the machine. With --device ergocl's rate is
its own, by the clock.

    pip install dwave-samplers
    gset-annealers.py data/reference/gset-G1.txt
    gset-annealers.py G1.txt G11.txt G22.txt G43.txt G55.txt --sweeps 2000
    gset-annealers.py data/reference/gset-G1.txt --device gpu --replicas 4096

The target is the best known cut, of instances whose names are known, else --target. With --device dwave-samplers runs beside
it on one core, with as many replicas as --peer-replicas.
"""

import argparse
import json
import math
import os
import pathlib
import re
import resource
import subprocess
import tempfile
import time


BEST = {"G1": 11624, "G11": 564, "G22": 13359, "G43": 6660, "G55": 10299}  # Benlic and Hao (2013)


def read(path):
    """Vertices, and edges (i, j, w) from 0, of Gset's format."""
    lines = [line.split() for line in pathlib.Path(path).read_text(encoding="ascii").splitlines() if line.strip()]
    edges = [(int(e[0]) - 1, int(e[1]) - 1, float(e[2]) if len(e) > 2 else 1.0) for e in lines[1:]]
    return int(lines[0][0]), edges


def to_solution(sweeps, share):
    """Sweeps after which one of several runs has seen the target with 99%."""
    if share <= 0:
        return math.inf
    return sweeps if share >= 0.99 else sweeps * math.log(0.01) / math.log1p(-share)


def dwave(args, edges, sweeps, replicas):
    """Processor seconds of the sampling and the cuts found."""
    from dwave.samplers import SimulatedAnnealingSampler  # pylint: disable=import-outside-toplevel

    total = sum(w for _, _, w in edges)
    begin = time.process_time()
    found = SimulatedAnnealingSampler().sample_ising(
        {}, {(i, j): w / 2 for i, j, w in edges}, num_reads=replicas, num_sweeps=sweeps, seed=1,
        beta_range=[1 / args.hot, 1 / args.cold], beta_schedule_type="geometric")
    seconds = time.process_time() - begin
    return seconds, [total / 2 - energy for energy in found.record.energy]


def ergocl(args, instance, target, sweeps):
    """Processor seconds of the whole run, and its result."""
    job = {"sampler": "spin-lattice", "seed": "1", "replicas": args.replicas,
           "system": {"model": "graph", "graph": str(pathlib.Path(instance).resolve())},
           "run": {"method": "anneal", "sweeps": sweeps, "target_energy": -target, "lowest_every": sweeps,
                   "measure_every": sweeps, "temperature_initial": args.hot, "temperature_final": args.cold},
           "output": {"snapshots": 0}}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "job.json")
        path.write_text(json.dumps(job), encoding="utf-8")
        command = [args.ergocl, "run", str(path), "-o", folder + "/run", "--quiet"]
        environment = dict(os.environ)
        if args.device:
            command += ["--device", args.device]
        else:
            environment["POCL_MAX_PTHREAD_COUNT"] = "1"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = json.loads(pathlib.Path(folder, "run", "result.json").read_text(encoding="utf-8"))
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, result


def report(name, rate, n, sweeps, cuts, target):
    share = sum(cut >= target for cut in cuts) / len(cuts)
    solution = to_solution(sweeps, share) * n / rate if share else math.inf
    print(f"  {name:24} {rate:10.3e} spin updates/s   best cut {max(cuts):g}   success {share:.3f}   "
          f"time to solution (99%) {solution:.3g} s", flush=True)


def compare(args, instance):
    n, edges = read(instance)
    named = re.search(r"G\d+", pathlib.Path(instance).stem)
    target = args.target if args.target is not None else BEST.get(named.group(0) if named else "")
    if target is None:
        raise SystemExit(f"{instance}: no cut is known; give --target")
    weights = [abs(w) / 2 for _, _, w in edges]
    args = argparse.Namespace(**vars(args))
    args.hot = args.hot or 2 * math.sqrt(2 * sum(w * w for w in weights) / n)
    args.cold = args.cold or 2 * min(weights) / math.log(100 * n)
    print(f"{pathlib.Path(instance).stem}: {n} vertices, {len(edges)} edges, target {target:g}, T from {args.hot:.3g} to {args.cold:.3g}")
    if not args.no_peer:
        replicas = args.peer_replicas if args.device else args.replicas
        short, _ = dwave(args, edges, args.sweeps, replicas)
        long, cuts = dwave(args, edges, 2 * args.sweeps, replicas)
        report("dwave-samplers, 1 core", n * replicas * args.sweeps / (long - short), n, 2 * args.sweeps, cuts, target)
    ergocl(args, instance, target, args.sweeps)  # kernels are compiled and cached
    short, _ = ergocl(args, instance, target, args.sweeps)
    long, result = ergocl(args, instance, target, 2 * args.sweeps)
    rate = result["rate"]["value"] if args.device else n * args.replicas * args.sweeps / (long - short)
    cuts = [-p["observables"]["lowest_energy"]["mean"] for p in result["points"] if "replica" in p]
    report(f"ergocl, {args.device or '1 core'}", rate, n, 2 * args.sweeps, cuts, target)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("instances", nargs="+")
    parser.add_argument("--target", type=float, help="a cut")
    parser.add_argument("--sweeps", type=int, default=1000, help="and runs of twice as many")
    parser.add_argument("--replicas", type=int, default=256)
    parser.add_argument("--peer-replicas", type=int, default=64)
    parser.add_argument("--hot", type=float, help="first temperature; twice the root of a vertex's mean sum of J^2 if not given")
    parser.add_argument("--cold", type=float, help="last temperature; 2 J / ln(100 n) if not given")
    parser.add_argument("--device", help="ergocl's; one core of a CPU if not given")
    parser.add_argument("--ergocl", default="build/ergocl")
    parser.add_argument("--no-peer", action="store_true")
    args = parser.parse_args()
    for instance in args.instances:
        compare(args, instance)


if __name__ == "__main__":
    main()
