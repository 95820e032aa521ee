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
# are no more. Drivers die of it: there only the program's own fail.
sweep() {
    local step=$1 code n=0 count refused=0
    shift
    [ -z "${ERGOCL_TEST_FULL:-}" ] || step=1
    "$ERGOCL" "$@" >whole 2>/dev/null </dev/null
    local good=$?
    for count in 1 ''; do
        for ((n = 0; n < 100000; n += step)); do
            rm -f mark
            code=0
            FAULT="malloc 12 $n $count" FAULT_MARK=mark LD_PRELOAD=./faults.so \
                timeout 60 "$ERGOCL" "$@" >out 2>err </dev/null || code=$?
            [ -e mark ] || break
            if [ $code -eq $good ]; then
                cmp -s whole out || fail "ergocl $*, allocation $n: exit code $code with another text"
                [ $code -eq 0 ] || says err "ergocl: error: "
            else
                case $code in 3 | 4) ;; *) cat err; fail "ergocl $*, allocation $n: exit code $code" ;; esac
                says err "ergocl: error: "
                says_not err "%s"
                refused=$((refused + 1))
            fi
        done
    done
    echo "$*: to allocation $n, refused $refused times"
    [ $refused -gt 1 ] || fail "no allocation of ergocl $* failed"
}
sweep 3 help
sweep 13 help spin-lattice
sweep 3 help job
sweep 7 help voodoo
sweep 307 schema
sweep 5 validate job.json
sweep 7 validate wrong.json
sweep 41 kernels --dump spin-lattice
export FAULT_PATH=${ERGOCL##*/}
sweep 17 devices
sweep 29 devices --json
unset FAULT_PATH

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
        [ $code -eq 4 ] || fail "ergocl $command >&$to: exit code $code"
        if [ $to = 7 ]; then
            says err "standard output could not be written: No space left on device"
        else
            says_not err "standard output"
        fi
    done
done
