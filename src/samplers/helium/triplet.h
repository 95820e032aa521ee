/*
 * The triplet factor of Schmidt, Lee, Kalos and Chester (Phys. Rev. Lett. 47, 807 (1981)) in double
 * precision: ln psi gets -strength/4 sum_i G_i^2 + strength/2 sum_{i<j} xi^2 r^2, G_i = sum_j
 * xi(r_ij) (r_i - r_j), xi(r) = exp(-((r - centre) / width)^2) ((r - range) / range)^3 up to
 * `range`. The second sum takes the pairs out of the first: three atoms are left.
 */
#ifndef ERGO_SAMPLERS_HELIUM_TRIPLET_H
#define ERGO_SAMPLERS_HELIUM_TRIPLET_H

#include <stdbool.h>
#include <stdint.h>

#include "job/job.h"

struct helium_triplet_model {
    double strength;             /* 1/A^2; 0: there is none */
    double centre, width, range; /* A */
    unsigned bits;               /* the unit of G is 2^-bits */
};

/* The most atoms of a job with this factor. */
enum { HELIUM_TRIPLET_ATOMS = 2048 };

enum { HELIUM_N_TRIPLET_KEYS = 4 };
extern const struct ergo_key helium_triplet_keys[HELIUM_N_TRIPLET_KEYS];
#define HELIUM_TRIPLET_KEYS                                                                        \
    { helium_triplet_keys, HELIUM_N_TRIPLET_KEYS }
bool helium_has_triplet(const struct ergo_point *point);
struct helium_triplet_model helium_triplet_of(const struct ergo_point *point, double half);
/* What cannot be: a range beyond `half`, sums that integers do not hold. */
enum ergo_status helium_triplet_check(struct ergo_context *ctx, const struct ergo_point *point,
                                      double half);

/* xi, xi', xi''. */
void helium_triplet_xi(const struct helium_triplet_model *t, double r, double out[3]);
/* Add strength/2 xi^2 r^2 and its derivatives to u, u', u''. */
void helium_triplet_pairs(const struct helium_triplet_model *t, double r, double u[3]);
/* X = sqrt(|strength|) / 2 xi and X'/r in the unit of G. */
void helium_triplet_scaled(const struct helium_triplet_model *t, double r, double out[2]);
/* Set `bits` so that G of n atoms fits in any configuration. false: it does not. */
bool helium_triplet_bits(struct helium_triplet_model *t, uint32_t n);

#endif
