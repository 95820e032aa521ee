#!/usr/bin/env python3
"""Executes the kernels of the contract's jobs as AMD machine code, and compares what they write with PoCL's.

    tools/amd-replay/replay.py --tinygrad DIR [--libclc DIR] [--write FILE] [WORD...]
    tools/amd-replay/replay.py --tinygrad DIR --check

Jobs run on PoCL that pretends to be such a card, and record.c keeps launches of each kernel: program, arguments,
buffers before and after. Each program is compiled for the card by clang-19, and its launches are executed in
tinygrad's emulator (emulator.py). WORDs, regular expressions, choose jobs by their names. --check tests the
fixes that the emulator needs. Exit code: 0 all the same, 1 something differs, 2 usage,
3 something is missing or was not executed.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import queue
import re
import struct
import subprocess
import sys
import time

import emulator

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Of implementations that record: AMD's compiler is not given them.
QUIRKS = {"-DERGO_RELAXED_BUILTIN", "-DERGO_POCL_LOOPS", "-DERGO_SOFTWARE_FMA"}
POCL, RUSTICL = "Portable Computing Language", "llvmpipe"
# PoCL has groups of one for these, or another path (src/device/quirks.c, many_barriers_unreliable).
WHOLE = ("bytes-ahead", "bytes-local", "glass-a-local", "spin_lattice-ahead", "swendsen-wang-tiny")
# A ladder and a lattice over ranks.
RANKS = {
    "ranks-ladder": {"sampler": "spin-lattice", "seed": "1",
                     "system": {"model": "spin-glass", "size": [4, 4, 4], "temperature": 1.1, "ladder": 4,
                                "temperature_max": 2, "swap_every": 2, "shares": "equal"}, "run": {"sweeps": 20}},
    "ranks-cut": {"sampler": "swendsen-wang", "seed": "1", "system": {"q": 3, "size": [150, 70], "temperature": 1},
                  "run": {"sweeps": 8, "measure_every": 2}, "distribute": "lattice"},
}


# ---- jobs and their records -------------------------------------------------------------------------------


def jobs():
    """{name: (file or contents, implementation, ranks)} of jobs that are recorded, and of others: the mutants' jobs, as
    NAME on such a card and as NAME@cpu, of which each kernel has one."""
    found = {path.stem: (path, POCL, 1) for path in sorted(ROOT.glob("tests/contract/jobs/*.json"))}
    listed = subprocess.run(["tests/mutants/kill.sh", "--jobs"], cwd=ROOT, capture_output=True, text=True, check=True)
    more = {}
    for line in listed.stdout.splitlines():
        group, case, _, job = line.split(" ", 3)
        more[f"{group}-{case}"] = more[f"{group}-{case}@cpu"] = json.loads(job), POCL, 1
    found.update({f"{name}@rusticl": ({**found, **more}[name][0], RUSTICL, 1) for name in WHOLE})
    found.update({name: (job, POCL, 2) for name, job in RANKS.items()})
    return found, more


def record_all(options):
    """Recorded launches: of all jobs, and of those mutants' jobs that have a kernel which nothing before launched."""
    chosen, more = jobs()
    if options.words:
        every = {**chosen, **more}
        chosen, more = {name: every[name] for name in every if any(re.search(word, name) for word in options.words)}, {}
    with concurrent.futures.ThreadPoolExecutor(options.processes) as pool:
        waiting = {name: pool.submit(record, name, *job, options) for name, job in chosen.items()}
    failed = {name: future.result() for name, future in waiting.items()}
    for name, job in sorted(more.items(), key=lambda item: item[0].endswith("@cpu")):
        launched = {(launch.main, launch.kernel) for launch in launches(options, failed)}
        if not launched >= reached(name, job[0], options):
            failed[name] = record(name, *job, options)
    for name, why in failed.items():
        if why:
            print(f"no record of {name}: {why}", file=sys.stderr)
    return launches(options, failed)


def job_file(name, job, room):
    """A job as a file."""
    if not isinstance(job, dict):
        return job
    path = room / "jobs" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(job))
    return path


def pretended(name, options):
    """What PoCL pretends to be for a job: the jobs of CPUs are for kernels that no card is given by itself."""
    return "" if name.endswith("@cpu") else options.mask


def reached(name, job, options):
    """{(program, kernel)} of a job on PoCL."""
    folder = options.room / "programs" / name
    if not folder.exists():
        run = [ROOT / "build/ergocl", "kernels", "--quiet", "--device", POCL, "--programs", folder]
        environment = {**os.environ, "ERGOCL_PRETEND": pretended(name, options)}
        subprocess.run([*run, job_file(name, job, options.room)], env=environment, check=True, capture_output=True)
    programs = [json.loads(path.read_text()) for path in folder.glob("*.json")]
    return {(program["program"], kernel) for program in programs for kernel in program["kernels"]}


