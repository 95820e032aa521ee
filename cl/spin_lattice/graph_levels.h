/*
 * Spins on graphs whose couplings and fields are few times a common unit J: pure functions.
 *
 * A flip costs m J, m = s (2 c - d), where d is the number of neighbours, each as often as its
 * coupling is worth, a field being one that is always up, and c the number of those that ask for
 * up. So a sweep needs counts, which four chains of a word or 32 of a vector add up together, byte
 * by byte, and for each level m the number of random words that accept it: they are 0, 1, 2 ... up
 * to it, because the largest cost that a word accepts (spin_limit) never rises with the word. All
 * 2^32 were compared (tests/unit/test_graph_levels.c).
 *
 * A table, of one temperature: the numbers of words for m = -GRAPH_LEVELS to GRAPH_LEVELS; for a
 * vertex without neighbours; then the first level that some word does not accept, below which
 * numbers do not count.
 *
 * Graphs without levels (GRAPH_LEVELS 0) are updated in local memory, too: lists then have their
 * couplings beside them, and a table is the bits of a scale.
 */
#ifndef ERGO_CL_SPIN_LATTICE_GRAPH_LEVELS_H
#define ERGO_CL_SPIN_LATTICE_GRAPH_LEVELS_H

#include "spin_lattice/graph.h"

#define GRAPH_LEVEL_AT(levels, m) ((uint)((int)(levels) + (m)))
#define GRAPH_LEVEL_ALONE(levels) (2 * (levels) + 1) /* it is level `levels` + 1 */
#define GRAPH_LEVEL_FIRST(levels) (2 * (levels) + 2)
#define GRAPH_LEVEL_WORDS(levels) ((levels) ? 2 * (levels) + 3 : 1)

/* Rows of spins below those of all slots: always down, always up. */
#define GRAPH_ZEROS(slots) (slots)
#define GRAPH_ONES(slots) ((slots) + 1)
#define GRAPH_ROWS(slots) ((slots) + 2)

/* A vertex's neighbours, four to an element of the lists, those with +J first; places that are left
 * have the row of zeros. numbers, a byte each: elements of neighbours with +J and with
 * -J; neighbours; those of them with -J. Without levels: elements of all; whether there are any. */
struct graph_head {
    uint first; /* element of the lists */
    uint numbers;
};
#define GRAPH_PLUS(head) ((head).numbers & 255)
#define GRAPH_MINUS(head) ((head).numbers >> 8 & 255)
#define GRAPH_NEIGHBOURS(head) ((int)((head).numbers >> 16 & 255))
#define GRAPH_NEGATIVE(head) ((head).numbers >> 24)
#define GRAPH_HEAD_BYTES 8

/* When temperatures change: stage 0 before sweep `begin`, then `per` sweeps each, the last for
 * ever. */
struct graph_stages {
    ulong begin, per, count;
};
#define GRAPH_STAGES_BYTES 24

ERGO_INLINE ulong graph_stage(struct graph_stages s, ulong step) {
    const ulong stage = step < s.begin ? 0 : (step - s.begin) / s.per;
    return stage < s.count ? stage : s.count - 1;
}

/* Does a word accept a flip that costs m J? */
ERGO_INLINE bool graph_level_accepts(uint word, int m, int j, float scale, uint heat_bath) {
    return m * j < spin_limit(word, scale, heat_bath);
}

/* How many words accept it, if that is between these two. */
ERGO_INLINE uint graph_level_words(uint least, uint most, int m, int j, float scale,
                                   uint heat_bath) {
    while (least < most) {
        const uint middle = least + (most - least) / 2;
        if (graph_level_accepts(middle, m, j, scale, heat_bath))
            least = middle + 1;
        else
            most = middle;
    }
    return least;
}

#endif
