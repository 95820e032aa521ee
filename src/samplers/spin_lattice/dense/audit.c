/*
 * Fully connected spin glasses: audits. Of some realisations all chains: the local fields are
 * computed from the spins and the couplings, which are those that were drawn; then a stretch of the
 * run with its measurements, by the kernels and by the host's twin: spins, fields, places, flips,
 * energies, overlaps, walkers, exchanges, round trips. At step 0 the start, too. In the stretch
 * there is an exchange after each sweep, whatever the job says.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/dense/dense.h"
#include "samplers/spin_lattice/models.h"

enum { AUDIT_EVERY = 1, AUDIT_SWEEPS = 2 };

/* Couplings that the host visits, some 10^9 a second. */
static const double audit_visits = 1 << 27;

static size_t looked_at(const struct dense_state *s, size_t samples) {
    const double n = s->shape.n, each = s->shape.slots * n * n * (2 + 0.5 * (double)samples);
    const double fit = audit_visits / each, piles = (double)dense_piles(s);
    return fit < 1 ? 1 : fit < piles ? (size_t)fit : dense_piles(s);
}

/* A realisation on the host. Spins and fields are those of slots. */
struct room {
    int16_t *couplings;
    int8_t *spins, *found_spins;
    int32_t *fields, *found_fields;
    uint32_t *places, *came, *found_came;
    uint64_t *flips, *accepted, *trips, *numbers;
    int64_t *energies;
    float scales[ERGO_LADDER_MAX], slopes[ERGO_LADDER_MAX];
    struct dense_twin twin;
};

static void room_free(struct room *r) {
    free(r->couplings);
    free(r->spins);
    free(r->fields);
    free(r->places);
    free(r->flips);
    free(r->energies);
}

static bool room_allocate(const struct dense_state *s, struct room *r) {
    const size_t padded = dense_padded(s), slots = s->shape.slots;
    r->couplings = malloc(2 * padded * s->shape.n);
    r->spins = malloc(2 * slots * padded);
    r->fields = malloc(8 * slots * padded);
    r->places = calloc(3 * slots, sizeof *r->places);
    r->flips = calloc(4 * slots, sizeof *r->flips);
    r->energies = calloc(slots, sizeof *r->energies);
    if (!r->couplings || !r->spins || !r->fields || !r->places || !r->flips || !r->energies)
        return false;
    r->found_spins = r->spins + slots * padded;
    r->found_fields = r->fields + slots * padded;
    r->came = r->places + slots;
    r->found_came = r->places + 2 * slots;
    r->accepted = r->flips + slots;
    r->trips = r->flips + 2 * slots;
    r->numbers = r->flips + 3 * slots;
    return true;
}

/* Of a buffer what realisation `pile` has in it: `bytes`. */
static void fetch(struct dense_state *s, unsigned row, size_t pile, size_t bytes, void *to) {
    ergo_engine_read(&s->e, row, pile * bytes, bytes, to);
}

static const void *kept(const struct ergo_replay *r, unsigned row, size_t pile, size_t bytes) {
    return (const char *)r->kept[row] + pile * bytes;
}

/* Configurations in order of slots. False: places that are none. */
static bool by_slot(const struct dense_state *s, const uint32_t *places, const void *from,
                    size_t bytes, void *to) {
    const size_t slots = s->shape.slots, each = bytes * dense_padded(s);
    for (size_t slot = 0; slot < slots; slot++) {
        if (places[slot] >= slots)
            return false;
        memcpy((char *)to + slot * each, (const char *)from + places[slot] * each, each);
    }
    return true;
}

/* ---- a realisation --------------------------------------------------------------------------- */

static const char *begin(const struct ergo_replay *r, size_t pile, struct room *m) {
    struct dense_state *s = r->state;
    const struct dense_shape *h = &s->shape;
    const size_t slots = h->slots, padded = dense_padded(s);
    const struct ergo_point *point = s->e.batch->points[pile / h->samples];
    m->twin = (struct dense_twin){.shape = h,
                                  .couplings = m->couplings,
                                  .stride = padded,
                                  .key = {(uint32_t)point->stream, (uint32_t)(point->stream >> 32)},
                                  .sample = (uint32_t)(pile % h->samples),
                                  .external = dense_external(point, h)};
    fetch(s, DENSE_COUPLINGS, pile, 2 * padded * h->n, m->couplings);
    dense_tables(h, s->ladders + pile / h->samples * h->rungs, m->scales, m->slopes);
    memcpy(m->places, kept(r, DENSE_PLACES, pile, 4 * slots), 4 * slots);
    memcpy(m->flips, kept(r, DENSE_FLIPS, pile, 8 * slots), 8 * slots);
    if (h->rungs > 1) {
        memcpy(m->came, kept(r, DENSE_CAME, pile, 4 * slots), 4 * slots);
        memcpy(m->accepted, kept(r, DENSE_ACCEPTED, pile, 8 * slots), 8 * slots);
        memcpy(m->trips, kept(r, DENSE_TRIPS, pile, 8 * (size_t)h->copies), 8 * (size_t)h->copies);
    }
    if (!by_slot(s, m->places, kept(r, DENSE_SPINS, pile, slots * padded), 1, m->spins) ||
        !by_slot(s, m->places, kept(r, DENSE_FIELDS, pile, 4 * slots * padded), 4, m->found_fields))
        return "the places of configurations";
    for (uint32_t slot = 0; slot < slots; slot++) {
        dense_twin_fields(&m->twin, m->spins + slot * padded, m->fields + slot * padded);
        if (memcmp(m->fields + slot * padded, m->found_fields + slot * padded,
                   h->n * sizeof *m->fields) != 0)
            return "the local fields, computed from scratch,";
        if (r->step > 0 || s->e.carried)
            continue;
        dense_twin_start(&m->twin, slot, model_start(point), m->found_spins);
        if (memcmp(m->found_spins, m->spins + slot * padded, h->n) != 0 || m->places[slot] != slot)
            return "the spins of the start";
    }
    return NULL;
}

