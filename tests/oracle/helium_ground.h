/*
 * The ground state of two bosons in a cubic periodic box or a square, V a function of their
 * distance that is cut at half the side: what diffusion Monte Carlo must find. Plain double
 * precision; it shares nothing with ergocl. Lengths in A, energies in K.
 *
 * Of the relative coordinate x: -2 lambda lap phi + V(|x|) phi = E phi on the torus; the centre of
 * mass rests.
 */
#ifndef ERGO_ORACLE_HELIUM_GROUND_H
#define ERGO_ORACLE_HELIUM_GROUND_H

/* Per atom. */
struct ergo_oracle_ground {
    double energy, potential; /* potential: <V> in the ground state */
};

/* By finite differences on `points`^dimensions cells of an eighth of the box (a quarter of the
 * square), whose other parts are mirror images; V is a mean over a cell, and at most `most`. The
 * error falls as points^-2. */
struct ergo_oracle_ground ergo_oracle_ground_state(int dimensions, double side, double lambda,
                                                   double (*potential)(double r, const void *user),
                                                   const void *user, double most, int points);

/*
 * A pair whose ground state is known: phi = exp(u), u = -height (1 - (r/h)^2)^3 for r < h, half the
 * side, and 0 beyond. With V = 2 lambda (u'' + (d - 1) u'/r + u'^2) its energy is 0. u and V are
 * smooth at h.
 */
struct ergo_oracle_smooth {
    double side, lambda, height;
    int plane; /* 1: two dimensions */
};
double ergo_oracle_smooth_u(const struct ergo_oracle_smooth *pair, double height, double r);
/* `user` is a struct ergo_oracle_smooth. */
double ergo_oracle_smooth_v(double r, const void *user);
/* <V> per atom over phi exp(u of `height`): of the mixed distribution with that trial function;
 * of the ground state where it is the pair's own height. By quadrature. */
double ergo_oracle_smooth_mean(const struct ergo_oracle_smooth *pair, double height);

#endif
