#!/usr/bin/env python3
"""Hard disks: how w, d and n_M are chosen (section 3.3): independent samples of psi_6 per second.

    bench/papers/disks-decorrelation.py [--device SEL] [--n N] [--replicas R] [--sweeps S] [--rounds K]
        [--cells M...] [--displacements D...] [--moves N...] [--all] [--json FILE] [--ergocl FILE]

One line for each choice around the default (--all: for every combination): tau of |psi_6| in sweeps, and
sweeps per second of all replicas over 2 tau. Every choice is run in K rounds, one after the other within a
round, with another seed in each. tau is the mean of all chains: a number of the chain, the same on every
device. Speeds are the fastest round's: on a shared machine only the last column, a ratio, means anything.
A GPU wants many replicas (--device gpu --n 4096 --replicas 256 --sweeps 1000000). Prints Markdown.
"""
import argparse
import itertools
import json
import math
import pathlib
import subprocess
import sys
import tempfile


def choices(args, box):
    """(cells, d, n_M), the reference first."""
    even = [m for m in range(2, int(box) + 1, 2) if 1 <= box / m < math.sqrt(2)]
    if not even:
        sys.exit(f"no cells fit a box of {box:.4g} sigma")
    wish = max(1 / math.sqrt(args.n) * box, 1.06)
    default = (min(even, key=lambda m: abs(box / m - wish)), 0.16, 4)
    axes = (args.cells or sorted(even, reverse=True), args.displacements, args.moves)
    if args.all:
        found = itertools.product(*axes)
    else:
        found = (default[:i] + (x,) + default[i + 1:] for i, axis in enumerate(axes) for x in axis)
    return list(dict.fromkeys([default, *found]))


def run(args, choice, seed, folder):
    cells, d, moves = choice
    job = {
        "sampler": "hard-disks", "seed": str(seed), "replicas": args.replicas,
        "system": {"n": args.n, "packing_fraction": args.packing_fraction, "cells": cells, "max_displacement": d,
                   "moves_per_cell": moves},
        "run": {"equilibration": args.sweeps // 10, "sweeps": args.sweeps, "measure_every": args.measure_every,
                "curves_every": 0},
        "output": {"snapshots": 0}}
    path = pathlib.Path(folder) / "job.json"
    path.write_text(json.dumps(job))
    command = [args.ergocl, "run", str(path), "-q", "-o", f"{folder}/run", "--overwrite"]
    command += ["--device", args.device] if args.device else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"cells {cells}, d {d}, n_M {moves}: {done.stderr.strip()}")
    return json.loads((pathlib.Path(folder) / "run" / "result.json").read_text())


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--device", default="")
    p.add_argument("--ergocl", default="build/ergocl")
    p.add_argument("--n", type=int, default=324)
    p.add_argument("--packing-fraction", type=float, default=0.698)
    p.add_argument("--replicas", type=int, default=8)
    p.add_argument("--sweeps", type=int, default=20000, help="of each chain in each round, after a tenth of them")
    p.add_argument("--measure-every", type=int, default=20)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--cells", type=int, nargs="*", help="a side; all that fit if left out")
    p.add_argument("--displacements", type=float, nargs="*", default=[0.08, 0.12, 0.16, 0.20, 0.24])
    p.add_argument("--moves", type=int, nargs="*", default=[1, 2, 4, 6, 8])
    p.add_argument("--all", action="store_true", help="every combination, not one change at a time")
    p.add_argument("--json", help="write the figures there, too")
    args = p.parse_args()
    box = math.sqrt(args.n * math.pi / (4 * args.packing_fraction))
    rows = {choice: {"tau": [], "error": [], "speed": 0.0, "acceptance": 0.0} for choice in choices(args, box)}
    device = ""
    with tempfile.TemporaryDirectory() as folder:
        for k in range(args.rounds):
            for i, (choice, row) in enumerate(rows.items()):
                result = run(args, choice, 1000 * k + i + 1, folder)
                merit = result["rate"].get("decorrelation")
                if not merit:
                    sys.exit("no autocorrelation time: more sweeps")
                observables = [point["observables"] for point in result["points"]]
                row["tau"] += [o["psi6"]["tau"] for o in observables]
                row["error"] += [o["psi6"]["tau_error"] for o in observables]
                row["speed"] = max(row["speed"], merit["steps_per_second"])
                row["acceptance"] = sum(o["acceptance"]["mean"] for o in observables) / len(observables)
                device = result["device"][0]["name"]
                print(f"round {k + 1}/{args.rounds}: {choice}", file=sys.stderr)
    print(f"{device}: {args.n} disks at {args.packing_fraction:g}, {args.rounds} x {args.replicas} chains of "
          f"{args.sweeps} sweeps\n")
    print("| cells | w | d | n_M | acceptance | tau (sweeps) | sweeps/s | independent psi_6 per second | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    reference, figures = None, []
    for (cells, d, moves), row in rows.items():
        n = len(row["tau"])
        tau = sum(row["tau"]) / n
        # the chains' spread is what it is; their own errors take part where there are few chains
        spread = sum((t - tau)**2 for t in row["tau"]) / max(n - 1, 1)
        error = math.sqrt(max(spread, sum(e * e for e in row["error"]) / n) / n)
        figure = row["speed"] / (2 * tau)
        reference = reference or (figure, error / tau)
        ratio = figure / reference[0]
        # the reference's own error is in every ratio: it is not part of these
        ratio_error = ratio * error / tau
        short = " (?)" if args.sweeps < 20 * tau else ""
        print(f"| {cells} | {box / cells:.3f} | {d:g} | {moves} | {row['acceptance']:.3f} | {tau:.0f}({error:.0f}){short} | "
              f"{row['speed']:.3g} | {figure:.3g} | {ratio:.2f}({ratio_error:.2f}) |")
        figures.append({"cells": cells, "w": box / cells, "d": d, "moves": moves, "tau": tau, "tau_error": error,
                        "sweeps_per_second": row["speed"], "independent_per_second": figure,
                        "acceptance": row["acceptance"]})
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps({"device": device, "n": args.n, "rows": figures}, indent=1) + "\n")


if __name__ == "__main__":
    main()
