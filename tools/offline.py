#!/usr/bin/env python3
"""Programs of jobs, compiled for GPUs that are not at hand, and what their compilers say of each kernel.

    tools/offline.py programs DIR --pretend mi300x     the distinct programs of the golden jobs
    tools/offline.py compile DIR --with clang-19 --for gfx942,gfx1100 --json FILE
    tools/offline.py compile DIR --with ocloc --for pvc,dg2 [--options "..."] --json FILE
    tools/offline.py compile DIR --with "build rusticl" --for navi31 --json FILE
    tools/offline.py table FILE... [--write TABLE]     a line for each kernel and target
    tools/offline.py summary FILE...                   a line for each target
    tools/offline.py check FILE... --against TABLE     what tests/offline asks

"clang-N" finds builtins in libclc-N, "clang-N+rocm" in ROCm's device libraries. "build PLATFORM" is
tests/offline/build.c, which asks an OpenCL implementation.
"""
import argparse
import concurrent.futures
import glob
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Kernels that no job's declaration names, and why.
NOT_IN_JOBS = {
    "disks_start_": "an engine of its own, made when a run begins",
    "glass_border_": "ladders of temperatures over ranks",
    "helium_energy_add": "thousands of atoms, few walkers",
    "ising_sweep_lanes": "CPUs with explicit vectors",
    "graph_lanes": "CPUs with explicit vectors",
}


def parallel(function, items):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))


# ---- programs -----------------------------------------------------------------------------------


def at(value, *names):
    for name in names:
        value = value.get(name, {})
    return value


def fits(value, rule):
    """Whether a job fits the condition of a rule of the schema: constants, and members that have to be there."""
    if "const" in rule:
        return value == rule["const"]
    return all(name in value for name in rule.get("required", [])) and \
        all(fits(value[name], below) for name, below in rule.get("properties", {}).items() if name in value)


def write_programs(folder, ergocl, pretend, quirks):
    """HASH.cl and HASH.json of each distinct program: of every golden job as it is chosen by itself, of forced
    paths and of cut lattices what has kernels that were not there yet."""
    jobs = sorted(glob.glob(os.path.join(ROOT, "tests/contract/jobs/*.json")))
    with open(os.path.join(ROOT, "data/job.schema.json"), encoding="utf-8") as file:
        rules = json.load(file)["allOf"]
    programs, kernels = {}, set()

    def ways(job):
        """The job as it is, on each path that its model has, and cut."""
        with open(job, encoding="utf-8") as file:
            value = json.load(file)
        paths = [at(rule["then"], "properties", "tuning", "properties", "path") for rule in rules
                 if "if" in rule and fits(value, rule["if"])]
        most = max([choice.get("maximum", 0) for path in paths if path for choice in path["anyOf"]], default=0)
        return [[]] + [["--set", f"/tuning/path={path}"] for path in range(1, most + 1)] + [["--set", "/distribute=lattice"]]

    def order(item):  # jobs as they are come first
        return bool(item[1]), "/distribute=lattice" in item[1], item[1]

    def ask(item):
        job, sets = item
        where = os.path.join(scratch, f"{os.path.basename(job)}{''.join(sets).replace('/', '_')}")
        asked = subprocess.run(
            [ergocl, "kernels", "--programs", where, job, "--device", "Portable Computing Language", *sets],
            env=dict(os.environ, ERGOCL_PRETEND=f"{pretend},quirks={quirks}"), capture_output=True, text=True, cwd=ROOT)  # jobs name files
        # a path that the device does not have, and a model that cannot be cut, are refused with 2 or 3
        if asked.returncode not in ((0, 2, 3) if sets else (0,)):
            sys.exit(f"{job} {' '.join(sets)}: {asked.stderr}")
        return sets, sorted(glob.glob(os.path.join(where, "*.json"))) if asked.returncode == 0 else []

    with tempfile.TemporaryDirectory() as scratch:
        for sets, files in parallel(ask, sorted(((job, sets) for job in jobs for sets in ways(job)), key=order)):
            for file in files:
                with open(file) as facts, open(file[:-5] + ".cl") as source:
                    facts, source = json.load(facts), source.read()
                if sets and kernels.issuperset(facts["kernels"]):
                    continue
                kernels.update(facts["kernels"])
                name = hashlib.sha256(f"{facts['options']}\n{source}".encode()).hexdigest()[:16]
                program = programs.setdefault(name, {"program": facts["program"], "options": facts["options"],
                                                     "kernels": [], "pretend": pretend, "source": source})
                program["kernels"] = sorted({*program["kernels"], *facts["kernels"]})
    os.makedirs(folder, exist_ok=True)
    for name, program in programs.items():
        with open(os.path.join(folder, name + ".cl"), "w") as file:
            file.write(program.pop("source"))
        with open(os.path.join(folder, name + ".json"), "w") as file:
            json.dump(program, file)
    print(f"{len(programs)} programs of {len(jobs)} jobs as on {pretend}, {len(kernels)} kernels")


