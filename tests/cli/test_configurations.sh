#!/usr/bin/env bash
# configurations.h5: frames of every model are the states of the chain, at the steps of the series; a kill and a resume,
# parts, an extension leave the same file; chains start from a frame as from the state itself.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

# Of every model and kind of state: a start from the last frame, taken at the end of the run, is the start from the last
# state. (Golden jobs: their kernels are compiled.)
cat >vary.py <<'PYTHON'
import json, os, sys
source, name = sys.argv[1:]
job = json.load(open(source))
if "/" in job["system"].get("graph", ""):
    job["system"]["graph"] = os.environ["ERGOCL_ROOT"] + "/" + job["system"]["graph"]
job["output"] = {"snapshots": 0, "configurations_every": 6}
job["run"].update(measure_every=3, sweeps=18)
if any(k not in ("/system/temperature", "/system/up_density") for k in job.get("scan", {})):
    del job["scan"]
json.dump(job, open("write.json", "w"))
del job["output"]["configurations_every"]
job["run"].update(sweeps=3)
job["system"].pop("start", None)
for start in "state", "frame":
    job["start"] = {"run": name} if start == "state" else {"run": name, "frame": 2}
    json.dump(job, open(start + ".json", "w"))
PYTHON
for name in spin-lattice spin-lattice-cubic spin-lattice+potts spin-lattice+heisenberg spin-lattice-xy \
    spin-lattice-clock spin-lattice+spin-glass spin-lattice+sherrington-kirkpatrick spin-lattice+graph \
    spin-lattice+north-east spin-lattice-east swendsen-wang swendsen-wang+cubic swendsen-wang+heisenberg \
    swendsen-wang-adapting; do
    $python vary.py "$ERGOCL_ROOT/tests/contract/jobs/$name.json" "$name" || fail "$name"
    expect 0 "$ERGOCL" run write.json -q -o "$name"
    for start in state frame; do
        expect 0 "$ERGOCL" run $start.json -q -o $start --overwrite
    done
    same_digests state frame
    # so short a run has no measurement for its curves, and says so
    [ "$name" != spin-lattice ] || grep -q 'none is a multiple of /run/correlation_every, 3' state/result.json ||
        fail "no word of an interval that no measurement meets"
done

# Energies of frames, as the layout says, are those of the series at the same steps.
cat >energies.py <<'PYTHON'
import h5py, json, sys
import numpy as np

def neighbours(values, product):
    return sum(product(values, np.roll(values, 1, axis)) for axis in range(2, 2 + len(size)))

for name in sys.argv[1:]:
    with h5py.File(f"{name}/configurations.h5") as f, h5py.File(f"{name}/series.h5") as g:
        job = json.loads(f.attrs["job"])
        size = job["system"]["size"]
        spins, step = f["batch0/spins"], f["batch0/step"][()]
        s, at = spins[()], spins.attrs
        assert (step[0] == [job["run"]["equilibration"] + k for k in (6, 12, 18)]).all() and (step == step[0]).all(), step
        assert list(f["batch0/point"]) == list(range(len(step)))
        if "bits" in at:
            s = np.unpackbits(s, axis=-1, count=int(at["bits"]), bitorder="little")
        if "plane" in at["axes"]:
            s = sum(s[:, :, :, p].astype(int) << p for p in range(s.shape[3]))
        s = s * at["scale"] if "scale" in at else s.astype(int)
        model = f.attrs["model"]
        if model == "ising":
            energy = -neighbours(2 * s - 1, lambda a, b: a * b)
        elif model == "potts":
            energy = 1 * neighbours(s, lambda a, b: a != b)
        elif model == "xy":
            energy = -neighbours(s, lambda a, b: np.cos(a - b))
        else:
            energy = -neighbours(s, lambda a, b: (a * b).sum(-1)) - job["system"].get("field", 0) * s[..., 2]
        energy = energy.reshape(*step.shape, -1).mean(-1)
        series = g["samples/energy"][:, [list(g["samples/step"]).index(t) for t in step[0]]]
        assert np.abs(energy - series).max() < 2e-6, (name, energy, series)
