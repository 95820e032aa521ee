"""Runs: jobs as dictionaries and files, folders, errors, progress, stopping, threads."""

from __future__ import annotations

import fcntl
import gc
import importlib.metadata
import json
import logging
import os
import signal
import struct
import subprocess
import sys
import termios
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import ergocl
import numpy as np
import pytest
from ergocl import _run

ENDLESS = {"equilibration": 0, "sweeps": 10**9, "measure_every": 100}


def test_the_wheel() -> None:
    files = {Path(str(f)).name for f in importlib.metadata.files("ergocl") or ()}
    assert {"py.typed", "_abi.py"} < files and any(f.startswith("libergocl.so.") for f in files)
    assert importlib.metadata.version("ergocl") == ergocl.__version__
    wheel = importlib.metadata.distribution("ergocl").read_text("WHEEL") or ""
    assert "Root-Is-Purelib: false" in wheel and "Tag: py3-none-linux" in wheel


# ---- jobs ----


def test_numpy_in_jobs(result: ergocl.Result, job: dict[str, Any]) -> None:
    job["seed"] = np.uint64(2**64 - 1)
    job["replicas"] = np.int8(2)
    job["system"]["size"] = np.array([8, 8])
    job["scan"]["/system/temperature"] = np.array([2.0, 2.5, 3.5])
    job["run"]["sweeps"] = np.float64(2000)
    again = ergocl.run(job)
    assert [p.digest for p in again.points] == [p.digest for p in result.points]


@pytest.mark.parametrize("seed", [0, 2**53 + 1, 2**63, 2**64 - 1])
def test_seeds_are_exact(seed: int, job: dict[str, Any]) -> None:
    job["seed"], job["run"]["sweeps"], job["scan"] = seed, 4, {"/system/temperature": [2.0]}
    assert ergocl.run(job).seed == seed


def test_wrong_jobs(job: dict[str, Any]) -> None:
    job["system"]["temprature"] = 2
    job["run"]["sweeps"] = -1
    with pytest.raises(ergocl.JobError) as error:
        ergocl.validate(job)
    assert "/system/temprature" in str(error.value) and "/run/sweeps" in error.value.message
    assert isinstance(error.value, ValueError) and error.value.exit_code == 2
    wrong: list[tuple[Any, str]] = [
        ({"seed": 2**64}, "/seed"),
        ({"system": {"size": [8, float("nan")]}}, "/system/size/1: found nan"),
        ({"system": {"size": {8}}}, "/system/size: found set"),
        ({"system": {7: 1}}, "/system: a key is 7"),
        (3, "not int"),
    ]
    for change, said in wrong:
        with pytest.raises(ergocl.JobError, match=said):
            ergocl.validate({**job, **change} if isinstance(change, dict) else change)


def test_validate_plan_schema(job: dict[str, Any]) -> None:
    assert ergocl.validate(job) == ergocl.JobInfo("spin-lattice", 6)
    assert "memory" in ergocl.plan(job).lower()
    assert "spin-lattice" in json.dumps(ergocl.schema())
    assert "/system/temperature" in ergocl.explain("spin-lattice")
    devices = ergocl.devices()
    assert devices and all(d.name and d.id.count(":") == 1 for d in devices)


# ---- folders ----


