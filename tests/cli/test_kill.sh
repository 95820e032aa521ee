#!/usr/bin/env bash
# kill -9 at any moment, again and again: the run resumes and ends with the same bits.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
long_run

RANDOM=20100713 # the moments are arbitrary, but the same ones each time (as far as clocks go)
resumed=0
for ((round = 0; round < 3; round++)); do
    folder=round$round
    "$ERGOCL" run job.json -o $folder --quiet 2>err &
    child=$!
    for ((kills = 0; kills < 6; kills++)); do
        sleep "$(awk -v t=$((milliseconds * (RANDOM % 100) / 200)) 'BEGIN { print t / 1000 }')"
        kill -s KILL $child 2>/dev/null
        code=0
        wait $child 2>/dev/null || code=$?
        [ $code -eq 0 ] && break
        [ $code -eq 137 ] || { cat err; fail "exit code $code"; }
        if [ -e $folder/checkpoint.h5 ]; then
            resumed=$((resumed + 1))
            "$ERGOCL" resume $folder --quiet 2>err &
        else # killed before there was anything to resume
            "$ERGOCL" run job.json -o $folder --quiet --overwrite 2>err &
        fi
        child=$!
    done
    if [ "$code" -ne 0 ]; then
        code=0
        wait $child || code=$?
        [ $code -eq 0 ] || { cat err; fail "the last resume: exit code $code"; }
    fi
    echo "round $round: $kills kills"
    same_results whole $folder
    # nothing half-written is left behind
    leftovers=$(find $folder -name '*.tmp*' -o -name '*.part*')
    echo "left behind: ${leftovers:-nothing}"
done
[ $resumed -ge 3 ] || fail "only $resumed resumes: the job is too short for this machine"

# a damaged checkpoint is refused with the reason, never believed
expect 75 "$ERGOCL" run job.json -o damaged --quiet --set /wall_time=0.5
cp -r damaged damaged2
size=$(stat -c %s damaged/checkpoint.h5)
printf 'X' | dd of=damaged/checkpoint.h5 bs=1 seek=$((size / 2)) conv=notrunc status=none
expect 4 "$ERGOCL" resume damaged
says err checkpoint.h5
truncate -s $((size / 2)) damaged2/checkpoint.h5
expect 4 "$ERGOCL" resume damaged2
says err checkpoint.h5
