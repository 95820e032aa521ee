#!/usr/bin/env bash
# ergocl analyse: table, JSON, CSV and page of real runs; refusals with exit codes; nothing is changed.
. "$ERGOCL_ROOT/tests/cli/lib.sh"

cat >job.json <<'JSON'
{ "sampler": "swendsen-wang", "seed": "7",
  "system": { "hamiltonian": "ising", "size": [8, 8], "temperature": 2.27, "start": "ordered" },
  "run": { "equilibration": 100, "sweeps": 3000, "measure_every": 1,
           "observables": "energy,order_parameter,binder" },
  "scan": { "/system/size": [[8, 8], [16, 16]], "/system/temperature": [2.22, 2.26, 2.3] },
  "output": { "series": "full", "snapshots": 0 } }
JSON
evil='<b> & "x"'
expect 0 "$ERGOCL" run job.json -o first -q
expect 0 "$ERGOCL" run job.json -o "$evil" -q --set /seed='"8"'
cp -r first before

# by itself: pooled seeds, curves, crossings
expect 0 "$ERGOCL" analyse first "$evil"
says out "size 8 x 8: 3 points, 6 chains" "Chains of the same physics together" "Reweighted, size 16 x 16" \
    "Crossings of binder, curves reweighted" "inside"
diff -r first before >/dev/null || fail "an analysis changed a run"

# all formats, and a page without scripts and markup from names
expect 0 "$ERGOCL" analyse first "$evil" --fit binder --json -o page.html
says err "wrote page.html"
cp out all.json
says page.html "Crossings" "Data collapse" "Reweighted" "&#60;b&#62;" "default-src 'none'"
says_not page.html "<script" "<b> &" NaN
$python - all.json <<'PY' || fail "the JSON is not what it should be"
import json, math, sys
d = json.load(open(sys.argv[1]))
assert [s["L"] for s in d["systems"]] == [8, 16] and d["axis"] == "/system/temperature"
assert len(d["reweighted"]) == 42 and all(r["inside"] for r in d["reweighted"])
assert all(r["observables"]["energy"]["error"] > 0 for r in d["reweighted"])
pair = d["crossings"]["pairs"][0]
assert abs(pair["at"]["mean"] - 2 / math.log(1 + math.sqrt(2))) < 4 * pair["at"]["error"] < 0.2
assert abs(d["scaling"]["inverse_nu"]["mean"] - 1) < 4 * d["scaling"]["inverse_nu"]["error"]
pooled = d["pooled"][0]
assert pooled["dof"] == 1 and len(pooled["chains"]) == 2 and pooled["chains"][0]["weight"] == 0.5
PY
expect 0 "$ERGOCL" analyse first --csv --reweight temperature=2.25,2.28 --observable energy
[ "$(head -n 1 out)" = "kind,system,key,at,observable,value,error" ] || fail "CSV: $(head -n 1 out)"
[ "$(grep -c '^reweighted,"size 8 x 8",/system/temperature,2.2[58],"energy",-' out)" = 2 ] || fail "CSV: $(cat out)"
expect 0 "$ERGOCL" analyse first --quiet -o quiet.html
[ ! -s out ] || fail "--quiet prints"

# refused
expect 2 "$ERGOCL" analyse first --reweight temperature=5
says err "outside of the overlap" "allowed: size 8 x 8: "
expect 2 "$ERGOCL" analyse first --reweight tempetarure=2.25
says err 'did you mean "temperature"'
expect 2 "$ERGOCL" analyse first --observable enrgy
expect 2 "$ERGOCL" analyse first --crossing binder/M
says err "NAME/L^POWER"
expect 2 "$ERGOCL" analyse first --fit binder --window 3:2
expect 2 "$ERGOCL" analyse first --correction 0
expect 2 "$ERGOCL" analyse first --json --csv
expect 2 "$ERGOCL" analyse first before
says err "have a chain in common" "another seed"
for part in 1 2; do
    expect 0 "$ERGOCL" run job.json -q -o part$part --part $part/2 --set /run/sweeps=400
done
expect 2 "$ERGOCL" analyse part1 part2
says err "have a chain in common" "merged first: ergocl merge"
says_not err "another seed"
expect 0 "$ERGOCL" merge part1 part2 -q -o united
expect 0 "$ERGOCL" analyse united -o -
[ "$(head -c 15 out)" = "<!DOCTYPE html>" ] || fail "analyse -o - prints: $(head -c 300 out)"
[ ! -e - ] || fail "analyse -o - writes a file of that name"
expect 2 "$ERGOCL" analyse united -o - --json
expect 2 "$ERGOCL" analyse
expect 4 "$ERGOCL" analyse nowhere
expect 4 "$ERGOCL" analyse first -o page.html
says err "exists already"
expect 0 "$ERGOCL" run job.json -o blocks -q --set /output/series='"blocks"'
expect 2 "$ERGOCL" analyse blocks --reweight temperature=2.25
says err '/output/series is "blocks"' "--set /output/series=full"
expect 0 "$ERGOCL" analyse blocks # by the estimates
says out "interpolated between points" "samples are not weighted"

# no phases, and models that cannot be weighted
expect 0 "$ERGOCL" analyse first --coexistence temperature
says out "Coexistence, size 8 x 8" "none: "
cat >disks.json <<'JSON'
{ "sampler": "hard-disks", "system": { "n": 64, "packing_fraction": 0.3 }, "run": { "sweeps": 200 } }
JSON
expect 0 "$ERGOCL" run disks.json -o disks -q
expect 0 "$ERGOCL" analyse disks
expect 2 "$ERGOCL" analyse disks --reweight packing_fraction=0.31
says err "cannot be weighted"
expect 2 "$ERGOCL" analyse first disks
says err "have one sampler and model"