def record(name, job, implementation, ranks, options):
    """Run a job with record.c before it. Returns why there is no record, or None."""
    room = options.room
    folder = room / "records" / name
    if (folder / "done").exists():
        return None
    folder.mkdir(parents=True, exist_ok=True)
    run = [ROOT / "build/ergocl", "run", job_file(name, job, room), "-o", folder / "run", "--overwrite", "--quiet",
           "--device", implementation]
    environment = {**os.environ, "LD_PRELOAD": str(room / "record.so"), "RECORD_DIR": str(folder),
                   "ERGOCL_PRETEND": pretended(name, options), "ERGOCL_CACHE_DIR": str(folder / "cache"),
                   "RUSTICL_ENABLE": RUSTICL, "POCL_MAX_PTHREAD_COUNT": "1"}
    if ranks > 1:
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_btl="self,vader",
                           OMPI_MCA_plm="isolated", OMPI_MCA_rmaps_base_oversubscribe="1")
        del environment["LD_PRELOAD"]  # not mpirun itself
        run = ["mpirun", "-np", str(ranks), "env", f"LD_PRELOAD={room / 'record.so'}", *run]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    (folder / "done").touch()
    return None


class Launch:
    """A recorded launch."""

    def __init__(self, path):
        self.base, self.folder = path.with_suffix(""), path.parent
        self.arguments = []
        for line in path.read_text().splitlines():
            key, *words = line.split()
            if key == "arg":
                self.arguments.append(words)
            else:
                setattr(self, key, words)
        self.program, self.kernel, self.ordinal = self.program[0], self.kernel[0], int(self.ordinal[0])
        self.shape = int(self.dims[0]), [int(n) for n in getattr(self, "global")], [int(n) for n in self.local]
        self.source = self.folder / f"{self.program}.cl"
        files = re.findall(r'#line [0-9]+ "(.*)"', re.split(rf"\bvoid\s+{self.kernel}\(", self.source.read_text())[0])
        self.main, self.name = files[0], f"{files[-1]} {self.kernel}"

    def macro(self, name, otherwise):
        """The value that an option gives a macro."""
        for option in self.source.with_suffix(".options").read_text().split():
            if option.startswith(f"-D{name}="):
                return int(option.partition("=")[2].rstrip("uUlL"), 0)
        return otherwise

    def data(self, argument, when):
        return self.base.with_name(f"{self.base.name}.{argument}.{when}").read_bytes()


def launches(options, names):
    """Recorded launches: of each kernel of a program, and each size of its groups, the last that was kept; one of each
    kernel first, then another of each."""
    found = {}
    for name in names:
        of_job = {}
        for path in (options.room / "records" / name).glob("*.launch"):
            launch = Launch(path)
            key = launch.program, launch.kernel, tuple(launch.shape[2])
            if not launch.kernel.startswith("probe_") and launch.ordinal >= of_job.get(key, launch).ordinal:
                of_job[key] = launch
        found = {**of_job, **found}
    rank, turn = {}, collections.Counter()
    for key, launch in found.items():
        turn[launch.name] += 1
        rank[key] = turn[launch.name]
    return [found[key] for key in sorted(found, key=rank.get)]


# ---- code and its execution -------------------------------------------------------------------------------


def changed(source, sed):
    """The text of a program, with a mutation if there is one."""
    return subprocess.run(["sed", sed, source], capture_output=True, check=True).stdout if sed else source.read_bytes()


def compiled(source, target, options):
    """The code object of a program. Raises EmulatorError with the compiler's words."""
    text = changed(source, options.sed)
    flags = [o for o in source.with_suffix(".options").read_text().split() if o not in QUIRKS]
    code = options.room / "code" / f"{hashlib.sha256(repr((text, flags)).encode()).hexdigest()}-{target}.co"
    if not code.exists():
        code.parent.mkdir(exist_ok=True)
        part = code.with_suffix(f".{os.getpid()}")
        run = ["clang-19", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-x", "cl", "-O3", "-nogpulib",
               "-mcode-object-version=5", "-D__OPENCL_VERSION__=120", "-Wno-linker-warnings", "-Xclang",
               "-mlink-builtin-bitcode", "-Xclang", f"{options.libclc}/amdgcn--amdhsa.bc", *flags, "-", "-o", part]
        done = subprocess.run(run, input=text, capture_output=True)
        if done.returncode:
            words = done.stderr.decode(errors="replace").splitlines()
            raise emulator.EmulatorError("compiler: " + next((w for w in words if "error" in w), "failed"))
        part.rename(code)
    return emulator.CodeObject(code)


