#!/usr/bin/env bash
# Host code broken on purpose: tests/mutants/host.sh lists the mutants (--first: those of each push),
# host.sh NAME compiles one changed source file, links it in front of the library into a unit test (or
# one of kernel/, contract/ or physics/), or into ergocl for a script of mpi/ or cli/, and sees the test fail. --check: does every mutation still find its line? From the repository's root.
#
# The mutants are in host/*.list: mutant NAME FILE PROGRAM SED [JOBS of a contract test, or CASE of one of physics]. FILE is the name of a source file
# anywhere below src/, of which there may be several: the one that SED changes is meant.
set -uo pipefail

build=${BUILD:-build}
room=$build/test/mutants/host
declare -A list_of file_of program_of sed_of jobs_of
names=()
mutant() {
    names+=("$1")
    list_of[$1]=$list file_of[$1]=$2 program_of[$1]=$3 sed_of[$1]=$4 jobs_of[$1]=${5-swendsen-wang}
}
for path in tests/mutants/host/*.list; do
    list=$(basename "$path" .list)
    # shellcheck source=/dev/null
    . "$path"
done

# The file that a mutation changes; nothing when it is none, or several.
target() {
    local file
    local -a found=()
    while read -r file; do
        sed "${sed_of[$1]}" "$file" | cmp -s - "$file" || found+=("$file")
    done < <(find src -name "${file_of[$1]}")
    [ ${#found[@]} -ne 1 ] || echo "${found[0]}"
}

case ${1:---all} in
--all)
    printf '%s\n' "${names[@]}"
    exit 0
    ;;
--first) # of each list the first that a unit test has to notice: the others take minutes
    declare -A seen
    for name in "${names[@]}"; do
        if [ -f "tests/unit/${program_of[$name]}.c" ] && [ -z "${seen[${list_of[$name]}]-}" ]; then
            seen[${list_of[$name]}]=yes
            echo "$name"
        fi
    done
    exit 0
    ;;
--check)
    code=0
    for name in "${names[@]}"; do
        [ -n "$(target "$name")" ] || {
            echo "$name: no file ${file_of[$name]} that it changes, or several"
            code=1
        }
    done
    exit $code
    ;;
esac

name=$1
[ -n "${file_of[$name]:-}" ] || {
    echo "no mutant \"$name\""
    exit 2
}
source=$(target "$name")
[ -n "$source" ] || {
    echo "no file ${file_of[$name]} that the mutation changes, or several"
    exit 1
}
mkdir -p "$room"
own=$room/$name test=${program_of[$name]} script=
if [ -f "tests/$test.c" ]; then # kernel/test_helium, where there are several
    program=$build/tests/$test
elif [ -f "tests/contract/$test.c" ]; then
    program=$build/tests/contract/$test
    export TEST_SAMPLER=${jobs_of[$name]} # one is enough, and that has no trajectory
elif [ -f "tests/physics/$test.c" ] && [[ ${jobs_of[$name]} = test_* ]]; then
    program=$build/tests/physics/$test
    export TEST_CASE=${jobs_of[$name]} # of these long programs one test
elif [ -f "tests/unit/$test.c" ]; then
    program=$build/tests/unit/$test
elif [ -f "tests/kernel/$test.c" ]; then
    program=$build/tests/kernel/$test
else
    script=$PWD/tests/mpi/$test.sh program=$build/src/cli/main
    [ -f "$script" ] || script=$PWD/tests/cli/$test.sh
fi
sed "${sed_of[$name]}" "$source" >"$own.c"
make --no-print-directory BUILD="$build" mutant-program MUTANT="$own" MUTANT_OF="${source%/*}" \
    PROGRAM="$program" || {
    echo "the mutant does not compile"
    exit 1
}
code=0
with=("$own") # a mutant may wait for ever
if [ -n "$script" ]; then
    rm -rf "$own.room" && mkdir "$own.room"
    with=(env -C "$own.room" ERGOCL="$PWD/$own" ERGOCL_ROOT="$PWD" bash "$script")
fi
timeout 600 "${with[@]}" >"$own.log" 2>&1 || code=$?
grep -v '^\[ RUN\|^\[  *OK' "$own.log" | head -n 12
if [ "$code" -eq 0 ] || ! grep -q '\[  FAILED  \]\|^FAILED' "$own.log"; then
    echo "not killed by $test (exit code $code)"
    exit 1
fi
rm -rf "$own" "$own".[cdo] "$own.room"
