#!/usr/bin/env bash
# Memory that runs out, at one allocation or from one on: either the same text and exit code 0, or another
# code and a message. And a stdout that cannot be written.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
make_faults
# what is compiled and probed is in the cache: a cache also for those without a home
export ERGOCL_CACHE_DIR=${ERGOCL_CACHE_DIR:-$PWD/warm}
small_job >job.json
echo '{ "sampler": "spin-lattice", "sed": 1, "system": { "model": "ising", "temperature": "x" } }' >wrong.json
expect 0 "$ERGOCL" devices --check

# sweep STEP COMMAND...: each STEP-th allocation fails, alone, and with all that follow, until there
# are no more. Drivers die of it: there only the program's own fail. With $folder set, the digests
# there are the text.
sweep() {
    local step=$1 code n=0 count refused=0
    shift
    [ -z "${ERGOCL_TEST_FULL:-}" ] || step=1
    "$ERGOCL" "$@" >whole 2>/dev/null </dev/null
    local good=$?
    [ $good -eq "${expected:-0}" ] || fail "ergocl $*: exit code $good"
    [ -z "$folder" ] || digests "$folder" >whole
    for count in 1 ''; do
        for ((n = 0; n < 100000; n += step)); do
            rm -f mark
            code=0
            FAULT="malloc 12 $n $count" FAULT_MARK=mark LD_PRELOAD=./faults.so \
                timeout 60 "$ERGOCL" "$@" >out 2>err </dev/null || code=$?
            [ -e mark ] || break
            if [ $code -eq $good ]; then
                [ -z "$folder" ] || digests "$folder" >out
                cmp -s whole out || fail "ergocl $*, allocation $n: exit code $code with another text"
                [ $code -eq 0 ] || says err "ergocl: error: "
            else
                case $code in 3 | "$other") ;; *) cat err; fail "ergocl $*, allocation $n: exit code $code" ;; esac
                says err "ergocl: error: "
                says_not err "%s"
                # of the program's own memory nothing else is the reason
                if [ -n "${FAULT_PATH:-}" ] && grep -v -e memory -e ': included at line ' err; then
                    fail "ergocl $*, allocation $n: another explanation"
                fi
                refused=$((refused + 1))
            fi
        done
    done
    echo "$*: to allocation $n, refused $refused times"
    [ $refused -gt 1 ] || fail "no allocation of ergocl $* failed"
}
other=4 # or 3 alone
folder=
sweep 3 help
sweep 13 help spin-lattice
sweep 3 help job
expected=2 sweep 7 help voodoo
sweep 307 schema
sweep 5 validate job.json
expected=2 sweep 7 validate wrong.json
sweep 3 new lj-fluid
sweep 41 kernels --dump spin-lattice
export FAULT_PATH=${ERGOCL##*/}
sweep 17 devices
sweep 29 devices --json
sweep 37 devices --check
# What comes of runs and of files that jobs name: a failed allocation is never an answer.
small_job >small.json
for part in 1 2; do
    expect 0 "$ERGOCL" run small.json -q -o part$part --part $part/2 --set /run/sweeps=400 --set /replicas=2 \
        --set "/scan={\"/system/temperature\": [2.3, 2.4]}"
done
printf '3\n\nX 0.5 0.5 0\nX 2.5 2.5 0\nX 0.5 1.8 0\n' >start.xyz
echo '{"sampler": "hard-disks", "system": {"n": 3, "box": 4, "start": "./start.xyz"}, "run": {"sweeps": 4}}' >start.json
echo '{"sampler": "spin-lattice", "system": {"model": "graph", "graph": "./graph.txt", "temperature": 2}, "run": {"sweeps": 4}}' >graph.json
cp "$ERGOCL_ROOT/data/reference/graph-edges.txt" graph.txt
other=3
sweep 11 validate start.json
sweep 11 validate graph.json
sweep 41 validate graph.json --plan
sweep 311 examples
sweep 13 examples quickstart
echo '{"ergocl": "0.1.0", "cases": []}' >bench.json
sweep 3 compare --merge bench.json -o -
sweep 113 table part1 part2
sweep 151 table part1 part2 --csv
sweep 307 report part1 part2 -q -o both.html --overwrite
folder=united
sweep 307 merge part1 part2 -q -o united --overwrite
sweep 307 resume united -q
folder=tiny
sweep 307 run start.json -q -o tiny --overwrite
folder=
sweep 91 analyse united --json
sweep 149 analyse united
unset FAULT_PATH
# Sorts of other C libraries, and of this one where memory is short, turn equal elements around.
for command in "analyse united --json" "analyse united" "table united --csv" "report united -q -o -"; do
    # shellcheck disable=SC2086 # words
    "$ERGOCL" $command >whole 2>/dev/null
    # shellcheck disable=SC2086
    faulty "qsort 12" "$ERGOCL" $command >out 2>/dev/null
    cmp -s whole out || fail "ergocl $command: another text after another sort"
done

# A disk that is full; a pipe without a reader (who went away knows it: nothing is said).
mkfifo pipe
# shellcheck disable=SC2094 # open for both, so that opening it does not wait
exec 7>/dev/full 9<>pipe 8>pipe 9<&-
for command in --version --help help "help spin-lattice" "help run" schema devices "devices --json" \
    "kernels --dump" "validate job.json" "validate job.json --plan" "run job.json -o full --overwrite"; do
    for to in 7 8; do
        code=0
        # shellcheck disable=SC2086,SC2261 # words; the redirections are of different files
        "$ERGOCL" $command 1>&"$to" 2>err </dev/null || code=$?
        [ $code -eq $((to == 7 ? 4 : 0)) ] || fail "ergocl $command >&$to: exit code $code"
        if [ $to = 7 ]; then
            says err "standard output could not be written: No space left on device"
        else
            says_not err "standard output"
        fi
    done
done
