#!/usr/bin/env bash
# `ergocl schema` against an independent validator, and the help pages made from the same tables.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
export OCL_ICD_VENDORS=/nonexistent # neither needs a device

code=0
"$python" "$ERGOCL_ROOT/tests/cli/check_schema.py" "$ERGOCL" "$ERGOCL_ROOT/data/jobs" || code=$?
[ $code -eq 0 ] || [ $code -eq 77 ] || fail "the schema"

# the copy that the example jobs point to
expect 0 "$ERGOCL" schema
cmp out "$ERGOCL_ROOT/data/job.schema.json" ||
    fail "data/job.schema.json is out of date: build/ergocl schema > data/job.schema.json"
for job in "$ERGOCL_ROOT"/data/jobs/*.json; do
    named=$(sed -n 's/.*"[$]schema": *"\(.*\)".*/\1/p' "$job")
    [ -z "$named" ] || [ -s "$ERGOCL_ROOT/data/jobs/$named" ] || fail "$job: no schema at $named"
done

expect 0 "$ERGOCL" help
says out spin-lattice exit-codes
expect 0 "$ERGOCL" help spin-lattice
says out /system/temperature spin-glass
expect 0 "$ERGOCL" help spin-lattice spin-glass
says out /system/temperature "can be scanned" "required" "J/k_B" /system/ladder overlap_binder
if grep -q /system/crystal_field out; then
    fail "help on a model has a key of another one"
fi
expect 0 "$ERGOCL" help potts
says out /system/q "default 3" order_parameter
expect 0 "$ERGOCL" help temperature
says out "key of lj-gcmc" "key of swendsen-wang" "models ising, potts"
expect 0 "$ERGOCL" help pressure
says out "observable of hard-disks" "observable of lj-gcmc"
expect 2 "$ERGOCL" help spin-lattice packing_fraction
expect 2 "$ERGOCL" help tempereture
says err 'did you mean "temperature"?'
expect 0 "$ERGOCL" help job
says out /run/sweeps /scan /wall_time
for topic in "gibbs transfers" "transfers gibbs" "transfers lj-fluid" "lj-fluid gibbs transfers" transf; do
    # shellcheck disable=SC2086 # words
    expect 0 "$ERGOCL" help $topic
    says out "key of lj-fluid" /system/transfers
done
expect 0 "$ERGOCL" help rdf
says out "curve of hard-spheres"
expect 0 "$ERGOCL" help units
says out "tail_correction" "rho* = N"
expect 2 "$ERGOCL" help fliegenpilz
says err 'no help on "fliegenpilz"'
says_not err "nothing has"
expect 2 "$ERGOCL" help order # a curve that no result shows
says_not err 'did you mean "order"'
"$ERGOCL" new hard-spheres nvt >spheres.json
expect 2 "$ERGOCL" validate spheres.json --set /system/T=1
says err "/system/T: unknown key; allowed here"
for topic in result exit-codes environment words; do
    expect 0 "$ERGOCL" help $topic
done
expect 2 "$ERGOCL" help spin-latice
says err 'did you mean "spin-lattice"?'
exit 0
