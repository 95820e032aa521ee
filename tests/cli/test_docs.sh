#!/usr/bin/env bash
# Man page, completion and help know every command, option, sampler and topic; the page is clean roff.
. "$ERGOCL_ROOT/tests/cli/lib.sh"
man=$ERGOCL_ROOT/src/cli/ergocl.1

expect 0 "$ERGOCL" --help
commands=$(sed -n 's/^  \([a-z]*\) .*/\1/p' out)
[ "$(wc -w <<<"$commands")" -ge 11 ] || fail "too few commands in --help: $commands"
expect 0 "$ERGOCL" help
samplers=$(samplers)
topics=$(sed -n '/^Topics/,$s/^  \([a-z-]*\) .*/\1/p' out)
if [ "$(wc -w <<<"$samplers")" -lt 5 ] || [ "$(wc -w <<<"$topics")" -lt 5 ]; then
    fail "help: $samplers; $topics"
fi
for word in $commands $samplers $topics; do
    expect 0 "$ERGOCL" help "$word" >/dev/null
    [ -s out ] || fail "no help on $word"
done

# complete WORDS... CURRENT: what completion offers, one a line.
# shellcheck disable=SC1091
. "$ERGOCL_ROOT/src/cli/completion.bash"
ergocl() { "$ERGOCL" "$@"; } # which completion asks for the samplers
compopt() { :; } # outside of a completion there are no options to set
complete_words() {
    COMP_WORDS=(ergocl "$@") COMP_CWORD=$#
    COMPREPLY=()
    _ergocl
    printf '%s\n' "${COMPREPLY[@]}"
}
complete_words "" >offered
for word in $commands; do grep -qx -e "$word" offered || fail "completion lacks the command $word"; done
complete_words help "" >offered
for word in $commands $samplers $topics; do
    grep -qx -e "$word" offered || fail "completion of help lacks $word"
done
for before in "kernels" "bench --sampler"; do
    # shellcheck disable=SC2086
    complete_words $before "" >offered
    for word in $samplers; do grep -qx -e "$word" offered || fail "completion of $before lacks $word"; done
done

sed 's/\\//g' "$man" >plain
for command in $commands; do
    says plain "B ergocl $command"
    "$ERGOCL" "$command" --help >out || fail "$command --help"
    complete_words "$command" -- >offered
    sed -n '/^options:/,$p' out | grep -o -e '--[a-z]*' | sort -u >options
    while read -r option; do
        grep -qF -e "$option" plain || fail "the man page lacks $option of $command"
        grep -qx -e "$option" offered || fail "completion lacks $option of $command"
    done <options
done
for variable in $("$ERGOCL" help environment | grep -o '^  [A-Z_]*'); do says plain "$variable"; done
if command -v groff >/dev/null; then
    groff -man -Tascii -ww -rLL=100n "$man" 2>warnings >page || fail "groff failed"
    [ ! -s warnings ] || fail "the man page: $(head -n 5 warnings)"
    says page "ERGOCL(1)" "report" "tune"
fi

version=$("$ERGOCL" --version | sed -n 's/^ergocl //p')
says "$ERGOCL_ROOT/CITATION.cff" "version: $version"
