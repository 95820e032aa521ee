#!/usr/bin/env bash
# tests/once.sh [-d FILE.d] FILE... -- COMMAND...: COMMAND, unless it passed before with the same words, files and files that
# FILE.d (of gcc -MMD) names. $CHECKED is the folder that remembers it, by an empty file under a hash; without it, or without
# FILE.d, COMMAND runs always.
set -euo pipefail
files=()
for ((; $# > 0; )); do
    word=$1
    shift
    case $word in
    --) break ;;
    -d)
        [ -e "$1" ] || unset CHECKED
        [ ! -e "$1" ] || readarray -t -O ${#files[@]} files < <(tr -s '[:space:]' '\n' <"$1" | grep -v '[:\]$' | sort -u)
        shift
        ;;
    *) files+=("$word") ;;
    esac
done
[ -n "${CHECKED:-}" ] || exec "$@"
sums=$(sha256sum -- "${files[@]}")
mark=$CHECKED/$(printf '%s\n' "$*" "$sums" | sha256sum | cut -d ' ' -f 1)
[ ! -e "$mark" ] || exit 0
"$@"
touch "$mark"
