/* Critical configurations of the Ising model with all their bonds, in blocks of which one at a time
 * is labelled: squares of a square lattice (2^32 sites in a gigabyte), or slabs of layers of a
 * cubic one (cubic.c). */
#ifndef BENCH_JOINING_CRITICAL_H
#define BENCH_JOINING_CRITICAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BELOW, ABOVE, RIGHT, LEFT, SIDES };
#define NO_PART 0xffffffffu

struct block {
    uint32_t n_parts;    /* that have bonds to other blocks */
    uint64_t *names;     /* [n_parts]: smallest site, y L + x, or (z L + y) L + x */
    uint32_t *sizes;     /* [n_parts] */
    uint32_t *at[SIDES]; /* [side]: the part whose bond leads out there, or NO_PART */
    uint64_t inside;     /* clusters that have no such bond */
    /* the same as far as tiles alone know it; group: the part above that it belongs to */
    uint32_t n_early;
    uint64_t *early_names, *group_names; /* [n_early] */
    uint32_t *groups;                    /* [n_early] */
    uint32_t *early_at[SIDES];
};

struct critical {
    uint64_t side;             /* of the lattice */
    uint32_t of_block, blocks; /* blocks in a row */
    /* blocks in all; sides of each that border on others, and their sites; sites of the lattice */
    size_t n_blocks;
    int sides;
    uint32_t of_side;
    double sites;
    uint32_t tile_width, tile_height; /* 0: no parts of tiles */
    uint64_t seed, sweep;
    uint64_t *spins, *next; /* bits, [side][side / 64], at least one word a row */
    struct block *block;
    uint64_t *first;   /* [n_blocks + 1]: numbers of parts in all */
    uint32_t *parents; /* the union-find of all parts of the lattice */
    uint64_t *whole;   /* their names: the cluster's smallest site */
    double equal;      /* share of bonds between equal spins */
};

/* A lattice of that side at the critical point, in blocks x blocks blocks: from a small one, whose
 * spins become four each, until it is large enough; `sweeps` of Swendsen and Wang each time, and
 * 200 of the small one. Powers of two. Then the bonds of one more sweep. Ends the program without
 * memory.
 */
void critical_make(struct critical *c, uint64_t side, uint32_t blocks, unsigned sweeps,
                   uint64_t seed, uint32_t tile_width, uint32_t tile_height);
/* The same of a simple cubic lattice of side x side x (layers slabs) sites, in slabs one behind the
 * other. */
void cubic_make(struct critical *c, uint32_t side, uint32_t layers, uint32_t slabs, unsigned sweeps,
                uint64_t seed);
void critical_free(struct critical *c);

/* Blocks beside: of the square lattice in rows of `blocks`. */
size_t critical_beside(const struct critical *c, size_t block, int side);
/* Of all blocks: one union-find over their parts. */
void critical_join(struct critical *c);
void critical_free_blocks(struct critical *c);

/* Ends the program without memory. */
void *critical_get(size_t bytes);
uint64_t critical_mix(uint64_t z);
uint32_t critical_root(uint32_t *roots, uint32_t i);

#endif
