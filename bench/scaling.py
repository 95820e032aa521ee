#!/usr/bin/env python3
"""Weak scaling of a lattice cut over ranks, and a model of its cost.

    bench/scaling.py run --ranks 1,2,4 --sides 4096,16384 --device nvidia --json FILE [--seconds 2]
    bench/scaling.py run --ranks 1,2,4,8 --sides 256,512,1024 --cores 2 --again --json FILE    a CPU
    bench/scaling.py fit FILE...              the model's numbers, and what it says of 256 and 4,096
    bench/scaling.py predict --inside 37,7.6e-6 --pairs 0,0.02 --merge 10,0.0002 --sides 16384

`run`: each rank has a square of that side, at Tc of q = 2; sweeps without measurement. Times are those
that ranks log (`ergocl run -v`), the mean over ranks, and the whole run's rate. `whole`: one process and
one device without cutting. Checked first: a small lattice has the same digest on all numbers of ranks.

The model of `merge: gather`, where every device joins the pairs of all ranks, microseconds a sweep of P ranks with a square
of side l each (that of `rounds` is in build/bench/joining):

    inside   a0 + a1 l^2            bonds, labels, new spins; launches; halo rows read, sent, written
    pairs    p0 + p1 2 l            parts on edges exchanged, pairs found on the device
    merge    m0 + m1 (P - 1) 2 l    pairs of all others fetched (what the device does with them is in
                                    `inside`: it ends while the next sweep has begun); P > 1

With `--cores N` each rank is one thread, and ranks beyond N wait for a core: work that all do at once
takes P/N times as long. `--again`: of each
case the fastest of all runs in the file stays, which is what other programs on the machine leave to
believe in. Predictions have a core, or a device, for each rank.

fitted by least squares of relative errors, and for other machines the network between hosts, on the
way of a sweep one after the other: 6 + 2 log2 P messages of --latency, and the bytes over --bandwidth.
"""
import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

EQUILIBRATION = 10
TC = 1.1345926571065  # 1/ln(1 + sqrt 2)
LINE = re.compile(
    r"rank (\d+) of (\d+): (\d+) x (\d+) sites, (\d+) sweeps; us a sweep: local ([\d.]+) halo "
    r"([\d.]+) pairs ([\d.]+) merge ([\d.]+) flip ([\d.]+); bytes a sweep: halo (\d+) edges (\d+) "
    r"pairs (\d+); parts (\d+)")
NAMES = ["local", "halo", "pairs", "merge", "flip", "halo_bytes", "edge_bytes", "pair_bytes", "parts"]


def grid(ranks):
    """Columns and rows of a super-lattice of squares."""
    columns = 1
    while (2 * columns) ** 2 <= ranks and ranks % (2 * columns) == 0:
        columns *= 2
    return columns, ranks // columns


def launch(args, ranks, lx, ly, sweeps, extra, folder):
    job = {"sampler": "swendsen-wang", "seed": "1", "output": {"snapshots": 0},
           "system": {"q": 2, "size": [lx, ly], "temperature": TC, "shares": "equal"},
           "run": {"equilibration": EQUILIBRATION, "sweeps": sweeps, "measure_every": sweeps}}
    path = pathlib.Path(folder) / "job.json"
    path.write_text(json.dumps(job))
    command = [args.ergocl, "run", str(path), "-o", str(pathlib.Path(folder) / "run"), "--overwrite",
               "-v", "--device", args.device, "--set", "/audit/device=none"] + extra
    if ranks > 1:
        command = ["mpirun", "-np", str(ranks)] + command
    done = subprocess.run(command, capture_output=True, text=True, timeout=args.timeout, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} -> {done.returncode}\n{done.stderr[-3000:]}")
    result = json.loads((pathlib.Path(folder) / "run" / "result.json").read_text())
    return done.stderr, result


