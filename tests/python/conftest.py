"""What the tests share: a small run with replicas, and its result.json."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ergocl
import pytest

JOB: dict[str, Any] = {
    "sampler": "spin-lattice",
    "seed": 2**64 - 1,
    "replicas": 2,
    "system": {"model": "ising", "size": [8, 8]},
    "scan": {"/system/temperature": [2.0, 2.5, 3.5]},
    "run": {"equilibration": 100, "sweeps": 2000, "measure_every": 4},
}


@pytest.fixture()
def job() -> dict[str, Any]:
    return copy.deepcopy(JOB)


@pytest.fixture(scope="session")
def result(tmp_path_factory: pytest.TempPathFactory) -> ergocl.Result:
    return ergocl.run(JOB, directory=tmp_path_factory.mktemp("runs") / "ising")


@pytest.fixture(scope="session")
def told(result: ergocl.Result) -> Iterator[dict[str, Any]]:
    yield json.loads((Path(result.directory) / "result.json").read_text())
