/*
 * Audit: walkers at the end of a stretch against the host's twins.
 *
 * Of a walker too large for the twin, single trials of one macroupdate are checked. When atom i is
 * tried, the atoms before it are where they end, and all others are where they began. Both are
 * known.
 */
#include <stdlib.h>
#include <string.h>

#include "helium/triplet.h"
#include "helium_vmc/params.h"
#include "samplers/helium_vmc/helium.h"

const double helium_audit_pairs = 0x1p23, helium_most_pairs = 0x1p24;

/* The device's state at the end of the stretch, and memory for a twin. */
struct scene {
    struct helium_state *s;
    const struct ergo_replay *r;
    int32_t *positions; /* of all walkers */
    struct helium_walker *walkers;
    int64_t *sums; /* of one walker */
    int32_t *place;
    int32_t *fields;                  /* two of a walker, with a triplet factor */
    struct helium_cubic_host *tables; /* u, energies, random, triplet factor */
    bool tunes, multiplies;           /* due after the stretch's only macroupdate */
};

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit of helium-vmc");
}

static size_t table_u_size(const struct helium_state *s) {
    return (size_t)s->launch.binades << HELIUM_U_PIECES;
}

static size_t table_e_size(const struct helium_state *s) {
    return 2 * (size_t)helium_energy_pieces(s->launch.binades);
}

static void use_tables(const struct scene *c, size_t member) {
    const struct helium_state *s = c->s;
    helium_table_u(&s->models[member], s->launch.binades, c->tables);
    helium_table_energy(&s->models[member], s->launch.binades, c->tables + table_u_size(s));
    if (s->launch.triplet)
        helium_table_triplet(&s->models[member], s->launch.binades,
                             c->tables + table_u_size(s) + table_e_size(s) + 2 * HELIUM_R_SIZE);
}

static struct helium_twin twin_of(const struct scene *c, size_t member, uint32_t walker) {
    const struct helium_state *s = c->s;
    const size_t at = member * s->shape.walkers + walker, atoms = 3 * (size_t)s->shape.n;
    const struct helium_walker *kept = c->r->kept[HELIUM_WALKERS];
    const int32_t *places = c->r->kept[HELIUM_POSITIONS];
    const uint32_t *factors = c->r->kept[HELIUM_FACTORS];
    memcpy(c->place, places + at * atoms, 4 * atoms);
    const struct helium_cubic_host *e_table = c->tables + table_u_size(s);
    struct helium_twin t = {.member = &s->members[member],
                            .u_table = c->tables,
                            .e_table = e_table,
                            .random = e_table + table_e_size(s),
                            .binades = s->launch.binades,
                            .n = s->shape.n,
                            .walker = walker,
                            .factor = factors[member],
                            .place = c->place,
                            .sites = helium_has_sites(s->e.batch->points[0]) ? s->sites : NULL,
                            .ln_psi = kept[at].ln_psi};
    if (s->launch.triplet) {
        t.triplet = &s->triplets[member];
        t.t_table = t.random + 2 * HELIUM_R_SIZE;
        t.field = c->fields;
        t.next_field = c->fields + atoms;
    }
    helium_twin_begin(&t);
    return t;
}

/* ---- a walker -------------------------------------------------------------------------------- */

/* Compare measurement number i of the stretch. Returns what differs, or NULL. */
static const char *compare_sums(const struct scene *c, size_t member, size_t i,
                                const struct helium_twin *t, uint32_t last) {
    const struct helium_state *s = c->s;
    const struct helium_sums *found = ergo_engine_host(&s->e, HELIUM_SUMS, 0, i);
    struct helium_sums sums;
    found += member * s->shape.walkers + t->walker;
    helium_twin_energies(t, last, &sums);
    if (found->ln_psi != sums.ln_psi)
        return "the measured ln psi";
    if (found->potential != sums.potential || found->virial != sums.virial)
        return "the potential energy or the virial";
    if (found->laplacian != sums.laplacian || found->gradient != sums.gradient)
        return "the kinetic energies";
    return found->accepted == sums.accepted ? NULL : "the measured acceptance";
}

/* Compare the positions for curves. k: curve samples before this one. */
static const char *compare_places(const struct scene *c, size_t member, size_t k,
                                  const struct helium_twin *t) {
    const struct helium_shape *h = &c->s->shape;
    const size_t row = member * h->structure_walkers + t->walker;
    if (t->walker >= h->structure_walkers || k >= c->s->e.slots[0].curves)
        return NULL;
    const int32_t *found =
        (const int32_t *)ergo_engine_host(&c->s->e, HELIUM_PLACES, 0, k) + row * 3 * h->n;
    return memcmp(found, t->place, h->walker_bytes) ? "the positions for g(r) and S(k)" : NULL;
}

