#!/usr/bin/env bash
# Jobs are checked whole: every error with its pointer, nothing written, no device touched.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
export OCL_ICD_VENDORS=/nonexistent # a device could not even be found

for job in "$ERGOCL_ROOT"/data/jobs/*.json; do
    expect 0 "$ERGOCL" validate "$job"
    says out "$(basename "$job" .json)" "valid" "point"
done
expect 0 "$ERGOCL" validate "$ERGOCL_ROOT/data/jobs/quickstart.json"
says out "31 points"
expect 0 "$ERGOCL" validate "$ERGOCL_ROOT/data/jobs/quickstart.json" --set '/scan={}' --set /replicas=3
says out "3 points"

small_job >job.json
expect 0 "$ERGOCL" validate job.json
"$ERGOCL" validate - <job.json >out || fail "a job on standard input"
says out stdin "2 points"

# bad SED-SCRIPT TEXT...: the job, edited, is refused with these texts.
bad() {
    local edit=$1
    shift
    small_job | sed "$edit" >bad.json
    ! cmp -s bad.json job.json || fail "the edit \"$edit\" changed nothing"
    expect 2 "$ERGOCL" validate bad.json
    says err "$@"
}
# A file that a job names and that is not there: the key is said.
echo '{"sampler": "helium-vmc", "system": {"n": 64, "potential": "not/here.dat"}, "run": {"sweeps": 4}}' >file.json
expect 4 "$ERGOCL" validate file.json
says err "/system/potential: cannot read not/here.dat"

bad 's/"temperature": 2.3/"temperture": 2.3/' /system/temperture temperature
bad 's/"sweeps": 2000/"sweeps": -5/' /run/sweeps -5
bad 's/"sweeps": 2000/"sweeps": 1e999/' /run/sweeps
bad 's/"sweeps": 2000/"sweeps": 2000, "sweeps": 3/' /run/sweeps
bad 's/"sweeps": 2000/"sweeps": "many"/' /run/sweeps
bad 's/"sweeps": 2000/"sweeps": 10.5/' /run/sweeps
bad 's/"seed": "11"/"seed": 9007199254740993/' /seed
bad 's/"seed": "11"/"seed": "-1"/' /seed
bad 's/"seed": "11"/"seed": "18446744073709551616"/' /seed
bad 's/\[64, 64\]/[64, 63]/' /system/size 63
bad 's/\[64, 64\]/[]/' /system/size
bad 's/\[64, 64\]/[64, 64, 64, 64]/' /system/size
bad 's/"ising"/"isng"/' /system/model '"ising"'
bad 's/spin-lattice/spin-latice/' /sampler spin-lattice
bad 's/"sampler": "spin-lattice",//' /sampler
bad 's/"Sampler"/x/; s/"sampler"/"Sampler"/' Sampler
bad 's/2.2, 2.3\]/2.2, -1]/' /scan/~1system~1temperature/1 -1
bad 's|"/system/temperature"|"/system/temprature"|' temprature /system/temperature
bad '2,99s/^}/} trailing/' "bad.json:7:" "nothing may follow"
bad '2,99s/^}//' "bad.json:"
bad '1s/{//' "bad.json:"
# all of them at once
bad 's/"temperature": 2.3/"temperture": 2.3/; s/"sweeps": 2000/"sweeps": -5/; s/"seed": "11"/"seed": ""/' \
    /system/temperture /run/sweeps /seed

expect 2 "$ERGOCL" validate job.json --set /run/swepes=3
says err swepes sweeps
expect 2 "$ERGOCL" validate job.json --set nonsense
says err nonsense
expect 0 "$ERGOCL" validate job.json -s /run/sweeps=30 --set=/seed=99
expect 4 "$ERGOCL" validate missing.json
says err missing.json "No such file"
expect 4 "$ERGOCL" validate .
: >empty.json
expect 2 "$ERGOCL" validate empty.json
head -c 300 /dev/urandom >noise.json
expect 2 "$ERGOCL" validate noise.json
$python -c 'print("[" * 200000)' >deep.json
expect 2 "$ERGOCL" validate deep.json

# a bad job starts nothing
small_job | sed 's/2000/-5/' >bad.json
expect 2 "$ERGOCL" run bad.json -o folder
[ ! -e folder ] || fail "a refused job left a folder"
