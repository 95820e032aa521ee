/*
 * Spins that are unit vectors (xy, clock, heisenberg), written plainly in double precision from the
 * definitions: H = -J sum s.s' - B sum s_n - D sum s_z^2, n = z in space and x in a plane; lattices
 * by coordinates; each bond once, with its direction. It shares nothing with the kernels but the
 * layout of the random counter and what the random words of a site mean.
 *
 * A spin is (x, y, z), z = 0 in a plane. Sites in natural order, x fastest.
 */
#ifndef ERGO_ORACLE_VECTOR_SERIAL_H
#define ERGO_ORACLE_VECTOR_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

struct vector_oracle {
    int d, l[3]; /* sides; 1 for absent dimensions */
    bool triangular, space, heat_bath;
    int q; /* directions of clock; 0: any */
    double t, j, b, anisotropy, step;
    double random;          /* strength of a random field, any direction at each site */
    int relax;              /* over-relaxations in a sweep */
    uint64_t stream, field; /* keys of the chain and of the random field */
    bool normal;            /* each component of the random field is normal */
    const double *given;    /* [site][components], instead of a drawn random field; or NULL */
    const double *bonds;    /* [direction][site], in units of j, to the neighbour ahead; NULL: 1 */
};

int vector_oracle_sites(const struct vector_oracle *o);

/* ---- the chain, to rounding -------------------------------------------------------------------
 */

void vector_oracle_start(const struct vector_oracle *o, double (*spins)[3]);
/* Returns how near the nearest decision of Metropolis was, as a difference of exponents: below
 * rounding the device may have decided otherwise. */
double vector_oracle_sweep(const struct vector_oracle *o, uint64_t step, double (*spins)[3]);

/* ---- measurements ---------------------------------------------------------------------------- */

struct vector_oracle_sample {
    double energy, m[3], alignment, current2, z2, vortices, chirality, along; /* per site */
    double structure; /* at 2 pi / L along the last dimension */
};
/* k: in turns a site along x, y, z */
double vector_oracle_structure(const struct vector_oracle *o, double (*spins)[3],
                               const double k[3]);
void vector_oracle_measure(const struct vector_oracle *o, double (*spins)[3],
                           struct vector_oracle_sample *sample);

/* ---- means ----------------------------------------------------------------------------------- */

/* Energy and m along the field, of clock models by enumeration of all states. */
void vector_oracle_enumerate(const struct vector_oracle *o, double means[2]);

enum vector_oracle_mean {
    VECTOR_MEAN_ENERGY,
    VECTOR_MEAN_ENERGY2,
    VECTOR_MEAN_M2,
    VECTOR_MEAN_M4,
    VECTOR_MEAN_ALONG, /* m along the field */
    VECTOR_MEAN_ALIGNMENT,
    VECTOR_MEAN_CURRENT2,
    VECTOR_MEAN_Z2,
    VECTOR_MEAN_VORTICES,
    VECTOR_MEAN_STRUCTURE, /* at k > 0 */
    VECTOR_MEANS
};
void vector_oracle_add(const struct vector_oracle *o, const struct vector_oracle_sample *sample,
                       double weight, double means[VECTOR_MEANS]);

/* Plain Monte Carlo with a generator of its own: random sites, Metropolis with new spins drawn from
 * all, samples every two sweeps, `blocks` blocks of `sweeps` sweeps after a tenth as many. Means
 * and their standard errors from the spread of blocks. */
void vector_oracle_run(const struct vector_oracle *o, uint64_t seed, int blocks, int sweeps,
                       double means[VECTOR_MEANS], double errors[VECTOR_MEANS]);

/* Of a closed chain of n sites: energy, m along the field, z2, all per site, and the heat capacity
 * per site, by a transfer matrix (Gauss-Legendre points on the sphere, equidistant ones on the
 * circle, q of clock), through derivatives of ln Z. */
struct vector_oracle_ring {
    double energy, along, z2, heat;
};
struct vector_oracle_ring vector_oracle_ring(const struct vector_oracle *o, int n);

#endif
