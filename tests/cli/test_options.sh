#!/usr/bin/env bash
# The command line: version, help, and helpful refusals. No device, no job is touched.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

version=$(sed -n 's/.*ERGO_VERSION "\(.*\)"/\1/p' "$ERGOCL_ROOT/include/ergocl/ergocl.h")
expect 0 "$ERGOCL" --version
[ "$(head -n 1 out)" = "ergocl $version" ] || fail "version: $(cat out)"
says out "MPI: "

commands="run resume validate compare devices help schema kernels"
expect 0 "$ERGOCL" --help
# shellcheck disable=SC2086 # a list of words
says out $commands
for command in $commands; do
    expect 0 "$ERGOCL" "$command" --help
    says out "usage: ergocl $command" --quiet
    expect 0 "$ERGOCL" help "$command"
    says out "usage: ergocl $command"
    # the completion and the man page know every option
    grep -o -e '--[a-z]\+' out | sort -u | while read -r option; do
        says "$ERGOCL_ROOT/src/cli/completion.bash" "$option"
        says <(sed 's/\\-/-/g' "$ERGOCL_ROOT/src/cli/ergocl.1") "$option"
    done || exit 1
done

expect 0 "$ERGOCL" help
says out spin-lattice
for topic in spin-lattice job devices result extend exit-codes environment; do
    expect 0 "$ERGOCL" help "$topic"
    [ -s out ] || fail "nothing about $topic"
done
expect 0 "$ERGOCL" help spin-lattice
says out /system/temperature /system/size correlation_every
expect 2 "$ERGOCL" help spin-latice
says err spin-lattice

expect 2 "$ERGOCL" # as git: the usage, for who asks nothing
says out "usage: ergocl COMMAND" "--help"
[ ! -s err ] || fail "usage on standard error"
expect 2 "$ERGOCL" rnu
says err '"rnu"' '"run"'
expect 2 "$ERGOCL" fliegenpilz
says err "ergocl --help"
expect 2 "$ERGOCL" --verison
says err '"--version"'
expect 2 "$ERGOCL" run job.json --devcie gpu
says err '"--devcie"' '"--device"'
expect 2 "$ERGOCL" run job.json --overwrit
says err '"--overwrite"'
expect 2 "$ERGOCL" resume x --overwrite # an option of another command is unknown here
says err '"--overwrite"'
expect 2 "$ERGOCL" run job.json -x
says err '"-x"'
expect 2 "$ERGOCL" run job.json -o
says err "needs a value"
expect 2 "$ERGOCL" run job.json --device
says err "needs a value"
expect 2 "$ERGOCL" run job.json --quiet=yes
says err "takes no value"
expect 2 "$ERGOCL" run
says err "JOB.json"
expect 2 "$ERGOCL" run one.json two.json
says err '"two.json"'
expect 2 "$ERGOCL" schema extra
expect 2 "$ERGOCL" kernels
says err --dump
expect 2 "$ERGOCL" kernels --dump spin-latice
says err '"spin-latice"' 'did you mean "spin-lattice"?'
expect 2 "$ERGOCL" kernels --dump fliegenpilz
says err '"fliegenpilz"' "samplers: " "hard-disks, "
says_not err "did you mean"
expect 0 "$ERGOCL" kernels --dump
says out __kernel
says_not out "#include \""

expect 0 "$ERGOCL" schema
$python -c 'import json; json.load(open("out"))' || fail "the schema is no JSON"

# output that cannot be written is a failure, wherever it is noticed
for command in --help --version schema "kernels --dump"; do
    code=0
    # shellcheck disable=SC2086 # words
    "$ERGOCL" $command >/dev/full 2>err || code=$?
    [ $code -eq 4 ] || fail "ergocl $command > /dev/full: exit code $code instead of 4"
    says err "No space left"
    code=0
    # shellcheck disable=SC2086
    "$ERGOCL" $command >&- 2>err || code=$?
    [ $code -eq 4 ] || fail "ergocl $command >&-: exit code $code instead of 4"
done
# a reader that leaves early is no news
"$ERGOCL" kernels --dump 2>err | head -n 1 >out
[ ! -s err ] || fail "a closed pipe made noise: $(cat err)"

# colours are for terminals, and not for those who said no
expect 2 "$ERGOCL" rnu
says_not err $'\033'
if has_terminal; then
    TERM=xterm script -qec "\"$ERGOCL\" rnu" /dev/null >out </dev/null
    says out $'\033[1;31m'
    TERM=xterm NO_COLOR=1 script -qec "\"$ERGOCL\" rnu" /dev/null >out </dev/null
    says_not out $'\033'
fi

# What others wrote is told so that no terminal obeys it: words of the command line, names of files,
# folders, jobs, keys and devices; control characters, and bytes that are no UTF-8.
evil=$'\033[31m\a\x9b\xc2\x9bn\xff' shown='\u001B[31m\u0007\x9B\u009Bn\xFF'
mkdir "$evil"
small_job >"$evil/$evil.json"
sed "s/\"sampler\"/\"\\\\u001b[31m\\\\u009b\": 1, &/" "$evil/$evil.json" >"$evil/keys.json"
sed "s/\"sampler\"/\"$evil\": 1, &/" "$evil/$evil.json" >"$evil/bytes.json"
sed 's/ising/potts\\u001b[31m/' "$evil/$evil.json" >"$evil/values.json"
# tame SAID COMMAND...: it says so, and nothing that a terminal would obey
tame() {
    local said=$1
    shift
    "$ERGOCL" "$@" >out 2>err </dev/null
    cat out err >both
    says both "$said"
    LC_ALL=C tr -d '\n\40-\176' <both >rest # what is neither a line's end nor ASCII
    $python -c 'import sys; sys.exit(any(ord(c) < 0xa0 for c in open("rest", encoding="utf-8").read()))' ||
        { cat -v both; fail "ergocl $* says what a terminal obeys"; }
}
tame "unknown command \"$shown\"" "$evil"
tame "unknown option \"-$shown\"" "-$evil"
tame "unknown option \"--$shown\"" run "--$evil"
tame "unknown option \"-\\u001B\"" run "-$evil"
tame "with \"$shown\"" schema "$evil"
tame "--seconds: found \"$shown\"" tune "$evil/$evil.json" --seconds "$evil"
tame "on \"" help "$evil"
tame "sampler \"$shown\"" kernels --dump "$evil"
tame "$shown" run "$evil"
tame "$shown: a valid" validate "$evil/$evil.json"
tame '/\u001B[31m\u009B' validate "$evil/keys.json"
tame "$shown/bytes.json" validate "$evil/bytes.json"
tame "$shown/values.json" validate "$evil/values.json"
tame "$shown" validate "$evil/$evil.json" --set "/$evil=1"
tame "$shown" run "$evil/$evil.json" --device "$evil"
tame "$shown/report.html" run "$evil/$evil.json" -o "$evil/$evil"
tame "$shown/$shown" resume "$evil/$evil"
tame "$shown/$shown" report "$evil/$evil"
tame "$shown has no file checkpoint" resume "$evil"
tame "$shown" compare "$evil/$evil.json" --devices "$evil,$evil"
