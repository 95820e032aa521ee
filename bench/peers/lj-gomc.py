#!/usr/bin/env python3
"""Files for GOMC: grand canonical Lennard-Jones, truncated; see README.md.

Reduced units are turned into GOMC's with sigma = 3.73 A and epsilon/k = 148 K.
"""
import argparse
import math
import pathlib

SIGMA, EPSILON = 3.73, 148.0


def atoms(count, side):
    edge = max(1, math.ceil(count ** (1 / 3)))
    for i in range(count):
        yield tuple((c + 0.5) * side / edge for c in (i % edge, i // edge % edge, i // edge // edge))


def write_pdb(path, positions, side):
    with open(path, "w") as f:
        f.write(f"CRYST1{side:9.3f}{side:9.3f}{side:9.3f}  90.00  90.00  90.00 P 1           1\n")
        for i, (x, y, z) in enumerate(positions, 1):
            f.write(f"ATOM  {i % 100000:5d}  LJ  LJ  A{i % 10000:4d}    {x:8.3f}{y:8.3f}{z:8.3f}  0.00  0.00      A\n")
        f.write("END\n")


def write_psf(path, count):
    with open(path, "w") as f:
        f.write(f"PSF\n\n       1 !NTITLE\n REMARKS Lennard-Jones\n\n{count:8d} !NATOM\n")
        for i in range(1, count + 1):
            f.write(f"{i:8d} A    {i:<4d} LJ   LJ   LJ     0.000000       16.0430           0\n")
        for name in ("NBOND: bonds", "NTHETA: angles", "NPHI: dihedrals", "NIMPHI: impropers"):
            f.write(f"\n{0:8d} !{name}\n")


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--side", type=float, default=18.97, help="of the box, in sigma")
    p.add_argument("--particles", type=int, default=4096)
    p.add_argument("--temperature", type=float, default=1.35)
    p.add_argument("--activity", type=float, default=0.13)
    p.add_argument("--cutoff", type=float, default=2.5)
    p.add_argument("--moves", type=int, default=1000000)
    a = p.parse_args()
    a.folder.mkdir(parents=True, exist_ok=True)
    side, kelvin = a.side * SIGMA, a.temperature * EPSILON
    mu = kelvin * math.log(a.activity / SIGMA**3)
    reservoir = 2 * a.particles
    for box, count in ((0, a.particles), (1, reservoir)):
        write_pdb(a.folder / f"box{box}.pdb", [tuple(c * SIGMA for c in r) for r in atoms(count, a.side)], side)
        write_psf(a.folder / f"box{box}.psf", count)
    (a.folder / "lj.inp").write_text(
        "* Lennard-Jones\n\nNONBONDED_MIE\n! atom epsilon(K) sigma(A) n\n" f"LJ {EPSILON} {SIGMA} 12.0\n")
    lines = f"""Restart false
PRNG INTSEED
Random_Seed 1
ParaTypeEXOTIC true
Parameters lj.inp
Coordinates 0 box0.pdb
Coordinates 1 box1.pdb
Structure 0 box0.psf
Structure 1 box1.psf
Temperature {kelvin:.6f}
Potential VDW
LRC false
Rcut {a.cutoff * SIGMA:.6f}
RcutLow 0
Exclude 1-2
Ewald false
ElectroStatic false
ChemPot LJ {mu:.6f}
RunSteps {a.moves}
EqSteps {a.moves // 10}
AdjSteps 1000
PressureCalc true 1000
DisFreq 0.30
SwapFreq 0.70
CBMC_First 1
CBMC_Nth 1
CBMC_Ang 1
CBMC_Dih 1
CellBasisVector1 0 {side:.6f} 0 0
CellBasisVector2 0 0 {side:.6f} 0
CellBasisVector3 0 0 0 {side:.6f}
CellBasisVector1 1 {side:.6f} 0 0
CellBasisVector2 1 0 {side:.6f} 0
CellBasisVector3 1 0 0 {side:.6f}
OutputName lj
CoordinatesFreq false 1000000
RestartFreq false 1000000
CheckpointFreq false 1000000
ConsoleFreq true {max(1, a.moves // 10)}
BlockAverageFreq true {max(1, a.moves // 10)}
HistogramFreq false 1000000
DistName dis
HistName his
RunNumber 1
RunLetter a
SampleFreq 500
OutEnergy true true
OutPressure true true
OutMolNum true true
OutDensity true true
"""
    (a.folder / "lj.conf").write_text(lines)


if __name__ == "__main__":
    main()
