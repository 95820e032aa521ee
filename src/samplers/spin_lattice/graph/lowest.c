/* The lowest states that chains have seen: order, and the file of a scan point. */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "samplers/spin_lattice/graph/lowest.h"

static _Thread_local size_t compared; /* bytes of a configuration, for qsort */

static int by_energy(const void *a, const void *b) {
    const struct graph_lowest_state *x = a, *y = b;
    if (x->energy != y->energy)
        return x->energy < y->energy ? -1 : 1;
    return memcmp(x->bits, y->bits, compared);
}

size_t graph_lowest_unite(struct graph_lowest_state *states, size_t n, size_t bytes) {
    size_t kept = 0;
    compared = bytes;
    if (n)
        qsort(states, n, sizeof *states, by_energy);
    for (size_t i = 0; i < n; i++)
        if (!kept || memcmp(states[kept - 1].bits, states[i].bits, bytes) != 0)
            states[kept++] = states[i];
    return kept;
}

void graph_lowest_free(struct graph_lowest *low) {
    free(low->states);
    free(low->state);
    *low = (struct graph_lowest){0};
}

static void append_state(struct ergo_text *text, const struct graph_state *s,
                         const struct graph_lowest_state *state) {
    char piece[512];
    ergo_text_append(text, "%.15g %u %llu ", state->energy, state->replica,
                     (unsigned long long)state->step);
    for (uint32_t v = 0; v < s->net.n;) {
        size_t n = 0;
        for (; n < sizeof piece && v < s->net.n; v++)
            piece[n++] = ergo_bits_get(state->bits, v) ? '+' : '-';
        ergo_text_append_bytes(text, piece, n);
    }
    ergo_text_append(text, "\n");
}

enum ergo_status graph_states(struct ergo_context *ctx, void *state, size_t first, size_t count,
                              struct ergo_text *text) {
    struct graph_state *s = state;
    struct graph_lowest *all = calloc(count, sizeof *all);
    struct graph_lowest_state *states = malloc(count * s->keep * sizeof *states);
    enum ergo_status status =
        all && states ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the lowest states");
    size_t n = 0;
    for (size_t m = 0; m < count && status == ERGO_OK; m++) {
        status = graph_lowest_read(ctx, s, first + m, &all[m]);
        for (size_t k = 0; k < all[m].count && status == ERGO_OK; k++) {
            states[n] = all[m].states[k];
            states[n++].replica = s->e.batch->points[first + m]->replica;
        }
    }
    if (status == ERGO_OK) {
        n = graph_lowest_unite(states, n, ergo_bits_bytes(s->net.n));
        ergo_text_append(text, "# energy, replica, sweep, spins of vertices %u to %u\n",
                         s->problem.base, s->problem.base + s->net.n - 1);
        for (size_t k = 0; k < n && k < s->keep; k++)
            append_state(text, s, &states[k]);
    }
    for (size_t m = 0; m < count && all; m++)
        graph_lowest_free(&all[m]);
    free(all);
    free(states);
    return status;
}
