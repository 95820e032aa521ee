#!/usr/bin/env python3
"""Tables of bench/README.md from results: bench-table.py [--write] FILE.json...

With --write the tables replace what stands between the marks in bench/README.md.
"""
import json
import pathlib
import sys

README = pathlib.Path(__file__).resolve().parent.parent / "bench" / "README.md"
BEGIN, END = "<!-- bench-table begin -->", "<!-- bench-table end -->"


def number(value):
    return "-" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def rate(r):
    return "-" if not r else f"{number(r['median'])} ({number(r['min'])} .. {number(r['max'])})"


def rows(result):
    gpu = result["class"] == "gpu"
    device, c = result["device"], result["ceilings"]
    yield f"**{device['name']}**, {device['platform']} {device['driver']}, {result['date'][:10]}, " \
          f"commit {result['commit']}" + (f"; {result['note']}" if result["note"] else "") + ". Measured in the run: "
    if gpu:
        yield f"{number(c['philox_blocks_per_ns'])} Philox calls/ns, {number(c['decisions_per_ns'])} decisions/ns, " \
              f"copies {number(c['copy_bytes_per_ns'])} bytes/ns."
    else:
        yield f"{number(c['philox_blocks_per_core_ns'])} Philox calls/ns and " \
              f"{number(c['decisions_per_core_ns'])} decisions/ns per core, " \
              f"copies {number(c['copy_bytes_per_ns'])} bytes/ns."
    yield ""
    yield "| case | path | updates/ns | " + ("device events" if gpu else "per core") + \
          " | with measurement | limit | share | check |"
    yield "|---|---|---|---|---|---|---|---|"
    for case in result["cases"]:
        second = case["rate_device_events"] if gpu else case["rate_per_core"]
        share = "-" if case["share"] is None else f"{100 * case['share']:.0f}%"
        yield f"| {case['name']} | {case['path']} | {rate(case['rate'])} | {rate(second)} | " \
              f"{rate(case['rate_with_measurement'])} | {number(case['limit'])} ({case['limited_by']}) | " \
              f"{share} | {'ok' if case['ok'] else 'FAILED'} |"
    if result["serial"]:
        names = [p["generator"] for p in result["serial"][0]["programs"]]
        yield ""
        yield "| updates/ns of one core | ergocl | " + " | ".join(f"{n} | ratio" for n in names) + " |"
        yield "|---|---|" + "---|---|" * len(names)
        for s in result["serial"]:
            cells = [f"{number(p['rate']['median'])} | {rate(p['ratio'])}" for p in s["programs"]]
            yield f"| {s['name']} | {number(s['ergocl_per_core']['median'])} | " + " | ".join(cells) + " |"


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
