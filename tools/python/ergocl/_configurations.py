"""configurations.h5 of a run folder (/output/configurations_every), as numpy arrays."""

from __future__ import annotations

import importlib
import json
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._errors import MissingError
from ._values import Array


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def unpack(raw: Array, attributes: dict[str, Any]) -> Array:
    """Values of a stored array [..., axes], by the attributes of its dataset: a site, a spin or a component each.
    An axis "word" becomes one of systems; a "plane" goes into the values."""
    axes = _text(attributes["axes"]).split()
    first = raw.ndim - len(axes)
    values: Any = raw
    if "bits" in attributes:
        values = np.unpackbits(values, axis=-1, count=int(attributes["bits"]), bitorder="little")
    if "systems" in attributes:
        at = first + axes.index("word")
        bits = values[..., None] >> np.arange(32, dtype=values.dtype) & 1
        bits = np.moveaxis(bits.astype(np.uint8), -1, at + 1)
        shape = (*bits.shape[:at], -1, *bits.shape[at + 2 :])
        values = np.take(bits.reshape(shape), range(int(attributes["systems"])), axis=at)
    if "plane" in axes:
        at = first + axes.index("plane")
        powers = 1 << np.arange(values.shape[at], dtype=np.int64)
        values = np.tensordot(np.moveaxis(values, at, -1), powers, 1).astype(np.uint8)
    scaled: Array = values * float(attributes["scale"]) if "scale" in attributes else values
    return scaled


@dataclass(frozen=True)
class Frames:
    """Points that agree in size and length. `steps` [points, frames]: -1 where a frame is not written yet."""

    points: Array  #: numbers of the points, as in Result.points
    replicas: Array
    parameters: dict[str, Array]  #: by JSON pointer
    steps: Array
    axes: tuple[str, ...]  #: of one configuration, as it is unpacked
    description: str  #: what a value says
    _dataset: Any

    def spins(self, point: int, frame: int) -> Array:
        """One configuration, of the point with this place in `points`."""
        if self.steps[point, frame] < 0:
            raise IndexError(f"frame {frame} of point {self.points[point]} is not written yet")
        return unpack(self._dataset[point, frame], dict(self._dataset.attrs))

    def raw(self, point: int, frame: int) -> Array:
        """The same as it is stored."""
        stored: Array = self._dataset[point, frame]
        return stored


@dataclass(frozen=True)
class TwoTimes:
    """Correlation of two times over independent chains, q = overlap(t_w, t_w + t) per site. [waiting][later]"""

    waiting: Array  #: t_w, steps of the measured run
    later: Array  #: t_w + t
    correlation: Array  #: C = <q>; nan where t < 0
    correlation_error: Array  #: one standard error, by the spread of groups
    chi4: Array  #: N (<q^2> - <q>^2), <q>^2 from pairs of different groups: without bias
    chi4_error: Array  #: jackknife over groups
    groups: int  #: independent groups: replicas, or words of 32 systems that share random numbers


_SYSTEMS = {"system", "sample", "realisation", "chain"}


def _overlap(a: Array, b: Array, kind: str, q: int, sites: tuple[int, ...]) -> Array:
    """Overlap per site, over the axes `sites`, of values as a model has them."""
    if kind == "angle":
        same = np.cos(a - b)
    elif kind == "vector":
        same = a * b * a.shape[-1]  # the mean over components, which are among the axes
    else:
        same = (q * (a == b) - 1.0) / (q - 1)
    mean: Array = same.mean(axis=sites)
    return mean


def _moments(groups: list[Array], n: int) -> tuple[float, float, float, float]:
    """<q>, its error, n (<q^2> - <q>^2), its error, over independent groups."""
    g = len(groups)
    means = np.array([group.mean() for group in groups])
    squares = np.array([(group**2).mean() for group in groups])

    def chi(m: Array, s: Array) -> float:
        k = len(m)
        return n * float(s.mean() - (m.sum() ** 2 - (m**2).sum()) / (k * (k - 1))) if k > 1 else float("nan")

    if g < 3:
        return float(means.mean()), float("nan"), chi(means, squares), float("nan")
    without = np.array([chi(np.delete(means, i), np.delete(squares, i)) for i in range(g)])
    error = float(np.sqrt((g - 1) / g * ((without - without.mean()) ** 2).sum()))
    return float(means.mean()), float(means.std(ddof=1) / np.sqrt(g)), chi(means, squares), error