def led_to(labels, at, stride, bits):
    """The root that an entry of a forest of labels leads to, or None."""
    member = at - at % stride
    for _ in range(stride):
        to = member + (labels[at] >> bits)
        if to == at or to >= len(labels):
            break
        at = to
    return at if to == at else None


def same_forest(got, want, stride, bits):
    """Which label leads to which depends on who joins first, the root of each does not (cl/swendsen_wang/labels.h)."""
    return all(got[at] == want[at] or None is not led_to(got, at, stride, bits) == led_to(want, at, stride, bits)
               for at in range(len(want)))


def same_labels(launch, got, want):
    """Labels of the sites of each member."""
    stride = 32 * launch.macro("SW_WORDS", 0) * launch.macro("SW_LY", 0)
    return same_forest(got, want, stride or len(want), launch.macro("SW_LABEL_BITS", 0))


def same_nodes(_launch, got, want):
    """Labels of parts that ranks share, all in one table."""
    return same_forest(got, want, len(want), 0)


def same_bins(launch, got, want):
    """Rows of FAC_ROOM entries, each in the order in which they were found."""
    room = launch.macro("FAC_ROOM", len(want))
    return all(sorted(got[at:at + room]) == sorted(want[at:at + room]) for at in range(0, len(want), room))


def same_keys(_launch, got, want):
    """Keys in tables with open addressing: which of two that collide comes first depends on who is first, which entries
    are taken does not."""
    return sorted(got) == sorted(want)


def same_names(_launch, got, want):
    """What stands beside such keys, two words each."""
    return sorted(zip(got[::2], got[1::2])) == sorted(zip(want[::2], want[1::2]))


def same_places(_launch, got, want):
    """Entries of such a table, by who asks: the same ones are the same."""
    return len(set(zip(got, want))) == len(set(got)) == len(set(want))


# Arguments that depend on the order of work-items and waves, though results do not, and how they are compared.
# sw_join_tiles of a cut lattice has its rectangle before them.
ORDER = {("sw_join_tiles", 3): same_labels, ("sw_join_tiles", 4): same_labels, ("sw_cut_join_nodes", 2): same_nodes,
         ("sw_cut_nodes", 5): same_keys, ("sw_cut_nodes", 7): same_names, ("sw_cut_nodes", 8): same_places,
         ("facilitated_bin", 0): same_bins}


def differs(launch, argument, got, want):
    """How a buffer is other than it should be, or None."""
    if got == want:
        return None
    got, want = (struct.unpack(f"<{len(data) // 4}I", data[:len(data) & ~3]) for data in (got, want))
    if (launch.kernel, argument) in ORDER and ORDER[launch.kernel, argument](launch, got, want):
        return None
    wrong = [at for at, (a, b) in enumerate(zip(got, want)) if a != b]
    return f"argument {argument}: {len(wrong)} of {len(want)} words, from {wrong[0] if wrong else 'the last'} on"


def execute(machine, code, launch, seconds):
    """Returns how its buffers differ, a list."""
    memory, passed = {}, []
    for i, (kind, *value) in enumerate(launch.arguments):
        if kind == "buffer":
            if value[0] not in memory:
                data = launch.data(i, "before")
                memory[value[0]] = i, emulator.Memory(len(data), data)
            passed.append(memory[value[0]][1])
        else:
            passed.append(int(value[0]) if kind == "local" else bytes.fromhex(value[0]))
    machine.launch(code, launch.kernel, launch.shape, passed, seconds)
    found = []
    for i, buffer in memory.values():
        if not buffer.intact():
            found.append(f"argument {i}: written behind its end")
        found.append(differs(launch, i, buffer.bytes(), launch.data(i, "after")))
    return [text for text in found if text]


class Workers:
    """Processes that execute launches on a target, each with an emulator; one that crashes is replaced."""

    def __init__(self, options, target, number):
        self.options, self.target, self.idle = options, target, queue.SimpleQueue()
        self.threads = concurrent.futures.ThreadPoolExecutor(number)
        for _ in range(number):
            self.idle.put(self.process())

    def submit(self, launch):
        return self.threads.submit(self.replay, launch)

    def process(self):
        return concurrent.futures.ProcessPoolExecutor(1, initializer=Workers.start, initargs=(self.options.tinygrad,))

    def close(self):
        self.threads.shutdown()
        while not self.idle.empty():
            self.idle.get().shutdown()

    @staticmethod
    def start(tinygrad):
        Workers.emulator = emulator.load(tinygrad)

    def replay(self, launch):
        """(kernel, target, work-items in a group, outcome, text)"""
        process, text = self.idle.get(), ""
        try:
            if time.monotonic() > self.options.end:
                return launch.name, self.target, launch.shape[2][0], "left out", ""
            outcome, text = process.submit(replay_launch, self.target, launch, self.options).result()
        except concurrent.futures.BrokenExecutor:
            process, outcome, text = self.process(), "not executed", "the emulator crashed"
        finally:
            self.idle.put(process)
        return launch.name, self.target, launch.shape[2][0], outcome, text


