"""configurations.h5, unpacked: energies of the series, functions of two times as the engine measures them itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ergocl
import numpy as np
import pytest


def job(sampler: str, run: dict[str, Any], **system: Any) -> dict[str, Any]:
    return {
        "sampler": sampler,
        "seed": 11,
        "replicas": 2,
        "system": system,
        "run": run,
        "output": {"snapshots": 0, "configurations_every": 4},
    }


@pytest.mark.parametrize(
    "what",
    [
        job("spin-lattice", {"sweeps": 20, "equilibration": 3}, model="ising", size=[36, 20], temperature=2.2),
        job("swendsen-wang", {"sweeps": 20, "equilibration": 3}, q=3, size=[44, 20], temperature=0.9),
    ],
)
def test_energies(tmp_path: Path, what: dict[str, Any]) -> None:
    result = ergocl.run(what, directory=tmp_path / "run")
    series = result.series("energy")
    with ergocl.configurations(tmp_path / "run") as c:
        for point in range(2):
            assert c.steps(point).tolist() == [7, 11, 15, 19, 23]
            for frame, step in enumerate(c.steps(point)):
                spins = c.spins(point, frame)
                assert spins.shape == tuple(reversed(what["system"]["size"]))
                differ = sum((spins != np.roll(spins, 1, axis)).mean() for axis in (0, 1))
                energy = differ if what["sampler"] == "swendsen-wang" else 2 * differ - 2
                assert series[point][step - 1 - 3] == pytest.approx(energy, abs=1e-12)
        with pytest.raises(IndexError):
            c.spins(2, 0)


NORTH_EAST = {"model": "north-east", "size": [12, 12], "up_density": 0.5, "realisations": 128}
GLASS = {"model": "spin-glass", "size": [12, 12], "temperature": 0.9, "samples": 128}


@pytest.mark.parametrize("system", [NORTH_EAST, GLASS])
def test_two_times(tmp_path: Path, system: dict[str, Any]) -> None:
    """The engine's autocorrelation and chi4 after its waiting time are those of the frames, systems by 32."""
    what = job("spin-lattice", {"sweeps": 60, "chi4": True}, waiting_time=10, **system)
    what["replicas"] = 1
    what["output"].update(configurations_every=1, configurations_spacing="logarithmic")
    result = ergocl.run(what, directory=tmp_path / "run")
    with ergocl.configurations(tmp_path / "run") as c:
        shape = c.spins(0, 0).shape
        assert (shape[0], *shape[-2:]) == (128, 12, 12)
        got = c.two_times([10])
        with pytest.raises(ValueError, match="no frame at"):
            c.two_times([7])
    assert got.groups == 4
    compared = 0
    for name, value, error in (
        ("autocorrelation", got.correlation, got.correlation_error),
        ("chi4_overlap", got.chi4, got.chi4_error),
    ):
        curve = result.curve(name)
        for k, later in enumerate(got.later):
            at = np.flatnonzero(curve.x[0] == later - 10)
            if later > 10 and at.size:
                assert value[0, k] == pytest.approx(curve.mean[0, at[0]], rel=1e-9)
                assert np.isnan(curve.error[0, at[0]]) or error[0, k] == pytest.approx(curve.error[0, at[0]], rel=1e-6)
                compared += 1
    assert compared >= 10


@pytest.mark.parametrize(
    "more",
    [{"model": "ising"}, {"model": "ising", "dynamics": "heat-bath", "random_field": 1}, {"model": "potts", "q": 3}],
)
def test_two_times_of_one_lattice(tmp_path: Path, more: dict[str, Any]) -> None:
    """Of Ising and Potts lattices, which have no samples: each chain's own overlap."""
    what = job("spin-lattice", {"sweeps": 30}, size=[12, 10], temperature=1, waiting_time=10, **more)
    what["output"].update(configurations_every=1)
    result = ergocl.run(what, directory=tmp_path / "run")
    with ergocl.configurations(tmp_path / "run") as c:
        got = c.two_times([10], points=[0])
    curve = result.curve("autocorrelation")
    at = np.searchsorted(got.later, curve.x[0] + 10)
    np.testing.assert_allclose(curve.mean[0], got.correlation[0, at], rtol=0, atol=1e-12)
