#!/usr/bin/env python3
"""Simulated annealing of a MaxCut instance by ergocl and by dwave-samplers (PyPI), on one machine.

Both anneal by Metropolis, geometrically between the same two temperatures, from random starts. dwave's annealer runs on
one core; so does ergocl on PoCL with --cores 1. Rates are of processor time: the seconds of a long run less those of a
short one, so that neither imports nor compilers count, nor what else runs on the machine. With --device ergocl's rate is
its own, by the clock.

    pip install dwave-samplers
    gset-annealers.py data/reference/gset-G1.txt --target 11624
    gset-annealers.py data/reference/gset-G1.txt --target 11624 --device gpu --replicas 4096 --no-peer
"""

import argparse
import json
import math
import os
import pathlib
import resource
import subprocess
import tempfile
import time


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


def dwave(args, edges, sweeps):
    """Processor seconds of the sampling and the cuts found."""
    from dwave.samplers import SimulatedAnnealingSampler  # pylint: disable=import-outside-toplevel

    total = sum(w for _, _, w in edges)
    begin = time.process_time()
    found = SimulatedAnnealingSampler().sample_ising(
        {}, {(i, j): w / 2 for i, j, w in edges}, num_reads=args.replicas, num_sweeps=sweeps, seed=1,
        beta_range=[1 / args.hot, 1 / args.cold], beta_schedule_type="geometric")
    seconds = time.process_time() - begin
    return seconds, [total / 2 - energy for energy in found.record.energy]


def ergocl(args, sweeps):
    """Processor seconds of the whole run, and its result."""
    job = {"sampler": "spin-lattice", "seed": "1", "replicas": args.replicas,
           "system": {"model": "graph", "graph": str(pathlib.Path(args.instance).resolve())},
           "run": {"method": "anneal", "sweeps": sweeps, "target_energy": -args.target, "lowest_every": sweeps,
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


def report(name, rate, n, sweeps, share, best):
    solution = to_solution(sweeps, share) * n / rate if share else math.inf
    print(f"{name:24} {rate:10.3e} spin updates/s   best cut {best:g}   success {share:.3f}   "
          f"time to solution (99%) {solution:.3g} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("instance")
    parser.add_argument("--target", type=float, required=True, help="a cut")
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--replicas", type=int, default=256)
    parser.add_argument("--hot", type=float, default=5.0)
    parser.add_argument("--cold", type=float, default=0.4)
    parser.add_argument("--device", help="ergocl's; one core of a CPU if not given")
    parser.add_argument("--ergocl", default="build/ergocl")
    parser.add_argument("--no-peer", action="store_true")
    args = parser.parse_args()
    n, edges = read(args.instance)
    updates = n * args.replicas * args.sweeps  # of the longer run less the shorter one
    if not args.no_peer:
        (short, _), (long, cuts) = dwave(args, edges, args.sweeps), dwave(args, edges, 2 * args.sweeps)
        share = sum(cut >= args.target for cut in cuts) / len(cuts)
        report("dwave-samplers, 1 core", updates / (long - short), n, 2 * args.sweeps, share, max(cuts))
    ergocl(args, args.sweeps)  # kernels are compiled and cached
    (short, _), (long, result) = ergocl(args, args.sweeps), ergocl(args, 2 * args.sweeps)
    rate = result["rate"]["value"] if args.device else updates / (long - short)
    points = [p for p in result["points"] if "replica" in p]
    cuts = [-p["observables"]["lowest_energy"]["mean"] for p in points]
    share = sum(cut >= args.target for cut in cuts) / len(cuts)
    report(f"ergocl, {args.device or '1 core'}", rate, n, 2 * args.sweeps, share, max(cuts))


if __name__ == "__main__":
    main()