static const char *compare_end(const struct scene *c, size_t at, const struct helium_twin *t,
                               uint32_t last) {
    const struct helium_walker *before = c->r->kept[HELIUM_WALKERS], *after = &c->walkers[at];
    const uint32_t window = c->tunes ? 0 : before[at].window + t->accepted;
    if (memcmp(c->positions + at * 3 * t->n, t->place, 12 * (size_t)t->n) != 0)
        return "the atoms";
    if (after->ln_psi != t->ln_psi)
        return "the running ln psi";
    return after->accepted == last && after->window == window ? NULL : "the accepted moves";
}

/* Read the sums of u of a walker's atoms. */
static enum ergo_status read_sums(struct ergo_context *ctx, const struct scene *c, size_t at) {
    const size_t bytes = (size_t)8 * c->s->shape.n;
    ergo_engine_begin(&c->s->e, ctx);
    ergo_engine_read(&c->s->e, HELIUM_ATOM_SUMS, at * bytes, bytes, c->sums);
    return ergo_engine_end(&c->s->e);
}

static enum ergo_status compare_walker(struct ergo_context *ctx, const struct scene *c,
                                       size_t member, uint32_t walker) {
    struct helium_state *s = c->s;
    const size_t at = member * s->shape.walkers + walker, n = s->shape.n;
    const uint64_t every = c->r->every;
    const uint64_t interval =
        (uint64_t)ergo_point_int(s->e.batch->points[0], "/run/structure_every");
    struct helium_twin t = twin_of(c, member, walker);
    const char *wrong = NULL;
    uint32_t last = 0;
    size_t curves = 0;
    for (size_t i = 0; i < c->r->samples && !wrong; i++) {
        const uint64_t step = c->r->step + i * every;
        helium_twin_steps(&t, step, every - 1);
        last = t.accepted;
        helium_twin_steps(&t, step + every - 1, 1);
        last = t.accepted - last;
        wrong = compare_sums(c, member, i, &t, last);
        if (!wrong && interval && (c->r->first_sample + i) % interval == 0)
            wrong = compare_places(c, member, curves++, &t);
    }
    if (!wrong)
        wrong = compare_end(c, at, &t, last);
    if (wrong)
        return ergo_replay_differs(ctx, c->r, member, wrong);
    if (s->launch.triplet) /* no such sums */
        return ERGO_OK;
    enum ergo_status status = read_sums(ctx, c, at);
    for (uint32_t i = 0; i < n && status == ERGO_OK; i++)
        if (c->sums[i] != helium_twin_atom(&t, i))
            status = ergo_replay_differs(ctx, c->r, member, "the atoms' sums of u");
    return status;
}

/* Check a walker that is too large for the twin after one macroupdate: `trials` of its trials,
 * and its energies if the host has time. */
static enum ergo_status compare_trials(struct ergo_context *ctx, const struct scene *c,
                                       size_t member, uint32_t walker, uint32_t trials) {
    struct helium_state *s = c->s;
    const size_t at = member * s->shape.walkers + walker, n = s->shape.n;
    const int32_t *end = c->positions + at * 3 * n;
    struct helium_twin t = twin_of(c, member, walker);
    const char *wrong = NULL;
    uint32_t moved = 0;
    enum ergo_status status = read_sums(ctx, c, at);
    for (uint32_t i = 0; i < n && !wrong && status == ERGO_OK; i++) {
        const bool checked = (uint64_t)i * trials / n != (uint64_t)(i + 1) * trials / n;
        bool here = true, same = true;
        int32_t to[3];
        int64_t change;
        if (checked)
            (void)helium_twin_trial(&t, i, c->r->step, to, &change);
        for (size_t k = 0; k < 3; k++) {
            here = here && t.place[k * n + i] == end[k * n + i];
            same = same && (!checked || to[k] == end[k * n + i]);
            t.place[k * n + i] = end[k * n + i];
        }
        moved += !here;
        wrong = same ? NULL : "the atoms";
    }
    for (uint32_t i = 0; i < n && !wrong && status == ERGO_OK; i++)
        if ((uint64_t)i * trials / n != (uint64_t)(i + 1) * trials / n &&
            c->sums[i] != helium_twin_atom(&t, i))
            wrong = "the atoms' sums of u";
    if (!wrong && c->walkers[at].accepted != moved)
        wrong = "the accepted moves";
    t.ln_psi = c->walkers[at].ln_psi; /* compare_running checks it against all pairs */
    if (!wrong && (double)n * (double)n <= helium_most_pairs)
        wrong = compare_sums(c, member, 0, &t, moved);
    if (!wrong)
        wrong = compare_places(c, member, 0, &t);
    return wrong && status == ERGO_OK ? ergo_replay_differs(ctx, c->r, member, wrong) : status;
}

