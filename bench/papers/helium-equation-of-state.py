#!/usr/bin/env python3
"""Boronat and Casulleras 1994: the ground state energy of liquid helium-4 against density, HFD-B(HE), by diffusion Monte Carlo.

    bench/papers/helium-equation-of-state.py [--atoms 64 128] [--densities RHO ...] [--steps TAU ...] [--walkers P]
        [--healing A] [--wall S] [--device SEL] [--ergocl FILE] [--keep FOLDER]

For each number of atoms one job scans density and time step. Energies are without the bias of the population (energy_corrected),
with tails, and extrapolated by E + a tau^2; of three steps and more chi^2 tells whether that is the order. Of four densities and
more a cubic is laid through E(rho): its minimum is the equilibrium density. Prints Markdown.
--wall: seconds a job. The trial function is two-body.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

PUBLISHED = {0.02186: (-7.267, 0.013)}  # K per atom; J. Boronat and J. Casulleras, Phys. Rev. B 49, 8920 (1994)
DENSITIES = [0.0196, 0.0208, 0.02186, 0.0230, 0.0245, 0.0262]


def fit(rows, values, errors):
    """Weighted least squares: coefficients, their covariance, chi^2."""
    n = len(rows[0])
    normal = [[sum(r[i] * r[k] / e**2 for r, e in zip(rows, errors)) for k in range(n)] + [float(i == k) for k in range(n)]
              for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(normal[k][i]))
        normal[i], normal[pivot] = normal[pivot], normal[i]
        normal[i] = [x / normal[i][i] for x in normal[i]]
        for k in range(n):
            if k != i:
                normal[k] = [a - normal[k][i] * b for a, b in zip(normal[k], normal[i])]
    covariance = [row[n:] for row in normal]
    right = [sum(r[i] * v / e**2 for r, v, e in zip(rows, values, errors)) for i in range(n)]
    found = [sum(covariance[i][k] * right[k] for k in range(n)) for i in range(n)]
    chi2 = sum(((sum(a * b for a, b in zip(r, found)) - v) / e) ** 2 for r, v, e in zip(rows, values, errors))
    return found, covariance, chi2


def run(args, atoms, folder):
    """{density: [(step, energy, error)]}"""
    job = {"sampler": "helium-dmc", "seed": "1994",
           "system": {"n": atoms, "wave_function": "two-body", "healing": args.healing, "walkers": args.walkers, "forward_steps": 0,
                      "correction_steps": args.correction, "tail_correction": True},
           "run": {"equilibration": args.equilibration, "sweeps": args.sweeps, "measure_every": 5, "structure_every": 0},
           "scan": {"/system/density": args.densities, "/system/time_step": args.steps}, "output": {"snapshots": 0}}
    out = folder / f"atoms-{atoms}"
    (folder / f"atoms-{atoms}.json").write_text(json.dumps(job))
    command = [args.ergocl, "run", str(folder / f"atoms-{atoms}.json"), "-q", "-o", str(out), "--overwrite"]
    command += ["--device", args.device] if args.device else []
    wall = f"{args.wall // 3600:02d}:{args.wall // 60 % 60:02d}:{args.wall % 60:02d}"
    command += ["--set", f'/wall_time="{wall}"'] if args.wall else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 75):  # 75: the clock stopped it, with what there is
        sys.exit(f"{atoms} atoms: {done.stderr.strip()}")
    found = {}
    for point in json.loads((out / "result.json").read_text())["points"]:
        energy, at = point["observables"]["energy_corrected"], point["parameters"]
        if not energy["error"]:
            sys.exit(f"{atoms} atoms: too few samples for an error; a longer --wall or more --sweeps")
        found.setdefault(at["/system/density"], []).append((at["/system/time_step"], energy["mean"], energy["error"]))
    return found


def extrapolate(points):
    """E at step 0 with its error, and chi^2 with its degrees of freedom."""
    if len(points) == 1:
        return points[0][1], points[0][2], 0, 0
    (e, _), covariance, chi2 = fit([(1, t * t) for t, _, _ in points], *zip(*[p[1:] for p in points]))
    return e, math.sqrt(covariance[0][0]), chi2, len(points) - 2


def minimum(energies):
    """Of the cubic through E(rho): density, energy and speed of sound in m/s there; None: there is none."""
    middle = DENSITIES[2]
    rows = [[(rho / middle - 1) ** k for k in range(4)] for rho in energies]
    c, covariance, chi2 = fit(rows, [e for e, _ in energies.values()], [e for _, e in energies.values()])
    root = c[2] ** 2 - 3 * c[3] * c[1]
    if root < 0 or c[2] <= 0:
        return None
    x = -c[1] / (c[2] + math.sqrt(root))
    slopes = [x**k for k in range(4)]
    energy = sum(a * b for a, b in zip(c, slopes))
    error = math.sqrt(sum(slopes[i] * covariance[i][k] * slopes[k] for i in range(4) for k in range(4)))
    shift = [covariance[i][1] + 2 * x * covariance[i][2] + 3 * x * x * covariance[i][3] for i in range(4)]
    bend = 2 * c[2] + 6 * c[3] * x
    off = math.sqrt(shift[1] + 2 * x * shift[2] + 3 * x * x * shift[3]) / bend
    # m c^2 = d(rho^2 dE/drho)/drho = (1 + x)^2 E'' at the minimum; k_B / m of helium-4 in m^2/s^2 K
    sound = math.sqrt((1 + x) ** 2 * bend * 1.380649e-23 / (4.002602 * 1.66053906660e-27))
    return middle * (1 + x), middle * off, energy, error, sound, chi2, len(energies) - 4


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--atoms", type=int, nargs="+", default=[64, 128])
    p.add_argument("--densities", type=float, nargs="+", default=DENSITIES)
    p.add_argument("--steps", type=float, nargs="+", default=[0.004, 0.002])
    p.add_argument("--walkers", type=int, default=1024)
    p.add_argument("--healing", type=float, default=5.5)
    p.add_argument("--correction", type=int, default=100, help="steps whose weights are taken into account")
    p.add_argument("--equilibration", type=int, default=500)
    p.add_argument("--sweeps", type=int, default=10000)
    p.add_argument("--wall", type=int, default=0)
    p.add_argument("--device")
    p.add_argument("--keep", type=pathlib.Path, help="folder for jobs and runs")
    p.add_argument("--ergocl", default=str(pathlib.Path(__file__).resolve().parents[2] / "build" / "ergocl"))
    args = p.parse_args()
    room = tempfile.TemporaryDirectory()
    folder = args.keep or pathlib.Path(room.name)
    folder.mkdir(parents=True, exist_ok=True)
    print("| atoms | density, 1/A^3 | " + " | ".join(f"E at {t}/K" for t in args.steps) + " | E, K | chi^2 | published |")
    print("|---|---|" + "---|" * (len(args.steps) + 3))
    for atoms in args.atoms:
        energies = {}
        for rho, points in run(args, atoms, folder).items():
            e, error, chi2, freedom = extrapolate(points)
            energies[rho] = e, error
            known = PUBLISHED.get(rho)
            print(f"| {atoms} | {rho:g} | " + " | ".join(f"{v:.4f} +- {s:.4f}" for _, v, s in points) + f" | {e:.4f} +- {error:.4f} | " +
                  (f"{chi2:.1f} of {freedom}" if freedom else "-") + " | " +
                  (f"{known[0]}({known[1] * 1000:.0f}), z {(e - known[0]) / math.hypot(error, known[1]):.1f}" if known else "-") + " |",
                  flush=True)
        found = minimum(energies) if len(energies) > 3 else None
        if found:
            print(f"\n{atoms} atoms: equilibrium at {found[0]:.5f} +- {found[1]:.5f} 1/A^3, E {found[2]:.4f} +- {found[3]:.4f} K, "
                  f"sound {found[4]:.0f} m/s, chi^2 {found[5]:.1f} of {found[6]}; experiment 0.02184, -7.17, 238\n", flush=True)
    room.cleanup()


if __name__ == "__main__":
    main()
