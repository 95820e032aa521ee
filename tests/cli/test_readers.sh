#!/usr/bin/env bash
# What a run leaves, opened by the libraries that people open it with: XYZ by ASE, GSD by GSD's own, VTI by
# VTK (which is ParaView's and PyVista's reader), HDF5 with dimension scales by h5py. Start files in the old form,
# with species that were no elements, are still read.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

job() { # NAME SAMPLER SYSTEM RUN
    echo "{ \"sampler\": \"$2\", \"seed\": \"3\", \"system\": { $3 }, \"run\": { $4 },
            \"output\": { \"snapshots\": 0, \"trajectory_every\": 20 } }" >"$1.json"
    expect 0 "$ERGOCL" run "$1.json" -q -o "$1"
}
job disks hard-disks '"n": 40, "packing_fraction": 0.4' '"sweeps": 40, "measure_every": 10'
job fluid lj-gcmc '"box": [6, 6, 7], "temperature": 2, "activity": 0.1' '"sweeps": 40, "measure_every": 10'
job mixture lj-fluid '"ensemble": "muvt", "box": [5, 5, 6], "temperature": 3, "activity": 0.02, "particles": 9,
    "species": { "names": "Ar Kr", "epsilon": [1, 1.4], "sigma": [1, 1.1], "fractions": [0.4, 0.6], "activity": [1, 1] }' \
    '"sweeps": 40, "measure_every": 10'
job helium helium-vmc '"n": 32, "walkers": 2' '"sweeps": 40, "measure_every": 10, "frame_walkers": 2'
for run in disks fluid mixture helium; do # the same frames as one file
    expect 0 "$ERGOCL" run $run.json -q -o $run-gsd --set /output/trajectory_format=gsd
done
job lattice spin-lattice '"size": [6, 4, 8], "temperature": 5' '"sweeps": 40, "measure_every": 10'
sed -i 's/"output"/"scan": { "\/system\/temperature": [4, 5, 6] }, "output"/' lattice.json
expect 0 "$ERGOCL" run lattice.json -q -o scan

# as the first version wrote it
frame=$(find disks/trajectory -name '*.xyz' | sort | tail -n 1)
sed 's/^X /D /' "$frame" >old.xyz
for start in "$frame" old.xyz; do
    expect 0 "$ERGOCL" run disks.json -q --overwrite -o started --set "/system/start=$(realpath "$start")" \
        --set /output/trajectory_every=0
done

$python - <<'PYTHON' || exit $?
import glob, importlib, sys

missing = []

def library(name):
    try:
        return importlib.import_module(name)
    except ImportError as reason:
        missing.append(f"{name}: {reason}")

def last(run, suffix):
    return sorted(glob.glob(f"{run}/trajectory/*.{suffix}"))[-1]

if library("ase"):
    import ase.io
    for run, symbol, length in ("disks", "X", None), ("fluid", "X", 7), ("helium", "He", None):
        atoms = ase.io.read(last(run, "xyz"), format="extxyz")
        assert set(atoms.get_chemical_symbols()) == {symbol}, run
        assert list(atoms.pbc) == [True, True, run != "disks"], run
        assert length is None or abs(atoms.cell[2][2] - length) < 1e-9, run
        inside = atoms.get_scaled_positions(wrap=False)
        assert len(atoms) > 1 and (inside >= -1e-9).all() and (inside <= 1 + 1e-9).all(), run
        assert len({tuple(p) for p in atoms.positions.round(6)}) == len(atoms), run
        ase.io.write("again.xyz", atoms)
    assert ase.io.read(last("disks", "xyz")).arrays["psi6"].shape[1] == 2
if library("gsd.hoomd"):
    import gsd.hoomd
    for run in "disks", "fluid", "mixture", "helium":
        names = sorted(glob.glob(f"{run}/trajectory/*.xyz"))
        lines = [line for name in names for line in open(name, encoding="utf-8").read().splitlines()]
        file = gsd.hoomd.open(f"{run}-gsd/trajectory/p0000.gsd")
        assert glob.glob(f"{run}-gsd/trajectory/*.xyz") == []
        for frame in file:
            n, comment = int(lines[0]), lines[1]
            box = [float(side) for side in comment.split('"')[1].split()][::4]
            step = int(comment.split("macroupdate=" if run == "helium" else "step=")[1].split()[0])
            assert frame.configuration.step == step and frame.particles.N == n, (run, step)
            assert frame.configuration.dimensions == (2 if run == "disks" else 3), run
            assert abs(frame.configuration.box[:3] - box).max() < 1e-5, run
            elements = [line.split()[0] for line in lines[2:n + 2]]
            types = ["Ar", "Kr"] if run == "mixture" else elements[:1] or ["A"]
            assert list(frame.particles.types) == types, run
            assert [types[k] for k in frame.particles.typeid] == elements, (run, step)
            assert (frame.particles.diameter == 1).all(), run
            for line, place in zip(lines[2:n + 2], frame.particles.position):
                at = [float(x) for x in line.split()[1:4]]
                at = [x - side / 2 for x, side in zip(at, box)][:frame.configuration.dimensions]
                assert max(abs(x - y) for x, y in zip(at, place)) < 1e-5, (run, step)
            for name, value in frame.log.items():
                assert float(comment.split(f" {name}=")[1].split()[0]) == value[0], (run, name)
            assert frame.log, run
            lines = lines[n + 2:]
        assert not lines and len(file) >= 2, run
if library("vtkmodules.vtkIOXML"):
    from vtkmodules.vtkIOXML import vtkXMLImageDataReader
    reader = vtkXMLImageDataReader()
    path = last("lattice", "vti")
    assert reader.CanReadFile(path)
    reader.SetFileName(path)
    reader.Update()
    image = reader.GetOutput()
    spins = image.GetCellData().GetScalars()
    assert image.GetDimensions() == (7, 5, 9), image.GetDimensions()
    assert spins.GetNumberOfTuples() == 6 * 4 * 8
    assert {spins.GetTuple1(i) for i in range(6 * 4 * 8)} == {0, 1}
if library("h5py"):
    import h5py
    with h5py.File("scan/series.h5") as file:
        temperature = file["parameters/system/temperature"]
        assert list(temperature) == [4, 5, 6]
        energy = file["samples/energy"]
        assert [d.label for d in energy.dims] == ["points", "samples"]
        assert energy.dims[0]["/system/temperature"] == temperature
        assert list(energy.dims[1][0]) == [10, 20, 30, 40]
        curve = file["curves/correlation/mean"]
        assert curve.dims[1][0] == file["curves/correlation/x"]
        assert curve.dims[0][0] == temperature and curve.dims[0]["replica"] is not None
        for name in ("points/steps", "observables/energy/mean"):
            assert file[name].dims[0][0] == temperature, name
        def labelled(name, item):
            assert not isinstance(item, h5py.Dataset) or "CLASS" in item.attrs or item.dims[0].label, name
        file.visititems(labelled)
if missing:
    print("not opened here, tools/install-deps.sh --test installs it:", "; ".join(missing))
if len(missing) == 4:
    sys.exit(77)
PYTHON