/* ---- the start ----------------------------------------------------------------------------- */

/* Accepted moves in a tuning window, different for each walker. They replace the counts of the
 * device, because at the start of a run few moves are in the window, and every count would give
 * the smallest displacement. */
static uint32_t window_of(const struct helium_state *s, size_t member, uint32_t walker) {
    const uint64_t tried = s->tuned_as * (uint64_t)s->shape.n;
    return (uint32_t)(tried * s->members[member].target / 65536) + walker % 5;
}

enum ergo_status helium_advance_tuned(struct ergo_context *ctx, void *state, unsigned slot,
                                      size_t count, uint64_t every, uint64_t first_sample) {
    struct helium_state *s = state;
    const size_t all = s->e.batch->count * s->shape.walkers;
    struct helium_walker *walkers = malloc(all * sizeof *walkers);
    if (!walkers)
        return no_memory(ctx);
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, HELIUM_WALKERS, 0, all * sizeof *walkers, walkers);
    for (size_t i = 0; i < all && ergo_engine_end(&s->e) == ERGO_OK; i++)
        if (i % s->shape.walkers < s->shape.active)
            walkers[i].window =
                window_of(s, i / s->shape.walkers, (uint32_t)(i % s->shape.walkers));
    ergo_engine_write(&s->e, HELIUM_WALKERS, 0, all * sizeof *walkers, walkers);
    free(walkers);
    return ergo_engine_end(&s->e) == ERGO_OK
               ? ergo_engine_advance(ctx, state, slot, count, every, first_sample)
               : ergo_engine_end(&s->e);
}

/* Compare the tuned displacement, and the walkers that wait or have become copies. */
static const char *compare_start(const struct scene *c, size_t member, const uint32_t *factors) {
    const struct helium_state *s = c->s;
    const struct helium_shape *h = &s->shape;
    const size_t first = member * h->walkers;
    const uint32_t active = helium_active(h, c->r->step);
    const struct helium_walker *kept = c->r->kept[HELIUM_WALKERS];
    const int32_t *places = c->r->kept[HELIUM_POSITIONS];
    uint32_t expected = ((const uint32_t *)c->r->kept[HELIUM_FACTORS])[member];
    const struct helium_sums *sums = ergo_engine_host(&s->e, HELIUM_SUMS, 0, 0);
    uint64_t accepted = 0;
    for (uint32_t w = 0; w < active; w++)
        accepted += window_of(s, member, w) + c->walkers[first + w].accepted;
    if (c->tunes)
        expected = helium_twin_factor(&s->members[member], expected, accepted,
                                      (uint64_t)active * h->n * HELIUM_TUNE_EVERY);
    if (factors[member] != expected)
        return "the tuned displacements";
    for (uint32_t w = active; w < h->walkers; w++) {
        const size_t to = first + w, from = c->multiplies ? first + w % active : to;
        const struct helium_walker *walker = c->multiplies ? &c->walkers[from] : &kept[from];
        const int32_t *place = (c->multiplies ? c->positions : places) + from * 3 * h->n;
        if (memcmp(&c->walkers[to], walker, sizeof *walker) != 0 ||
            memcmp(c->positions + to * 3 * h->n, place, h->walker_bytes) != 0)
            return "walkers that wait or are copies";
        if (c->multiplies && memcmp(&sums[to], &sums[from], sizeof *sums) != 0)
            return "energies of copies";
    }
    return NULL;
}

/* ---- displaced atoms ------------------------------------------------------------------------- */

/* Of a member, from the device's places: where walkers are large or many, those that curves are
 * made of are none of those that are followed. */
static const char *compare_displaced(const struct scene *c, size_t member) {
    const struct helium_state *s = c->s;
    const struct helium_shape *h = &s->shape;
    const uint32_t active = helium_active(h, c->r->step);
    const uint32_t walkers = active < h->structure_walkers ? active : h->structure_walkers;
    const double pairs = (double)h->n * h->n;
    const size_t samples = h->points && pairs <= helium_most_pairs ? c->r->samples : 0;
    double spent = 0;
    size_t k = 0;
    for (size_t i = 0; i < samples && k < s->e.slots[0].curves; i++) {
        if ((c->r->first_sample + i) % s->e.curve_interval != 0)
            continue;
        const int32_t *places = ergo_engine_host(&s->e, HELIUM_PLACES, 0, k);
        const int64_t *ratios = ergo_engine_host(&s->e, HELIUM_RATIOS, 0, k++);
        for (uint32_t w = walkers; w-- > 0 && spent < helium_audit_pairs; spent += 2 * pairs) {
            const size_t row = member * h->structure_walkers + w;
            struct helium_twin t = twin_of(c, member, w);
            memcpy(t.place, places + row * 3 * h->n, h->walker_bytes);
            helium_twin_begin(&t);
            const struct helium_atoms atoms = helium_twin_atoms(&t);
            if (helium_density_differs(&atoms, w, h->structure_walkers,
                                       c->r->step + (i + 1) * c->r->every, h->points,
                                       ratios + row * 2 * h->points, t.next_field))
                return "the displaced atoms of the density matrix";
        }
    }
    return NULL;
}

