/*
 * The wave function of liquid helium with pairs and triplets (K. Schmidt, M. A. Lee, M. H. Kalos,
 * G. V. Chester, Phys. Rev. Lett. 47, 807 (1981)), written down as it is printed, and its local
 * energy by numerical differentiation of ln psi: no derivative is worked out here. It shares
 * nothing with ergocl.
 *
 *     ln psi = sum_{i<j} u(r_ij) - strength/4 sum_i G_i . G_i + strength/2 sum_{i<j} xi^2 r_ij^2
 *     G_i = sum_{j != i} xi(r_ij) (r_i - r_j)
 *     xi(r) = exp(-((r - centre) / width)^2) ((r - range) / range)^3, 0 beyond `range`
 */
#ifndef ERGO_ORACLE_HELIUM_TRIPLET_H
#define ERGO_ORACLE_HELIUM_TRIPLET_H

#include "oracle/helium_serial.h"

struct ergo_oracle_triplet {
    struct ergo_oracle_helium pairs;
    double strength, centre, width, range; /* 1/A^2, A */
};

/* ln psi, of the pairs' atoms. */
double ergo_oracle_triplet_ln_psi(const struct ergo_oracle_triplet *t);
/* sum (grad ln psi)^2 and sum lap ln psi, by five-point differences: an atom at a time moves along
 * an axis. 1/A^2 */
void ergo_oracle_triplet_derivatives(struct ergo_oracle_triplet *t, double *square,
                                     double *laplacian);
/* n trials of one atom each, picked at random; uniform displacements of up to `step` a component.
 */
void ergo_oracle_triplet_macroupdate(struct ergo_oracle_triplet *t, double step);
/* The same ln psi as a sum over triples of atoms, without G: -strength/2 sum over atoms i and pairs
 * of others j < k of xi_ij xi_ik (r_i - r_j) (r_i - r_k), and u. */
double ergo_oracle_triplet_by_triples(const struct ergo_oracle_triplet *t);

#endif
