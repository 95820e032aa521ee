#!/usr/bin/env python3
"""Tables of bench/README.md from results: bench-table.py [--write] FILE.json...

Files of a device are merged: of a case measured twice the latest counts. With --write the tables replace what stands
between the marks in bench/README.md.
"""
import json
import pathlib
import sys

README = pathlib.Path(__file__).resolve().parent.parent / "bench" / "README.md"
BEGIN, END = "<!-- bench-table begin -->", "<!-- bench-table end -->"


# Of files that name neither sampler nor unit.
OLD = {"sampler": "spin-lattice", "unit": "spin updates per ns"}
RESOURCES = {
    "philox_blocks": "Philox calls",
    "multiply_adds": "multiply-adds",
    "integer_operations": "integer operations",
    "copy_bytes": "bytes copied",
}


def number(value):
    return "-" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def rate(r, factor=1):
    return "-" if not r else \
        f"{number(factor * r['median'])} ({number(factor * r['min'])} .. {number(factor * r['max'])})"


def of(entry, key):
    return entry.get(key, OLD[key])


def by_sampler(entries):
    """Entries of a list in the file's order, sampler by sampler."""
    groups = {}
    for entry in entries:
        groups.setdefault(of(entry, "sampler"), []).append(entry)
    return groups.items()


def scale(entries, key):
    """Rates are per ns in the files; those of slow samplers are shown in millions a second."""
    medians = [e[key]["median"] for e in entries if e.get(key)] or [1]
    unit = of(entries[0], "unit").removesuffix(" per ns")
    return (1, f"{unit}/ns") if max(medians) >= 0.5 and min(medians) >= 0.01 else (1000, f"million {unit}/s")


def ceilings(c, gpu):
    """What the device can do: per ns; on CPUs of one core, where that was measured."""
    per_core = {k.removesuffix("_per_core_ns") for k in c if k.endswith("_per_core_ns")}
    for key in c:
        if key.endswith("_per_core_ns"):
            continue
        name = key.removesuffix("_per_ns")
        core = not gpu and name in per_core and name != "copy_bytes"
        yield f"{number(c[name + ('_per_core_ns' if core else '_per_ns')])} {RESOURCES.get(name, name)}/ns" + \
              (" and core" if core else "")


def serial_rows(entries):
    factor, unit = scale(entries, "ergocl_per_core")
    names = [p["generator"] for p in entries[0]["programs"]]
    yield f"| {unit} of one core | ergocl | " + " | ".join(f"{n} | ratio" for n in names) + " |"
    yield "|---|---|" + "---|---|" * len(names)
    for s in entries:
        if not s["ergocl_per_core"]:
            yield f"| {s['name']} | FAILED |" + " | |" * len(names)
            continue
        cells = [f"{number(factor * p['rate']['median'])} | {rate(p['ratio'])}" for p in s["programs"]]
        yield f"| {s['name']} | {number(factor * s['ergocl_per_core']['median'])} | " + " | ".join(cells) + " |"


def merge(files):
    """Devices in order of their files; of a case measured twice the latest file counts, and its first entry."""
    devices = {}
    for path in sorted(files, key=lambda f: (json.loads(pathlib.Path(f).read_text())["date"], f)):
        result = json.loads(pathlib.Path(path).read_text())
        key = (result["class"], result["device"]["name"], result["device"]["driver"])
        device = devices.setdefault(key, {"cases": {}, "serial": {}, "files": []})
        device["files"].append((path, result))
        for kind in ("cases", "serial"):
            new = {}
            for entry in result[kind]:
                new.setdefault((of(entry, "sampler"), entry["name"]), {**entry, "date": result["date"][5:10]})
            device[kind].update(new)
    return devices


def short(name):
    return name.removeprefix("NVIDIA ").split(" 80GB")[0]


def label(key):
    kind, name, driver = key
    return short(name) if kind == "gpu" else "PoCL " + driver.split("+")[0]


def sources(key, device):
    """What was measured on a device: its files, and what it could do in the latest of them."""
    _, latest = device["files"][-1]
    gpu = key[0] == "gpu"
    yield f"- **{label(key)}**: {key[1]}, {latest['device']['platform']} {key[2]}. Measured in the run: " + \
          ", ".join(ceilings(latest["ceilings"], gpu)) + ". Files:"
    for path, result in device["files"]:
        note = f" ({result['note']})" if result["note"] else ""
        yield f"  - [{pathlib.Path(path).name}](results/{pathlib.Path(path).name}), commit {result['commit'][:7]}{note}"


def cell(entry, factor, gpu):
    if not entry:
        return " | |"
    if not entry["ok"]:
        return " FAILED | |"
    share = "-" if entry["share"] is None else f"{100 * entry['share']:.0f}% {entry['limited_by']}"
    measured = "-" if not entry["rate_with_measurement"] else number(factor * entry["rate_with_measurement"]["median"])
    core = "" if gpu else f"; {number(factor * entry['rate_per_core']['median'])}"
    run = entry.get("whole_run")
    whole = "-" if not run else number(factor * run["rate"]) + (f" ({run['seconds']:.2g} s)" if run["seconds"] else "")
    return f" {whole}; {measured}; {number(factor * entry['rate']['median'])}{core} | {share}, {entry['date']} |"


def sampler_rows(sampler, devices, gpu):
    """One table: a row for each case, two columns for each device."""
    names = list(dict.fromkeys(n for device in devices.values() for s, n in device["cases"] if s == sampler))
    entries = [d["cases"][sampler, n] for n in names for d in devices.values() if (sampler, n) in d["cases"]]
    factor, unit = scale(entries, "rate")
    yield f"**{sampler}**, {unit}: whole run; with measurement; steps alone" + ("" if gpu else "; these per core")
    yield ""
    yield "| case | path |" + "".join(f" {label(k)} | share of limit |" for k in devices)
    yield "|---|---|" + "---|---|" * len(devices)
    for name in names:
        row = [d["cases"].get((sampler, name)) for d in devices.values()]
        path = next(e["path"] for e in row if e)
        useful = next((f", useful {number(e['useful'])}" for e in row if e and (e.get("useful") or 1) < 1), "")
        yield f"| {name} | {path}{useful} |" + "".join(cell(e, factor, gpu) for e in row)


def rows(devices):
    for gpu in (True, False):
        some = {k: d for k, d in devices.items() if (k[0] == "gpu") == gpu}
        samplers = list(dict.fromkeys(s for device in some.values() for s, _ in device["cases"]))
        for key, device in some.items():
            yield from sources(key, device)
        for sampler in samplers:
            yield ""
            has = {k: d for k, d in some.items() if any(s == sampler for s, _ in d["cases"])}
            yield from sampler_rows(sampler, has, gpu)
        yield ""
        for key, device in some.items():
            for sampler, entries in by_sampler(device["serial"].values()):
                yield f"Beside serial C programs on {label(key)}, {sampler}:"
                yield ""
                yield from serial_rows(entries)
                yield ""


def main():
    files = [a for a in sys.argv[1:] if a != "--write"]
    if not files:
        sys.exit(__doc__)
    text = "\n".join(rows(merge(files))).rstrip()
    if "--write" not in sys.argv:
        print(text)
        return
    old = README.read_text()
    head, rest = old.split(BEGIN)
    README.write_text(f"{head}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
