/* In which rank's rectangle a site of a lattice lies. */
#ifndef TESTS_UNIT_LAYOUT_OWNER_H
#define TESTS_UNIT_LAYOUT_OWNER_H

#include "engine/layout.h"

static inline int layout_owner(const struct ergo_layout *l, uint64_t site) {
    const uint64_t y = site / l->lx, word = site % l->lx / 32;
    for (int r = 0; r < l->ranks; r++) {
        const struct ergo_rectangle *p = &l->rectangles[r];
        if (word - p->word0 < p->words && y - p->row0 < p->rows)
            return r;
    }
    return -1;
}

#endif
