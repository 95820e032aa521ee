#include "samplers/swendsen_wang/sites/slab_pairs.h"

#include <stdlib.h>
#include <string.h>

#define FREE_SLOT UINT32_MAX /* no lattice has a site of this id */

void sw_pairs_free(struct sw_slab_pairs *p) {
    free(p->pairs);
    free(p->keys);
    free(p->parents);
    free(p->told);
    *p = (struct sw_slab_pairs){0};
}

static size_t hash(uint64_t key, size_t slots) {
    return (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (slots - 1);
}

/* Slots of a hash table that is half empty. */
static size_t slots_for(size_t n) {
    size_t slots = 64;
    while (slots < 2 * n)
        slots *= 2;
    return slots;
}

bool sw_pairs_find(struct sw_slab_pairs *p, const uint32_t *near, const uint32_t *far, size_t count,
                   uint32_t none) {
    const size_t slots = slots_for(count);
    if (count > p->room) {
        free(p->pairs);
        p->pairs = malloc(count * sizeof *p->pairs);
        p->room = p->pairs ? count : 0;
    }
    if (slots > p->told_slots) {
        free(p->told);
        p->told = malloc(slots * sizeof *p->told);
        p->told_slots = p->told ? slots : 0;
    }
    if (!p->pairs || !p->told)
        return false;
    memset(p->told, 0xff, p->told_slots * sizeof *p->told);
    p->n = 0;
    for (size_t k = 0; k < count; k++) {
        const uint64_t key = (uint64_t)near[k] << 32 | far[k];
        if (near[k] == none || near[k] == far[k])
            continue;
        size_t at = hash(key, p->told_slots);
        while (p->told[at] != UINT64_MAX && p->told[at] != key)
            at = (at + 1) & (p->told_slots - 1);
        if (p->told[at] == key)
            continue;
        p->told[at] = key;
        p->pairs[p->n++] = (struct sw_slab_pair){near[k], far[k]};
    }
    return true;
}

/* The slot of a name, which is new if it was not there. */
static size_t slot_of(struct sw_slab_pairs *p, uint32_t name) {
    size_t at = hash(name, p->slots);
    while (p->keys[at] != FREE_SLOT && p->keys[at] != name)
        at = (at + 1) & (p->slots - 1);
    if (p->keys[at] == FREE_SLOT) {
        p->keys[at] = name;
        p->parents[at] = (uint32_t)at;
    }
    return at;
}

static size_t root_of(const struct sw_slab_pairs *p, size_t at) {
    while (p->parents[at] != at) {
        p->parents[at] = p->parents[p->parents[at]];
        at = p->parents[at];
    }
    return at;
}

bool sw_pairs_join(struct sw_slab_pairs *p, const struct sw_slab_pair *pairs, size_t n) {
    const size_t slots = slots_for(2 * n);
    if (slots > p->slots) {
        free(p->keys);
        free(p->parents);
        p->keys = malloc(slots * sizeof *p->keys);
        p->parents = malloc(slots * sizeof *p->parents);
        p->slots = p->keys && p->parents ? slots : 0;
    }
    if (!p->slots)
        return false;
    memset(p->keys, 0xff, p->slots * sizeof *p->keys);
    for (size_t k = 0; k < n; k++) {
        const size_t a = root_of(p, slot_of(p, pairs[k].a));
        const size_t b = root_of(p, slot_of(p, pairs[k].b));
        const bool lower = p->keys[a] < p->keys[b];
        p->parents[lower ? b : a] = (uint32_t)(lower ? a : b);
    }
    return true;
}

void sw_pairs_renamed(const struct sw_slab_pairs *p, uint64_t first, uint64_t n,
                      void (*take)(void *user, uint32_t part, uint32_t name), void *user) {
    for (size_t at = 0; at < p->slots; at++)
        if (p->keys[at] != FREE_SLOT && p->keys[at] >= first && p->keys[at] - first < n &&
            root_of(p, at) != at)
            take(user, p->keys[at], p->keys[root_of(p, at)]);
}
