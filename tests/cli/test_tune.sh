#!/usr/bin/env bash
# ergocl tune and the profiles that runs read: other launches, the same digests.
. "$ERGOCL_ROOT/tests/cli/lib.sh"
export ERGOCL_CONFIG_DIR="$PWD/con fig"

small_job >job.json
expect 0 env ERGOCL_CONFIG_DIR= "$ERGOCL" run job.json -o plain --quiet
expect 0 "$ERGOCL" validate job.json --plan
automatic=$(grep kernels out) path=$(sed -n 's/.*kernels *\([^:]*\):.*/\1/p' out)
echo "$automatic"

# A search: it ends, says what it did, and what it keeps is a profile (nothing, if nothing is faster).
expect 0 "$ERGOCL" tune job.json --seconds 0.5 -o found.json
says out "tried" "automatic" "spin updates per second"
grep -q "profile    found.json" out || says out "nothing is reliably faster"
[ ! -e found.json ] || $python -m json.tool found.json >/dev/null || fail "found.json is no JSON"
[ ! -e "$ERGOCL_CONFIG_DIR" ] || fail "-o wrote the user's profile too"
expect 2 "$ERGOCL" tune job.json --seconds nan
says err "--seconds"
expect 2 "$ERGOCL" tune job.json --seconds 0

# profile MEMBERS TUNING [DEVICE]: the user's profile has this one entry.
"$ERGOCL" devices --json >devices.json
sampler=spin-lattice model=ising work=4096 # of the jobs it is for, work of a member
profile() {
    mkdir -p "$ERGOCL_CONFIG_DIR"
    $python - "$path" "$sampler" "$model" "$work" "$@" >"$ERGOCL_CONFIG_DIR/tuning.json" <<'PYTHON'
import json, os, sys
path, sampler, model, work, members, tuning = sys.argv[1:7]
wanted = os.environ["ERGOCL_DEVICE"].lower()
name = [d["name"] for d in json.load(open("devices.json"))
        if wanted in (d["name"] + d["platform"]).lower()][0]
json.dump({"profiles": [{
    "device": sys.argv[7] if len(sys.argv) > 7 else name, "sampler": sampler, "model": model,
    "path": path, "members": int(members), "work_per_step": int(work) * int(members),
    "tuning": json.loads(tuning), "gain": 1.5}]}, sys.stdout)
PYTHON
}

profile 2 '{"path": 3, "work_group": 16}'
expect 0 "$ERGOCL" validate job.json --plan
says_not out "$automatic"
says out "16"
expect 0 "$ERGOCL" run job.json -o tuned -v
says err "launch from a tuning profile"
same_results plain tuned
says_not tuned/result.json "work_group" # the job is as it was written

# Not for jobs of other sizes, nor devices, nor where the job chooses itself, nor when switched off.
for other in "512 16" "40960 2"; do # members, then work
    work=${other% *} profile "${other#* }" '{"path": 3, "work_group": 16}'
    expect 0 "$ERGOCL" validate job.json --plan
    says out "$automatic"
done
profile 2 '{"path": 3, "work_group": 16}' "Voodoo 2"
expect 0 "$ERGOCL" validate job.json --plan
says out "$automatic"
profile 2 '{"path": 3, "work_group": 16}'
expect 0 "$ERGOCL" run job.json -o own -v --set /tuning/work_group=32
says_not err "tuning profile"
same_digests plain own
expect 0 env ERGOCL_CONFIG_DIR= "$ERGOCL" validate job.json --plan
says out "$automatic"

# What the sampler refuses gives way (an odd tile of disks).
cat >disks.json <<'JSON'
{ "sampler": "hard-disks", "seed": "5", "system": { "n": 200, "packing_fraction": 0.5 },
  "run": { "equilibration": 5, "sweeps": 20, "measure_every": 5, "gr_max": 0 } }
JSON
expect 0 env ERGOCL_CONFIG_DIR= "$ERGOCL" run disks.json -o disks --quiet
expect 0 "$ERGOCL" validate disks.json --plan
path=$(sed -n 's/.*kernels *\([^:]*\):.*/\1/p' out) sampler=hard-disks model=nvt
work=$($python -c 'import json; r = json.load(open("disks/result.json"))["rate"]; print(round(r["value"] * r["seconds"] / 25))')
profile 1 '{"tile": 7}'
expect 0 "$ERGOCL" run disks.json -o refused -v
says err "does not fit" "/tuning/tile"
same_digests disks refused
sampler=spin-lattice model=ising work=4096

# What is no profile is told and not used.
for wrong in '{"work_group": 48}' '{"work_group": -1}' '{"voodoo": 1}' '{"path": 1e99}' '[]'; do
    profile 2 "$wrong"
    expect 0 "$ERGOCL" run job.json -o wrong --overwrite
    says err "tuning profiles are not used" "/profiles/0"
done
same_digests plain wrong
printf '{ "profiles": [' >"$ERGOCL_CONFIG_DIR/tuning.json"
expect 0 "$ERGOCL" run job.json -o wrong --overwrite
says err "tuning profiles are not used"
expect 4 "$ERGOCL" tune job.json --seconds 0.5
