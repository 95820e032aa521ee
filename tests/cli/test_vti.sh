#!/usr/bin/env bash
# Configurations of lattices as VTK image data: of every model, in snapshots and trajectories, with the
# spins of the series.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

sizes() { # NAME MODEL-KEYS SIZE
    cat >"$1.json" <<JOB
{
  "sampler": "spin-lattice", "seed": "3",
  "system": { $2, "size": $3 },
  "run": { "sweeps": 20, "measure_every": 5 }, "output": { "snapshots": 1, "trajectory_every": 10 }
}
JOB
    expect 0 "$ERGOCL" run "$1.json" -q -o "$1"
}
sizes ising '"model": "ising", "temperature": 2.5' '[22, 6]'
sizes cubic '"model": "ising", "temperature": 5' '[6, 4, 8]'
sizes potts '"model": "potts", "q": 120, "temperature": 0.4' '[12, 4]'
sizes north '"model": "north-east", "up_density": 0.6, "method": "serial", "realisations": 1' '[9, 7]'
$python - <<'PYTHON' || fail "the .vti files are not the configurations"
import glob, json
import xml.etree.ElementTree as xml
import h5py

for name, size, q in ("ising", [22, 6], 2), ("cubic", [6, 4, 8], 2), ("potts", [12, 4], 120), ("north", [9, 7], 2):
    snapshots, frames = (sorted(glob.glob(f"{name}/{k}/*.vti")) for k in ("snapshots", "trajectory"))
    assert len(snapshots) == 1 and len(frames) == 2, (name, snapshots, frames)
    assert open(snapshots[0]).read() == open(frames[-1]).read(), name
    image = xml.parse(snapshots[0]).getroot().find("ImageData")
    extent = [int(n) for n in image.get("WholeExtent").split()]
    assert extent == [n for side in (size + [1])[:3] for n in (0, side)], (name, extent)
    array = image.find("Piece/CellData/DataArray")
    values = [int(v) for v in array.text.split()]
    assert array.get("format") == "ascii" and array.get("type") == "UInt8"
    sites = 1
    for side in size:
        sites *= side
    assert len(values) == sites and set(values) <= set(range(q)) and len(set(values)) > 1, name
    with h5py.File(f"{name}/series.h5") as file:
        last = file["samples/magnetization"][0, -1]
    if q == 2:
        m = 2 * sum(values) / sites - 1
    else:
        m = (q * max(values.count(v) for v in set(values)) / sites - 1) / (q - 1)
    assert abs(m - last) < 1e-9, (name, m, last)
PYTHON
