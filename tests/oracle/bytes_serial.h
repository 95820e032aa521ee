/*
 * Ising, Potts and Blume-Capel models on lattices of one to three dimensions, written plainly: one
 * site after the other, colour by colour of the checkerboard. It uses double precision, except for
 * the rounding of probabilities that defines the chain. It also enumerates all states. It shares
 * nothing with the kernels but the layout of the random counter and the order of the tables'
 * entries (cl/spin_lattice/bytes.h).
 *
 * Ising: H = -sum J_k s s' - sum (B + h f) s, where f of a site is +-1, normal, or given. Potts: H
 * = -sum J_k (delta - 1) - B n_0 - h sum f(s), where f of a site is 1 for one of its states, normal
 * for each, or given. Blume-Capel: H = -sum J_k s s' + D sum s^2 - sum (B + h f) s, state 1 - s.
 */
#ifndef ERGO_ORACLE_BYTES_SERIAL_H
#define ERGO_ORACLE_BYTES_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

struct bytes_oracle {
    int d, l[3]; /* sides; 1 for absent dimensions */
    int q;       /* 0: ising */
    bool capel;  /* q = 3: blume-capel */
    double t, j[3], b, h, crystal;
    bool heat_bath;
    uint64_t stream, field; /* keys of the chain and of the random field */
    bool general;           /* flips are decided by the logarithm */
    bool normal;            /* f is normal, unless given */
    const double *given;    /* f of all sites, potts: [site][state], or NULL */
    const double *bonds;    /* [axis][site], coupling to the next site in units of j; NULL: 1 */
};

int bytes_oracle_sites(const struct bytes_oracle *o);
/* f of all sites; potts: [site][state]. */
int bytes_oracle_numbers(const struct bytes_oracle *o); /* how many these are */
void bytes_oracle_fields(const struct bytes_oracle *o, double *f);
/* A random start, and one sweep: sites in natural order, x fastest; ising 0 or 1. */
void bytes_oracle_start(const struct bytes_oracle *o, uint8_t *sites);
void bytes_oracle_sweep(const struct bytes_oracle *o, const double *f, uint64_t step,
                        uint8_t *sites);
double bytes_oracle_energy(const struct bytes_oracle *o, const double *f, const uint8_t *sites);
/* Magnetization, or of potts the order parameter (q max n / N - 1) / (q - 1). */
double bytes_oracle_order(const struct bytes_oracle *o, const uint8_t *sites);
/* Mean of s^2 of blume-capel; of potts the part of sites in state 0. */
double bytes_oracle_third(const struct bytes_oracle *o, const uint8_t *sites);
/* Means per site over all states (at most 2^24 of them): energy, |order|, order, order^2. */
struct bytes_oracle_means {
    double energy, abs_order, order, order2, third;
};
struct bytes_oracle_means bytes_oracle_enumerate(const struct bytes_oracle *o, const double *f);

#endif
