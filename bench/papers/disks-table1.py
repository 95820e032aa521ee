#!/usr/bin/env python3
"""Hard disks, Table 1 of Anderson et al. (2013): what the pressure is with and without the shuffles.

    bench/papers/disks-table1.py FOLDER [--device SEL] [--wall HH:MM:SS] [--rows ROW...] [--packing-fraction PHI]
        [--moves N_M] [--replicas R] [--equilibration S] [--sweeps S] [--measure-every S] [--n N] [--cells M] [--ergocl FILE]

256^2 disks in the paper's cells (192 a side, w = 1.40 at 0.708), from a hexagonal crystal. Each row runs for --wall and
leaves its checkpoint in FOLDER; the next call goes on where it stopped (with the same options or others: a job keeps its
own). Near melting the order of the whole system takes some 10^6 sweeps to change: an error from fewer is too small.
With --moves 1 only the first disk of a cell moves, and an order that is not shuffled shows most. P* is the mean of the chains, its error their spread. Prints Markdown.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys

# Row: key switched off, and the paper's P* with its standard error (Table 1 gives two of them) by packing fraction.
ROWS = {
    "right": (None, {0.698: (9.17079, 2.5e-5), 0.708: (9.18214, 3e-5), 0.716: (9.1774, 1e-4)}),
    "sets-in-order": ("shuffle_checkerboard", {0.698: (9.1707, 5e-5), 0.708: (9.1821, 1e-4), 0.716: (9.1775, 1.5e-4)}),
    "disks-in-order": ("shuffle_particles", {0.698: (9.1716, 5e-5), 0.708: (9.1876, 1e-4), 0.716: (9.1831, 1.5e-4)}),
}


def go_on(args, row):
    """Runs or resumes a row; its result.json."""
    folder = args.folder / f"{row}-{args.packing_fraction:g}"
    if (folder / "checkpoint").exists():
        command = [args.ergocl, "resume", str(folder), "-q"]
    else:
        system = {"n": args.n, "packing_fraction": args.packing_fraction, "cells": args.cells, "moves_per_cell": args.moves}
        if ROWS[row][0]:
            system[ROWS[row][0]] = False
        job = {"sampler": "hard-disks", "seed": "2013", "replicas": args.replicas, "system": system,
               "run": {"equilibration": args.equilibration, "sweeps": args.sweeps, "measure_every": args.measure_every, "gr_max": 0,
                       "block_cells": 0},
               "wall_time": args.wall, "output": {"snapshots": 0}}
        path = args.folder / f"{row}.json"
        path.write_text(json.dumps(job, indent=2) + "\n")
        command = [args.ergocl, "run", str(path), "-q", "-o", str(folder)]
    command += ["--device", args.device] if args.device else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 75):
        sys.exit(f"{row}: {done.stderr.strip()}")
    return json.loads((folder / "result.json").read_text())


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--device", default="")
    p.add_argument("--wall", default="00:02:00")
    p.add_argument("--rows", nargs="+", choices=ROWS, default=["right", "disks-in-order"])
    p.add_argument("--packing-fraction", type=float, default=0.708)
    p.add_argument("--n", type=int, default=65536)
    p.add_argument("--cells", type=int, default=192)
    p.add_argument("--moves", type=int, default=4, help="trial moves of a cell in a sub-sweep")
    p.add_argument("--replicas", type=int, default=16)
    p.add_argument("--equilibration", type=int, default=300000)
    p.add_argument("--sweeps", type=int, default=2 * 10**7, help="of each chain at most")
    p.add_argument("--measure-every", type=int, default=50)
    p.add_argument("--ergocl", default="build/ergocl")
    args = p.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for row in args.rows:
        result = go_on(args, row)
        pressures = [point["observables"]["pressure"]["mean"] for point in result["points"]]
        samples = result["points"][0]["observables"]["pressure"]["samples"]
        n = len(pressures)
        if n < 2 or not all(isinstance(x, (int, float)) for x in pressures):
            sys.exit(f"{row}: no pressures of two chains yet: go on for longer than the equilibration")
        mean = sum(pressures) / n
        error = math.sqrt(sum((x - mean)**2 for x in pressures) / (n - 1) / n)
        right, paper = (ROWS[r][1].get(args.packing_fraction) if args.n == 65536 else None for r in ("right", row))
        z = [f"{(mean - v[0]) / math.hypot(error, v[1]):.1f}" if v else "-" for v in (paper, right)]
        lines.append(f"| {row} | {n} x {samples * args.measure_every:.3g} | {mean:.5f}({error:.5f}) | "
                     f"{paper[0] if paper else '-'} | {z[0]} | {z[1]} |")
    print(f"{result['device'][0]['name']}: {args.n} disks at {args.packing_fraction:g}\n")
    print("| shuffle | chains x sweeps | P* | paper | z | z from the right value |\n|---|---|---|---|---|---|")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