/* ---- all walkers ----------------------------------------------------------------------------- */

/* Begin with the last walker of the last member, to find walkers that use the random numbers of
 * others. */
static enum ergo_status compare_walkers(struct ergo_context *ctx, const struct scene *c) {
    const struct helium_shape *h = &c->s->shape;
    const double pairs = (double)h->n * h->n, samples = (double)c->r->samples;
    const double each = pairs * (samples * (2 * (double)c->r->every + 2) + 1);
    const uint32_t active = helium_active(h, c->r->step);
    enum ergo_status status = ERGO_OK;
    double spent = 0;
    for (size_t m = c->r->members; m-- > 0 && spent < helium_audit_pairs && status == ERGO_OK;) {
        if (m + 1 == c->r->members || !helium_model_shared(c->s->e.batch, m + 1))
            use_tables(c, m);
        for (uint32_t k = 0; k < active && spent < helium_audit_pairs && status == ERGO_OK; k++) {
            const uint32_t walker = k ? k - 1 : active - 1;
            spent += each;
            if (4 * pairs <= helium_most_pairs)
                status = compare_walker(ctx, c, m, walker);
            else
                status = compare_trials(ctx, c, m, walker,
                                        (uint32_t)(helium_audit_pairs / (12 * (double)h->n)) + 1);
        }
        const char *wrong = status == ERGO_OK ? compare_displaced(c, m) : NULL;
        status = wrong ? ergo_replay_differs(ctx, c->r, m, wrong) : status;
    }
    return status;
}

bool helium_tunes_at(const struct helium_state *s, uint64_t step) {
    return s->members[0].target && step <= s->shape.start_steps && step % HELIUM_TUNE_EVERY == 0;
}

bool helium_multiplies_at(const struct helium_state *s, uint64_t step) {
    return step == s->shape.start_steps && s->shape.active < s->shape.walkers;
}

enum ergo_status helium_compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    struct helium_state *s = r->state;
    const size_t all = s->e.batch->count * s->shape.walkers;
    const bool one = r->samples * r->every == 1;
    struct scene c = {.s = s,
                      .r = r,
                      .positions = malloc(all * s->shape.walker_bytes),
                      .walkers = malloc(all * sizeof *c.walkers),
                      .sums = malloc((size_t)8 * s->shape.n),
                      .place = malloc(s->shape.walker_bytes),
                      .fields = malloc(2 * s->shape.walker_bytes),
                      .tables = malloc((3 * table_u_size(s) + table_e_size(s) + 2 * HELIUM_R_SIZE) *
                                       sizeof *c.tables),
                      .tunes = one && helium_tunes_at(s, r->step + 1),
                      .multiplies = one && helium_multiplies_at(s, r->step + 1)};
    uint32_t *factors = malloc(s->e.batch->count * sizeof *factors);
    const bool memory = c.positions && c.walkers && c.sums && c.place && c.fields && c.tables;
    enum ergo_status status = memory && factors ? ERGO_OK : no_memory(ctx);
    if (status == ERGO_OK) {
        ergo_engine_begin(&s->e, ctx);
        ergo_engine_read(&s->e, HELIUM_POSITIONS, 0, all * s->shape.walker_bytes, c.positions);
        ergo_engine_read(&s->e, HELIUM_WALKERS, 0, all * sizeof *c.walkers, c.walkers);
        ergo_engine_read(&s->e, HELIUM_FACTORS, 0, 4 * s->e.batch->count, factors);
        status = ergo_engine_end(&s->e);
    }
    if (status == ERGO_OK) {
        helium_table_random(c.tables + table_u_size(s) + table_e_size(s));
        status = compare_walkers(ctx, &c);
    }
    for (size_t m = 0; m < r->members && status == ERGO_OK; m++) {
        const char *wrong = compare_start(&c, m, factors);
        if (wrong)
            status = ergo_replay_differs(ctx, r, m, wrong);
    }
    free(c.positions);
    free(c.walkers);
    free(c.sums);
    free(c.place);
    free(c.fields);
    free(c.tables);
    free(factors);
    return status;
}
