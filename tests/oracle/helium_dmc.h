/*
 * Diffusion Monte Carlo of helium, serial and in doubles, by an algorithm that shares nothing with
 * ergocl's: a step of Langevin, accepted or rejected so that psi^2 would be kept exactly (P. J.
 * Reynolds, D. M. Ceperley, B. J. Alder, W. A. Lester, J. Chem. Phys. 77, 5593 (1982)), then
 * integer copies of each walker and a trial energy that holds their number. Errors of the time step
 * come from the branching alone and are linear: two atoms of tests/physics/test_dmc.c are 0.004(1)
 * K too high at 0.002/K. At 0.004/K walkers stay where psi's core is too soft for V, and run away.
 * psi and potential are those of helium_serial.h. Lengths in A, energies in K.
 */
#ifndef ERGO_ORACLE_HELIUM_DMC_H
#define ERGO_ORACLE_HELIUM_DMC_H

#include <stdint.h>

struct ergo_oracle_dmc {
    int n, walkers;
    double density, b, lambda, time_step; /* 1/A^3, A, K A^2, 1/K */
    double equilibration, time;           /* imaginary time, 1/K */
    uint64_t seed;
};

/* Mixed estimate per atom, K, without tails; error from 32 blocks. Acceptance below 0: out of
 * memory, or the walkers ran away. */
struct ergo_oracle_dmc_energy {
    double energy, error, acceptance;
};
struct ergo_oracle_dmc_energy ergo_oracle_dmc(const struct ergo_oracle_dmc *d);

#endif