static void swap_bytes(char *a, char *b, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        const char x = a[i];
        a[i] = b[i];
        b[i] = x;
    }
}

static void exchange(const struct dense_state *s, uint64_t step, struct room *m) {
    const struct dense_shape *h = &s->shape;
    const size_t padded = dense_padded(s);
    for (uint32_t t = ergo_ladder_parity(step, AUDIT_EVERY); t + 1 < h->rungs; t += 2)
        for (uint32_t c = 0; c < h->copies; c++) {
            const size_t a = t * (size_t)h->copies + c, b = a + h->copies;
            const bool yes = dense_twin_swaps(&m->twin, (uint32_t)a, m->slopes[t], m->energies[a],
                                              m->energies[b], step);
            const uint32_t arrived =
                ergo_ladder_walk(&m->came[a], &m->came[b], yes, 1, t, h->rungs);
            m->trips[c] += t == 0 ? arrived : 0;
            if (!yes)
                continue;
            m->accepted[a]++;
            swap_bytes((char *)(m->spins + a * padded), (char *)(m->spins + b * padded), padded);
            swap_bytes((char *)(m->fields + a * padded), (char *)(m->fields + b * padded),
                       4 * padded);
            swap_bytes((char *)&m->places[a], (char *)&m->places[b], sizeof *m->places);
            swap_bytes((char *)&m->energies[a], (char *)&m->energies[b], sizeof *m->energies);
        }
}

static void sweep(const struct dense_state *s, uint64_t step, struct room *m) {
    const struct dense_shape *h = &s->shape;
    const size_t padded = dense_padded(s);
    for (uint32_t slot = 0; slot < h->slots; slot++) {
        int8_t *spins = m->spins + slot * padded;
        int32_t *fields = m->fields + slot * padded;
        m->flips[slot] +=
            dense_twin_sweep(&m->twin, slot, m->scales[slot / h->copies], step, spins, fields);
        m->energies[slot] = dense_twin_energy(&m->twin, spins, fields);
    }
    if (h->rungs > 1 && ergo_ladder_due(step + 1, AUDIT_EVERY))
        exchange(s, step + 1, m);
}

/* What sample i of the stretch has of the realisation. */
static const char *compare_sample(const struct ergo_replay *r, size_t pile, size_t i,
                                  const struct room *m) {
    const struct dense_state *s = r->state;
    const struct dense_shape *h = &s->shape;
    const size_t padded = dense_padded(s);
    const struct dense_record *found =
        (const struct dense_record *)ergo_engine_host(&s->e, DENSE_RECORDS, 0, i) + pile * h->slots;
    for (size_t slot = 0; slot < h->slots; slot++) {
        const int8_t *spins = m->spins + slot * padded;
        const int8_t *other = slot % h->copies + 1 < h->copies ? spins + padded : spins;
        uint32_t up = 0, unequal = 0;
        for (size_t k = 0; k < h->n; k++) {
            up += spins[k] > 0;
            unequal += spins[k] != other[k];
        }
        if (found[slot].energy != m->energies[slot])
            return "the measured energies";
        if (found[slot].up != up || found[slot].unequal != unequal)
            return "the up spins or the overlaps";
    }
    return NULL;
}

