#!/usr/bin/env python3
"""Weak scaling of a lattice of spin-lattice in slabs over ranks, and a model of its cost.

    bench/slabs.py run --size 16384,16384 --ranks 1,2 --device nvidia [--json FILE]    2D, a bit per spin
    bench/slabs.py run --size 512,512,512 --ranks 1,2 --device nvidia                  3D, a byte per spin
    bench/slabs.py predict --size 16384,16384 --rate 2500 --exchange 30 --sweeps 39

`run`: the last side grows with the ranks, so that each has a slab of that size. `whole`: one process, not
cut. Checked first: a small lattice has the same digest on all numbers of ranks. Efficiency is the speed a
rank, against one rank; ranks that share a device share its speed, and efficiency is that of all together
(--cards N: how many there are). Then the model's numbers are taken from the measurement, and it predicts.

The model, a sweep of P ranks with slabs of n layers of s sites, halos of 2 S layers, exchanged every S
sweeps:

    updates     n s / rate                        rate: of one process with the slab as its lattice
    halos       (2 S - 1) s / rate                layers of halos that a sweep updates, on average
    exchange    e / S                             launches and copies of one, as measured with one rank
    network     max(0, w - i) / S                 w: 2 latencies and the bytes of a halo over the bandwidth, both
                                                  sides at once; i: the half sweep of the inside meanwhile

Where an exchange follows each colour (S = 1/2; large layers), there are no halos to update, and one layer of a colour
is sent. `exchange` is not hidden in the measurement of one rank as far as it is in its e.

    joining     2 log2(P) latencies a block       counts of all ranks, once in --block sweeps

It assumes equal devices, a device and a link for each rank, and neighbours' messages that meet no others.
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

EQUILIBRATION = 8
LINE = re.compile(r"rank (\d+) of (\d+): (\d+) layers of (\d+), (\d+) exchanges of halos, (\d+) bytes and "
                  r"([\d.]+) us of waiting each")
HALO = re.compile(r"exchanged (?:every (\d+) sweeps|after each colour)")


def launch(args, ranks, size, sweeps, extra, folder):
    job = {"sampler": "spin-lattice", "seed": "1", "output": {"snapshots": 0},
           "system": {"size": size, "temperature": args.temperature, "start": "up"},
           "run": {"equilibration": EQUILIBRATION, "sweeps": sweeps, "measure_every": sweeps,
                   "correlation_every": 0}}
    path = pathlib.Path(folder) / "job.json"
    path.write_text(json.dumps(job))
    command = [args.ergocl, "run", str(path), "-o", str(pathlib.Path(folder) / "run"), "--overwrite",
               "-v", "--set", "/audit/device=none",
               "--device", args.device if ranks > 1 else args.device.split(",")[0]] + extra
    if ranks > 1:
        command = ["mpirun", "-np", str(ranks)] + command
    done = subprocess.run(command, capture_output=True, text=True, timeout=args.timeout, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} -> {done.returncode}\n{done.stderr[-3000:]}")
    return done.stderr, json.loads((pathlib.Path(folder) / "run" / "result.json").read_text())


def long_enough(args, ranks, size, extra, folder):
    sweeps = args.sweeps or 40
    while True:
        log, result = launch(args, ranks, size, sweeps, extra, folder)
        seconds = result["rate"]["seconds"]
        if args.sweeps or seconds > args.seconds or sweeps >= 100000:
            return log, result
        sweeps = min(100000, max(3 * sweeps, int(1.2 * args.seconds / max(seconds, 1e-3) * sweeps)))


def cut_of(result, shape):
    """Sweeps between exchanges, as the plan says."""
    found = HALO.search(json.dumps(result))
    return sweeps_of(shape) if not found else int(found[1]) if found[1] else 0.5


def sweeps_of(shape):
    """As cut.c and bytes_cut.c choose."""
    layer = math.prod(shape[:-1])
    best = math.sqrt((3e7 if len(shape) == 2 else 3e6) / (2 * layer))
    return int(max(1, min(best, shape[-1] / 16)))


def layer_bytes(shape):
    """Of both colours, as sent: of a byte per spin one bit."""
    rows = math.prod(shape[1:-1])
    return rows * 2 * (4 * math.ceil(shape[0] / 64) if len(shape) == 2 else 2 * math.ceil(shape[0] / 32))


class Model:
    def __init__(self, shape, rate, exchange, sweeps):
        self.shape, self.rate, self.exchange, self.sweeps = shape, rate, exchange, sweeps

    def updates(self):
        return 1e-3 * math.prod(self.shape) / self.rate

    def halos(self):
        return 1e-3 * max(0, 2 * self.sweeps - 1) * math.prod(self.shape[:-1]) / self.rate

    def network(self, args):
        data = (0.5 if self.sweeps < 1 else 2 * self.sweeps) * layer_bytes(self.shape)
        wire = 2 * args.latency + 1e-3 * data / args.bandwidth
        inside = self.updates() / 2 * max(0, 1 - 8 * self.sweeps / self.shape[-1])
        return max(0, wire - inside) / self.sweeps, data

    def sweep(self, ranks, args):
        joining = 2 * math.log2(ranks) * args.latency / args.block
        network = self.network(args)[0] if ranks > 1 else 0
        return self.updates() + self.halos() + self.exchange / self.sweeps + network + joining

    def predict(self, args):
        network, data = self.network(args)
        sites = math.prod(self.shape)
        print(f"\nModel of {' x '.join(map(str, self.shape))} a rank: {self.rate:.4g} updates/ns, halos exchanged every "
              f"{self.sweeps:g} sweeps,\n{data:.0f} bytes to either side, {self.exchange:.3g} us an exchange on the device; "
              f"{args.latency:g} us a message, {args.bandwidth:g} GB/s, counts joined\nevery {args.block} sweeps. A sweep: "
              f"updates {self.updates():.4g} us, halos {self.halos():.3g}, exchange {self.exchange / self.sweeps:.3g}, "
              f"network not hidden {network:.3g}.\nAssumed: equal devices, one for each rank, and no other messages.\n")
        print("| ranks | us a sweep | updates/ns | efficiency | of the lattice not cut |")
        print("|---|---|---|---|---|")
        for ranks in (1, 2, 4, 8, 64, 256, 1024):
            t = self.sweep(ranks, args)
            print(f"| {ranks} | {t:.4g} | {1e-3 * ranks * sites / t:.4g} | {self.sweep(1, args) / t:.4f} | "
                  f"{self.updates() / t:.4f} |")


def run(args):
    os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    shape, counts = [int(s) for s in args.size.split(",")], [int(r) for r in args.ranks.split(",")]
    entries = []
    with tempfile.TemporaryDirectory() as folder:
        check = [256, 96] if len(shape) == 2 else [24, 20, 48]
        digests = {launch(args, 1, check, 30, [], folder)[1]["points"][0]["digest"]}
        for ranks in counts:
            _, result = launch(args, ranks, check, 30, ["--set", "/distribute=lattice"], folder)
            digests.add(result["points"][0]["digest"])
        if len(digests) != 1:
            sys.exit(f"digests differ: {digests}")
        print(f"{check}: {digests} whole, and on {args.ranks} ranks", flush=True)
        _, result = long_enough(args, 1, shape, [], folder)
        whole = 1e-9 * result["rate"]["value"]
        entries.append({"ranks": 0, "size": shape, "updates_per_ns": whole, "device": result["device"][0]["name"],
                        "driver": result["device"][0]["driver"]})
        print(json.dumps(entries[-1]), flush=True)
        for ranks in counts:
            size = shape[:-1] + [ranks * shape[-1]]
            sets = ["/distribute=lattice", "/system/shares=equal"] + args.set
            log, result = long_enough(args, ranks, size, [x for s in sets for x in ("--set", s)], folder)
            waits = [float(m[7]) for m in map(LINE.search, log.splitlines()) if m]
            entries.append({"ranks": ranks, "size": size, "updates_per_ns": 1e-9 * result["rate"]["value"],
                            "waiting_us": sum(waits) / max(1, len(waits)), "sweeps": cut_of(result, shape)})
            print(json.dumps(entries[-1]), flush=True)
    one = next((e for e in entries if e["ranks"] == 1), entries[1])
    print("\n| ranks | updates/ns | a card | of one rank | of the lattice not cut |")
    print("|---|---|---|---|---|")
    for e in entries:
        each = e["updates_per_ns"] / min(max(1, e["ranks"]), args.cards)
        print(f"| {e['ranks'] or 'not cut'} | {e['updates_per_ns']:.4g} | {each:.4g} | "
              f"{each / one['updates_per_ns']:.4f} | {each / whole:.4f} |")
    model = Model(shape, whole, 0, one["sweeps"])
    model.exchange = max(0.0, (1e-3 * math.prod(shape) / one["updates_per_ns"] - model.updates() -
                               model.halos()) * one["sweeps"])
    model.predict(args)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps({"device": args.device, "runs": entries}, indent=1))


def predict(args):
    shape = [int(s) for s in args.size.split(",")]
    sweeps = 0.5 if args.by_colour else args.sweeps or sweeps_of(shape)
    Model(shape, args.rate, args.exchange, sweeps).predict(args)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one, two = commands.add_parser("run"), commands.add_parser("predict")
    one.add_argument("--ranks", default="1,2")
    one.add_argument("--device", default="auto")
    one.add_argument("--cards", type=int, default=1, help="devices that the ranks share")
    one.add_argument("--ergocl", default="build/ergocl")
    one.add_argument("--seconds", type=float, default=1.0)
    one.add_argument("--timeout", type=float, default=120)
    one.add_argument("--set", action="append", default=[], help="of the job, as ergocl's")
    one.add_argument("--temperature", type=float, default=2.269185)
    one.add_argument("--json")
    two.add_argument("--by-colour", action="store_true", help="an exchange after each colour")
    two.add_argument("--rate", type=float, required=True, help="updates/ns of one device")
    two.add_argument("--exchange", type=float, default=30, help="us an exchange takes the device")
    for each in (one, two):
        each.add_argument("--size", default="16384,16384", help="of a rank")
        each.add_argument("--sweeps", type=int, default=0, help="run: as many; predict: between exchanges")
        each.add_argument("--latency", type=float, default=3.0, help="us a message")
        each.add_argument("--bandwidth", type=float, default=20.0, help="GB/s")
        each.add_argument("--block", type=int, default=1000, help="sweeps from one joining of counts to the next")
    args = parser.parse_args()
    {"run": run, "predict": predict}[args.command](args)


if __name__ == "__main__":
    main()
