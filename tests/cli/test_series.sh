#!/usr/bin/env bash
# /output/series: the same estimates whether samples are kept or not, also after a stop and on two
# ranks; everything that reads a run folder works without them.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
cat >job.json <<'JOB'
{ "sampler": "swendsen-wang", "system": { "size": [48, 48], "temperature": 2.3 }, "replicas": 2,
  "run": { "equilibration": 200, "sweeps": 12000 }, "output": { "blocks": 6, "snapshots": 1 } }
JOB

# same FOLDER...: points and means as in the folder full, to the last digit
same() {
    $python - "$@" <<'PYTHON' || fail "estimates differ"
import json, sys

def results(folder):
    result = json.load(open(f"{folder}/result.json"))
    return result["points"], result.get("means")

for folder in sys.argv[1:]:
    assert results(folder) == results("full"), folder
PYTHON
}

for kept in full blocks none; do
    expect 0 "$ERGOCL" run job.json -o $kept --set /output/series=$kept
    says $kept/result.json "\"series\": \"$kept\""
done
same blocks none
for kept in blocks none; do
    cmp full/blocks/p000001.dat $kept/blocks/p000001.dat || fail "averages of blocks differ: $kept"
done
[ ! -e none/series.h5 ] || fail "none/series.h5 is there"
[ "$(stat -c %s blocks/checkpoint)" -lt "$(stat -c %s full/checkpoint)" ] || fail "the checkpoint has the samples"
$python - <<'PYTHON' || fail "series.h5 is not as documented"
import h5py

with h5py.File("full/series.h5") as full, h5py.File("blocks/series.h5") as blocks:
    names = [set(), set()]
    full.visit(lambda name: names[0].add(name) and None)
    blocks.visit(lambda name: names[1].add(name) and None)
    assert names[1] < names[0]
    lacks = names[0] - names[1]
    assert lacks and all(name.split("/")[0] == "samples" for name in lacks), lacks
    assert full["samples/step"].shape[-1] == 12200
    for name in names[1]:
        if isinstance(full[name], h5py.Dataset):
            same = (full[name][...] == blocks[name][...]) | (full[name][...] != full[name][...])
            assert same.all(), name
PYTHON
says full/report.html "<h2>Autocorrelation</h2>" "time series of"
for kept in blocks none; do
    says $kept/report.html "were not kept (/output/series: $kept)"
    says $kept/report.html "<h2>Autocorrelation</h2>"
    says_not $kept/report.html "time series of"
    expect 0 "$ERGOCL" report $kept
    expect 0 "$ERGOCL" resume $kept
    says $kept/report.html "were not kept (/output/series: $kept)"
done
same blocks none

# stopped on the way, several times
expect 75 "$ERGOCL" run job.json -o stopped --set /output/series=blocks --set /wall_time=0.3
# the last without a limit: a loaded machine may do next to nothing in 0.3 s
for limit in 0.3 0.3 0.3 0.3 3600; do
    code=0
    "$ERGOCL" resume stopped --set /wall_time=$limit >out 2>err || code=$?
    [ $code -ne 0 ] || break
    [ $code -eq 75 ] || fail "resume: $code"
done
same stopped
cmp full/blocks/p000000.dat stopped/blocks/p000000.dat || fail "averages of blocks differ"

# devices are compared by their sums
expect 0 "$ERGOCL" compare job.json -o compared --set /output/series=none --set /run/sweeps=600 --devices "$ERGOCL_DEVICE,$ERGOCL_DEVICE"

# beyond 256 MB they are not kept, and that is said
expect 0 "$ERGOCL" validate job.json --set /replicas=100 --set /run/sweeps=100000
says err "so they are not kept"
expect 0 "$ERGOCL" validate job.json --set /replicas=100 --set /run/sweeps=100000 --set /output/series=blocks
says_not err "kept"
expect 2 "$ERGOCL" validate job.json --set /output/series=some
echo OK
