#!/usr/bin/env python3
"""Hard disks: what a trial move is worth in other programs' checkerboards.

    bench/papers/disks-schemes.py [--rows R] [--seconds S] [--seeds K] [--jobs J] [--only NAME...]
        [--schemes NAME=CELLS,MOVES,ROUNDS,DRAWN,SQUARE,BOTH,D,LINES...] [--program FILE] [--lines FILE] [--read FILE...]

Runs build/bench/disks-schemes (make bench-program), serial, R^2 disks at 0.698, K seeds of S seconds each scheme,
and prints Markdown. D: of a tagged disk, from its mean-square displacement after 8,000 and 16,000 trials a disk, per
trial; tau: of |psi_6|, in trials a disk; both by trials as the program counts them (ergocl counts those of empty
cells, too). A trial's worth is the ratio of D, or of 1/tau, to the first scheme's. --lines keeps the raw lines, --read
takes them from files instead of running anything.
"""
import argparse
import concurrent.futures
import json
import math
import pathlib
import statistics
import subprocess

KEYS = ("cells", "moves", "rounds", "drawn", "square", "both", "d", "lines")


def schemes(rows):
    """The chains that README's table compares; cells a side for R^2 disks at 0.698."""
    box = rows * math.sqrt(math.pi / (4 * 0.698))
    even = [m for m in range(2, int(box) + 1, 2) if box / m >= 1]
    return {
        "ergocl": (rows, 4, 1, 0, 0, 0, 0.16, 0),
        "ergocl, d = 0.20": (rows, 4, 1, 0, 0, 0, 0.20, 0),
        "ergocl, reflections": (rows, 2, 1, 0, 0, 0, 0, 3),
        "the paper's cells": (min(even, key=lambda m: abs(box / m - 1.38)), 4, 1, 0, 0, 0, 0.16, 0),
        "SoftDisks": (rows // 2, 16, 1, 1, 1, 0, 0.16, 0),
        "HOOMD-blue 2": (max(even), 1, 4, 1, 0, 1, 0.16, 0),
        "HOOMD-blue 2, d = 0.20": (max(even), 1, 4, 1, 0, 1, 0.20, 0),
    }


def diffusion(run):
    return (run["msd"][7] - run["msd"][3]) / (4 * 4 * run["stride"])


def combine(values, weights):
    """Weighted mean, and its standard error from the scatter of independent runs."""
    total = sum(weights)
    mean = sum(v * w for v, w in zip(values, weights)) / total
    if len(values) < 2:
        return mean, math.nan
    spread = sum(w * (v - mean)**2 for v, w in zip(values, weights)) / total
    return mean, math.sqrt(spread / (len(values) - 1))


def summary(runs, empty_cells_count):
    share = statistics.fmean(r["occupied"] for r in runs) if empty_cells_count else 1.0
    weights = [r["samples"] for r in runs]
    return {
        "runs": len(runs), "width": runs[0]["width"],
        "acceptance": statistics.fmean(r["acceptance"] for r in runs),
        "diffusion": [v * share for v in combine([diffusion(r) for r in runs], weights)],
        "tau": [v / share for v in combine([r["tau"] for r in runs], weights)],
    }


def number(value, error):
    """8 and 0.23 as 8.00(23)"""
    if not error > 0:
        return f"{value:.4g}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{digits}f}({round(error * 10**digits)})" if digits else f"{value:.0f}({error:.0f})"


def ratio(a, b):
    value = a[0] / b[0]
    return value, value * math.hypot(a[1] / a[0], b[1] / b[0])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rows", type=int, default=36)
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--seeds", type=int, default=2)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--only", nargs="*")
    p.add_argument("--schemes", nargs="*", default=[])
    p.add_argument("--program", default="build/bench/disks-schemes")
    p.add_argument("--lines")
    p.add_argument("--read", nargs="*")
    args = p.parse_args()
    known = schemes(args.rows)
    for text in args.schemes:
        name, _, values = text.partition("=")
        known[name] = tuple(float(v) if k == "d" else int(v) for k, v in zip(KEYS, values.split(","), strict=True))
    known = {name: s for name, s in known.items() if not args.only or name in args.only}

    if args.read:
        lines = [line for file in args.read for line in pathlib.Path(file).read_text().splitlines()]
    else:
        commands = [[args.program, str(args.rows), str(args.seconds), str(1 + seed), *map(str, scheme)]
                    for seed in range(args.seeds) for scheme in known.values()]
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            lines = list(pool.map(
                lambda c: subprocess.run(c, check=True, capture_output=True, text=True).stdout.strip(), commands))
    if args.lines:
        pathlib.Path(args.lines).write_text("".join(line + "\n" for line in lines))
    runs = [r for r in map(json.loads, lines) if r["rows"] == args.rows]

    print("| scheme | w | trials, rounds | acceptance | D per trial, 1e-6 | worth | tau, trials a disk | worth | runs |")
    print("|---|---|---|---|---|---|---|---|---|")
    first = None
    for name, scheme in known.items():
        mine = [r for r in runs if tuple(r.get(k, 0) for k in KEYS) == scheme]
        if not mine:
            continue
        s = summary(mine, name.startswith("ergocl") or name.startswith("the paper"))
        first = first or s
        worth = number(*ratio(s["diffusion"], first["diffusion"])) if s is not first else "1"
        again = number(*ratio(first["tau"], s["tau"])) if s is not first else "1"
        print(f"| {name} | {s['width']:.3f} | {scheme[1]}, {scheme[2]} | {s['acceptance']:.4f} | "
              f"{number(*(1e6 * v for v in s['diffusion']))} | {worth} | {number(*s['tau'])} | {again} | {s['runs']} |")


if __name__ == "__main__":
    main()
