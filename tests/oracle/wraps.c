/*
 * Clusters that lead around the lattice. Its inside is simply connected, so each part that is
 * joined inside has one position. A bond around the lattice says that one part lies one lattice
 * further than the other. A union-find over the parts keeps these distances. They contradict each
 * other exactly if a closed path leads around the lattice (J. Machta et al., Phys. Rev. E 54, 1332
 * (1996), do so with sites).
 */
#include <stdlib.h>
#include <string.h>

#include "oracle/wraps.h"
#include "samplers/swendsen_wang/sw.h"

struct node {
    uint32_t label, parent; /* parent: a slot of the table */
    int32_t x, y;           /* distance from the parent, in lattices */
};

struct sw_wraps {
    size_t size; /* slots of the hash table, a power of two */
    struct node *table;
    uint8_t *used;
};

struct sw_wraps *sw_wraps_create(size_t most_pairs) {
    struct sw_wraps *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->size = 16;
    while (w->size < 4 * most_pairs)
        w->size *= 2;
    w->table = malloc(w->size * sizeof *w->table);
    w->used = malloc(w->size);
    if (!w->table || !w->used) {
        sw_wraps_destroy(w);
        return NULL;
    }
    return w;
}

void sw_wraps_destroy(struct sw_wraps *w) {
    if (!w)
        return;
    free(w->table);
    free(w->used);
    free(w);
}

static uint32_t slot_of(struct sw_wraps *w, uint32_t label) {
    size_t at = (label * UINT32_C(2654435769)) & (w->size - 1);
    while (w->used[at] && w->table[at].label != label)
        at = (at + 1) & (w->size - 1);
    if (!w->used[at]) {
        w->used[at] = 1;
        w->table[at] = (struct node){label, (uint32_t)at, 0, 0};
    }
    return (uint32_t)at;
}

/* The root of a slot, and the slot's distance from it. Halves the path. */
static uint32_t root_of(struct sw_wraps *w, uint32_t at, int32_t *x, int32_t *y) {
    *x = *y = 0;
    while (w->table[at].parent != at) {
        struct node *n = &w->table[at];
        const struct node *up = &w->table[n->parent];
        if (up->parent != n->parent) {
            n->x += up->x;
            n->y += up->y;
            n->parent = up->parent;
        }
        *x += n->x;
        *y += n->y;
        at = n->parent;
    }
    return at;
}

void sw_wraps_find(struct sw_wraps *w, const uint32_t *pairs, size_t rows, size_t count,
                   bool *around_x, bool *around_y) {
    /* most pairs belong to a few large clusters and repeat */
    uint32_t recent[64][2];
    *around_x = *around_y = false;
    memset(w->used, 0, w->size);
    memset(recent, 0xff, sizeof recent);
    for (size_t e = 0; e < count; e++) {
        const uint32_t a = pairs[2 * e], b = pairs[2 * e + 1];
        int32_t ax, ay, bx, by;
        if (e == rows) /* the other direction */
            memset(recent, 0xff, sizeof recent);
        if (a == SW_NO_BOND && b == SW_NO_BOND)
            continue;
        uint32_t *known = recent[((a ^ b * 5) * UINT32_C(2654435769)) >> 26];
        if (known[0] == a && known[1] == b)
            continue;
        known[0] = a;
        known[1] = b;
        const uint32_t root_a = root_of(w, slot_of(w, a), &ax, &ay);
        const uint32_t root_b = root_of(w, slot_of(w, b), &bx, &by);
        /* b lies one lattice further than a */
        const int32_t x = ax + (e < rows) - bx, y = ay + (e >= rows) - by;
        if (root_a != root_b) {
            w->table[root_b].parent = root_a;
            w->table[root_b].x = x;
            w->table[root_b].y = y;
        } else {
            *around_x = *around_x || x != 0;
            *around_y = *around_y || y != 0;
        }
    }
}
