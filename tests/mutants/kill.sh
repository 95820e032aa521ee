#!/usr/bin/env bash
# Kernels broken on purpose: tests/mutants/kill.sh lists the mutants (--first: those of each push),
# kill.sh NAME applies one to a copy of cl/ and sees a test notice. Run by tests/run-all, from the
# repository's root.
#
# The mutants are in *.list, a file a sampler or model, which says below which folder of cl/ its
# files are (kernels=) and defines run_LIST KIND CASE: the program that has to notice, on a job.
# Its kinds are of two sorts: the oracle's bits differ; or, with the audit out of the way, exact or
# published values differ by more than the error budget of tests/physics: what statistics would see
# of a wrong chain if there were nothing to compare its bits with. Two kinds are of all lists:
# `golden`, the digests of the contract job CASE differ; and `audit`, of models that the host replays:
# the job that job_LIST CASE prints is run as a user would, and its own audit has to end it with exit
# code 5, whatever test would have seen. Each entry point of a kernel has a mutant of its name, ENTRY
# or ENTRY-..., or audit-ENTRY..., in the file of the entry point or a header of it: --entries lists
# them and fails where one is missing.
# A case that ends in @PRESET is run on a device that pretends to be another (ERGOCL_PRETEND): groups of
# one, as on a CPU, and of 32, where a GPU runs 32 work-items in step, hide that a barrier is missing.
# A mutant that is not noticed is a hole in the tests, or equivalent and to be replaced.
set -uo pipefail

build=${BUILD:-build}
room=$build/test/mutants
declare -A list_of kind_of case_of file_of sed_of
names=() kernels="" sampler=${TEST_SAMPLER:-}