def measure(args, ranks, side, merge, folder):
    columns, rows = grid(ranks)
    extra = ["--set", "/distribute=lattice", "--set", f"/system/merge={merge}"]
    lx, ly = columns * side, rows * side
    sweeps = args.sweeps or 3
    while True:  # long enough to be worth a mean
        log, result = launch(args, ranks, lx, ly, sweeps, extra, folder)
        seconds = result["rate"]["seconds"]
        if args.sweeps or seconds > args.seconds or sweeps >= 2000:
            break
        sweeps = min(2000, max(3 * sweeps, int(1.2 * args.seconds / max(seconds, 1e-3) * sweeps)))
    lines = [m for m in map(LINE.search, log.splitlines()) if m and int(m[5]) == sweeps + EQUILIBRATION]
    if len(lines) != ranks:
        sys.exit(f"{len(lines)} of {ranks} ranks say where their time went:\n{log[-3000:]}")
    rate = result["rate"]["value"] * 1e-9
    entry = {"ranks": ranks, "side": side, "size": [lx, ly], "how": merge, "sweeps": sweeps,
             "us": 1e-3 * lx * ly / rate, "spins_per_ns": rate}
    for k, name in enumerate(NAMES):
        entry[name] = sum(float(m[6 + k]) for m in lines) / max(1, len(lines))
    entry["parts_most"] = max((int(m[14]) for m in lines), default=0)
    return entry


