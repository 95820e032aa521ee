/*
 * Where Metropolis of two states, one colour after the other, samples.
 *
 * A sweep leaves Boltzmann's weights as they are, so that every configuration comes back, and two
 * are in one class as soon as a path of possible moves leads from one to the other. Of a colour, a
 * spin that feels a force can come to either state from either; one that feels none flips, with
 * certainty. So a spin whose force is never zero can be set at any time and nothing else changes:
 * between two colours the spins of the one that go with it can be chosen so. It can be set so that
 * a neighbour feels a force, which then can be set as well, and so on: a part of the graph that has
 * one such spin has one class. A part without one may have more: on a ring domain walls go round,
 * and right-movers less left-movers are a constant. So has a small lattice, of configurations in
 * which no spin feels a force; their share of all falls by 2^-sites.
 */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_ERGODIC_H
#define ERGO_SAMPLERS_SPIN_LATTICE_ERGODIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "samplers/spin_lattice/graph/problem.h"

/* Lattices and parts of graphs with fewer sites have Metropolis only where one class is certain.
 * With as many, and three neighbours or more of each, it is not proved: of those that can be
 * enumerated, of up to 24 sites, the largest class lacks 1e-5 of the weight at most, falling with
 * each site, and at 64 sites that leads to less than 1e-8. */
enum { ERGODIC_SITES = 64 };

#define ERGODIC_WORDS                                                                              \
    "Metropolis flips all spins of a colour that feel no force: in one dimension, on lattices of " \
    "fewer than 64 sites and where bonds are missing it can go in a cycle and not sample. There "  \
    "heat-bath is taken if not given, and metropolis refused."

/* A uniform lattice: couplings, field, random field (+h or -h). */
struct ergodic_lattice {
    uint32_t d;
    int64_t l[3];
    double j[3], b, h;
    bool signs, missing; /* of bonds at random */
};
bool ergodic_lattice(const struct ergodic_lattice *lattice);

/* n spins, all coupled to all by +-1/sqrt(n). */
bool ergodic_complete(uint32_t n, double field);

/* A vertex of a part of the graph for which it is not certain; n: of none; UINT32_MAX: no memory.
 */
uint32_t ergodic_graph(const struct graph_problem *p);

/* A lattice of n sites, x fastest, with any bonds: j[(k n + i) step] from site i along direction k.
 * false also without memory. */
struct ergodic_bonds {
    uint32_t d;
    uint64_t l[3], n;
    size_t step;
    const int32_t *j;
};
bool ergodic_bonds(const struct ergodic_bonds *bonds, double *fields);

#endif