# ---- compilers ----------------------------------------------------------------------------------


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", **more)


def amd_kernels(notes):
    """The kernels in what llvm-readelf --notes prints of a code object."""
    names = {"vgpr_count": "registers", "agpr_count": "agprs", "sgpr_count": "scalars", "vgpr_spill_count": "spills",
             "sgpr_spill_count": "scalar_spills", "private_segment_fixed_size": "scratch",
             "group_segment_fixed_size": "local", "wavefront_size": "lanes"}
    kernels, row = [], None
    for line in notes.splitlines():
        if re.match(r" {2}- \.", line):  # the arguments of a kernel are deeper
            row = {}
            kernels.append(row)
        match = re.match(r" {2}(?:- | {2})\.(\w+): +(\S.*)", line)
        if match and row is not None:
            if match[1] == "name":
                row["kernel"] = match[2].strip("'\"")
            elif match[1] in names:
                row[names[match[1]]] = int(match[2])
    return [row for row in kernels if "kernel" in row]


def clang(compiler, target, source, options, out):
    version = re.search(r"\d+", compiler)[0]
    command = [f"clang-{version}", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-x", "cl", "-O3",
               "-Werror", "-Wno-builtin-macro-redefined", "-Wno-linker-warnings", "-D__OPENCL_VERSION__=120"]
    if compiler.endswith("+rocm"):  # as ROCm does: clang 21 keeps a function beside each kernel, of which it warns
        command += ["-mllvm", "-amdgpu-internalize-symbols"]
    else:
        command += ["-nogpulib", "-Xclang", "-mlink-builtin-bitcode", "-Xclang", "/usr/lib/clc/amdgcn--amdhsa.bc"]
    built = run([*command, *options, source, "-o", out])
    if built.returncode:
        return built.stderr or f"{compiler}: exit code {built.returncode}", []
    return None, amd_kernels(run([f"llvm-readelf-{version}", "--notes", out]).stdout)


def intel_kernels(text):
    """The kernels in .ze_info of Intel's binaries."""
    names = {"simd_size": "lanes", "grf_count": "registers", "slm_size": "local", "spill_size": "spills",
             "private_size": "private"}
    kernels, section, row, scratch = [], None, None, False
    for line in text.splitlines():
        if re.match(r"\S", line):
            section, row = line, None
        match = re.match(r" {2}- name: +(\S+)", line)
        if match and section == "kernels:":
            row = {"kernel": match[1].strip("'\""), "local": 0, "spills": 0, "scratch": 0}
            kernels.append(row)
        match = re.match(r" +(?:- )?(\w+): +(\S+)", line)
        if row is None or not match:
            continue
        if match[1] == "type":
            scratch = match[2] == "scratch"
        elif match[1] == "size" and scratch:
            row["scratch"] += int(match[2])
        elif match[1] in names:
            row[names[match[1]]] = int(match[2])
    return kernels


def ocloc(compiler, target, source, options, out):
    built = run(["ocloc", "compile", "-file", source, "-device", target, "-options", " ".join(options), "-output", "x",
                 "-output_no_suffix", "-out_dir", out], timeout=600)
    log = built.stdout + built.stderr
    if built.returncode:
        return log, []
    binary = next(file for file in glob.glob(out + "/*") if not file.endswith(".spv"))
    run(["ocloc", "disasm", "-file", binary, "-dump", out + "/z", "-device", target])
    with open(out + "/z/.ze_info", errors="replace") as file:
        return None, intel_kernels(file.read())


def implementation(compiler, target, source, options, out):
    built = run([os.path.join(ROOT, "build/offline-build"), compiler.split()[1], source, " ".join(options)], timeout=600)
    if built.returncode:
        return built.stdout + built.stderr or f"exit code {built.returncode}", []
    return None, [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]


def some_of(files, which):
    """Of the programs of one file that have the same kernels one: number `which`, those with most options first, or the last."""
    groups = {}
    for file in files:
        with open(file) as facts:
            facts = json.load(facts)
        groups.setdefault((facts["program"], *facts["kernels"]), []).append((-len(facts["options"].split()), file))
    return sorted(sorted(group)[min(which, len(group)) - 1][1] for group in groups.values())


