/*
 * Clusters of a lattice in slabs, joined from pairs of their parts: every rank gets all pairs and
 * joins them for itself. A part is what of a cluster lies in one slab; its name is the id of its
 * first site, and a cluster's name the least of its parts'. Pure: knows neither MPI nor devices.
 */
#ifndef ERGO_SAMPLERS_SWENDSEN_WANG_SITES_SLAB_PAIRS_H
#define ERGO_SAMPLERS_SWENDSEN_WANG_SITES_SLAB_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sw_slab_pair {
    uint32_t a, b; /* names of parts that a bond joins */
};

/* Zero-initialise; memory is kept for the next sweep. */
struct sw_slab_pairs {
    struct sw_slab_pair *pairs;
    size_t n, room;
    /* union-find over names, a hash table */
    uint32_t *keys, *parents; /* [slots] */
    size_t slots, used;
    uint64_t *told; /* a hash table of pairs */
    size_t told_slots;
};

void sw_pairs_free(struct sw_slab_pairs *p);

/* Pairs of a face: near[k] has a bond to far[k], or is `none`. Each pair is there once. False: no
 * memory. */
bool sw_pairs_find(struct sw_slab_pairs *p, const uint32_t *near, const uint32_t *far, size_t count,
                   uint32_t none);

/* Joins n pairs, of all ranks. False: no memory. */
bool sw_pairs_join(struct sw_slab_pairs *p, const struct sw_slab_pair *pairs, size_t n);

/* Of the joined parts with names first .. first + n - 1 those whose cluster has another name:
 * calls take(user, part, name) for each. */
void sw_pairs_renamed(const struct sw_slab_pairs *p, uint64_t first, uint64_t n,
                      void (*take)(void *user, uint32_t part, uint32_t name), void *user);

#endif
