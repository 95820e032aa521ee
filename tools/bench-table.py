#!/usr/bin/env python3
"""Tables of bench/README.md from results: bench-table.py [--write] FILE.json...

With --write the tables replace what stands between the marks in bench/README.md.
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


def case_rows(cases, gpu):
    factor, unit = scale(cases, "rate")
    useful = any((case.get("useful") or 1) < 1 for case in cases)
    yield f"| case | path | {unit} | " + ("device events" if gpu else "per core") + \
          " | with measurement | limit | share |" + (" useful |" if useful else "") + " check |"
    yield "|---|---|---|---|---|---|---|" + "---|" * (1 + useful)
    for case in cases:
        second = case["rate_device_events"] if gpu else case["rate_per_core"]
        share = "-" if case["share"] is None else f"{100 * case['share']:.0f}%"
        limit = "-" if case["limit"] is None else f"{number(factor * case['limit'])} ({case['limited_by']})"
        yield f"| {case['name']} | {case['path']} | {rate(case['rate'], factor)} | {rate(second, factor)} | " \
              f"{rate(case['rate_with_measurement'], factor)} | {limit} | {share} | " + \
              (f"{number(case['useful'])} | " if useful else "") + \
              f"{'ok' if case['ok'] else 'FAILED'} |"


def serial_rows(entries, useful):
    factor, unit = scale(entries, "ergocl_per_core")
    names = [p["generator"] for p in entries[0]["programs"]]
    yield f"| {unit} of one core | ergocl{', useful' * useful} | " + " | ".join(f"{n} | ratio" for n in names) + " |"
    yield "|---|---|" + "---|---|" * len(names)
    for s in entries:
        if not s["ergocl_per_core"]:
            yield f"| {s['name']} | FAILED |" + " | |" * len(names)
            continue
        cells = [f"{number(factor * p['rate']['median'])} | {rate(p['ratio'])}" for p in s["programs"]]
        yield f"| {s['name']} | {number(factor * s['ergocl_per_core']['median'])} | " + " | ".join(cells) + " |"


def rows(result):
    gpu = result["class"] == "gpu"
    device = result["device"]
    yield f"**{device['name']}**, {device['platform']} {device['driver']}, {result['date'][:10]}, " \
          f"commit {result['commit']}" + (f"; {result['note']}" if result["note"] else "") + \
          ". Measured in the run: " + ", ".join(ceilings(result["ceilings"], gpu)) + "."
    serial = dict(by_sampler(result["serial"]))
    for sampler, cases in by_sampler(result["cases"]):
        yield ""
        yield f"{sampler}:"
        yield ""
        yield from case_rows(cases, gpu)
        if sampler in serial:
            yield ""
            yield from serial_rows(serial[sampler], any((c.get("useful") or 1) < 1 for c in cases))


def main():
    files = [a for a in sys.argv[1:] if a != "--write"]
    if not files:
        sys.exit(__doc__)
    tables = ["\n".join(rows(json.loads(pathlib.Path(f).read_text()))) for f in files]
    text = "\n\n".join(tables)
    if "--write" not in sys.argv:
        print(text)
        return
    old = README.read_text()
    head, rest = old.split(BEGIN)
    README.write_text(f"{head}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
