#!/usr/bin/env python3
"""A figure or table of the papers, run again: published values beside measured ones.

    bench/papers/figure.py NAME... [--device SEL] [--set PATH=VALUE]... [--ergocl FILE] [--keep FOLDER [--wall SECONDS]]
    bench/papers/figure.py --list

A NAME.json beside this program has the job and what was published:

    { "figure": "...", "paper": "...", "job": { ... } or a file's name from the repository's root,
      "published": [ { "observable": "pressure", "value": 9.1709, "error": 5e-5, "at": { "/system/n": 64 } },
                     { "curve": "phi", "x": 100, "value": 0.4992, "error": 0.0014 } ],
      "exact": [ "energy" ] }

`at` picks points of a scan; without it all points count as one. Replicas are averaged, their errors combined. No value:
the paper has a plot. No error: digits as they were printed, no z. `exact`: observables whose exact value ergocl knows; a row of chi^2 for all
points. Prints Markdown: quantity, published, measured, z. Ends with 1 if a job fails, never for a z. Figures of hours are made
in pieces: --wall ends a run after so long, and the same command goes on with what it finds in FOLDER, to what --set says now.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
STOPPED = 75  # ergocl's exit code at the end of its time


def run(args, figure, folder):
    job = figure["job"]
    if isinstance(job, str):
        path = ROOT / job
    else:
        path = folder / "job.json"
        path.write_text(json.dumps(job))
    if args.wall and (folder / "run" / "checkpoint").exists():
        command = [args.ergocl, "resume", str(folder / "run"), "-q"]
    else:
        command = [args.ergocl, "run", str(path), "-q", "-o", str(folder / "run"), "--overwrite"]
    for setting in args.set + ([f"/wall_time={args.wall}"] if args.wall else []):
        command += ["--set", setting]
    command += ["--device", args.device] if args.device else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in ((0, STOPPED) if args.wall else (0,)):
        sys.exit(f"{figure['figure']}: {done.stderr.strip()}")
    return json.loads((folder / "run" / "result.json").read_text())


def measured(result, entry):
    """Mean and error over the points that the entry means; None: there are no such."""
    found = []
    for point in result["points"]:
        if any(point["parameters"].get(key) != value for key, value in entry.get("at", {}).items()):
            continue
        if "curve" in entry:
            curve = point["curves"].get(entry["curve"], {"x": []})
            if entry["x"] not in curve["x"]:
                continue
            index = curve["x"].index(entry["x"])
            found.append((curve["mean"][index], curve["error"][index]))
        else:
            seen = point["observables"][entry["observable"]]
            found.append((seen["mean"], seen["error"]))
    if not found:
        return None
    n = len(found)
    mean = sum(value for value, _ in found) / n
    if all(error is not None for _, error in found):
        return mean, math.sqrt(sum(error**2 for _, error in found)) / n
    spread = math.sqrt(sum((value - mean)**2 for value, _ in found) / (n - 1) / n) if n > 1 else None
    return mean, spread


def number(value, error):
    if error is None:
        return f"{value:.6g}"
    if not error:
        return f"{value:g}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{digits}f}({round(error * 10**digits)})"


def reached(result):
    """Of a run that is under way: how far it has come."""
    if result["status"] == "complete":
        return ""
    run = result["job"]["run"]
    total = run.get("equilibration", 0) + run["sweeps"]
    return f", {min(p['steps'] for p in result['points']):.4g} of {total:.4g} sweeps"


def rows(result, figure):
    for entry in figure.get("published", []):
        name = entry.get("observable") or f"{entry['curve']}({entry['x']:g})"
        at = ", ".join(f"{key.split('/')[-1]} {value:g}" for key, value in entry.get("at", {}).items())
        seen, error = measured(result, entry), entry.get("error", 0)
        published = number(entry["value"], error) if "value" in entry else "a plot"
        if seen is None:
            yield [f"{name} {at}".strip(), published, "not in this run", "-"]
            continue
        z = f"{(seen[0] - entry['value']) / math.hypot(seen[1], error):+.1f}" if error and seen[1] else "-"
        yield [f"{name} {at}".strip(), published, number(*seen), z]
    for name in figure.get("exact", []):
        z = [p["observables"][name].get("z") for p in result["points"]]
        z = [x for x in z if x is not None]  # no error that can be trusted: no z
        if not z:
            yield [name, "exact", "no point has an error", "-"]
            continue
        yield [f"{name}, {len(z)} points", "exact", f"chi^2 {sum(x * x for x in z):.1f}", f"largest {max(map(abs, z)):.1f}"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*", metavar="NAME")
    p.add_argument("--list", action="store_true")
    p.add_argument("--device", default="")
    p.add_argument("--set", action="append", default=[])
    p.add_argument("--ergocl", default=str(ROOT / "build" / "ergocl"))
    p.add_argument("--keep", type=pathlib.Path, help="the run folders stay here")
    p.add_argument("--wall", type=float, help="seconds; with --keep: go on there")
    args = p.parse_args()
    if args.wall and not args.keep:
        p.error("--wall needs --keep: what it leaves is gone on with")
    if args.list or not args.names:
        for path in sorted(HERE.glob("*.json")):
            print(f"{path.stem:22} {json.loads(path.read_text())['figure']}")
        return
    for name in args.names:
        path = HERE / f"{name}.json"
        if not path.exists():
            sys.exit(f"{name}: no such figure; --list names them")
        figure = json.loads(path.read_text())
        with tempfile.TemporaryDirectory() as scratch:
            folder = args.keep / name if args.keep else pathlib.Path(scratch)
            folder.mkdir(parents=True, exist_ok=True)
            result = run(args, figure, folder)
        device = ", ".join(sorted({d["name"] for d in result["device"]}))
        print(f"{figure['figure']} ({figure['paper']}). {device}, {result['rate']['seconds']:.0f} s of sampling"
              + (f", with {' '.join(args.set)}" if args.set else "") + reached(result) + "\n")
        print("| quantity | published | measured | z |\n|---|---|---|---|")
        for row in rows(result, figure):
            print("| " + " | ".join(row) + " |")
        print(flush=True)


if __name__ == "__main__":
    main()
