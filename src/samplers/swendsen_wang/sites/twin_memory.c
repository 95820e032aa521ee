/* What a twin (twin.c) works in. */
#include <stdlib.h>

#include "samplers/swendsen_wang/sites/sites.h"

enum { PIECE_SITES = 1 << 20 };

bool sw_sites_twin_open(struct sw_sites_twin *t, const struct sw_sites_shape *s) {
    const size_t n = s->sites;
    *t = (struct sw_sites_twin){.spins = malloc(n * s->spin_bytes),
                                .bonds = malloc(n),
                                .labels = malloc(4 * n),
                                .queue = malloc(4 * n),
                                .sizes = malloc(4 * n),
                                .ways = malloc(n),
                                .weak = malloc(s->disordered ? n : 1),
                                .held = malloc(s->field ? n : 1),
                                .piece_sites = PIECE_SITES,
                                .parts = malloc(s->model == SW_MODEL_POTTS ? 1 : 4 * n),
                                .waves = malloc(s->waved ? 8 * n : 1)};
    return t->waves && t->weak && t->held && t->spins && t->bonds && t->labels && t->queue &&
           t->sizes && t->ways && t->parts;
}

void sw_sites_twin_close(struct sw_sites_twin *t) {
    free(t->spins);
    free(t->bonds);
    free(t->labels);
    free(t->queue);
    free(t->sizes);
    free(t->ways);
    free(t->weak);
    free(t->held);
    free(t->parts);
    free(t->waves);
    *t = (struct sw_sites_twin){0};
}