def replay_launch(target, launch, options):
    """In a process of its own."""
    try:
        machine = emulator.Machine(Workers.emulator, target, options.backwards)
        code = compiled(launch.source, target, options)
        found = execute(machine, code, launch, options.seconds)
    except emulator.EmulatorError as error:
        return "not executed", str(error)
    return ("differs", f"{launch.folder.name}/{launch.base.name}: {'; '.join(found)}") if found else ("ok", "")


# ---- the command ------------------------------------------------------------------------------------------


def cell(outcomes):
    """What a table says of a kernel on a target."""
    if not outcomes:
        return "no launch"
    counts = collections.Counter(outcome for _, outcome, _ in outcomes)
    groups = sorted({group for group, outcome, _ in outcomes if outcome == "ok"})
    words = []
    if counts["ok"]:
        words.append(f"ok, {counts['ok']} launches, groups of {', '.join(str(g) for g in groups)}")
    for outcome in ("differs", "not executed", "left out"):
        if counts[outcome]:
            words.append(f"{outcome} {counts[outcome]} " + next(t for _, o, t in outcomes if o == outcome))
    return "; ".join(words)


def table(results):
    rows = ["| kernel | gfx942, waves of 64 | gfx1100, waves of 32 |", "|---|---|---|"]
    kernels = subprocess.run(["tests/mutants/kill.sh", "--entries"], cwd=ROOT, capture_output=True, text=True)
    listed = [" ".join(line.split()[:2]) for line in kernels.stdout.splitlines()]
    for kernel in sorted({*listed, *(k for k, _ in results)}):
        cells = " | ".join(cell(results[kernel, target]) for target in emulator.TARGETS)
        rows.append(f"| `{kernel}` | {cells} |")
    return "\n".join(rows)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help="regular expressions for names of jobs")
    parser.add_argument("--tinygrad", required=True, help=f"a tinygrad, commit {emulator.COMMIT}")
    parser.add_argument("--libclc", default="/usr/lib/clc", help="where amdgcn--amdhsa.bc is")
    parser.add_argument("--room", type=pathlib.Path, default=ROOT / "build/amd-replay", help="for records and code")
    parser.add_argument("--target", action="append", choices=emulator.TARGETS, help="only this one")
    parser.add_argument("--mask", default="mi300x", help="what PoCL pretends to be (ERGOCL_PRETEND)")
    parser.add_argument("--sed", help="changes programs before AMD's compiler gets them; others are left out")
    parser.add_argument("--backwards", action="store_true", help="the last wave and work-group first")
    parser.add_argument("--seconds", type=float, default=120, help="limit of a launch, of a processor")
    parser.add_argument("--minutes", type=float, default=1e6, help="no launch begins later")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--write", type=pathlib.Path, help="a file for the table")
    parser.add_argument("--check", action="store_true", help="test the emulator's fixes, and end")
    return parser.parse_args()


def main():
    options = arguments()
    options.tinygrad = str(pathlib.Path(options.tinygrad).resolve())
    if options.check:
        rows = emulator.check(options.tinygrad)
        for fix, target, before, after in rows:
            words = ["right" if outcome else "wrong" for outcome in (before, after)]
            print(f"{fix:20} {target:8} before: {words[0]}  after: {words[1]}")
        return 0 if all(after for *_, after in rows) else 1
    room = options.room = options.room.resolve() / options.mask
    room.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC", HERE / "record.c", "-o",
                    room / "record.so", "-ldl"], check=True)
    results = collections.defaultdict(list)
    recorded = [launch for launch in record_all(options)
                if not options.sed or changed(launch.source, options.sed) != launch.source.read_bytes()]
    options.end = time.monotonic() + 60 * options.minutes
    targets = options.target or list(emulator.TARGETS)
    # each target has processes of its own, because an emulator first makes code for each instruction that it meets
    workers = [Workers(options, target, -(-options.processes // len(targets))) for target in targets]
    for future in concurrent.futures.as_completed([w.submit(launch) for launch in recorded for w in workers]):
        kernel, target, *outcome = future.result()
        results[kernel, target].append(outcome)
        print(target, kernel, "group", *outcome, flush=True)
    for worker in workers:
        worker.close()
    text = table(results)
    print(text)
    if options.write:
        options.write.write_text(text + "\n")
    outcomes = {outcome for rows in results.values() for _, outcome, _ in rows}
    return 1 if "differs" in outcomes else 3 if outcomes != {"ok"} else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (emulator.EmulatorError, FileNotFoundError, subprocess.CalledProcessError) as error:
        print(f"replay.py: {error}", file=sys.stderr)
        sys.exit(3)
