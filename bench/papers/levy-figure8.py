#!/usr/bin/env python3
"""Levy, Cohen, Rabani 2010, Fig. 8: the time of a sweep over the number of spins per row, for one Ising lattice and one of the
north-east model.

    bench/papers/levy-figure8.py [--device SEL] [--seconds S] [--most N] [--ergocl FILE]

The paper has plots, and speedups over a serial program: 15 (GT 9600) and 150 (GTX 480) for Ising at n = 512, 2 and some 70 for
north-east. Prints Markdown: n, nanoseconds a sweep, spin updates a second. One lattice of the north-east model is a word of 32
realisations at once here, each of which counts. Each row takes about S seconds.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYSTEMS = {
    "Ising, Metropolis, T = 2.269": {"model": "ising", "temperature": 2.269185314213},
    "north-east, c = 0.42, exact order": {"model": "north-east", "up_density": 0.42, "realisations": 32},
    "north-east, c = 0.42, lambda = 16": {"model": "north-east", "up_density": 0.42, "realisations": 32, "method": "lambda", "lambda": 16},
}


def rate(args, system, n, sweeps, folder):
    """Spin updates per second, and seconds of sampling."""
    job = {"sampler": "spin-lattice", "seed": "8", "system": {**system, "size": [n, n]},
           "run": {"sweeps": sweeps, "measure_every": sweeps}, "output": {"snapshots": 0}}
    (folder / "job.json").write_text(json.dumps(job))
    command = [args.ergocl, "run", str(folder / "job.json"), "-q", "-o", str(folder / "run"), "--overwrite"]
    done = subprocess.run(command + (["--device", args.device] if args.device else []), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"n = {n}: {done.stderr.strip()}")
    found = json.loads((folder / "run" / "result.json").read_text())["rate"]
    return found["value"], found["seconds"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--device", default="")
    p.add_argument("--seconds", type=float, default=1)
    p.add_argument("--most", type=int, default=2048, help="largest n")
    p.add_argument("--ergocl", default=str(ROOT / "build" / "ergocl"))
    args = p.parse_args()
    print("| system | n | ns a sweep | spin updates/s |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for name, system in SYSTEMS.items():
            n = 64 if "lambda" in system else 32  # no sub-lattice is its own neighbour
            while n <= args.most:
                spins = n * n * system.get("realisations", 1)
                sweeps, value = 100, 0
                for _ in range(4):  # longer, until it lasts
                    value, seconds = rate(args, system, n, sweeps, pathlib.Path(scratch))
                    if seconds >= args.seconds / 3:
                        break
                    sweeps = max(sweeps + 1, min(100 * sweeps, int(sweeps * args.seconds / max(seconds, 1e-3))))
                print(f"| {name} | {n} | {1e9 * spins / value:.4g} | {value:.3g} |", flush=True)
                n *= 2


if __name__ == "__main__":
    main()
