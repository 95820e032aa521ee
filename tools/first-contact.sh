#!/usr/bin/env bash
# What an owner of a card runs once: is it right, and how fast? Ten minutes, no root.
#
#   tools/first-contact.sh [-d DEVICE] [-o NAME] [-t SECONDS]
#
# DEVICE as for `ergocl run --device` ("gpu" if left out), after `make all test-programs`. It probes the
# device, runs the golden digests of every sampler and the kernel tests, measures a few cases of
# bench/, and where digests differ compares that job with a CPU. All of it goes to
# NAME.tar.gz ("first-contact" if left out), with a page, NAME/page.txt, to be read before it is
# sent. Names of the user, of the host and of the home folder are replaced in every file.
# Exit code: 0 all that was done is right, 1 nothing could be done, 3 device refused, 5 something is wrong.
set -uo pipefail

usage() {
    sed -n 's/^#   //p' "$0" >&2
    exit 2
}
device=gpu name=first-contact limit=600
while getopts d:o:t:h option; do
    case $option in
    d) device=$OPTARG ;;
    o) name=$OPTARG ;;
    t) limit=$OPTARG ;;
    *) usage ;;
    esac
done
[ $# -lt $OPTIND ] || usage
[[ $limit =~ ^[1-9][0-9]*$ ]] || usage
case $name in /*) ;; *) name=$PWD/$name ;; esac
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
for program in "$build/ergocl" "$build/tests/contract/test_golden"; do
    [ -x "$program" ] || {
        echo "first-contact: $program is not there: \"make all test-programs\" makes it" >&2
        exit 1
    }
done
[ ! -e "$name" ] || {
    echo "first-contact: $name is there already: remove it, or choose another name by -o" >&2
    exit 1
}
mkdir -p "$name" || exit 1
export ERGOCL_DEVICE=$device ERGOCL_CACHE_DIR=$name/cache
page=$name/page.txt right=0 wrong=0
# of less than ten minutes the small jobs; a fifth of the time is for speed
[ "$limit" -ge 600 ] || export ERGOCL_TEST_SMALL=1
until=$((limit * 4 / 5))

say() { printf '%s\n' "$*" | tee -a "$page"; }

# step FILE MOST WHAT COMMAND...: its output goes to FILE, its outcome to the page.
step() {
    local file=$name/$1 most=$2 what=$3 code=0 start=$SECONDS left=$((until - SECONDS))
    shift 3
    [ "$most" -le "$left" ] || most=$left
    if [ "$most" -le 0 ]; then
        say "$(printf '  %-34s not done: the time was over' "$what")"
        return 124
    fi
    timeout --kill-after=10 "$most" "$@" >"$file" 2>&1 </dev/null || code=$?
    case $code in
    0) outcome=right right=$((right + 1)) ;;
    77) outcome="not possible: $(tail -n 1 "$file")" ;;
    124 | 137) outcome="not ended after $most s" ;;
    *) outcome="WRONG (exit code $code): ${file##*/}" wrong=$((wrong + 1)) ;;
    esac
    say "$(printf '  %-34s %4d s  %s' "$what" $((SECONDS - start)) "$outcome")"
    return "$code"
}

revision=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
say "ergocl $revision on a device, $(date -u +%F)"
say ""
{
    uname -srm
    sed -n 's/^PRETTY_NAME=//p' /etc/os-release
    grep -m 1 'model name' /proc/cpuinfo
    for card in /sys/bus/pci/devices/*; do
        case $(cat "$card/class" 2>/dev/null) in
        0x03* | 0x12*) echo "PCI $(cat "$card/vendor") $(cat "$card/device") $(cat "$card/class")" ;;
        esac
    done
    command -v clinfo >/dev/null && clinfo
} >"$name/machine.txt" 2>&1
"$build/ergocl" devices --check --json >"$name/devices.json" 2>"$name/devices.log"
if ! "$build/ergocl" validate tests/contract/jobs/swendsen-wang.json --plan --device "$device" >"$name/plan.txt" 2>&1; then
    say "The device \"$device\" is refused, or there is none:"
    say "$(cat "$name/plan.txt")"
    code=3
else
    say "$("$build/ergocl" devices)"
    say ""
    say "Golden digests: the same chains as on every other device"
    for path in src/samplers/*/; do
        sampler=$(basename "$path")
        sampler=${sampler//_/-}
        TEST_SAMPLER=$sampler step "golden-$sampler.txt" 240 "$sampler" "$build/tests/contract/test_golden"
        code=$?
        [ $code -eq 0 ] || [ $code -ge 77 ] ||
            step "compare-$sampler.txt" 120 "  beside a CPU" "$build/ergocl" compare \
                "tests/contract/jobs/$sampler.json" --devices "cpu,$device" -o "$name/compare-$sampler"
    done
    say "Kernel tests: each kernel beside serial code"
    for program in "$build"/tests/kernel/test_*; do
        case $program in *.d | *.o) continue ;; esac
        step "kernel-${program##*/test_}.txt" 120 "${program##*/test_}" "$program"
    done
    until=$limit
    say "Speed, one short run of each case"
    for case in 2048 replicas-1024x128 glass-8 disks-256 helium-512 lj-32768 sw-1024; do
        if step "bench-$case.txt" 60 "$case" "$build/ergocl" bench "$case" --device "$device" \
            --seconds 0.5 -o "$name/bench-$case.json"; then
            say "$(sed -n '/^[a-z0-9-]* .*[0-9]/p' "$name/bench-$case.txt" | head -n 4 | sed 's/^/      /')"
        fi
    done
    say ""
    say "$right right, $wrong wrong."
    code=0
    [ $right -gt 0 ] || code=1
    [ $wrong -eq 0 ] || code=5
fi

rm -rf "$name/cache"
find "$name" -name '*.h5' -delete -o -name checkpoint -delete
user=$(id -un) host=$(uname -n)
# the home folder first: it has the user's name in it
find "$name" -type f -size -20M -exec sed -i -e "s|$PWD|SOURCE|g" -e "s|$name|OUT|g" -e "s|${HOME:-/none}|HOME|g" \
    -e "s|\b$host\b|HOST|g" {} +
[ "$user" = root ] || find "$name" -type f -size -20M -exec sed -i -e "s|\b$user\b|USER|g" {} +
tar -czf "$name.tar.gz" -C "$(dirname "$name")" "$(basename "$name")" || exit 1
echo
echo "Read $page. If you like, attach $name.tar.gz to an issue: it has this page and the logs."
exit $code
