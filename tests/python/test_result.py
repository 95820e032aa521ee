"""A result's numbers are those of result.json and series.h5, wherever they are asked for."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from pathlib import Path
from typing import Any

import ergocl
import h5py
import numpy as np
import pytest


def same(value: float, told: Any) -> bool:
    return math.isnan(value) if told is None else value == told


def test_points(result: ergocl.Result, told: dict[str, Any]) -> None:
    assert len(result.points) == len(told["points"]) == 6
    for i, (point, other) in enumerate(zip(result.points, told["points"])):
        assert point.index == i and point.replica == other["replica"] == i % 2
        assert point.parameters == other["parameters"]
        assert (point.steps, point.digest) == (other["steps"], other["digest"])
        assert point.status == "complete" and point.planned == 2100
        assert set(point.observables) == set(other["observables"])
        for name, o in other["observables"].items():
            e = point[name]
            for field in ("mean", "error", "tau", "tau_error", "error_binning"):
                assert same(getattr(e, field), o[field]), (name, field)
            assert (e.samples, e.unit, e.untrusted) == (o["samples"], o["unit"], o.get("untrusted"))
            assert same(e.exact, o.get("exact")) and same(e.z, o.get("z"))
            assert math.isnan(e.error_scatter) and e.dof == 0


def test_means(result: ergocl.Result, told: dict[str, Any]) -> None:
    assert result.scan == result.means and len(result.means) == len(told["means"]) == 3
    for mean, other in zip(result.means, told["means"]):
        assert mean.replica is None and mean.replicas == other["replicas"] == 2
        assert mean.parameters == other["parameters"]
        for name, o in other["observables"].items():
            e = mean[name]
            assert same(e.mean, o["mean"]) and same(e.error, o["error"])
            assert same(e.error_scatter, o["error_scatter"]) and same(e.error_chains, o["error_chains"])
            assert same(e.chi2, o["chi2"]) and e.dof == o["dof"]
    result["energy"].error[0] = 1  # what is handed out is the caller's
    assert result["energy"].error[0] == result.means[0]["energy"].error


def test_rows_and_table(result: ergocl.Result) -> None:
    pandas = pytest.importorskip("pandas")
    assert result.parameters == {"temperature": "/system/temperature"}
    rows = result.rows
    assert [row["temperature"] for row in rows] == [2.0, 2.5, 3.5]
    assert [row["replicas"] for row in rows] == [2, 2, 2]
    for row, mean in zip(rows, result.means):
        assert row["energy"] == mean["energy"].mean
        assert row["energy_error"] == mean["energy"].error
        assert row["energy_exact"] == mean["energy"].exact
    table = result.table
    assert isinstance(table, pandas.DataFrame) and list(table["energy"]) == [row["energy"] for row in rows]
    assert list(result.chains["replica"]) == [0, 1, 0, 1, 0, 1]
    assert result.units["energy"] == "J per site" and result.units["temperature"] == "J/k_B"
    assert np.array_equal(result.parameter("temperature"), result.parameter("/system/temperature"))
    energy = result["energy"]
    assert energy.unit == "J per site" and energy.mean.shape == (3,)
    assert np.all(np.abs(energy.mean - energy.exact) < 5 * energy.error)


def test_without_pandas_and_matplotlib(result: ergocl.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"needs pandas.*Result\.rows"):
        _ = result.table
    with pytest.raises(ImportError, match="needs matplotlib"):
        result.plot()
    assert len(result.rows) == 3


def test_series_and_curves(result: ergocl.Result) -> None:
    with h5py.File(Path(result.directory) / "series.h5", "r") as file:
        for name in result.columns:
            if name in file["samples"]:
                assert np.array_equal(result.series(name, equilibration=True), file["samples"][name][...])
        steps = np.broadcast_to(file["samples/step"][...], (6, 525))
        assert np.array_equal(result.series_steps(equilibration=True), steps)
        assert "energy" in file["samples"] and len(result.curves) == len(file["curves"])
        for name in result.curves:
            curve = result.curve(name)
            assert np.array_equal(curve.mean, file["curves"][name]["mean"][...])
            assert np.array_equal(curve.error, file["curves"][name]["error"][...], equal_nan=True)
            written = [point["curves"][name] for point in json.loads(result.json())["points"]]
            assert curve.untrusted == tuple(one.get("untrusted") for one in written)
            assert np.array_equal(curve.x, np.broadcast_to(file["curves"][name]["x"][...], curve.x.shape))
    assert result.series("energy").shape == (6, 500)
    means = [point["energy"].mean for point in result.points]
    assert np.allclose(result.series("energy").mean(axis=1), means, rtol=1e-13)
    assert result.curve("correlation").axis.startswith("distance") and len(result.curve("correlation").points) == 6
    with result.hdf5() as file:
        assert "samples" in file


def test_what_is_not_there_is_named(result: ergocl.Result, job: dict[str, Any]) -> None:
    with pytest.raises(ergocl.MissingError, match="no observable 'enrgy'; there are: energy"):
        _ = result["enrgy"]
    with pytest.raises(ergocl.MissingError, match="no column 'heat_capacity'.*energy"):
        result.series("heat_capacity")
    with pytest.raises(ergocl.MissingError, match="no curve 'gr'.*correlation"):
        result.curve("gr")
    with pytest.raises(ergocl.MissingError, match="'field' is not scanned"):
        result.parameter("field")
    with pytest.raises(ergocl.JobError, match="/system/heat is no key"):
        result.value("/system/heat")
    job["output"] = {"series": "none"}
    bare = ergocl.run(job)
    assert bare.kept == "none" and bare.points[3]["energy"].mean == result.points[3]["energy"].mean
    with pytest.raises(ergocl.MissingError, match="were not kept.*full"):
        bare.series("energy")
    with pytest.raises(ergocl.MissingError, match=r"series\.h5 is not there"):
        bare.hdf5()


def test_the_run(result: ergocl.Result, told: dict[str, Any]) -> None:
    assert (result.sampler, result.model, result.status) == ("spin-lattice", "ising", "complete")
    assert result.seed == 2**64 - 1 and told["seed"] == str(2**64 - 1)
    assert result.started == told["started"] and result.step_unit == "sweep"
    assert result.rate == told["rate"]["value"] and result.seconds == told["rate"]["seconds"]
    assert list(result.warnings) == told["warnings"]
    assert result.devices[0].name == told["device"][0]["name"]
    assert result.job["system"] == {"model": "ising", "size": [8, 8]}
    assert result.value("/system/coupling") == 1.0 and result.value("/system/size") == [8.0, 8.0]
    assert result.value("/seed") == 2**64 - 1 and result.value("/system/model") == "ising"
    assert result.value("/wall_time") is None and result.value("/system/temperature", point=2) == 2.5
    assert repr(result) == f"<ergocl.Result spin-lattice ising: 6 points, complete, {result.directory}>"
    assert "temperature" in str(result) and "mean" in result.text()


def test_texts(result: ergocl.Result) -> None:
    rows = list(csv.DictReader(io.StringIO(result.csv())))
    assert len(rows) == 9 and float(rows[0]["energy [J per site]"]) == result.points[0]["energy"].mean
    page = result._repr_html_()
    assert page.count("<tr>") == 4 and "temperature" in page and "J per site" in page
    assert Path(result.report()).read_text().startswith("<!DOCTYPE html>")


def test_concise() -> None:
    from ergocl._values import Estimate, concise

    def shown(mean: float, error: float) -> str:
        rest = dict.fromkeys((f for f in Estimate.__dataclass_fields__ if f not in ("mean", "error")), 0)
        return concise(Estimate(mean=mean, error=error, **rest))  # type: ignore[arg-type]

    nan = float("nan")
    told = [(-1.419083, 0.00012, "-1.41908(12)"), (1.3972, 0.00996, "1.397(10)"), (12.34, 1.44, "12.3(1.4)")]
    told += [(1234.5, 56.0, "1234(56)"), (0.5, nan, "0.5 (?)"), (-2.0, 0.0, "-2")]
    for mean, error, text in told:
        assert shown(mean, error) == text


def test_load_is_the_run(result: ergocl.Result) -> None:
    loaded = ergocl.load(result.directory)
    assert loaded.points == result.points or repr(loaded.points) == repr(result.points)  # NaN is not itself
    assert repr(loaded.means) == repr(result.means)
    assert np.array_equal(loaded.series("energy"), result.series("energy"))
    assert np.array_equal(loaded.curve("correlation").mean, result.curve("correlation").mean)
    assert loaded.warnings == result.warnings and loaded.csv() == result.csv()


def test_several_parameters() -> None:
    result = ergocl.run(
        {
            "sampler": "spin-lattice",
            "system": {"model": "ising"},
            "scan": {"/system/size": [[8, 8], [16, 16]], "/system/temperature": [2.0, 3.0]},
            "run": {"sweeps": 200},
        }
    )
    assert result.means == () and len(result.scan) == 4
    assert list(result.parameters) == ["size[0]", "size[1]", "temperature"]
    assert [row["size[1]"] for row in result.rows] == [8, 8, 16, 16]
    assert [row["temperature"] for row in result.rows] == [2, 3, 2, 3]
    correlation = result.curve("correlation").mean
    assert correlation.shape == (4, 9)
    assert np.isnan(correlation[:2, 5:]).all() and not np.isnan(correlation[2:]).any(), "a point's own length"


def test_plots(result: ergocl.Result, tmp_path: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure = result.plot()
    assert len(figure.axes) == 4
    axes = result.plot("energy", "correlation").axes
    assert axes[0].get_xlabel() == "temperature [J/k_B]" and axes[0].get_ylabel() == "energy [J per site]"
    drawn = axes[0].containers[0][0].get_xydata()
    assert np.array_equal(drawn[:, 0], [2.0, 2.5, 3.5]) and np.array_equal(drawn[:, 1], result["energy"].mean)
    exact = axes[0].get_lines()[-1].get_xydata()
    assert np.array_equal(exact[:, 1], result["energy"].exact)
    assert axes[1].get_xlabel().startswith("distance") and len(axes[1].containers) == 6
    with pytest.raises(ergocl.MissingError, match="no 'pressure' to draw"):
        result.plot("pressure")
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 5000
    pyplot.close("all")


# ---- analyses ----


def test_analyse(result: ergocl.Result, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    said = ergocl.analyse(result, reweight={"temperature": [2.05, 2.45]}, observables=["energy"], page=page)
    assert said["sampler"] == "spin-lattice" and said["runs"] == [result.directory]
    assert [list(row["observables"]) for row in said["reweighted"]] == [["energy"], ["energy"]]
    assert "<svg" in page.read_text()
    assert said == ergocl.analyse(result.directory, reweight={"temperature": "2.05,2.45"}, observables=["energy"])
    with pytest.raises(ergocl.JobError, match="did you mean"):
        ergocl.analyse(result, reweight={"temprature": [2.1]})
    with pytest.raises(ergocl.JobError, match="nothing"):
        ergocl.analyse(result, observables=["nothing"])
    with pytest.raises(ergocl.FileError, match="overwrite"):
        ergocl.analyse(result, page=page)
    with pytest.raises(TypeError, match="run folder"):
        ergocl.analyse()
