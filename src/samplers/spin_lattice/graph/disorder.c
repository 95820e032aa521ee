/*
 * Random couplings of lattices by name: J of each bond times +1 or -1, or times a normal number.
 * Key = that of the disorder (seed, or /system/disorder_seed), step = realisation, bonds in the
 * order in which the lattice lists them. Bimodal: entity = a block of 128 bonds, a bit each.
 * Gaussian: entity = bond, by glass_normal.
 */
#include "common/rng.h"
#include "samplers/spin_lattice/dense/dense.h"
#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/graph/parameters.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/spin_glass/glass.h"

bool graph_is_disordered(const struct ergo_point *point) {
    return graph_is_named(point) && !graph_is_complete(point) && of_lattice(point)->disorder.given;
}

void graph_disorder(const struct ergo_point *point, struct graph_problem *p) {
    const uint32_t sample = (uint32_t)of_graph(point)->realisation;
    const bool gaussian = ergo_says(of_lattice(point)->disorder.text, "gaussian");
    struct ergo_words r = {0};
    uint32_t key[2];
    dense_key(point, "graph", 0, key);
    for (uint32_t e = 0; e < p->m; e++) {
        if (!gaussian && e % 128 == 0)
            r = ergo_philox_words(e / 128, sample, 0, ERGO_DRAW(GLASS_PURPOSE_COUPLING, 0), key[0],
                                  key[1]);
        const uint32_t words[4] = {r.x, r.y, r.z, r.w};
        p->edges[e].w *= gaussian
                             ? glass_normal(key, e, sample, GLASS_PURPOSE_COUPLING, 0) * 0x1p-24
                         : words[e % 128 / 32] >> e % 32 & 1 ? -1
                                                             : 1;
    }
}
