/* Fully connected spin glasses: sweeps, exchanges and measurements of all chains. */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/dense/dense.h"

/* A work-group for each chain. */
static struct ergo_grid groups(const struct dense_state *s, size_t chains) {
    return (struct ergo_grid){1, {chains * s->group, 1, 1}, {s->group, 1, 1}};
}

void dense_launch_fields(struct dense_state *s, size_t begin, size_t count) {
    ERGO_LAUNCH(&s->e, DENSE_FIELDS_OF, groups(s, count), BUFFER(DENSE_SPINS), BUFFER(DENSE_FIELDS),
                BUFFER(DENSE_COUPLINGS), BUFFER(DENSE_EXTERNAL), U32(s->shape.samples), U32(begin));
}

static void sweeps_to(struct dense_state *s, uint64_t end) {
    while (s->e.step < end && s->e.status == ERGO_OK) {
        const uint64_t now = ergo_engine_next(&s->e, &s->e.pace, end - s->e.step, s->launch_sweeps);
        ERGO_LAUNCH(&s->e, DENSE_SWEEP, groups(s, dense_chains(s)), BUFFER(DENSE_SPINS),
                    BUFFER(DENSE_FIELDS), BUFFER(DENSE_COUPLINGS), BUFFER(DENSE_PLACES),
                    BUFFER(DENSE_KEYS), BUFFER(DENSE_SCALES), BUFFER(DENSE_EXTERNAL),
                    BUFFER(DENSE_ENERGIES), BUFFER(DENSE_FLIPS), U64(s->e.step), U32(now),
                    U32(s->shape.samples));
        ergo_engine_made(&s->e, &s->e.pace, now);
        s->e.step += now;
    }
}

static void exchange(struct dense_state *s) {
    const struct dense_shape *h = &s->shape;
    const uint32_t parity = ergo_ladder_parity(s->e.step, h->swap_every);
    const size_t pairs = (size_t)ergo_ladder_pairs(h->rungs, parity) * h->copies;
    if (pairs == 0)
        return;
    ERGO_LAUNCH(&s->e, DENSE_SWAP, ergo_grid_items(pairs, 8, dense_piles(s)), BUFFER(DENSE_PLACES),
                BUFFER(DENSE_ENERGIES), BUFFER(DENSE_CAME), BUFFER(DENSE_ACCEPTED),
                BUFFER(DENSE_TRIPS), BUFFER(DENSE_KEYS), BUFFER(DENSE_SLOPES), U64(s->e.step),
                U32(parity), U32(h->samples));
}

/* New temperatures from the exchanges of all copies of a member's samples; moves are counted anew.
 */
static void feed_back(struct dense_state *s) {
    const struct dense_shape *h = &s->shape;
    const size_t chains = (size_t)h->samples * h->slots, members = s->e.batch->count;
    uint64_t *accepted = malloc(chains * sizeof *accepted), sums[ERGO_LADDER_MAX];
    if (!accepted)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for exchanges of %zu chains", chains);
    for (size_t m = 0; m < members && s->e.status == ERGO_OK; m++) {
        ergo_engine_read(&s->e, DENSE_ACCEPTED, 8 * m * chains, 8 * chains, accepted);
        memset(sums, 0, sizeof sums);
        for (size_t i = 0; i < chains && s->e.status == ERGO_OK; i++)
            sums[i % h->slots / h->copies] += accepted[i];
        ergo_feedback_learn(&s->feedback, s->e.step, (uint64_t)h->samples * h->copies, sums,
                            s->ladders + m * h->rungs);
    }
    dense_write_ladders(s);
    dense_clear(s);
    free(accepted);
}

void dense_steps(void *state, uint64_t sweeps) {
    struct dense_state *s = state;
    const uint64_t end = s->e.step + sweeps, every = s->shape.swap_every;
    const bool ladder = s->shape.rungs > 1;
    while (s->e.step < end && s->e.status == ERGO_OK) {
        const uint64_t next = ergo_ladder_next(s->e.step, every);
        sweeps_to(s, ladder && next < end ? next : end);
        if (ladder && ergo_ladder_due(s->e.step, every))
            exchange(s);
        if (ergo_feedback_due(&s->feedback, s->e.step))
            feed_back(s);
    }
}

void dense_measure(void *state, size_t sample) {
    struct dense_state *s = state;
    ERGO_LAUNCH(&s->e, DENSE_MEASURE, groups(s, dense_chains(s)), BUFFER(DENSE_SPINS),
                BUFFER(DENSE_PLACES), BUFFER(DENSE_ENERGIES), BUFFER(DENSE_RECORDS),
                U32(s->shape.samples), U32(dense_chains(s)), U32(sample));
}
