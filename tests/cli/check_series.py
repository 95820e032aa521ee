#!/usr/bin/env python3
"""check_series.py RUN_FOLDER: series.h5 and result.json of a run tell the same story.

Reads both as a stranger would. Exit 0: they agree; 1: the first contradiction is printed;
77: h5py is not installed.
"""
import json
import math
import sys

try:
    import h5py
    import numpy as np
except ImportError as reason:
    print(f"skipped: {reason}", file=sys.stderr)
    sys.exit(77)


def refuse(name):
    raise ValueError(f"result.json is not strict JSON: {name}")


def same(a, b, what, tolerance=0.0):
    a = math.nan if a is None else a
    if math.isnan(a) and not math.isfinite(b):  # JSON has no NaN: null
        return
    if not abs(a - b) <= tolerance * max(1.0, abs(b)):
        raise ValueError(f"{what}: {a!r} in result.json, {b!r} in series.h5")


def row(dataset, index):
    """What all points share is stored once."""
    return dataset[:] if dataset.ndim == 1 else dataset[index]


def check_point(index, point, series):
    where = f"point {index}"
    own = {name: dataset[index] for name, dataset in series["points"].items()}
    for pointer, value in point["parameters"].items():
        same(value, float(series["parameters" + pointer][index]), f"{where} {pointer}")
    assert series["parameters/replica"][index] == point["replica"], where
    assert own["digest"].decode() == (point["digest"] or 16 * "0"), where
    assert own["stream"].decode() == point["stream"], where
    assert own["steps"] == point["steps"], where
    taken, skip = int(own["samples"]), int(own["equilibration_samples"])
    samples = series.get("samples", {})
    for name, dataset in samples.items():
        assert isinstance(dataset.attrs["unit"], str), name
        assert dataset.attrs["description"], name
        if name == "step":
            steps = row(dataset, index)[:taken].astype(np.int64)
            assert dataset.dtype == np.uint64 and len(steps) == taken, where
            assert np.all(np.diff(steps) == int(own["measure_every"])), where
            continue
        assert dataset.shape[0] == len(series["points/steps"]), name
        assert np.all(np.isnan(dataset[index, taken:])), f"{where} {name}"
        observable = point["observables"].get(name)
        # a column that is an observable: its mean is the mean after equilibration
        if observable and observable["samples"]:
            assert observable["samples"] == taken - skip, f"{where} {name}"
            mean = float(np.mean(dataset[index, skip:taken]))
            same(observable["mean"], mean, f"{where} {name}", 1e-9)
    for name, curve in point["curves"].items():
        for part in "x", "mean", "error":
            stored = row(series["curves"][name][part], index)
            assert np.all(np.isnan(stored[len(curve[part]):])), f"{where} curve {name}"
            for a, b in zip(curve[part], stored):
                same(a, float(b), f"{where} curve {name} {part}")


def check(folder):
    with open(f"{folder}/result.json", encoding="utf-8") as file:
        result = json.load(file, parse_constant=refuse)
    with h5py.File(f"{folder}/series.h5", "r") as series:
        for name in "ergocl", "sampler", "status", "started", "seed", "step_unit":
            assert series.attrs[name] == result[name], name
        assert json.loads(series.attrs["job"]) == result["job"]
        assert "citation" in series.attrs and series.attrs["layout"]
        assert all(len(d) == len(result["points"]) for d in series["points"].values())
        for index, point in enumerate(result["points"]):
            check_point(index, point, series)
            for name, observable in point["observables"].items():
                table = series["observables"][name]
                for part in "mean", "error", "error_binning", "tau", "samples":
                    same(observable[part], float(table[part][index]), f"{name} {part}")
                for part in "exact", "z":
                    same(observable.get(part), float(table[part][index]), f"{name} {part}")
    return len(result["points"])


if __name__ == "__main__":
    try:
        print(f"{check(sys.argv[1])} points agree")
    except (AssertionError, KeyError, ValueError) as reason:
        print(f"check_series: {type(reason).__name__}: {reason}", file=sys.stderr)
        sys.exit(1)
