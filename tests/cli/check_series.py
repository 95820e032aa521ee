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


def check_point(index, point, group, info):
    where = f"point {index}"
    for pointer, value in point["parameters"].items():
        same(value, float(group.attrs[pointer]), f"{where} {pointer}")
    assert group.attrs["replica"] == point["replica"], where
    assert group.attrs["digest"] == point["digest"], where
    assert len(group.attrs["digest"]) == 16 and int(group.attrs["digest"], 16) >= 0, where
    assert int(group.attrs["stream"], 16) >= 0, where
    assert group.attrs["seed"] == info["seed"], where
    assert group.attrs["steps"] == point["steps"], where
    assert group.attrs["step_unit"], where
    every = int(group.attrs["measure_every"])
    skip = int(group.attrs["equilibration_samples"])
    steps = group["step"][:]
    assert steps.dtype == np.uint64 and np.all(np.diff(steps.astype(np.int64)) == every), where
    for name, dataset in group.items():
        if not isinstance(dataset, h5py.Dataset):
            continue
        assert dataset.shape == steps.shape, f"{where} {name}"
        assert isinstance(dataset.attrs["unit"], str), f"{where} {name}"
        assert dataset.attrs["description"], f"{where} {name}"
        observable = point["observables"].get(name)
        # a column that is an observable: its mean is the mean after equilibration
        if observable and name != "step":
            assert observable["samples"] == len(steps) - skip, f"{where} {name}"
            same(observable["mean"], float(np.mean(dataset[skip:])), f"{where} {name}", 1e-9)
    for name, curve in point["curves"].items():
        for part in "x", "mean", "error":
            stored = group["curves"][name][part][:]
            assert len(stored) == len(curve[part]), f"{where} curve {name}"
            for a, b in zip(curve[part], stored):
                same(a, float(b), f"{where} curve {name} {part}")


def check(folder):
    with open(f"{folder}/result.json", encoding="utf-8") as file:
        result = json.load(file, parse_constant=refuse)
    with h5py.File(f"{folder}/series.h5", "r") as series:
        for name in "ergocl", "sampler", "status", "started":
            assert series.attrs[name] == result[name], name
        assert json.loads(series.attrs["job"]) == result["job"]
        assert "citation" in series.attrs and series.attrs["layout"]
        groups = series["points"]
        assert len(groups) == len(result["points"])
        for index, (name, point) in enumerate(zip(groups, result["points"])):
            assert name == f"{index:04d}" or index > 9999, name
            check_point(index, point, groups[f"{index:04d}"], result)
        for index, point in enumerate(result["points"]):
            for pointer, value in point["parameters"].items():
                same(value, float(series["parameters" + pointer][index]), pointer)
            assert series["parameters/replica"][index] == point["replica"]
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
