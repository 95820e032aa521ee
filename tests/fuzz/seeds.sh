#!/usr/bin/env bash
# seeds.sh TARGET FOLDER: what `make fuzz` begins with, from examples and reference data.
set -e
folder=$2
put() { cat >"$folder/seed-$1"; }
case $1 in
    job) # the folders have names in common
        for file in data/jobs/*.json tests/contract/jobs/*.json; do put "${file//\//-}" <"$file"; done ;;
    profile) cp data/tuning/*.json "$folder" ;;
    xyz)
        printf '3\n\nX 0.5 0.5 0\nX 2.5 2.5 0\nX 0.5 1.8 0\n' | put plain
        printf '3\nLattice="4 0 0 0 4 0 0 0 1" Properties=species:S:1:pos:R:3\nX 0.5 0.5 0\nX 2.5 2.5 0\nX 3.9 0.5 0\n' | put near
        printf '3\nLattice="9 0 0 0 9 0 0 0 9" Properties=pos:R:3:id:I:1\n1 1 1 1\n1 1 4 2\n-1e3 0x4p1 8 3\n' | put box
        printf '3\n\nX 1 1 1\nX 2 2 2\nX 3 3 3\n3\n\nX 1 1 1\nX 2 2 2\nX 3 3 4\n' | put frames ;;
    tables) # the first byte is the job
        for job in 0 1 2 3 4 5 6 7 8; do
            for file in data/reference/fields-16.txt data/reference/glass-4x4.txt; do
                { printf '%b' "\\x0$job"; cat "$file"; } | put "$job-${file##*/}"
            done
            { printf '%b' "\\x0$job"; awk 'BEGIN { print "# r f"; for (i = 1; i < 40; i++) print i * 0.4, 1 / i }'; } | put "$job-function"
        done
        printf '\x08a\nb\n1 0 0 0\n2 2 0 0\n2 0 2 0\n2 0 0 2\n1 0 0 0 0\n1 2 inf 4\n5 6 -7e-1 8\n' | put cube ;;
    graph) # the first byte is the format
        for file in data/reference/graph-*.txt; do
            for format in 0 1 2 3; do { printf '%b' "\\x0$format"; cat "$file"; } | put "$format-${file##*/}"; done
        done ;;
    page)
        for shape in 0 1 2 3 8 30 143 150 250; do
            { printf '%b' "\\x$(printf %02x $shape)\\x01"; head -c 200 data/reference/digests.json; } | put "$shape-1"
            { printf '%b' "\\x$(printf %02x $shape)\\x00"; head -c 200 data/reference/ising.json; } | put "$shape-0"
        done ;;
    appended) # the first byte: which file; then where, how many bytes, these
        for first in 00 01 02 03 04 05 09 ff fd; do printf "%b" "\\x$first" | put $first; done
        for at in 1e 08 10 18 00; do printf "%b" "\\x01\\x$at\\x0a\\x1f\\x01\\x0a" | put entry-$at; done
        for at in 08 10 18; do printf "%b" "\\x01\\x$at\\x00\\x00\\x04\\x0a\\x00\\x00\\x00" | put head-$at; done ;;
    checkpoint) # the first byte is the run
        for run in 00 01 02 03 04 05 06 07 20 21 22 23 24 25 26 27 40 41 42 43 44 45 46 47 \
            08 09 28 29 48 49 50 51 52 53 54 55 56 57 58 59; do
            printf '%b' "\\x$run" | put $run
        done ;;
esac
