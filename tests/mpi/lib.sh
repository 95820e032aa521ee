# shellcheck shell=bash
# shellcheck source=tests/cli/lib.sh
# Sourced by the MPI tests: many ranks on few cores, all on this machine.
. "$ERGOCL_ROOT/tests/cli/lib.sh"

command -v mpirun >/dev/null || { echo "no mpirun here"; exit 77; }
"$ERGOCL" --version | grep -q 'MPI: none' && { echo "built without MPI"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_base_warn_component_unused=0
export OMPI_MCA_plm=isolated OMPI_MCA_btl=self,vader
# mpirun looks for OpenCL devices by hwloc, and two ranks on two cores wait without yielding, whoever needs these
export HWLOC_COMPONENTS=-opencl,-gl OMPI_MCA_mpi_yield_when_idle=1
unset ERGOCL_DEVICE
if [[ $PWD != *[\ :]* ]]; then # which separate the names in LD_PRELOAD
    "${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O1 -shared -fPIC "$ERGOCL_ROOT/tests/faults/patient.c" -o patient.so ||
        fail "patient.so cannot be made"
    export LD_PRELOAD=$PWD/patient.so
fi
# shellcheck disable=SC2034 # used by those who source this
pocl="Portable Computing Language"
# What its devices are called: pthread-PROCESSOR, since PoCL 4 cpu-PROCESSOR.
devices=$("$ERGOCL" devices)
# shellcheck disable=SC2034
pocl_name=$(grep -m 1 -B 1 "$pocl" <<<"$devices" | grep -o '\<\(pthread\|cpu\)-' | head -n 1)
# A second implementation beside PoCL, and what its devices are called.
# shellcheck disable=SC2034
other=rusticl other_name=llvmpipe
if grep -q NVIDIA <<<"$devices"; then
    # shellcheck disable=SC2034
    other=nvidia other_name=NVIDIA
fi

# seen COMMAND...: the command line says whether rusticl's device is to be seen, which costs each process 0.15 s.
seen() {
    local -x RUSTICL_ENABLE=
    [[ "$*" != *rusticl* ]] || RUSTICL_ENABLE=llvmpipe
    "$@"
}

# ranks N COMMAND...
# shellcheck disable=SC2317 # called by expect
ranks() {
    local n=$1
    shift
    # limits here and below are for hangs: a busy machine does not reach them
    seen timeout -s KILL 400 mpirun -np "$n" "$ERGOCL" "$@"
}

# What the points have measured, without times and devices.
points() {
    $python -c 'import json, sys; print(json.load(open(sys.argv[1] + "/result.json"))["points"])' "$1"
}
same_points() {
    same_digests "$1" "$2"
    [ "$(points "$1")" = "$(points "$2")" ] || fail "$1 and $2 have measured different things"
}

# stopped CODE SIGNAL WHOM [mpirun -np N] COMMAND...: held at one of its launches, WHOM gets SIGNAL:
# "rank", the first rank or the process itself, or "mpirun".
stopped() {
    local wanted=$1 signal=$2 whom=$3 code=0 child victim=
    local -a held=(env LD_PRELOAD="$PWD/faults.so" FAULT="clEnqueueNDRangeKernel wait 200" FAULT_MARK="$PWD/mark")
    shift 3
    [ -e faults.so ] || make_faults
    if [ "$1" = mpirun ]; then
        held=("${@:1:3}" "${held[@]}" FAULT_RANK=0)
        shift 3
    fi
    "${held[@]}" "$@" >out 2>err </dev/null &
    child=$!
    wait_for mark
    [ "$whom" = mpirun ] || victim=$(pgrep -P $child | head -n 1)
    kill -s "$signal" "${victim:-$child}"
    sleep 0.1
    rm mark
    wait $child || code=$?
    echo "\$ $* (SIG$signal to $whom) -> $code"
    [ $code -eq "$wanted" ] || { cat out err; fail "exit code $code instead of $wanted"; }
}

# goes_on_elsewhere JOB OPTION...: a run of two ranks, stopped by a signal to one, is resumed by three,
# and without mpirun; each time it is the run `whole`.
goes_on_elsewhere() {
    local job=$1
    shift
    expect 0 "$ERGOCL" run "$job" -o whole --device "$pocl" "$@"
    stopped 75 TERM rank mpirun -np 2 "$ERGOCL" run "$job" -o stop --device "$pocl" "$@"
    cp -r stop alone
    expect 0 ranks 3 resume stop --device "$pocl" --quiet
    same_points whole stop
    expect 0 "$ERGOCL" resume alone --device "$pocl" --quiet
    same_points whole alone
}

# faults_end_all JOB OPTION...: what fails in the second of three ranks (tests/faults/faults.c) ends
# all within seconds, with its message and exit code.
faults_end_all() {
    local fault code said start
    make_faults
    while IFS='|' read -r fault code said; do
        start=$SECONDS
        FAULT_RANK=1 FAULT=$fault expect "$code" timeout -s KILL 400 mpirun -np 3 env LD_PRELOAD=./faults.so \
            "$ERGOCL" run "$1" -o faulty --overwrite --device "$pocl" --quiet "${@:2}"
        says err "$said"
        [ $((SECONDS - start)) -le 60 ] || fail "$fault: $((SECONDS - start)) s until all ended"
    done <<'CASES'
clCreateBuffer -4 2|3|make the system or the batch smaller
clEnqueueNDRangeKernel -5 20|3|Launching kernel
clEnqueueNDRangeKernel drop 20|5|audit of
clEnqueueNDRangeKernel kill 20|137|signal 9
CASES
}

# faulty_ranks N FAULTS CODE OPTION...: FAULTS[rank] of each rank, "" for none.
faulty_ranks() {
    local n=$1 code=$2 rank
    local -a parts=()
    shift 2
    for ((rank = 0; rank < n; rank++)); do
        [ $rank -eq 0 ] || parts+=(:)
        parts+=(-np 1 env LD_PRELOAD="$PWD/faults.so" FAULT="${faults[rank]}" "$ERGOCL" "$@")
    done
    expect "$code" seen timeout -s KILL 400 mpirun "${parts[@]}"
}

# in_a_round "ACTION AFTER" N OPTION...: the second rank's messages, from one of them on
in_a_round() {
    local fault=$1 n=$2
    shift 2
    rm -f mark
    FAULT_RANK=1 FAULT_MARK=$PWD/mark FAULT="MPI_Isend $fault" timeout -s KILL 400 mpirun -np "$n" \
        env LD_PRELOAD=./faults.so "$ERGOCL" run "$@" --device "$pocl" --quiet \
        >out 2>err </dev/null &
    child=$!
    wait_for mark
}