def compile_programs(folder, compiler, targets, more, name, every, which=None):
    how = ocloc if compiler == "ocloc" else implementation if compiler.startswith("build") else clang

    def one(item):
        target, file = item
        given_name = name or target
        with open(file) as facts:
            facts = json.load(facts)
        options = facts["options"].split() + more
        with tempfile.TemporaryDirectory() as scratch:
            out = scratch if how is ocloc else os.path.join(scratch, "out")
            try:
                error, kernels = how(compiler, target, file[:-5] + ".cl", options, out)
            except (subprocess.TimeoutExpired, OSError, StopIteration) as problem:
                error, kernels = f"{type(problem).__name__}: {problem}", []
        return {"program": facts["program"], "options": facts["options"], "target": given_name, "error": error,
                "kernels": kernels, "compiler": compiler}

    files = sorted(glob.glob(os.path.join(folder, "*.json")))[::every]
    files = some_of(files, which) if which else files
    return parallel(one, [(target, file) for file in files for target in targets])


# ---- tables -------------------------------------------------------------------------------------

# AMD's allocation of vector registers (LLVM's AMDGPU usage guide): in granules, of a SIMD's file.
FILES = {"gfx90a": (512, 8, 8), "gfx942": (512, 8, 8), "gfx1100": (1536, 24, 16), "gfx1201": (1536, 24, 16)}


