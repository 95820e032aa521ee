#!/usr/bin/env bash
# Devices, disks and clocks that fail, by faults.so: each fault has its exit code and its message.
# Without the fault the run then continues to the digests of an undisturbed one.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
make_faults
# calls are counted where the probe has been and kernels are compiled: a cache also for those without a home
export ERGOCL_CACHE_DIR=${ERGOCL_CACHE_DIR:-$PWD/warm}
jobs=$ERGOCL_ROOT/tests/contract/jobs
run=("$ERGOCL" run "$jobs/spin-lattice.json" --set /checkpoint/every_seconds=1e-9) # all the time
expect 0 "${run[@]}" -o whole

# goes_on FOLDER AS: without the fault, to the end of the run AS.
goes_on() {
    expect 0 "$ERGOCL" resume "$1" --quiet
    same_digests "$2" "$1"
}

# after LEFT FOLDER: "resume": the run goes on; "nothing": not even the folder is there.
after() {
    if [ "$1" = resume ]; then
        goes_on "$2" whole
    else
        [ ! -e "$2" ] || fail "left behind: $2 $(ls "$2")"
    fi
}

# Fault; exit code; what is left; what is said. The number at the end of a fault: so many calls go
# well, here those before sampling.
while IFS='|' read -r fault code left said; do
    rm -rf broken cache
    # with programs from the cache nothing would be built
    case $fault in clBuildProgram*) cache=$PWD/cache ;; *) cache=$ERGOCL_CACHE_DIR ;; esac
    ERGOCL_CACHE_DIR=$cache expect "$code" faulty "$fault" "${run[@]}" -o broken
    says err "$said"
    after "$left" broken
done <<'CASES'
clGetDeviceIDs -1|3|nothing|No OpenCL device was found
clCreateContext -6|3|nothing|CL_OUT_OF_HOST_MEMORY
clCreateCommandQueue -5|3|nothing|CL_OUT_OF_RESOURCES
clBuildProgram -11|3|nothing|CL_BUILD_PROGRAM_FAILURE
clCreateKernel -5|3|nothing|Creating kernel ising_
clCreateBuffer -4 3|3|nothing|make the system or the batch smaller
clEnqueueWriteBuffer -5|3|nothing|CL_OUT_OF_RESOURCES
clEnqueueNDRangeKernel -5|3|nothing|Launching kernel ising_start
clEnqueueNDRangeKernel -54|3|nothing|take a smaller work-group
clEnqueueNDRangeKernel -5 30|3|resume|Launching kernel ising_
clEnqueueReadBuffer -36 30|3|resume|CL_INVALID_COMMAND_QUEUE
clFinish -36|3|nothing|Waiting for device
clWaitForEvents -14 2|3|resume|Waiting for a kernel
clEnqueueNDRangeKernel drop|5|nothing|audit of spin-lattice failed
clEnqueueReadBuffer flip|5|nothing|audit of spin-lattice failed
CASES

# A build that fails once: processes that fill a cache at once are in each other's way (PoCL 5.0).
ERGOCL_CACHE_DIR=$PWD/once expect 0 faulty "clBuildProgram -11 0 1" "${run[@]}" -o once-failed
same_digests whole once-failed

# A device that begins to give wrong answers, at any moment: no sampler believes it, no checkpoint
# holds one.
[ -n "${ERGOCL_TEST_FULL:-}" ] && step=1 || step=13
for sampler in $(samplers); do
    run[2]=$jobs/$sampler.json
    expect 0 "${run[@]}" -o "$sampler"
    for ((n = 20; n < 60; n += step)); do
        rm -rf wrong mark
        code=0
        FAULT_MARK=$PWD/mark faulty "clEnqueueReadBuffer flip $n" "${run[@]}" -o wrong >out 2>err || code=$?
        # a job may be over before its n-th read
        if [ $n -gt 20 ] && [ $code -eq 0 ] && [ ! -e mark ]; then break; fi
        [ $code -eq 5 ] || { cat out err; fail "$sampler, read $n wrong: exit code $code instead of 5"; }
        says err "$sampler"
        # what was measured before stays, marked
        [ ! -e wrong/result.json ] || says wrong/result.json '"status": "audit-failed"' "trust nothing here"
        [ ! -e wrong ] || goes_on wrong "$sampler"
    done
    rm -rf wrong
    expect 5 faulty "clEnqueueNDRangeKernel drop 20" "${run[@]}" -o wrong
    [ ! -e wrong ] || goes_on wrong "$sampler"
done
run[2]=$jobs/spin-lattice.json
cat >long.json <<'JOB'
{ "sampler": "spin-lattice", "seed": "5", "system": { "size": [64, 64], "temperature": 2.3 },
  "run": { "equilibration": 100, "sweeps": 8000, "measure_every": 4 }, "checkpoint": { "every_seconds": 1e-9 } }
JOB
expect 0 "$ERGOCL" run long.json -o long
expect 5 faulty "clEnqueueReadBuffer flip 23" "$ERGOCL" run long.json -o measured
says err "what was measured is in measured/result.json"
says measured/result.json '"status": "audit-failed"' "audit of spin-lattice failed on" "trust nothing here" '"mean": -1.'
[ -s measured/series.h5 ] || fail "an audit that fails leaves no series"
goes_on measured long
says_not measured/result.json audit-failed
# with kernels of a folder
ERGOCL_CL_DIR=$ERGOCL_ROOT/cl expect 5 faulty "clEnqueueReadBuffer flip 23" "$ERGOCL" run long.json -o folder
says err "audit of spin-lattice failed on" "The kernels are those of \$ERGOCL_CL_DIR ($ERGOCL_ROOT/cl)"
says_not err "compiler"

