#!/usr/bin/env bash
# ergocl compare: devices that agree, one that computes wrongly once, one that does not exist.
. "$ERGOCL_ROOT/tests/cli/lib.sh"
export RUSTICL_ENABLE=llvmpipe
"$ERGOCL" devices | grep -q -i llvmpipe || {
    echo "no second OpenCL implementation here"
    exit 77
}

cat >job.json <<'JSON'
{
  "sampler": "hard-disks", "seed": "5",
  "system": { "n": 14, "packing_fraction": 0.5 },
  "run": { "equilibration": 10, "sweeps": 30, "measure_every": 5, "gr_max": 0 },
  "scan": { "/system/packing_fraction": [0.5, 0.4] }
}
JSON
pair=(--devices "portable computing,llvmpipe")

expect 0 "$ERGOCL" compare job.json -o agree "${pair[@]}" --quiet
expect 0 "$ERGOCL" compare job.json -o agree "${pair[@]}" --overwrite
says out "reference" "same bits" "llvmpipe"
says agree/compare.json '"agree": true' '"first_difference": null'
same_digests agree/device-0 agree/device-1
says out "Device time by kernel" "disks_local"
says agree/compare.html "same bits" "Where the time goes" "disks_local" "default-src 'none'"
says_not agree/compare.html "<script" "http:" "https:"
[ ! -e agree/vendor.txt ] || fail "devices that agree have something to tell a vendor"
$python - agree/compare.json <<'PYTHON' || fail "compare.json lacks times"
import json, sys
for device in json.load(open(sys.argv[1]))["devices"]:
    kernels = {k["name"]: k for k in device["kernels"]}
    assert kernels["disks_local"]["seconds"] > 0 and kernels["disks_local"]["bytes"] > 0, kernels
    assert device["copy_bytes_per_second"] > 1e8 and device["device_bytes"] > 0
    assert sum(device["phases"].values()) <= device["wall_seconds"] + 0.05
    assert device["phases"]["sample"] > 0 and device["programs_built"] + device["programs_cached"] > 0
times = {d["kernels_timed_by"] for d in json.load(open(sys.argv[1]))["devices"]}
assert times == {"events", "host"}, times # llvmpipe has no event times
PYTHON

# Sweep 23 (from 0) goes wrong on one of the two, and no other: where it begins is found, below the
# steps between measurements. A run on either of the two ends by its audit, which asks the other.
cp -r "$ERGOCL_ROOT/cl" cl
{
    printf '#ifdef cl_khr_fp64\n#define SLIP(s) 0\n#else\n#define SLIP(s) ((s) == 23UL)\n#endif\n'
    sed 's/mine->key1, step + sweep, DISKS_W/mine->key1, step + sweep + SLIP(step + sweep), DISKS_W/' \
        "$ERGOCL_ROOT/cl/hard_disks/disks_local.cl"
} >cl/hard_disks/disks_local.cl
expect 5 env ERGOCL_CL_DIR="$PWD/cl" "$ERGOCL" compare job.json -o slip "${pair[@]}" --quiet --json --set /run/measure_every=30
says err "do not agree" "slip/compare.json"
says out '"agree": false' '"first_different_step": 24' '"points_that_differ": 2'
# where it begins, down to the kernel and its buffer, for the vendor
says out '"kernel": "disks_local"' '"buffer": "cells"' '"vendor_file": "slip/vendor.txt"'
says slip/vendor.txt "llvmpipe" "probe     passed" "of disks_local, the buffer \"cells\" differs" '"sweeps":14'
says_not slip/vendor.txt "After launch 0 " # it goes wrong on the way
says slip/vendor-kernels.cl "SLIP"
says slip/compare.html "no agreement" "DIFFERS" "slip/vendor.txt"
cmp out slip/compare.json || fail "--json prints something else than compare.json"

# A device that is not there is no disagreement, and nothing runs.
expect 3 "$ERGOCL" compare job.json -o absent --devices "portable computing,llvmpipe,voodoo"
says err 'No device fits "voodoo"'
says_not err "do not agree"
[ ! -e absent ] || fail "a comparison without a device left a folder"

# One device, as on most machines: all of them are one.
expect 0 env RUSTICL_ENABLE='' "$ERGOCL" compare job.json -o alone --all
says out "on 1 device," "reference"
says err "no other to compare it with"
says alone/compare.json '"agree": true'

expect 3 "$ERGOCL" compare job.json -o none --devices llvmpipe
says err "needs two devices"
expect 2 "$ERGOCL" compare job.json -o none
says err "--devices" "--all"
expect 2 "$ERGOCL" compare job.json -o none --all --devices 0:0
[ ! -e none ] || fail "a comparison that was refused left a folder"

# Stretches of a run are made again on the other implementation; a kernel that one of them gets wrong
# ends the run on either, and so does a device that is asked for by name.
audits() { $python -c 'import json, sys; a = json.load(open(sys.argv[1]))["audits"]; print(a["device"], a["varied"], a["stretches"] > 0, a["steps"] > 0)' "$1/result.json"; }
expect 0 "$ERGOCL" run job.json -o audited --device "portable computing" --quiet
[[ $(audits audited) == llvmpipe*"True True True" ]] || fail "audits: $(audits audited)"
expect 0 "$ERGOCL" run job.json -o named --device llvmpipe --quiet --set '/audit/device="portable computing"'
[[ $(audits named) == pthread*"True True True" ]] || fail "audits: $(audits named)"
expect 0 "$ERGOCL" run job.json -o none --quiet --set '/audit/device="none"'
[[ $(audits none) == "None False False False" ]] || fail "audits: $(audits none)"
same_digests audited named none
for on in "portable computing" llvmpipe; do
    expect 5 env ERGOCL_CL_DIR="$PWD/cl" "$ERGOCL" run job.json -o wrong --overwrite --device "$on" --quiet --set /run/measure_every=30
    says err "audit of hard-disks failed on" "made again by" "from the same state"
done
