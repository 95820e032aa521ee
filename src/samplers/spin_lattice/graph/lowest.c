/* The lowest states that chains have seen: order. */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/graph/lowest.h"

static _Thread_local size_t compared; /* bytes of a configuration, for qsort */

static int by_energy(const void *a, const void *b) {
    const struct graph_lowest_state *x = a, *y = b;
    if (x->energy != y->energy)
        return x->energy < y->energy ? -1 : 1;
    return memcmp(x->bits, y->bits, compared);
}

void graph_lowest_sort(struct graph_lowest *low) {
    compared = low->bytes;
    if (low->count)
        qsort(low->states, low->count, sizeof *low->states, by_energy);
}

void graph_lowest_free(struct graph_lowest *low) {
    free(low->states);
    free(low->bits);
    *low = (struct graph_lowest){0};
}
