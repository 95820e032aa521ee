#!/usr/bin/env python3
"""Lutsyshyn 2015, Figs. 3, 4 and 5: liquid helium at 0.02186 A^-3, b = 3.07 A.

    bench/papers/helium-figures.py FIGURE [--device SEL] [--seconds S] [--atoms N ...] [--walkers W] [--ergocl FILE]

3: seconds for 92,400 macroupdates of eight chains of 512 atoms against the macroupdates between two analyses (energies; also
g(r)): flat where the analysis is hidden. 4: milliseconds for a macroupdate of a chain against N. 5: seconds until the error of
E/N is 1 mK against N; the text gives 130 s for 512 atoms on a K20, 200 s on an M2090. Figs. 3 and 5 count execution time, as the
paper does: what the program takes besides sampling (start, kernels, audit, files; once) and the seconds of sampling, which
depend on the length and are also given alone. Fig. 4 is of sampling. Prints Markdown. Each row takes about S seconds. The
walkers are those that fill an H100 or H200, if --walkers does not say other (a CPU: 16).
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FULL = {64: 8448, 128: 8448, 256: 4224, 512: 2112, 1000: 1188, 2048: 528, 4096: 528}
STOPPED = 75  # by the clock, with a result


def run(args, n, walkers, every, structure=0):
    """result.json of a run that the clock ends, and the seconds that it took besides sampling."""
    job = {"sampler": "helium-vmc", "seed": "2015", "wall_time": args.seconds,
           "system": {"n": n, "walkers": walkers},
           "run": {"equilibration": 200, "sweeps": 10**9, "measure_every": every, "structure_every": structure,
                   "structure_walkers": walkers},
           "output": {"snapshots": 0, "series": "none"}}
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "job.json").write_text(json.dumps(job))
        command = [args.ergocl, "run", str(folder / "job.json"), "-q", "-o", str(folder / "run")]
        begun = time.monotonic()
        done = subprocess.run(command + (["--device", args.device] if args.device else []), capture_output=True, text=True)
        seconds = time.monotonic() - begun
        if done.returncode not in (0, STOPPED):
            sys.exit(f"n = {n}: {done.stderr.strip()}")
        result = json.loads((folder / "run" / "result.json").read_text())
        return result, seconds - result["rate"]["seconds"]


def masking(args):
    n, walkers = 512, args.walkers or 8
    print("| macroupdates between analyses | energies, s | sampling alone | energies and g(r), s | sampling alone |\n|---|---|---|---|---|")
    for every in (1, 2, 5, 10, 20, 50, 100):
        row = f"| {every} |"
        for structure in (0, 1):
            result, besides = run(args, n, walkers, every, structure)
            sampling = 92400 * walkers * n * n / result["rate"]["value"]
            row += f" {besides + sampling:.4g} | {sampling:.4g} |"
        print(row, flush=True)


def generation(args):
    print("| N | walkers | ms for a macroupdate of a chain | pair visits/s |\n|---|---|---|---|")
    for n in args.atoms or FULL:
        walkers = args.walkers or FULL.get(n, 528)
        rate = run(args, n, walkers, 1000000)[0]["rate"]["value"]
        print(f"| {n} | {walkers} | {1e3 * n * n / rate:.4g} | {rate:.3g} |", flush=True)


def accuracy(args):
    print("| N | walkers | macroupdates between measurements | E/N, K | s to 1 mK | sampling alone |\n|---|---|---|---|---|---|")
    for n in args.atoms or FULL:
        walkers = args.walkers or FULL.get(n, 528)
        every = 5 if n < 1000 else 3
        result, besides = run(args, n, walkers, every)
        energy = result["points"][0]["observables"]["energy"]
        if energy["error"] is None:
            sys.exit(f"n = {n}: too few measurements for an error; more --seconds")
        sampling = result["rate"]["seconds"] * (energy["error"] / 1e-3) ** 2
        print(f"| {n} | {walkers} | {every} | {energy['mean']:.4f} +- {energy['error']:.2g} | {besides + sampling:.3g} | {sampling:.3g} |",
              flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("figure", type=int, choices=(3, 4, 5))
    p.add_argument("--device", default="")
    p.add_argument("--seconds", type=float, default=3)
    p.add_argument("--atoms", type=int, nargs="*")
    p.add_argument("--walkers", type=int)
    p.add_argument("--ergocl", default=str(ROOT / "build" / "ergocl"))
    args = p.parse_args()
    {3: masking, 4: generation, 5: accuracy}[args.figure](args)


if __name__ == "__main__":
    main()