def test_a_file_and_its_folder(job: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    job["run"]["sweeps"] = 40
    Path("small.json").write_text(json.dumps({**job, "seed": "7"}))
    result = ergocl.run("small.json")
    assert result.directory == str(tmp_path / "small") and Path("small/result.json").exists()
    with pytest.raises(ergocl.ErgoclError, match="overwrite"):
        ergocl.run(Path("small.json"))
    again = ergocl.run(Path("small.json"), overwrite=True, device=os.environ.get("ERGOCL_DEVICE"))
    assert again.points[0].digest == result.points[0].digest
    with pytest.raises(ergocl.FileError, match=r"nowhere\.json") as error:
        ergocl.run("nowhere.json")
    assert isinstance(error.value, OSError)
    with pytest.raises(ergocl.FileError, match="no file checkpoint"):
        ergocl.load(tmp_path)


def test_temporary_folders_go(job: dict[str, Any], tmp_path: Path) -> None:
    job["run"]["sweeps"] = 40
    result = ergocl.run(job)
    folder = Path(result.directory)
    assert (folder / "checkpoint").exists()
    kept = result.save(tmp_path / "kept")
    resumed = result.resume()
    del result
    gc.collect()
    assert folder.exists(), "a result still lives in it"
    del resumed
    gc.collect()
    assert not folder.exists() and not folder.parent.exists()
    assert kept.directory == str(tmp_path / "kept") and len(kept.points) == 6


def test_no_device(job: dict[str, Any]) -> None:
    with pytest.raises(ergocl.DeviceError, match="no such device of mine") as error:
        ergocl.run(job, device="no such device of mine")
    assert error.value.exit_code == 3


def test_warnings_are_logged(job: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="ergocl"):
        ergocl.run({**job, "run": {"sweeps": 40}})
    assert any(record.name == "ergocl" for record in caplog.records)


# ---- progress and stopping ----


def test_progress_is_told_to_the_caller(job: dict[str, Any]) -> None:
    seen: list[ergocl.Progress] = []
    threads = set()

    def note(progress: ergocl.Progress) -> None:
        seen.append(progress)
        threads.add(threading.current_thread())

    ergocl.run(job, progress=note)
    assert threads == {threading.current_thread()}
    assert seen[-1].phase == "writing" and seen[-1].fraction == 1.0
    assert seen[-1].rate_unit == "spin updates per second"


def test_interrupted_and_resumed(job: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_run, "_POLL", 0.001)
    job["run"] = {"equilibration": 10, "sweeps": 1000000, "measure_every": 100}
    whole = ergocl.run(job, directory=tmp_path / "whole")

    def interrupt(progress: ergocl.Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(ergocl.Interrupted, match="checkpoint is in") as error:
        ergocl.run(job, directory=tmp_path / "stopped", progress=interrupt)
    assert isinstance(error.value, KeyboardInterrupt)
    result = error.value.result
    assert result is not None and result.status == "stopped"
    assert result.points[0].steps < 1000010
    done = result.resume()
    assert done.status == "complete" and done.directory == result.directory
    assert [p.digest for p in done.points] == [p.digest for p in whole.points]
    assert np.array_equal(done.series("energy"), whole.series("energy"))


def test_wall_time_returns(job: dict[str, Any]) -> None:
    job["run"], job["wall_time"] = ENDLESS, 0.3
    result = ergocl.run(job)
    assert result.status == "stopped" and {p.status for p in result.points} == {"stopped"}


class MineError(Exception):
    pass


def test_a_run_stops_alone(job: dict[str, Any], tmp_path: Path) -> None:
    """What a progress function raises stops its run, and no other of the process."""
    ends: dict[str, Any] = {}
    first_ended = threading.Event()

    def stop(progress: ergocl.Progress) -> None:
        raise MineError("first")

    def go_on(progress: ergocl.Progress) -> None:
        if first_ended.is_set():
            raise MineError("second")

    def one(name: str, function: Any) -> None:
        try:
            ends[name] = ergocl.run({**job, "run": ENDLESS}, directory=tmp_path / name, progress=function)
        except MineError as error:
            ends[name] = str(error)

    threads = [threading.Thread(target=one, args=a, daemon=True) for a in (("one", stop), ("other", go_on))]
    for thread in threads:
        thread.start()
    threads[0].join(60)
    assert ends == {"one": "first"}
    first_ended.set()
    threads[1].join(60)
    assert ends["other"] == "second"
    assert [ergocl.load(tmp_path / name).status for name in ("one", "other")] == ["stopped", "stopped"]


SCRIPT = """
    import signal, sys, ergocl
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    job = {"sampler": "spin-lattice", "system": {"model": "ising", "size": [8, 8], "temperature": 2.3},
           "run": {"sweeps": 10**9, "measure_every": 100}}
    try:
        ergocl.run(job, directory=sys.argv[1], progress=lambda p: print(p.phase, flush=True))
    except ergocl.Interrupted as stop:
        print("interrupted", stop.result.status, stop.result.points[0].steps > 0, flush=True)
        raise
"""


def test_a_signal(tmp_path: Path) -> None:
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(tmp_path / "run")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    while process.stdout.readline().strip() not in ("sampling", ""):
        pass
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert time.monotonic() - begun < 20
    assert "interrupted stopped True" in out, (out, err)
    assert process.returncode == 1 and "Interrupted: the run was stopped; its checkpoint is in" in err
    assert ergocl.load(tmp_path / "run").status == "stopped"


def test_a_second_signal_leaves_at_once() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    released = threading.Event()

    def stubborn(call: Any) -> int:
        released.wait(30)
        return 5

    call = _run._Call(stubborn, None, None, False)
    main = threading.main_thread().ident
    assert main == threading.get_ident()
    for seconds in (0.3, 0.8):
        threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    with pytest.raises(ergocl.Interrupted, match="second Ctrl-C") as error:
        _run._drive(call, False)
    assert time.monotonic() - begun < 5 and error.value.result is None
    released.set()
    call.thread.join()
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("blocked", [False, True])
def test_the_bar(blocked: bool, tmp_path: Path) -> None:
    """On a terminal, by tqdm and without it; else nothing."""
    if not blocked:
        pytest.importorskip("tqdm")
    block = "import sys; sys.modules['tqdm.auto'] = None\n" if blocked else ""
    program = block + textwrap.dedent(SCRIPT).replace(", progress=lambda p: print(p.phase, flush=True)", "").replace(
        '"run":', '"wall_time": 1, "run":'
    )
    main, side = os.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))
    command = [sys.executable, "-c", program]
    with subprocess.Popen([*command, str(tmp_path / "tty")], stdout=subprocess.PIPE, stderr=side) as process:
        os.close(side)
        told = b""
        while True:
            try:
                piece = os.read(main, 4096)
            except OSError:
                break
            if not piece:
                break
            told += piece
    os.close(main)
    assert process.returncode == 0
    assert b"sampling" in told and b"%" in told and b"spin updates per second" in told
    assert (b"[...." if blocked else b"|") in told, told
    silent = subprocess.run([*command, str(tmp_path / "log")], capture_output=True)
    assert silent.returncode == 0 and b"%" not in silent.stderr + silent.stdout


# ---- extending ----


@pytest.mark.skipif(not _run.can_extend(), reason="this libergocl has no ergo_extend yet")
def test_extend(job: dict[str, Any], tmp_path: Path) -> None:
    whole = ergocl.run({**job, "replicas": 3}, directory=tmp_path / "whole")
    short = ergocl.run({**job, "run": {**job["run"], "sweeps": 400}}, directory=tmp_path / "grows")
    longer = short.extend(sweeps=2000)
    assert [p.steps for p in short.points] == [500] * 6, "the earlier result keeps its numbers"
    assert longer.directory == short.directory
    more = longer.extend(replicas=3, progress=False)
    assert len(more.points) == 9
    assert [p.digest for p in more.points] == [p.digest for p in whole.points]
    assert np.array_equal(more.series("energy"), whole.series("energy"))
    with pytest.raises(ergocl.JobError, match="/system/temperature|/system/coupling"):
        more.extend(sets={"/system/coupling": 2})


@pytest.mark.skipif(_run.can_extend(), reason="this libergocl has ergo_extend")
def test_extend_is_missing(result: ergocl.Result) -> None:
    with pytest.raises(NotImplementedError):
        result.extend(sweeps=4000)
