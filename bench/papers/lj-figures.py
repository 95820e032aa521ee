#!/usr/bin/env python3
"""Figures 4 to 9 of arXiv:1408.3764 in shape: trial moves a second of the ways to find neighbours.

    bench/papers/lj-figures.py [--device SEL] [--seconds S] [--sizes N...] [--cutoffs R...] [--ergocl FILE]

Figures 4 to 7: against the number of particles at density 0.67, r_c = 2.5. Figures 8 and 9: against
the cutoff, 87296 particles in a box of 128000. The paper's four programs: no list, cells and
microcells with a launch per move, microcells with many moves a launch. Beside them ergocl's default.
A row is left out (-) where all pairs would take too long. Prints two tables in Markdown.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

WAYS = [
    ("no list", {"/system/neighbours": '"none"', "/tuning/moves_per_launch": 1}),
    ("cells", {"/system/neighbours": '"cells"', "/tuning/moves_per_launch": 1}),
    ("microcells", {"/system/neighbours": '"microcells"', "/tuning/moves_per_launch": 1}),
    ("microcells, many moves a launch", {"/system/neighbours": '"microcells"'}),
    ("default", {}),
]


def job(count, side, cutoff):
    return {
        "sampler": "lj-gcmc", "seed": "1",
        "system": {"box": [side, side, side], "temperature": 1.35, "activity": 0.29, "cutoff": cutoff,
                   "particles": count},
        "run": {"equilibration": 0, "sweeps": 1000, "measure_every": 1000, "curve_every": 0},
        "output": {"snapshots": 0}}


def run(args, text, sets, moves, folder):
    path = pathlib.Path(folder) / "job.json"
    path.write_text(json.dumps(text))
    command = [args.ergocl, "run", str(path), "-o", f"{folder}/run", "--overwrite"]
    command += ["--device", args.device] if args.device else []
    sets = dict(sets, **{"/run/sweeps": moves, "/run/measure_every": max(1, moves // 10)})
    for key, value in sets.items():
        command += ["--set", f"{key}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1], file=sys.stderr)
        return None
    return json.loads((pathlib.Path(folder) / "run" / "result.json").read_text())["rate"]["value"]


def rate(args, text, sets, folder):
    """A short run says how long the real one is."""
    first = run(args, text, sets, 400, folder)
    return first and run(args, text, sets, max(400, int(first * args.seconds)), folder)


def table(args, label, points, folder):
    print(f"| {label} | " + " | ".join(name for name, _ in WAYS) + " | fastest of the paper's / no list |")
    print("|" + "---|" * (len(WAYS) + 2))
    for x, text in points:
        rates = []
        for name, sets in WAYS:
            skip = name == "no list" and text["system"]["particles"] > args.most_pairs
            rates.append(None if skip else rate(args, text, sets, folder))
        paper = [r for r in rates[1:4] if r]
        ratio = f"{max(paper) / rates[0]:.1f}" if rates[0] and paper else "-"
        print(f"| {x} | " + " | ".join(f"{r:.3g}" if r else "-" for r in rates) + f" | {ratio} |", flush=True)
    print()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--device", default="")
    p.add_argument("--ergocl", default="build/ergocl")
    p.add_argument("--seconds", type=float, default=2, help="of each measured run")
    p.add_argument("--sizes", type=int, nargs="*", default=[512 * 4**k for k in range(6)] + [1048576])
    p.add_argument("--cutoffs", type=float, nargs="*", default=[2.5, 3, 3.5, 4, 4.25])
    p.add_argument("--most-pairs", type=int, default=140000, help="no larger system without a list")
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.sizes:
            table(args, "N", [(n, job(n, round((n / 0.67) ** (1 / 3), 6), 2.5)) for n in args.sizes], folder)
        if args.cutoffs:
            table(args, "r_c", [(r, job(87296, round(128000 ** (1 / 3), 6), r)) for r in args.cutoffs], folder)


if __name__ == "__main__":
    main()
