#!/usr/bin/env bash
# ergocl table: as a terminal shows it and as CSV, of one run and several, stopped ones too.
# shellcheck source=tests/cli/lib.sh
. "$ERGOCL_ROOT/tests/cli/lib.sh"

small_job >job.json
expect 0 "$ERGOCL" run job.json -o one --set /replicas=2
grep -v '^$' out | sed '/^files:/,$d' >told
digests one >before
expect 0 "$ERGOCL" table one
grep -v '^$' out | sed '/^independent samples/d' >again
grep -v '^independent samples' told | cmp - again || fail "another table than that of the run"
digests one | cmp - before || fail "a table changed its run"

expect 75 "$ERGOCL" run job.json -o stopped --quiet --set /wall_time=1.5 --set /run/sweeps=100000000 --set /run/measure_every=100 --set '/system/size=[32,32]'
expect 0 "$ERGOCL" table one stopped
says out "stopped"
expect 0 "$ERGOCL" table one --csv
cp out one.csv
expect 0 "$ERGOCL" table one stopped --csv
$python - one.csv out one/result.json <<'PYTHON' || fail "the CSV is not what result.json says"
import csv, json, sys
one = list(csv.DictReader(open(sys.argv[1], newline="")))
both = list(csv.DictReader(open(sys.argv[2], newline="")))
result = json.load(open(sys.argv[3]))
rows = [r for r in one if r["replica"] != "mean"]
means = [r for r in one if r["replica"] == "mean"]
assert len(rows) == len(result["points"]) and len(means) == len(result["means"]) > 0
def same(cell, value):
    assert (float(cell) == value) if value is not None else cell == "", (cell, value)
for row, point in [*zip(rows, result["points"]), *zip(means, result["means"])]:
    for pointer, value in point["parameters"].items():
        [name] = [n for n in row if n.split(" [")[0] == pointer]
        same(row[name], value)
    assert row["digest"] == point.get("digest", "")
    for name, o in point["observables"].items():
        unit = f" [{o['unit']}]" if o["unit"] else ""
        same(row[name + unit], o["mean"])
        same(row[f"{name}.error{unit}"], o["error"])
        same(row[f"{name}.tau [sweep]"], o["tau"])
        assert row[f"{name}.untrusted"] == o.get("untrusted", "")
        if "exact" in o:
            same(row[f"{name}.exact{unit}"], o["exact"])
assert [r["run"] for r in both][: len(one)] == ["one"] * len(one) and both[-1]["run"] == "stopped"
sizes = {r["/system/size/0 [sites]"] for r in both}
assert len(sizes) == 2, sizes
PYTHON

# By name: those alone, with what the run scanned; the plain table names what it leaves out.
expect 0 "$ERGOCL" table one
says out "also measured (ergocl table DIR --observable NAME): "
expect 0 "$ERGOCL" table one --observable heat_capacity --observable energy
grep -q '^temperature  replica  heat_capacity .* energy .* tau(energy)$' out || fail "other columns: $(head -n 1 out)"
says_not out "also measured"
expect 2 "$ERGOCL" table one --observable heat
says err 'no observable "heat"' "ergocl help spin-lattice ising"
expect 2 "$ERGOCL" table one --observable energy --csv
says err "--csv has all"

# A curve: columns for gnuplot and numpy.loadtxt, or one CSV with the scanned parameters.
expect 0 "$ERGOCL" table one --curve correlation
cp out columns
expect 0 "$ERGOCL" table one --curve correlation --csv
cp out curve.csv
expect 0 "$ERGOCL" table one stopped --curve correlation --csv
$python - columns curve.csv out one/result.json <<'PYTHON' || fail "the curves are not those of result.json"
import csv, json, sys
points = json.load(open(sys.argv[4]))["points"]
rows = list(csv.DictReader(open(sys.argv[2], newline="")))
both = list(csv.DictReader(open(sys.argv[3], newline="")))
wanted = [(*p["parameters"].values(), p["replica"], *row) for p in points for row in
          zip(*(p["curves"]["correlation"][k] for k in ("x", "mean", "error")))]
assert list(rows[0]) == [*points[0]["parameters"], "replica", "x",
                         *("correlation" + s for s in ("", ".error", ".untrusted"))], rows[0]
number = lambda cell: float(cell) if cell else None
assert [tuple(map(number, list(r.values())[:-1])) for r in rows] == wanted
why = [p["curves"]["correlation"].get("untrusted", "") for p in points]
assert [r["correlation.untrusted"] for r in rows] == [w for w, p in zip(why, points) for x in p["curves"]["correlation"]["x"]]
assert "too-short" in why, why
assert [r for r in both if r["run"] == "one"] == [{"run": "one", **r} for r in rows] and both[-1]["run"] == "stopped"
blocks = open(sys.argv[1]).read().split("\n\n\n")
assert len(blocks) == len(points) and all(b.startswith("# /system/") for b in blocks)
assert all(b.splitlines()[1].endswith(f"error (?): {w}" if w else "error") for b, w in zip(blocks, why)), blocks
lines = [line.split() for b in blocks for line in b.splitlines() if not line.startswith("#")]
assert len(lines) == len(wanted)
assert all(abs(float(a[1]) - w[-2]) <= 1e-8 * abs(w[-2]) for a, w in zip(lines, wanted))
PYTHON
# Runs that scan different keys share the columns, and a folder's name may have a comma.
expect 0 "$ERGOCL" run job.json -o 'a, field' --quiet --set /scan=null --set /system/temperature=3
expect 0 "$ERGOCL" table 'a, field' one --curve correlation --csv
$python - out curve.csv <<'PYTHON' || fail "the columns of curves of different scans"
import csv, sys
both, one = (list(csv.DictReader(open(name, newline=""))) for name in sys.argv[1:])
assert both[0]["run"] == "a, field" and both[0]["/system/temperature"] == "3", both[0]
assert [r for r in both if r["run"] == "one"] == [{"run": "one", **r} for r in one]
assert not any(None in r or None in r.values() for r in both)
PYTHON
expect 2 "$ERGOCL" table one --curve correlatoin
says err 'no curve "correlatoin"' 'did you mean "correlation"?'
expect 2 "$ERGOCL" table one --observable correlation
says err '"correlation" is a curve' "--curve correlation"
expect 2 "$ERGOCL" table one --curve correlation --observable energy
says err "either --observable or --curve"

expect 4 "$ERGOCL" table nowhere one alsonot --csv
says err "nowhere has no file checkpoint" "alsonot has no file checkpoint"
[ ! -s out ] || fail "something was printed all the same"
expect 2 "$ERGOCL" table
expect 2 "$ERGOCL" table one --json
code=0
"$ERGOCL" table one --csv >/dev/full 2>err || code=$?
[ $code -eq 4 ] || fail "a full disk: exit code $code"
