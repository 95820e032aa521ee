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
    values = raw
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
    return values * float(attributes["scale"]) if "scale" in attributes else values


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