# mutant NAME KIND CASE FILE SED
mutant() {
    names+=("$1")
    list_of[$1]=$list kind_of[$1]=$2 case_of[$1]=$3 file_of[$1]=$kernels/$4 sed_of[$1]=$5
}
for path in tests/mutants/*.list; do
    list=$(basename "$path" .list)
    # shellcheck source=/dev/null
    . "$path"
done

# 1: an audit failed; 0: the run ended as if nothing were wrong.
audit_run() { # LIST CASE, for the mutant $name
    local job=$room/$name.json code=0
    mkdir -p "$room"
    rm -rf "$room/$name.run"
    "job_$1" "$2" | tr "'" '"' >"$job"
    "$build/ergocl" run "$job" -o "$room/$name.run" --quiet || code=$?
    [ "$code" -ne 5 ] || return 1
    [ "$code" -eq 0 ] || return 2
}

# A JOB over two ranks, of which one process has to measure the same.
ranks_run() {
    local -x OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm=isolated
    local -x OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,vader POCL_MAX_PTHREAD_COUNT=1
    local code=0 own=$room/$name
    printf '%s' "$1" | tr "'" '"' >"$own.json"
    timeout -s KILL 120 mpirun -np 2 "$build/ergocl" run "$own.json" -o "$own.run" --overwrite --quiet ||
        code=$?
    [ $code -ne 5 ] || code=1 # audits have an exit code of their own
    [ $code -eq 0 ] || return $code
    "$build/ergocl" run "$own.json" -o "$own.one" --overwrite --quiet || return
    python3 - "$own.run" "$own.one" <<'PYTHON'
import json, sys
two, one = (json.load(open(run + "/result.json"))["points"] for run in sys.argv[1:])
sys.exit("two ranks have other observables than one process" if one != two else 0)
PYTHON
}

# check MUTANT LOG: kernels as $ERGOCL_CL_DIR says.
check() {
    local case=${case_of[$1]}
    local -x ERGOCL_PRETEND=
    [[ $case != *@* ]] || ERGOCL_PRETEND=${case#*@}
    case=${case%@*}
    if [ "${kind_of[$1]}" = audit ]; then
        audit_run "${list_of[$1]}" "$case" >"$2" 2>&1
    elif [ "${kind_of[$1]}" = golden ]; then
        TEST_GOLDEN="/$case." "$build/tests/contract/test_golden" >"$2" 2>&1
    else
        "run_${list_of[$1]}" "${kind_of[$1]}" "$case" >"$2" 2>&1
    fi
}

# FILE ENTRY of all kernels, those of the probe of devices apart.
entry_points() {
    local file
    while IFS= read -r file; do
        [[ $file == cl/common/* ]] ||
            tr '\n' ' ' <"$file" | grep -oP '__kernel\b[^;{]*?\bvoid\s+\K\w+(?=\s*\()' | sed "s|^|${file#cl/} |"
    done < <(find cl -name '*.cl' | sort)
}

# --all of $TEST_SAMPLER's (or of all), or the --first of each list: those of each push.
if [ "${1:---all}" = --all ] || [ "$1" = --first ]; then
    declare -A seen
    for name in "${names[@]}"; do
        [[ ${file_of[$name]} == "${sampler//-/_}"* ]] || continue
        [ "${1-}" != --first ] || [ -z "${seen[${list_of[$name]}]-}" ] || continue
        seen[${list_of[$name]}]=yes
        echo "$name"
    done
    exit 0
fi
if [ "$1" = --entries ]; then
    code=0
    while read -r file entry; do
        found=
        for name in "${names[@]}"; do
            case $name in
            "audit-$entry" | "audit-$entry"-* | "$entry" | "$entry"-*)
                [[ ${file_of[$name]} != *.cl || ${file_of[$name]##*../} == "$file" ]] && found+=" $name"
                ;;
            esac
        done
        printf '%-44s %-28s%s\n' "$file" "$entry" "${found:- NONE}"
        [ -n "$found" ] || code=1
    done < <(entry_points)
    exit $code
fi
if [ "$1" = --jobs ]; then # LIST CASE KERNELS JSON of all mutants that a job finds, each once; the presets of cases apart
    for name in "${names[@]}"; do
        case=${case_of[$name]%@*}
        case ${kind_of[$name]} in # of other kinds the case is a test program's
        audit | cut | oracle) job=$("job_${list_of[$name]}" "$case" | tr "'" '"') ;;
        golden) job=$(tr -s '\n ' ' ' <"tests/contract/jobs/$case.json") ;;
        *) continue ;;
        esac
        [[ $job == '{'*'}'* ]] || exit 1
        echo "${list_of[$name]} $case ${file_of[$name]%/*} $job"
    done | sort -u
    exit "${PIPESTATUS[0]}"
fi
if [ "$1" = --check ]; then # quick: does every mutation still find its line?
    code=0
    for name in "${names[@]}"; do
        if sed "${sed_of[$name]}" "cl/${file_of[$name]}" | cmp -s - "cl/${file_of[$name]}"; then
            echo "$name changes nothing in cl/${file_of[$name]}"
            code=1
        fi
    done
    exit $code
fi
name=$1
[ -n "${kind_of[$name]:-}" ] || {
    echo "no mutant \"$name\""
    exit 2
}
mkdir -p "$room"
log=$room/$name.log copy=$room/$name.cl

# The kernel as it is passes; once for all mutants of a case.
whole=$room/${list_of[$name]}-${case_of[$name]}.passed
[ "${kind_of[$name]}" != audit ] || whole=$room/${list_of[$name]}-audit-${case_of[$name]}.passed
if [ ! -e "$whole" ]; then
    check "$name" "$log" || {
        tail -n 30 "$log"
        echo "the unbroken kernel fails"
        exit 1
    }
    ! grep -q 'Running 0 test(s)' "$log" || {
        echo "no test has the case \"${case_of[$name]}\""
        exit 1
    }
    touch "$whole"
fi

rm -rf "$copy"
cp -r cl "$copy"
sed "${sed_of[$name]}" "cl/${file_of[$name]}" >"$copy/${file_of[$name]}"
! cmp -s "cl/${file_of[$name]}" "$copy/${file_of[$name]}" || {
    echo "the mutation of ${file_of[$name]} changes nothing: its text has gone"
    exit 1
}
code=0
ERGOCL_CL_DIR=$copy check "$name" "$log" || code=$?
tail -n 12 "$log"
# Not a compiler's message nor a crash: a result that is not the expected one, or an audit that says so.
if [ "$code" -ne 1 ] || ! grep -q -e oracle -e 'other states than' -e 'other observables than' -e 'other samples than' -e overlap -e 'audit of .* failed on' -e 'not the exact values' "$log"; then
    echo "not killed by ${kind_of[$name]} (exit code $code)"
    exit 1
fi
rm -rf "$copy"