PYTHON
$python energies.py spin-lattice+heisenberg swendsen-wang swendsen-wang+cubic || fail "frames have other energies than the series"
cat >job.json <<'JOB'
{ "sampler": "spin-lattice", "seed": "5", "replicas": 3, "system": { "model": "ising", "size": [44, 22] },
  "run": { "equilibration": 30, "sweeps": 18, "measure_every": 3 }, "scan": { "/system/temperature": [2.2, 3.4] },
  "output": { "snapshots": 0, "configurations_every": 6 }, "checkpoint": { "every_seconds": 0.02 } }
JOB
expect 0 "$ERGOCL" run job.json -q -o ising
$python energies.py ising || fail "frames have other energies than the series"

# The same file, to the byte, from parts, an extension, a run that was killed.
long=(--set /run/sweeps=1800)
expect 0 "$ERGOCL" run job.json -q -o whole "${long[@]}"
expect 0 "$ERGOCL" run job.json -q -o part1 "${long[@]}" --part 1/2
expect 0 "$ERGOCL" run job.json -q -o part2 "${long[@]}" --part 2/2
expect 0 "$ERGOCL" merge part1 part2 -o merged
expect 0 "$ERGOCL" resume ising -q "${long[@]}"
make_faults
for name in merged ising; do
    cmp whole/configurations.h5 $name/configurations.h5 || fail "$name has other frames"
done
# Killed while a frame of configurations.h5 is written, before its step is, and long after a checkpoint.
for fault in "pwrite kill 0" "pwrite kill 40" "pwrite kill 1001" "pwrite kill 2020"; do
    rm -rf killed
    FAULT_PATH=configurations.h5 expect 137 faulty "$fault" "$ERGOCL" run job.json -q -o killed "${long[@]}"
    expect 0 "$ERGOCL" resume killed -q
    cmp whole/configurations.h5 killed/configurations.h5 || fail "$fault: other frames after a resume"
    ! compgen -G "killed/*tmp*" >/dev/null || fail "$fault: half a file is left"
done
# A full disk: the reason, and a resume that goes on.
rm -rf full
FAULT_PATH=configurations.h5 expect 4 faulty "pwrite 28 500" "$ERGOCL" run job.json -q -o full "${long[@]}"
says err "configurations.h5: No space left on device"
expect 0 "$ERGOCL" resume full -q
cmp whole/configurations.h5 full/configurations.h5 || fail "other frames after a full disk"

# What the file is not asked for, or cannot be.
expect 2 "$ERGOCL" validate job.json --set /output/configurations_every=19
says err "/output/configurations_every" "up to /run/sweeps"
expect 2 "$ERGOCL" validate "$ERGOCL_ROOT/tests/contract/jobs/hard-disks.json" --set /output/configurations_every=5
says err "/output/configurations_every"
start() { # CODE TEXT SET...
    local code=$1 text=$2
    shift 2
    expect "$code" "$ERGOCL" validate job.json --set /output/configurations_every=0 "$@"
    says err "$text"
}
start 2 "/start/frame" --set /start/frame=1
start 2 "/start/frame: found 300, but point 0 of the run in whole has 300 frames" --set /start/run=whole --set /start/frame=300
start 2 "its states do not fit" --set /start/run=whole --set /start/frame=3 --set "/system/size=[22, 44]"
start 2 "it was made without /output/configurations_every" --set /start/run=state --set /start/frame=0
printf 'x' | dd of=part1/configurations.h5 bs=1 seek=40 conv=notrunc 2>/dev/null
start 4 "configurations.h5" --set /start/run=part1 --set /start/frame=0
truncate -s 5000 part2/configurations.h5
start 4 "configurations.h5" --set /start/run=part2 --set /start/frame=0
