#!/usr/bin/env bash
# kill -9 at any moment of runs of all samplers, again and again: they resume and end with the same
# bits. $KILLS of each sampler (make test-long: more); tests/mpi/long_kill.sh does the same to ranks.
# With four and more, every fourth run begins without compiled kernels and is killed while they are made.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
: "${KILLS:=2}"
declare -p launcher >/dev/null 2>&1 || launcher=() # mpirun -np N

cold() { # a cache of kernels that nobody knows: ours and PoCL's
    rm -rf cold-cache cold-pocl
    mkdir cold-pocl
    export ERGOCL_CACHE_DIR=$PWD/cold-cache POCL_CACHE_DIR=$PWD/cold-pocl
}
warm_cache=${ERGOCL_CACHE_DIR-} warm_pocl=${POCL_CACHE_DIR-}
warm() {
    export ERGOCL_CACHE_DIR=$warm_cache POCL_CACHE_DIR=$warm_pocl
}

# A second and more of a contract job, and how long its kernels take to compile. Sets sets,
# milliseconds and compiling; the run "whole" is the one to equal.
whole_run() {
    local sweeps start
    if [ "$KILLS" -ge 4 ]; then
        cold
        start=$(date +%s%N)
        expect 0 "$ERGOCL" run "$job" -o whole --overwrite --quiet
        compiling=$((($(date +%s%N) - start) / 1000000))
        warm
    fi
    # compiles the kernels: the durations below are of sampling
    expect 0 "$ERGOCL" run "$job" -o whole --overwrite --quiet
    for ((sweeps = 1000, milliseconds = 0; milliseconds < 1000; sweeps *= 1 + 1200 / milliseconds)); do
        sets=(--set "/run/sweeps=$sweeps" --set /checkpoint/every_seconds=0.02)
        case $sampler in # a file that grows; bytes written again are the same
        hard-* | lj-*) sets+=(--set "/output/trajectory_every=$((sweeps / 10))" --set /output/trajectory_format=gsd) ;;
        esac
        start=$(date +%s%N)
        expect 0 "$ERGOCL" run "$job" -o whole --overwrite --quiet "${sets[@]}"
        milliseconds=$((($(date +%s%N) - start) / 1000000))
    done
    if [ ${#launcher[@]} -gt 0 ]; then # ranks take their time to begin
        start=$(date +%s%N)
        expect 0 "${launcher[@]}" "$ERGOCL" run "$job" -o ranks --overwrite --quiet "${sets[@]}"
        milliseconds=$((($(date +%s%N) - start) / 1000000))
        same_results whole ranks
    fi
}

# A process of the run: itself, or one of its ranks (none before they are there).
victim_of() {
    if [ ${#launcher[@]} -eq 0 ]; then
        echo "$1"
    else
        pgrep -P "$(pgrep -P "$1")" 2>/dev/null | shuf -n 1 --random-source=<(yes "$RANDOM")
    fi
}

# Ranks are there a while after mpirun: moments count from then on.
ranks_of() {
    local i
    for ((i = 0; ${#launcher[@]} > 0 && i < 200; i++)); do
        [ -z "$(victim_of "$1")" ] || return
        sleep 0.05
    done
}

# What a kill met, by what it left: nothing to resume yet, a file half-written, or neither.
note() {
    local now="kernels run"
    if [ ! -e "$folder/checkpoint" ]; then
        now=$1
    elif [ -n "$(find "$folder" -name '*.tmp-*')" ]; then
        now="a file is written"
    fi
    met[$now]=$((${met[$now]-0} + 1))
}
declare -A met

RANDOM=20100713 # the moments are arbitrary, but the same ones each time (as far as clocks go)
resumed=0
for sampler in $(samplers); do
    job=$ERGOCL_ROOT/tests/contract/jobs/$sampler.json folder=killed-$sampler
    whole_run
    for ((kills = 0, runs = 1; kills < KILLS; runs++)); do
        rm -rf "$folder"
        session=(run "$job" -o "$folder" "${sets[@]}")
        longest=$milliseconds later=0 begun="it starts"
        if [ "$KILLS" -ge 4 ] && [ $((runs % 4)) -eq 2 ]; then
            cold
            longest=$compiling begun="kernels are compiled"
        fi
        for ((code = 137; code == 137; )); do
            "${launcher[@]}" "$ERGOCL" "${session[@]}" --quiet 2>err &
            child=$!
            if [ $kills -lt "$KILLS" ]; then
                ranks_of $child
                sleep "$(awk -v t=$((100 * later + longest * (RANDOM % 80))) 'BEGIN { print t / 1e5 }')"
                kill -s KILL "$(victim_of $child)" 2>/dev/null
            fi
            code=0
            wait $child 2>/dev/null || code=$?
            if [ $code -eq 137 ]; then
                kills=$((kills + 1))
                note "$begun"
                if [ -e "$folder/checkpoint" ]; then
                    session=(resume "$folder") later=0
                    resumed=$((resumed + 1))
                elif [ "$longest" -ne "$milliseconds" ]; then
                    later=$compiling # that was a kill of the compiler: the next one comes after it
                fi # else it was killed before there was anything to resume
                longest=$milliseconds
            fi
        done
        [ $code -eq 0 ] || { cat err; fail "exit code $code"; }
        warm
        same_results whole "$folder"
        [ ! -e whole/trajectory ] || diff -r whole/trajectory "$folder/trajectory" || fail "trajectories differ"
        # nothing half-written is left behind
        leftovers=$(find "$folder" -name '*.tmp*' -o -name '*.part*')
        [ -z "$leftovers" ] || fail "left behind: $leftovers"
    done
    echo "$sampler: $milliseconds ms (${compiling-?} to compile), $kills kills in $((runs - 1)) runs"
done
for now in "it starts" "kernels are compiled" "kernels run" "a file is written"; do
    echo "kills while $now: ${met[$now]-0}"
done
echo "$resumed resumes"
[ $resumed -ge "$KILLS" ] || fail "only $resumed resumes: the jobs are too short for this machine"
[ ${#launcher[@]} -eq 0 ] || exit 0

# Damaged results are made again from the checkpoint.
for file in series.h5 result.json report.html; do
    size=$(stat -c %s "$folder/$file")
    printf 'rubbish' | dd of="$folder/$file" bs=1 seek=$((size / 2)) conv=notrunc status=none
    [ $file != series.h5 ] || truncate -s $((size * 3 / 4)) "$folder/$file"
done
expect 0 "$ERGOCL" resume "$folder" --quiet
same_results whole "$folder"
says_not "$folder/report.html" rubbish

# A damaged checkpoint is refused with the reason, never believed: a byte changed, or cut off, at
# places all over it.
size=$(stat -c %s "$folder/checkpoint")
places=40
for ((i = 0; i < places; i++)); do
    at=$((size * i / places))
    cp -r "$folder" damaged
    if [ $((i % 2)) -eq 0 ]; then
        byte=$(od -An -tu1 -j $at -N 1 damaged/checkpoint)
        # shellcheck disable=SC2059 # an octal escape
        printf "\\$(printf %o $((byte ^ 1 << i / 2 % 8)))" |
            dd of=damaged/checkpoint bs=1 seek=$at conv=notrunc status=none
    else
        truncate -s $at damaged/checkpoint
    fi
    for command in resume report; do
        expect 4 "$ERGOCL" $command damaged
        says err checkpoint
    done
    rm -r damaged
done