def waves(target, registers):
    """Wavefronts that a SIMD holds at the same time, as far as vector registers decide."""
    if target not in FILES:
        return None
    room, granule, most = FILES[target]
    return min(most, room // max(granule, -(-registers // granule) * granule))


COLUMNS = ("programs", "lanes", "registers", "waves", "scalars", "spills", "scalar_spills", "scratch", "local")


def rows_of(results):
    """By target and kernel: the largest of each column over all programs."""
    rows = {}
    for result in results:
        for kernel in result["kernels"]:
            row = rows.setdefault((kernel["kernel"], result["target"]), {"programs": 0})
            row["programs"] += 1
            for key, value in kernel.items():
                if key != "kernel":
                    row[key] = max(value, row.get(key, 0))
    for (_, target), row in rows.items():
        row["waves"] = waves(target, row["registers"]) if "registers" in row else None
    return rows


def table(results, said):
    rows, lines = rows_of(results), [f"# {line}".rstrip() for line in said]
    lines.append("  ".join([f"{'kernel':<24}", f"{'target':<8}", *(f"{name.replace('_', '-'):>8}" for name in COLUMNS)]))
    for (kernel, target), row in sorted(rows.items()):
        cells = [f"{'-' if row.get(name) is None else row[name]:>{max(8, len(name))}}" for name in COLUMNS]
        lines.append("  ".join([f"{kernel:<24}", f"{target:<8}", *cells]))
    return "\n".join(lines) + "\n"


def summary(results):
    """A line for each target: what compiled, and what does not fit into registers."""
    rows, lines = rows_of(results), []
    for target in sorted({result["target"] for result in results}):
        own = [result for result in results if result["target"] == target]
        kernels = {kernel: row for (kernel, of), row in rows.items() if of == target}
        spilled = [row["spills"] for row in kernels.values() if row.get("spills")]
        lines.append((target, own[0]["compiler"], len(own), sum(1 for result in own if result["error"]), len(kernels),
                      len(spilled), max(spilled, default=0), max((row.get("scalar_spills", 0) for row in kernels.values()), default=0),
                      max((row["scratch"] for row in kernels.values()), default=0),
                      max((row.get("registers", 0) for row in kernels.values()), default=0)))
    names = ("target", "compiler", "programs", "failed", "kernels", "spilling", "spills", "scalar", "scratch", "registers")
    return "".join("  ".join([f"{line[0]:<10}", f"{line[1]:<16}", *(f"{cell:>9}" for cell in line[2:])]) + "\n"
                   for line in [names] + lines)


def read_table(text):
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    names = [name.replace("-", "_") for name in lines[0][2:]]
    return {(kernel, target): {name: None if cell == "-" else int(cell) for name, cell in zip(names, cells)}
            for kernel, target, *cells in lines[1:]}


def all_kernels():
    names = set()
    for file in glob.glob(os.path.join(ROOT, "cl/**/*.cl"), recursive=True):
        if os.path.basename(os.path.dirname(file)) == "common":
            continue  # probes of devices
        with open(file) as source:
            names.update(re.findall(r"__kernel[^{;]*?void\s+(\w+)\s*\(", source.read()))
    return names


def complaints(results, recorded, same_compiler, everything):
    """What is wrong with the kernels, a sentence each. `recorded`: the table, None: no budget. `everything`: the
    table should have all kernels of cl/."""
    found, rows = [], rows_of(results)
    for result in results:
        if result["error"]:
            found.append(f"{result['program']} for {result['target']} ({result['options']}):\n{result['error'][:2000]}")
    for (kernel, target), row in sorted(rows.items()):
        name = f"{kernel} for {target}"
        if row.get("spills"):
            found.append(f"{name}: {row['spills']} vector registers are spilled")
        if recorded is None or not same_compiler:
            continue
        budget = recorded.get((kernel, target))
        if not budget:
            found.append(f"{name} is not in the table")
            continue
        if row["waves"] is not None and row["waves"] < budget["waves"]:
            found.append(f"{name}: {row['registers']} registers leave {row['waves']} wavefronts to a SIMD; the table has "
                         f"{budget['registers']}, which leave {budget['waves']}")
        for key, words in (("scalar_spills", "scalar registers are spilled"), ("scratch", "bytes of scratch a work-item")):
            if row[key] > budget[key]:
                found.append(f"{name}: {row[key]} {words}; the table has {budget[key]}")
    if recorded is not None:
        compiled = {result["target"] for result in results}
        found += [f"{kernel} for {target} is in the table and in no program" for kernel, target in sorted(recorded)
                  if target in compiled and (kernel, target) not in rows]
    if everything:
        missing = [kernel for kernel in sorted(all_kernels() - {kernel for kernel, _ in rows})
                   if not any(kernel.startswith(name) for name in NOT_IN_JOBS)]
        if missing:
            found.append(f"in no program of a golden job: {', '.join(missing)}. Give them one, or tools/offline.py a reason")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    programs = commands.add_parser("programs")
    programs.add_argument("folder")
    programs.add_argument("--ergocl", default=os.path.join(ROOT, "build/ergocl"))
    programs.add_argument("--pretend", required=True)
    programs.add_argument("--quirks", default="none")
    compiling = commands.add_parser("compile")
    compiling.add_argument("folder")
    compiling.add_argument("--with", dest="compiler", required=True)
    compiling.add_argument("--for", dest="targets", required=True)
    compiling.add_argument("--options", default="")
    compiling.add_argument("--name", help="of the target in tables")
    compiling.add_argument("--every", type=int, default=1, help="each Nth program, for a quick look")
    compiling.add_argument("--which", type=int, help="of programs that differ in options alone one: 1 has most options")
    compiling.add_argument("--json", required=True)
    for command in (commands.add_parser("table"), commands.add_parser("summary"), commands.add_parser("check")):
        command.add_argument("files", nargs="+")
        command.add_argument("--write")
        command.add_argument("--said", action="append", default=[])
        command.add_argument("--against")
        command.add_argument("--version", default="")
        command.add_argument("--all", action="store_true")
    given = parser.parse_args()
    if given.command == "programs":
        write_programs(given.folder, os.path.abspath(given.ergocl), given.pretend, given.quirks)
        return
    if given.command == "compile":
        results = compile_programs(given.folder, given.compiler, given.targets.split(","), given.options.split(), given.name,
                                   given.every, given.which)
        with open(given.json, "w") as file:
            json.dump(results, file)
        errors = [result for result in results if result["error"]]
        print(f"{len(results)} compilations by {given.compiler} for {given.targets}: {len(errors)} failed")
        for result in errors[:3]:
            print(f"{result['program']} for {result['target']}: {result['error'][:500]}")
        sys.exit(1 if errors else 0)
    results = []
    for name in given.files:
        with open(name) as file:
            results += json.load(file)
    if given.command == "table":
        text = table(results, given.said)
        if given.write:
            with open(given.write, "w") as file:
                file.write(text)
        else:
            print(text, end="")
        return
    if given.command == "summary":
        print(summary(results), end="")
        return
    recorded, same = None, True
    if given.against:
        with open(given.against) as file:
            text = file.read()
        recorded, same = read_table(text), given.version in text
        if not same:
            print(f"{given.against} is of another compiler than {given.version}: no budgets, the rest is checked")
    found = complaints(results, recorded, same, given.all)
    print("\n".join(found))
    print(f"{len(rows_of(results))} rows, {len(found)} complaints")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