# The folder of the run: full (28), read-only (30), not ours (13), on a disk with errors (5), at its
# making, the first checkpoint, and later.
export FAULT_PATH=disk/
while IFS='|' read -r fault left said; do
    rm -rf disk
    expect 4 faulty "$fault" "${run[@]}" -o disk/run
    says err disk/run "$said"
    [ ! -e disk/run/result.json ] || fail "$fault: a result of a run that failed"
    after "$left" disk/run
done <<'CASES'
mkdir 30|nothing|Read-only file system
open 30|nothing|Read-only file system
open 13 3|resume|Permission denied
write 28|nothing|No space left on device
write 28 4|nothing|No space left on device
write 28 8|resume|No space left on device
write 28 12|resume|No space left on device
write 28 26|resume|No space left on device
fsync 5|nothing|Input/output error
fsync 5 3|resume|Input/output error
rename 30 4|resume|Read-only file system
CASES
unset FAULT_PATH

# File systems without locks, by each of their answers: the run says so, and runs.
for answer in 37 38 95 524; do
    FAULT_PATH=unlocked expect 0 faulty "flock $answer" "${run[@]}" -o unlocked --overwrite
    says err "do not start another ergocl in this folder"
done
FAULT_PATH=unlocked expect 4 faulty "flock 5" "${run[@]}" -o unlocked --overwrite
says err "cannot lock unlocked/lock: Input/output error"

# A page that does not fit on the disk costs no run, and is said also where nothing else is.
FAULT_PATH=report.html expect 0 faulty "write 28" "${run[@]}" -o pageless --quiet
says err "report.html" "No space left on device" "the results are complete without it"
same_results whole pageless

# A checkpoint on the way that cannot be written, also between two batches: the run goes on, with
# another try. Those written here: of the start, before the first sample, between the batches, before
# the second's sample, of the end; without the first or the last there is nothing to go on from.
cat >batches.json <<'JOB'
{ "sampler": "spin-lattice", "seed": "3", "system": { "model": "ising", "temperature": 2.3 },
  "run": { "sweeps": 1 }, "scan": { "/system/size": [[16, 16], [32, 32]] },
  "audit": { "device": "none" },
  "checkpoint": { "every_seconds": 1e-9 } }
JOB
expect 0 "$ERGOCL" run batches.json -o batches
for last in 1 2 3; do
    rm -rf once
    FAULT_PATH=checkpoint expect 0 faulty "fsync 28 $last 1" "$ERGOCL" run batches.json -o once
    says err "No space left on device" "the run continues, and tries again"
    same_results batches once
done
for last in 0 4; do
    rm -rf once
    FAULT_PATH=checkpoint expect 4 faulty "fsync 28 $last 1" "$ERGOCL" run batches.json -o once
done

# killed just before a checkpoint is on the disk, is in its place, is known to be there, and between
# two of its records
for fault in "fsync kill 2" "rename kill 1" "rename kill 2" "fsync kill 5" "write kill 12"; do
    rm -rf killed
    FAULT_PATH=killed expect 137 faulty "$fault" "${run[@]}" -o killed
    goes_on killed whole
done

# held FAULT FOLDER: start a run, and return when the call that waits has begun; and
# ended CODE: let it go on, and wait for its end.
held() {
    rm -rf "$2" cache mark
    (
        export FAULT=$1 FAULT_MARK=$PWD/mark FAULT_PATH=$2 LD_PRELOAD=./faults.so
        case $1 in clBuild*) export ERGOCL_CACHE_DIR=$PWD/cache ;; esac
        exec "${run[@]}" -o "$2"
    ) >held.out 2>held.err &
    child=$!
    wait_for mark
}
ended() {
    local code=0
    rm mark
    wait $child || code=$?
    [ $code -eq "$1" ] || { cat held.err; fail "exit code $code instead of $1"; }
}

# SIGTERM while the driver compiles, while kernels run, while a checkpoint is written: one is enough
for fault in "clBuildProgram wait" "clEnqueueNDRangeKernel wait 30" "clFinish wait" "fsync wait 2"; do
    echo "SIGTERM at $fault"
    held "$fault" asked
    kill -s TERM $child
    ended 75
    goes_on asked whole
done

# A second run in the folder is refused. When the folder is removed it is made again, unless another
# run has come to be in one of that name: that one is left alone.
held "clEnqueueNDRangeKernel wait 30" shared
for way in "" --overwrite; do
    # once, on another machine, this ended with 0: was the first run still there?
    code=0
    # shellcheck disable=SC2086 # nothing, or one word
    "${run[@]}" -o shared $way >out 2>err || code=$?
    [ $code -eq 4 ] || {
        ls -l mark shared
        rm -f mark
        wait $child
        fail "exit code $code instead of 4 beside a run that ended with $?: $(cat held.err)"
    }
    says err "another ergocl works in shared"
done
ended 0
same_results whole shared
held "clEnqueueNDRangeKernel wait 30" gone
rm -r gone
ended 0
says held.err "gone was removed, and is made again"
same_results whole gone
held "clEnqueueNDRangeKernel wait 30" other
rm -r other
expect 0 "${run[@]}" -o other --set /seed=78
cp -r other kept
ended 4
says held.err "other was removed, and its name now belongs to another run"
diff -r kept other || fail "a run has written into the folder of another"

# a clock that jumps back by an hour
expect 0 faulty "clock_gettime back 20" "${run[@]}" -o late
same_results whole late