def run(args):
    os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    if args.cores:
        os.environ["POCL_MAX_PTHREAD_COUNT"] = "1"
    entries, counts = [], [int(r) for r in args.ranks.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        digests = set()
        for ranks in counts:
            extra = ["--set", "/distribute=lattice"] if ranks > 1 else []
            lx, ly = [int(x) for x in args.check.split(",")]
            _, result = launch(args, ranks, lx, ly, 20, extra, folder)
            digests.add(result["points"][0]["digest"])
        if len(digests) != 1:
            sys.exit(f"digests differ: {digests}")
        print(f"{args.check}: {digests} on {args.ranks} ranks", flush=True)
        for side in [int(s) for s in args.sides.split(",")]:
            _, result = launch(args, 1, side, side, args.sweeps or (200 if side > 2000 else 1000), [], folder)
            entries.append({"ranks": 0, "side": side, "device": result["device"][0]["name"],
                            "driver": result["device"][0]["driver"],
                            "spins_per_ns": result["rate"]["value"] * 1e-9,
                            "us": 1e-3 * side * side / (result["rate"]["value"] * 1e-9)})
            print(json.dumps(entries[-1]), flush=True)
            for ranks in counts:
                for merge in args.merges.split(","):
                    entries.append(measure(args, ranks, side, merge, folder))
                    print(json.dumps(entries[-1]), flush=True)
    if args.json:
        if args.again and os.path.exists(args.json):
            entries = faster(entries, json.loads(pathlib.Path(args.json).read_text())["runs"])
        pathlib.Path(args.json).write_text(json.dumps(
            {"device": args.device, "cores": args.cores, "digest": digests.pop(), "note": args.note,
             "runs": entries}, indent=1))


def faster(new, old):
    best = {}
    for r in old + new:
        key = (r["side"], r["ranks"], r.get("how", ""))
        best[key] = min(best.get(key, r), r, key=lambda x: x["us"])
    return [best[key] for key in sorted(best)]


# ---- the model -----------------------------------------------------------------------------------

def least_squares(rows, values):
    """Normal equations of a few unknowns, relative errors; no negative coefficients."""
    n = len(rows[0])
    active = list(range(n))
    while True:
        a = [[sum(r[i] * r[j] / v ** 2 for r, v in zip(rows, values)) for j in active] for i in active]
        b = [sum(r[i] / v for r, v in zip(rows, values)) for i in active]
        for i in range(len(active)):
            pivot = max(range(i, len(active)), key=lambda k: abs(a[k][i]))
            a[i], a[pivot], b[i], b[pivot] = a[pivot], a[i], b[pivot], b[i]
            for k in range(len(active)):
                if k != i and a[i][i]:
                    f = a[k][i] / a[i][i]
                    a[k] = [x - f * y for x, y in zip(a[k], a[i])]
                    b[k] -= f * b[i]
        x = [b[i] / a[i][i] if a[i][i] else 0.0 for i in range(len(active))]
        if all(v >= 0 for v in x):
            return [x[active.index(i)] if i in active else 0.0 for i in range(n)]
        active.pop(min(range(len(active)), key=lambda i: x[i]))


def waiting(busy, cores):
    """How much longer work of `busy` ranks takes that share cores (0: each has its own)."""
    return max(1.0, busy / cores) if cores else 1.0


class Model:
    """Pairs of numbers for inside, pairs, merge; see above."""

    def __init__(self, inside, pairs, merge, bytes_per_site):
        self.inside, self.pairs, self.merge = inside, pairs, merge
        self.bytes_per_site = bytes_per_site

    def terms(self, ranks, side, cores=0):
        """What the numbers of merging multiply."""
        wait = waiting(ranks, cores) if ranks > 1 else 0
        return [wait, wait * (ranks - 1) * 2 * side]

    def merging(self, ranks, side, cores=0):
        terms = self.terms(ranks, side, cores)
        return self.merge[0] * terms[0] + self.merge[1] * terms[1]

    def network(self, ranks, side, latency, bandwidth):
        if ranks == 1:
            return 0.0
        # a rank's pairs are bytes_per_site's; those of all others come here
        data = self.bytes_per_site * side + 0.33 * 16 * 2 * side * (ranks - 1)
        return latency * (6 + 2 * math.log2(ranks)) + 1e-3 * data / bandwidth

    def sweep(self, ranks, side, cores=0):
        alone = sum(c[0] + c[1] * n for c, n in ((self.inside, side ** 2), (self.pairs, 2 * side)))
        return waiting(ranks, cores) * alone + self.merging(ranks, side, cores)

    def show(self):
        text = [f"{name} {c[0]:.4g} + {c[1]:.4g} {of}" for name, c, of in
                (("inside", self.inside, "l^2"), ("pairs", self.pairs, "(2 l)"), ("merge", self.merge, "((P - 1) 2 l)"))]
        print(f"gather: {', '.join(text)} us; {self.bytes_per_site:.3g} bytes a site of side\n")

    def predict(self, sides, args):
        print(f"\nPrediction, {args.latency:g} us and {args.bandwidth:g} GB/s between ranks:\n")
        print("| side | ranks | us a sweep | of that merging | network | spins/ns | efficiency |")
        print("|---|---|---|---|---|---|---|")
        for side in sides:
            for ranks in (1, 2, 4, 8, 64, 256, 4096):
                net = self.network(ranks, side, args.latency, args.bandwidth)
                t = self.sweep(ranks, side) + net
                print(f"| {side} | {ranks} | {t:.0f} | {self.merging(ranks, side):.0f} | {net:.0f} | "
                      f"{1e-3 * ranks * side ** 2 / t:.4g} | {self.sweep(1, side) / t:.3f} |")


def model_of(runs, cores):
    def line(chosen, power, times):
        wait = [waiting(r["ranks"], cores) for r in chosen]
        return least_squares([[w, w * power(r["side"])] for w, r in zip(wait, chosen)],
                             [max(1e-3, sum(r[t] for t in times)) for r in chosen])

    inside = line(runs, lambda l: l ** 2, ["local", "halo", "flip"])
    pairs = line(runs, lambda l: 2 * l, ["pairs"])
    bytes_per_site = sum((r["halo_bytes"] + r["edge_bytes"] + r["pair_bytes"]) / r["side"]
                         for r in runs) / len(runs)
    model = Model(inside, pairs, [0, 0], bytes_per_site)
    many = [r for r in runs if r["ranks"] > 1]
    if many:
        model.merge = least_squares(
            [model.terms(r["ranks"], r["side"], cores) for r in many],
            [max(1.0, r["merge"]) for r in many])
    return model


def show_runs(model, runs, cores):
    print("| side | ranks | us a sweep | model | spins/ns | efficiency |")
    print("|---|---|---|---|---|---|")
    for r in runs:
        one = [x for x in runs if x["side"] == r["side"] and x["ranks"] == 1]
        # cores that ranks share count once
        share = waiting(r["ranks"], cores) * one[0]["us"] / r["us"] if one else math.nan
        print(f"| {r['side']} | {r['ranks']} | {r['us']:.0f} | "
              f"{model.sweep(r['ranks'], r['side'], cores):.0f} | {r['spins_per_ns']:.3g} | {share:.3f} |")


def power_of(points):
    """Of speed as a power of ranks."""
    points = [(math.log(ranks), math.log(speed)) for ranks, speed in points]
    mx = sum(p[0] for p in points) / len(points)
    my = sum(p[1] for p in points) / len(points)
    return sum((x - mx) * (y - my) for x, y in points) / sum((x - mx) ** 2 for x, _ in points)


def fit(args):
    for path in args.files:
        data = json.loads(pathlib.Path(path).read_text())
        cores = data.get("cores", 0)
        whole = {r["side"]: r for r in data["runs"] if r["ranks"] == 0}
        print(f"**{data['device']}** {data.get('note', '')}\n")
        runs = [r for r in data["runs"] if r["ranks"] > 0 and r["how"] == "gather"]
        if runs:
            model = model_of(runs, cores)
            model.show()
            show_runs(model, runs, cores)
            for side, r in whole.items():
                print(f"| {side} | not cut | {r['us']:.0f} | | {r['spins_per_ns']:.3g} | |")
            for side in sorted({r["side"] for r in runs}):
                points = [(r["ranks"], r["spins_per_ns"]) for r in runs if r["side"] == side]
                if len(points) > 1 and not cores:
                    print(f"\nside {side}: speed goes as ranks^{power_of(points):.3f}", end="")
                    points = [p for p in points if p[0] > 1] + [(1, whole[side]["spins_per_ns"])]
                    print(f"; with the lattice not cut as one rank's ranks^{power_of(points):.3f}")
            model.predict(sorted({r["side"] for r in runs}), args)
            print()


def predict(args):
    pair = [[float(x) for x in text.split(",")] for text in (args.inside, args.pairs, args.merge)]
    model = Model(*pair, args.bytes)
    model.show()
    model.predict([int(s) for s in args.sides.split(",")], args)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("run")
    one.add_argument("--ranks", default="1,2,4")
    one.add_argument("--sides", default="1024")
    one.add_argument("--merges", default="gather", help="gather, rounds")
    one.add_argument("--check", default="1000,777", help="sides of the lattice whose digests are compared")
    one.add_argument("--device", default="auto")
    one.add_argument("--ergocl", default="build/ergocl")
    one.add_argument("--seconds", type=float, default=1.0)
    one.add_argument("--sweeps", type=int, default=0, help="as many, whatever the time")
    one.add_argument("--timeout", type=float, default=60)
    one.add_argument("--json")
    one.add_argument("--note", default="")
    one.add_argument("--cores", type=int, default=0, help="of a CPU that ranks of one thread share")
    one.add_argument("--again", action="store_true", help="keep what the file has and was faster")
    two = commands.add_parser("fit")
    two.add_argument("files", nargs="+")
    three = commands.add_parser("predict")
    for name in ("--inside", "--pairs", "--merge"):
        three.add_argument(name, default="0,0", help="the model's two numbers, us")
    three.add_argument("--sides", default="16384")
    three.add_argument("--bytes", type=float, default=15.0, help="sent a sweep, a site of side")
    for each in (two, three):
        network(each)
    args = parser.parse_args()
    {"run": run, "fit": fit, "predict": predict}[args.command](args)


def network(two):
    two.add_argument("--latency", type=float, default=3.0, help="us a message")
    two.add_argument("--bandwidth", type=float, default=20.0, help="GB/s")


if __name__ == "__main__":
    main()
