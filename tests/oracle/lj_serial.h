/*
 * Grand canonical Monte Carlo of Lennard-Jones particles, serial, in double precision. It follows
 * the definitions in Schwiebert et al. (arXiv:1408.3764, section 2), but with the sign of Eq. 4
 * corrected (Frenkel and Smit, Understanding Molecular Simulation, 5.6). It sums over all pairs and
 * has its own generator. It shares nothing with ergocl.
 */
#ifndef ERGO_ORACLE_LJ_SERIAL_H
#define ERGO_ORACLE_LJ_SERIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ergo_oracle_lj {
    double side[3], cutoff, temperature, activity;
    bool tail;
    /* Two walls at z = 0 and z = slit[0], by Steele's 10-4-3: width, epsilon, sigma, density,
     * spacing of the solid's layers; width 0: none. */
    double slit[5];
    /* Atoms that do not move: x, y, z, and epsilon and sigma of a particle and the atom. */
    const double (*frozen)[5];
    size_t n_frozen;
    double (*field)(const double at[3]); /* an external field; NULL: none */
    double (*r)[3];
    size_t n, room;
    uint64_t random[4]; /* xoshiro256++ */
    double energy;      /* without tail */
};

/* u(r) = 4 (r^-12 - r^-6) inside the cutoff; *virial = r f. */
double ergo_oracle_lj_pair(double r2, double cutoff, double *virial);
/* Energy and virial of all pairs. */
double ergo_oracle_lj_total(const struct ergo_oracle_lj *o, double *virial);
/* Energy of one particle between the walls; infinite within and beyond them. */
double ergo_oracle_lj_wall(const struct ergo_oracle_lj *o, double z);
/* Energy of one particle by walls, atoms that do not move, and the field. */
double ergo_oracle_lj_outside(const struct ergo_oracle_lj *o, const double at[3]);
/* Energy of a particle at `at` with all but particle `skip`, and by what does not move. */
double ergo_oracle_lj_one(const struct ergo_oracle_lj *o, const double at[3], size_t skip);
/* A displacement to anywhere (30%), insertion or deletion (35% each). false: no memory. */
bool ergo_oracle_lj_move(struct ergo_oracle_lj *o);
void ergo_oracle_lj_seed(struct ergo_oracle_lj *o, uint64_t seed);
/* n^3 particles, displaced from a cubic lattice by sines: a configuration that any program can
 * make. */
void ergo_oracle_lj_static(int n, double side, double offset, double (*r)[3]);

#endif
