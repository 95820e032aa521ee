# shellcheck shell=bash
# Sourced by the shell tests. They run in an empty folder of their own, with $ERGOCL the program,
# $ERGOCL_ROOT the repository and $ERGOCL_DEVICE a device (tests/run-all sets them).
set -u
: "${ERGOCL:?run me through tests/run-all}" "${ERGOCL_ROOT:?run me through tests/run-all}"
export LC_ALL=C
# The system's own Python has the packages that tools/install-deps.sh installs; another one may come
# first in the PATH.
python=/usr/bin/python3
[ -x $python ] || python=python3

fail() {
    echo "FAILED: $*"
    exit 1
}

# expect CODE COMMAND...: the exit code must be CODE; what it printed is in the files out and err.
expect() {
    local wanted=$1 code=0 start=$SECONDS
    shift
    "$@" >out 2>err </dev/null || code=$?
    echo "\$ $* -> $code ($((SECONDS - start)) s)"
    if [ "$code" -ne "$wanted" ]; then
        tail -n 30 out err
        fail "exit code $code instead of $wanted"
    fi
}

# says FILE TEXT...: each text occurs in the file.
says() {
    local file=$1 text
    shift
    for text in "$@"; do
        grep -qF -e "$text" "$file" || {
            tail -n 30 "$file"
            fail "$file does not say \"$text\""
        }
    done
}

says_not() {
    local file=$1 text
    shift
    for text in "$@"; do
        ! grep -qF -e "$text" "$file" || {
            tail -n 30 "$file"
            fail "$file says \"$text\""
        }
    done
}

# The samplers of the program, one a line, or $TEST_SAMPLER alone.
samplers() {
    "$ERGOCL" help </dev/null | sed -n '/^Samplers/,/^Topics/s/^  \([a-z-]*\)$/\1/p' | grep -x "${TEST_SAMPLER:-.*}"
}

# The digests of a run folder, one a line; fails when there are none.
digests() {
    grep -o '"digest": *"[0-9a-f]\{16\}"' "$1/result.json" || fail "no digests in $1/result.json"
}

same_digests() {
    [ "$(digests "$1")" = "$(digests "$2")" ] || {
        diff <(digests "$1") <(digests "$2")
        fail "$1 and $2 ended in different states"
    }
}

# Everything measured is the same: the points of result.json and the series, bit for bit.
same_results() {
    same_digests "$1" "$2"
    $python - "$1" "$2" <<'PYTHON' || fail "$1 and $2 differ"
import json, sys
import h5py

a, b = sys.argv[1:]
if json.load(open(a + "/result.json"))["points"] != json.load(open(b + "/result.json"))["points"]:
    sys.exit("the points of result.json differ")

def datasets(name):
    found = {}
    with h5py.File(name, "r") as file:
        file.visititems(lambda path, item: found.__setitem__(path, item[()].tobytes())
                        if isinstance(item, h5py.Dataset) and item.dtype.kind == "f" else None)
    return found

one, other = datasets(a + "/series.h5"), datasets(b + "/series.h5")
if not one or one.keys() != other.keys():
    sys.exit("other datasets in series.h5")
different = [path for path in one if one[path] != other[path]]
if different:
    sys.exit("series.h5 differs at " + ", ".join(different[:5]))
PYTHON
}

# A job of about a second on one CPU core.
small_job() {
    cat <<'JSON'
{
  "sampler": "spin-lattice",
  "seed": "11",
  "system": { "model": "ising", "size": [64, 64], "temperature": 2.3 },
  "run": { "equilibration": 100, "sweeps": 2000, "measure_every": 10 },
  "scan": { "/system/temperature": [2.2, 2.3] }
}
JSON
}

# A job to be interrupted: two batches (the sizes differ), curves, and checkpoints five times a
# second. long_job SWEEPS.
long_job() {
    cat <<JSON
{
  "sampler": "spin-lattice",
  "seed": "12",
  "replicas": 2,
  "system": { "model": "ising", "size": [256, 256], "temperature": 2.3, "start": "random" },
  "run": { "equilibration": 2005, "sweeps": $1, "measure_every": 10, "correlation_every": 3 },
  "scan": { "/system/size/0": [128, 256] },
  "checkpoint": { "every_seconds": 0.2 },
  "output": { "snapshots": 3 }
}
JSON
}

# Write job.json, a job of three seconds and more on this machine, and its uninterrupted run "whole".
# Sets milliseconds to its duration.
long_run() {
    # longer than a second program waits for the folder of the first, two seconds
    local sweeps=20000 start
    long_job 100 >job.json # compiles the kernels: the durations below are of sampling
    expect 0 "$ERGOCL" run job.json -o warm
    for (( ; ; )); do
        long_job $sweeps >job.json
        rm -rf whole
        start=$(date +%s%N)
        expect 0 "$ERGOCL" run job.json -o whole
        milliseconds=$((($(date +%s%N) - start) / 1000000))
        echo "$sweeps sweeps: $milliseconds ms"
        [ $milliseconds -lt 3000 ] || return
        sweeps=$((sweeps * (3750 / (milliseconds + 1) + 1)))
    done
}

# Make faults.so, which see: tests/faults/faults.c, patient.c.
make_faults() {
    "${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O1 -shared -fPIC "$ERGOCL_ROOT"/tests/faults/{faults,patient}.c -o faults.so -ldl ||
        fail "faults.so cannot be made"
}
# faulty "FUNCTION ACTION [AFTER [COUNT]]" COMMAND...
faulty() {
    local fault=$1
    shift
    FAULT=$fault LD_PRELOAD=./faults.so timeout -s KILL 300 "$@"
}

# Whether a terminal can be imitated (a chroot may have no pseudo-terminals).
has_terminal() {
    script -qec true /dev/null >/dev/null 2>&1 </dev/null || {
        echo "no pseudo-terminal: what is for terminals was not tested"
        return 1
    }
}

# wait_for FILE: until it exists, at most five minutes: shared machines are slow at times.
wait_for() {
    local i
    for ((i = 0; i < 3000; i++)); do
        [ -e "$1" ] && return
        sleep 0.1
    done
    fail "$1 did not appear"
}
