#!/usr/bin/env bash
# What a terminal and a log say: a line of progress every 30 seconds in a log, places in the source for those
# who ask, one voice of several ranks, completion by other shells.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

# A run that is stopped for 31 seconds: the clock goes on, and no processor is needed meanwhile.
cat >job.json <<'JOB'
{ "sampler": "spin-lattice", "seed": "1", "system": { "size": [64, 64], "temperature": 2.3 },
  "run": { "sweeps": 1000000000, "measure_every": 1000 }, "output": { "series": "none" } }
JOB
begun=$SECONDS
"$ERGOCL" run job.json -o long >table 2>log </dev/null &
run=$!
wait_for long/checkpoint
sleep 4
[ ! -s log ] || [ $((SECONDS - begun)) -ge 29 ] || fail "a log got more than a line of progress each 30 s: $(cat log)"
kill -STOP $run
sleep 31
kill -CONT $run
for _ in $(seq 600); do
    grep -q ETA log && break
    sleep 0.1
done
kill -TERM $run
wait $run
[ $? -eq 75 ] || fail "the run did not stop"
lines=$(grep -c 'spin updates per second, ETA' log) most=$(((SECONDS - begun + 1) / 30)) # one each 30 s
[[ $lines -ge 1 && $lines -le $most ]] || fail "not 1 to $most lines in $((SECONDS - begun)) s: $(cat log)"

# Where in the source: only for those who ask.
expect 4 "$ERGOCL" resume nowhere
says_not err "(src/"
expect 4 "$ERGOCL" resume nowhere -v
says err "(src/"

# No such device: what to do.
expect 3 env ERGOCL_DEVICE= "$ERGOCL" run job.json -o none --device accelerator
says err 'No device fits "accelerator"'
if ! "$ERGOCL" devices | grep -qi gpu; then
    expect 3 "$ERGOCL" run job.json -o none --device gpu
    says err 'No device fits "gpu"' "PCI bus"
fi

if command -v mpirun >/dev/null && ! "$ERGOCL" --version | grep -q 'MPI: none'; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    mpirun -q -np 3 "$ERGOCL" run nothere.json >o 2>e </dev/null && fail "a job that is not there was run"
    [ "$(grep -c 'nothere.json' e)" = 1 ] || fail "not said once: $(cat e)"
    # whoever comes first: rank 0 here fails seconds after the others, then seconds before them
    # shellcheck disable=SC2016 # for the shell below
    late='sleep 3; exec "$0" run nothere.json'
    mpirun -q -np 1 sh -c "$late" "$ERGOCL" : -np 2 "$ERGOCL" run nothere.json >o 2>e </dev/null && fail "run without a job"
    [ "$(grep -c 'nothere.json' e)" = 1 ] || fail "rank 0 is late: not said once: $(cat e)"
    echo '{"sampler": "nosuch"}' >nosuch.json
    # shellcheck disable=SC2016
    late='(sleep 3; cat nosuch.json) | "$0" run -'
    mpirun -q -np 1 sh -c "$late" "$ERGOCL" : -np 2 "$ERGOCL" run nosuch.json >o 2>e </dev/null && fail "run without a sampler"
    [ "$(grep -c '"nosuch"' e)" = 1 ] || fail "rank 0 reads slowly: not said once: $(cat e)"
    # mpirun itself is slow: it stands still as the ranks fail, and ends nobody
    rm -f e
    # shellcheck disable=SC2016
    mpirun -q -np 3 sh -c '>up.$OMPI_COMM_WORLD_RANK; until [ -e go ]; do sleep 0.1; done; exec "$0" run nothere.json 2>>e' \
        "$ERGOCL" >o </dev/null &
    launcher=$!
    for rank in 0 1 2; do wait_for up.$rank; done
    kill -STOP $launcher
    touch go
    sleep 4
    kill -CONT $launcher
    wait $launcher && fail "a job that is not there was run"
    [ "$(grep -c 'nothere.json' e)" = 1 ] || fail "mpirun stands still: not said once: $(cat e)"
fi

# fish and zsh offer what the program's help has.
if command -v fish >/dev/null; then
    mkdir -p bin && ln -sf "$ERGOCL" bin/ergocl
    offered() { # LINE
        HOME=$PWD PATH=$PWD/bin:$PATH fish -c "source '$ERGOCL_ROOT/src/cli/completion.fish'; complete -C '$1'" | cut -f1
    }
    offered 'ergocl ' >words
    for word in run resume new examples bench; do grep -qx $word words || fail "fish does not offer $word"; done
    offered 'ergocl run --' >words
    grep -qx -e --overwrite words || fail "fish does not offer --overwrite of run"
    offered 'ergocl help ' >words
    for word in lj-gcmc potts; do grep -qx $word words || fail "fish does not offer help $word"; done
    offered 'ergocl examples ' | grep -qx quickstart || fail "fish does not offer examples"
else
    echo "no fish here: tools/install-deps.sh --test"
fi
if command -v zsh >/dev/null; then
    cat >zsh.sh <<ZSH
compadd() { [[ \$1 == -- ]] && shift; print -l -- "\$@"; }
_files() { print files; }
autoload() { :; }
ask() { words=("\$@"); CURRENT=\$#; . '$ERGOCL_ROOT/src/cli/completion.zsh' "\$@"; }
ask '$ERGOCL' ''; print =
ask '$ERGOCL' run --; print =
ask '$ERGOCL' new ''; print =
ask '$ERGOCL' run ''
ZSH
    zsh -f zsh.sh >words 2>&1 || fail "zsh: $(cat words)"
    for word in run new examples --overwrite lj-gcmc potts files; do
        grep -qx -e "$word" words || fail "zsh does not offer $word: $(cat words)"
    done
else
    echo "no zsh here: tools/install-deps.sh --test"
fi
