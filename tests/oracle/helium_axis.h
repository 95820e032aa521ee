/*
 * Diffusion Monte Carlo of one atom along an axis without chance: the step of helium-dmc (its
 * README) is an integral operator on the density after diffusion, a matrix on equal cells, and -ln
 * of its largest eigenvalue / tau is the energy that many walkers would find with this step. The
 * drift is the caller's, so that a rule for its limit shows what it does to the order. Lengths in
 * A, energies in K, in doubles.
 */
#ifndef ERGO_ORACLE_HELIUM_AXIS_H
#define ERGO_ORACLE_HELIUM_AXIS_H

struct ergo_oracle_axis {
    double begin, end, lambda, time_step;
    const void *system;
    double (*local)(const void *system, double x); /* E_L */
    /* displacement by so many half steps of the drift at x */
    double (*drift)(const struct ergo_oracle_axis *a, double x, double halves);
};

/* NAN: no memory. */
double ergo_oracle_axis_energy(const struct ergo_oracle_axis *axis);

#endif