class Configurations:
    """All configurations that a run has written so far. Frames are read when they are asked for."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        path = os.path.join(os.fspath(folder), "configurations.h5")
        if not os.path.exists(path):
            raise MissingError(f"{path} is not there: the run was made without /output/configurations_every")
        self.file = importlib.import_module("h5py").File(path, "r")
        self.job: dict[str, Any] = json.loads(_text(self.file.attrs["job"]))
        self.batches = [self._frames(self.file[f"batch{i}"]) for i in range(len(self.file))]

    @staticmethod
    def _frames(group: Any) -> Frames:
        parameters: dict[str, Array] = {}
        if "parameters" in group:
            group["parameters"].visititems(
                lambda name, item: parameters.__setitem__("/" + name, item[()]) if hasattr(item, "shape") else None
            )
        spins = group["spins"]
        axes = tuple(
            {"word": "system"}.get(axis, axis) for axis in _text(spins.attrs["axes"]).split() if axis != "plane"
        )
        return Frames(
            points=group["point"][()],
            replicas=group["replica"][()],
            parameters=parameters,
            steps=group["step"][()],
            axes=axes,
            description=_text(spins.attrs["description"]),
            _dataset=spins,
        )

    def _find(self, point: int) -> tuple[Frames, int]:
        for batch in self.batches:
            at = np.flatnonzero(batch.points == point)
            if at.size:
                return batch, int(at[0])
        raise IndexError(f"no point {point}")

    def steps(self, point: int) -> Array:
        """Steps after which the frames of a point were taken; -1: not written yet."""
        batch, at = self._find(point)
        steps: Array = batch.steps[at]
        return steps

    def spins(self, point: int, frame: int) -> Array:
        """Frame `frame` of point `point` (as Result.points counts), unpacked."""
        batch, at = self._find(point)
        return batch.spins(at, frame)

    def two_times(
        self, waiting: list[int], points: list[int] | None = None, temperature: int = 0, copy: int = 0
    ) -> TwoTimes:
        """C(t_w + t, t_w) and chi4 from the frames, for each t_w of `waiting` (steps of the measured run at which there
        is a frame) and every frame after it. points: chains that are averaged, replicas of one another (all of them).
        Ising, spin glasses, facilitated models, graphs: q is the overlap sum s s'/N; Potts and clock:
        (Q [s = s'] - 1)/(Q - 1); xy, heisenberg: s . s'. temperature, copy: which of a ladder."""
        system, run = self.job["system"], self.job["run"]
        axes = (self._find(0)[0]).axes
        chosen = points if points is not None else [int(i) for b in self.batches for i in b.points]
        steps = self.steps(chosen[0])
        for point in chosen:
            if not np.array_equal(self.steps(point), steps) or (steps < 0).any():
                raise ValueError("points have other times, or frames that are not written yet")
        times = steps - int(run.get("equilibration", 0))
        missing = sorted(set(waiting) - set(times.tolist()))
        if missing:
            raise ValueError(f"no frame at {missing}; there are {times.tolist()}")
        model = _text(self.file.attrs["model"])
        kind = "vector" if "component" in axes else "angle" if model == "xy" else "state"
        states = {"potts": system.get("q", 2), "clock": system.get("q", 2), "blume-capel": 3}.get(model, 2)
        kept = [axis for axis in axes if axis not in ("temperature", "copy")]
        sites = tuple(i for i, axis in enumerate(kept) if axis not in _SYSTEMS)
        index = tuple({"temperature": temperature, "copy": copy}.get(axis, slice(None)) for axis in axes)
        shape = (len(waiting), len(times))
        columns: list[list[list[Array]]] = [[[] for _ in times] for _ in waiting]
        n = 1
        for point in chosen:
            frames = [self.spins(point, k)[index] for k in range(len(times))]
            n = int(np.prod([frames[0].shape[i] for i in sites])) // (3 if kind == "vector" else 1)
            for w, start in enumerate(waiting):
                first = times.tolist().index(start)
                for k in range(first, len(times)):
                    value = np.atleast_1d(_overlap(frames[first], frames[k], kind, states, sites)).ravel()
                    width = 32 if "system" in axes else 1 if value.size > 1 and "chain" not in axes else value.size
                    columns[w][k] += [value[i : i + width] for i in range(0, value.size, width)]
        c, ce, x, xe = (np.full(shape, np.nan) for _ in range(4))
        groups = 0
        for w in range(len(waiting)):
            for k in range(len(times)):
                if columns[w][k]:
                    groups = len(columns[w][k])
                    c[w, k], ce[w, k], x[w, k], xe[w, k] = _moments(columns[w][k], n)
        return TwoTimes(np.asarray(waiting), times, c, ce, x, xe, groups)

    def close(self) -> None:
        self.file.close()

    def __enter__(self) -> Configurations:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def configurations(folder: str | os.PathLike[str]) -> Configurations:
    """Configurations of a run folder, also while it is being written: `with ergocl.configurations(DIR) as c:
    c.spins(point, frame)`."""
    return Configurations(folder)