static const char *compare_end(struct dense_state *s, size_t pile, struct room *m) {
    const struct dense_shape *h = &s->shape;
    const size_t slots = h->slots, padded = dense_padded(s);
    int8_t *spins = malloc(slots * padded);
    int32_t *fields = malloc(4 * slots * padded);
    const char *wrong = NULL;
    if (!spins || !fields)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for an audit");
    fetch(s, DENSE_SPINS, pile, slots * padded, spins);
    fetch(s, DENSE_FIELDS, pile, 4 * slots * padded, fields);
    fetch(s, DENSE_PLACES, pile, 4 * slots, m->found_came);
    if (s->e.status == ERGO_OK && memcmp(m->found_came, m->places, 4 * slots) != 0)
        wrong = "the places of configurations";
    if (s->e.status == ERGO_OK && !wrong) {
        by_slot(s, m->places, spins, 1, m->found_spins);
        by_slot(s, m->places, fields, 4, m->found_fields);
        for (size_t slot = 0; slot < slots; slot++) {
            if (memcmp(m->spins + slot * padded, m->found_spins + slot * padded, h->n) != 0)
                wrong = "the spins";
            if (memcmp(m->fields + slot * padded, m->found_fields + slot * padded, 4 * h->n) != 0)
                wrong = wrong ? wrong : "the local fields";
        }
    }
    fetch(s, DENSE_FLIPS, pile, 8 * slots, m->numbers);
    if (s->e.status == ERGO_OK && memcmp(m->numbers, m->flips, 8 * slots) != 0)
        wrong = wrong ? wrong : "the counted flips";
    if (h->rungs > 1) {
        fetch(s, DENSE_CAME, pile, 4 * slots, m->found_came);
        if (s->e.status == ERGO_OK && memcmp(m->found_came, m->came, 4 * slots) != 0)
            wrong = wrong ? wrong : "who has been at the hottest temperature";
        fetch(s, DENSE_ACCEPTED, pile, 8 * slots, m->numbers);
        if (s->e.status == ERGO_OK && memcmp(m->numbers, m->accepted, 8 * slots) != 0)
            wrong = wrong ? wrong : "the counted exchanges";
        fetch(s, DENSE_TRIPS, pile, 8 * (size_t)h->copies, m->numbers);
        if (s->e.status == ERGO_OK && memcmp(m->numbers, m->trips, 8 * (size_t)h->copies) != 0)
            wrong = wrong ? wrong : "the counted round trips";
    }
    free(spins);
    free(fields);
    return wrong;
}

static enum ergo_status compare_pile(struct ergo_context *ctx, const struct ergo_replay *r,
                                     size_t pile, struct room *m) {
    struct dense_state *s = r->state;
    ergo_engine_begin(&s->e, ctx);
    const char *wrong = begin(r, pile, m);
    for (uint64_t k = 0; k < r->samples * r->every && !wrong && s->e.status == ERGO_OK; k++) {
        sweep(s, r->step + k, m);
        if ((k + 1) % r->every == 0)
            wrong = compare_sample(r, pile, (size_t)(k / r->every), m);
    }
    if (!wrong && s->e.status == ERGO_OK)
        wrong = compare_end(s, pile, m);
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return ergo_engine_end(&s->e);
    return wrong ? ergo_replay_differs(ctx, r, pile / s->shape.samples, wrong) : ERGO_OK;
}

static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    const struct dense_state *s = r->state;
    const size_t piles = dense_piles(s), looked = looked_at(s, r->samples);
    struct room m = {0};
    enum ergo_status status =
        room_allocate(s, &m) ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    for (size_t k = 0; k < looked && status == ERGO_OK; k++)
        status = compare_pile(ctx, r, (k + 1) * piles / looked - 1, &m);
    room_free(&m);
    return status;
}

/* ---- the stretch ----------------------------------------------------------------------------- */

static enum ergo_status advance(struct ergo_context *ctx, void *state, unsigned slot, size_t count,
                                uint64_t every, uint64_t first_sample) {
    struct dense_state *s = state;
    const uint32_t swap_every = s->shape.swap_every;
    const bool automatic = s->feedback.automatic;
    s->shape.swap_every = AUDIT_EVERY;
    s->feedback.automatic = false;
    const enum ergo_status status =
        ergo_engine_advance(ctx, state, slot, count, every, first_sample);
    s->shape.swap_every = swap_every;
    s->feedback.automatic = automatic;
    return status;
}

enum ergo_status dense_audit(struct ergo_context *ctx, void *state) {
    struct dense_state *s = state;
    const struct ergo_point *point = s->e.batch->points[0];
    size_t sizes[DENSE_CURVE_TIMES + 1] = {0};
    sizes[DENSE_CURVE_SAMPLES] = dense_curve_size(point, DENSE_CURVE_SAMPLES);
    sizes[DENSE_CURVE_TIMES] = dense_curve_size(point, DENSE_CURVE_TIMES);
    struct ergo_replay r = {.remedy = "/tuning/work_group",
                            .n_columns = COLUMNS,
                            .n_curves = DENSE_CURVE_TIMES + 1,
                            .curve_sizes = sizes,
                            .samples = s->e.block_samples > 1 ? 2 : 1,
                            .every = AUDIT_SWEEPS,
                            .advance = advance,
                            .compare = compare};
    const enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    return status == ERGO_OK ? ergo_engine_replay(ctx, &s->e, &r, NULL, 0) : status;
}
