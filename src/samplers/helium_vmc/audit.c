/*
 * Audits: what the device keeps, makes and measures against what the host finds.
 *
 * Every walker: the running ln psi against the sum over all pairs. A stretch of the run, with its
 * measurements, replayed by twins of as many walkers as there is time for: places, sums of atoms,
 * ln psi, accepted moves, energies, the places that g(r) and S(k) are from. While walkers start,
 * two more stretches, of the macroupdates that end with a tuning and with copies. At step 0 the
 * start.
 *
 * Of walkers too large for that some trials are looked at, each by itself: before atom i is tried,
 * the atoms before it stand where they are after the macroupdate, the others where they were.
 */
#include <stdlib.h>
#include <string.h>

#include "helium_vmc/params.h"
#include "samplers/helium_vmc/helium.h"
#include "samplers/helium_vmc/helium_vmc.h"

/* Pairs that the host looks at, roughly: 10 ns each. */
static const double audit_pairs = 0x1p23, most_pairs = 0x1p24;

/* Rows of the replay that the twins begin with. */
enum { ROW_POSITIONS, ROW_WALKERS, ROW_FACTORS };

/* What the device has at the end of the stretch, and room for a twin. */
struct scene {
    struct helium_state *s;
    const struct ergo_replay *r;
    int32_t *positions; /* of all walkers */
    struct helium_walker *walkers;
    int64_t *sums; /* of a walker */
    int32_t *place;
    struct helium_cubic_host *tables; /* u, energies, random */
    bool tunes, multiplies;           /* after the stretch's only macroupdate */
};

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit of helium-vmc");
}

static size_t table_u_size(const struct helium_state *s) {
    return (size_t)s->launch.binades << HELIUM_U_PIECES;
}

static size_t table_e_size(const struct helium_state *s) {
    return 4 * (size_t)helium_energy_pieces(s->launch.binades);
}

static void use_tables(const struct scene *c, size_t member) {
    const struct helium_state *s = c->s;
    helium_table_u(&s->models[member], s->launch.binades, c->tables);
    helium_table_energy(&s->models[member], s->launch.binades, c->tables + table_u_size(s));
}

static struct helium_twin twin_of(const struct scene *c, size_t member, uint32_t walker) {
    const struct helium_state *s = c->s;
    const size_t at = member * s->shape.walkers + walker, atoms = 3 * (size_t)s->shape.n;
    const struct helium_walker *kept = c->r->kept[ROW_WALKERS];
    const int32_t *places = c->r->kept[ROW_POSITIONS];
    const uint32_t *factors = c->r->kept[ROW_FACTORS];
    memcpy(c->place, places + at * atoms, 4 * atoms);
    return (struct helium_twin){.member = &s->members[member],
                                .u_table = c->tables,
                                .e_table = c->tables + table_u_size(s),
                                .random = c->tables + table_u_size(s) + table_e_size(s),
                                .binades = s->launch.binades,
                                .n = s->shape.n,
                                .walker = walker,
                                .factor = factors[member],
                                .place = c->place,
                                .ln_psi = kept[at].ln_psi};
}

/* ---- a walker -------------------------------------------------------------------------------- */

/* A measurement of the walker, number i of the stretch, or NULL: it is as it should be. */
static const char *compare_sums(const struct scene *c, size_t member, size_t i,
                                const struct helium_twin *t, uint32_t last) {
    const struct helium_state *s = c->s;
    const size_t row = (i * s->batch->count + member) * s->shape.walkers + t->walker;
    const struct helium_sums *found = &s->slots[0].host_sums[row];
    struct helium_sums sums;
    helium_twin_energies(t, last, &sums);
    if (found->ln_psi != sums.ln_psi)
        return "the measured ln psi";
    if (found->potential != sums.potential || found->virial != sums.virial)
        return "the potential energy or the virial";
    if (found->laplacian != sums.laplacian || found->gradient != sums.gradient)
        return "the kinetic energies";
    return found->accepted == sums.accepted ? NULL : "the measured acceptance";
}

/* The places that curves are made of; k: curve samples before. */
static const char *compare_places(const struct scene *c, size_t member, size_t k,
                                  const struct helium_twin *t) {
    const struct helium_shape *h = &c->s->shape;
    const size_t row = (k * c->s->batch->count + member) * h->structure_walkers + t->walker;
    const int32_t *found = c->s->slots[0].host_positions + row * 3 * h->n;
    if (t->walker >= h->structure_walkers || k >= c->s->slots[0].curves)
        return NULL;
    return memcmp(found, t->place, h->walker_bytes) ? "the places for g(r) and S(k)" : NULL;
}

static const char *compare_end(const struct scene *c, size_t at, const struct helium_twin *t,
                               uint32_t last) {
    const struct helium_walker *before = c->r->kept[ROW_WALKERS], *after = &c->walkers[at];
    const uint32_t window = c->tunes ? 0 : before[at].window + t->accepted;
    if (memcmp(c->positions + at * 3 * t->n, t->place, 12 * (size_t)t->n) != 0)
        return "the atoms";
    if (after->ln_psi != t->ln_psi)
        return "the running ln psi";
    return after->accepted == last && after->window == window ? NULL : "the accepted moves";
}

static enum ergo_status compare_walker(struct ergo_context *ctx, const struct scene *c,
                                       size_t member, uint32_t walker) {
    struct helium_state *s = c->s;
    const size_t at = member * s->shape.walkers + walker, n = s->shape.n;
    const uint64_t every = c->r->every;
    const uint64_t interval = (uint64_t)ergo_point_int(s->batch->points[0], "/run/structure_every");
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
    enum ergo_status status =
        ergo_buffer_read(ctx, s->device, s->atom_sums, at * n * 8, n * 8, c->sums);
    for (uint32_t i = 0; i < n && status == ERGO_OK; i++)
        if (c->sums[i] != helium_twin_atom(&t, i))
            status = ergo_replay_differs(ctx, c->r, member, "the atoms' sums of u");
    return status;
}

/* The stretch is one macroupdate of a walker that is too large: `trials` of its trials, and if
 * there is time its energies. */
static enum ergo_status compare_trials(struct ergo_context *ctx, const struct scene *c,
                                       size_t member, uint32_t walker, uint32_t trials) {
    struct helium_state *s = c->s;
    const size_t at = member * s->shape.walkers + walker, n = s->shape.n;
    const int32_t *end = c->positions + at * 3 * n;
    struct helium_twin t = twin_of(c, member, walker);
    const char *wrong = NULL;
    uint32_t moved = 0;
    enum ergo_status status =
        ergo_buffer_read(ctx, s->device, s->atom_sums, at * n * 8, n * 8, c->sums);
    for (uint32_t i = 0; i < n && !wrong && status == ERGO_OK; i++) {
        const bool look = (uint64_t)i * trials / n != (uint64_t)(i + 1) * trials / n;
        bool here = true, same = true;
        int32_t to[3];
        int64_t change;
        if (look)
            (void)helium_twin_trial(&t, i, c->r->step, to, &change);
        for (size_t k = 0; k < 3; k++) {
            here = here && t.place[k * n + i] == end[k * n + i];
            same = same && (!look || to[k] == end[k * n + i]);
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
    t.ln_psi = c->walkers[at].ln_psi; /* the next audit compares it with all pairs */
    if (!wrong && (double)n * (double)n <= most_pairs)
        wrong = compare_sums(c, member, 0, &t, moved);
    if (!wrong)
        wrong = compare_places(c, member, 0, &t);
    return wrong && status == ERGO_OK ? ergo_replay_differs(ctx, c->r, member, wrong) : status;
}

/* ---- the start ----------------------------------------------------------------------------- */

/* Moves of a tuning window as there may be at its end, other ones for each walker: at the start
 * there are so few that any count gives the same displacement, the smallest allowed. */
static uint32_t window_of(const struct helium_state *s, size_t member, uint32_t walker) {
    const uint64_t tried = 15 * (uint64_t)s->shape.n;
    return (uint32_t)(tried * s->members[member].target / 65536) + walker % 5;
}

static enum ergo_status advance_tuned(struct ergo_context *ctx, void *state, unsigned slot,
                                      size_t count, uint64_t every, uint64_t first_sample) {
    struct helium_state *s = state;
    const size_t all = s->batch->count * s->shape.walkers;
    struct helium_walker *walkers = malloc(all * sizeof *walkers);
    enum ergo_status status = walkers ? ergo_buffer_read(ctx, s->device, s->walkers, 0,
                                                         all * HELIUM_WALKER_BYTES, walkers)
                                      : no_memory(ctx);
    for (size_t i = 0; i < all && status == ERGO_OK; i++)
        if (i % s->shape.walkers < s->shape.active)
            walkers[i].window =
                window_of(s, i / s->shape.walkers, (uint32_t)(i % s->shape.walkers));
    if (status == ERGO_OK)
        status =
            ergo_buffer_write(ctx, s->device, s->walkers, 0, all * HELIUM_WALKER_BYTES, walkers);
    free(walkers);
    return status == ERGO_OK ? helium_advance(ctx, state, slot, count, every, first_sample)
                             : status;
}

/* Tuned displacements; walkers that wait, or that have become copies. */
static const char *compare_start(const struct scene *c, size_t member, const uint32_t *factors) {
    const struct helium_state *s = c->s;
    const struct helium_shape *h = &s->shape;
    const size_t first = member * h->walkers;
    const uint32_t active = helium_active(h, c->r->step);
    const struct helium_walker *kept = c->r->kept[ROW_WALKERS];
    const int32_t *places = c->r->kept[ROW_POSITIONS];
    uint32_t expected = ((const uint32_t *)c->r->kept[ROW_FACTORS])[member];
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
        if (c->multiplies && memcmp(&s->slots[0].host_sums[to], &s->slots[0].host_sums[from],
                                    sizeof *s->slots[0].host_sums) != 0)
            return "energies of copies";
    }
    return NULL;
}

/* ---- all walkers ----------------------------------------------------------------------------- */

/* The last walker of the last member first: walkers that take each other's numbers are seen. */
static enum ergo_status compare_walkers(struct ergo_context *ctx, const struct scene *c) {
    const struct helium_shape *h = &c->s->shape;
    const double pairs = (double)h->n * h->n, samples = (double)c->r->samples;
    const double each = pairs * (samples * (2 * (double)c->r->every + 2) + 1);
    const uint32_t active = helium_active(h, c->r->step);
    enum ergo_status status = ERGO_OK;
    double spent = 0;
    for (size_t m = c->r->members; m-- > 0 && spent < audit_pairs && status == ERGO_OK;) {
        use_tables(c, m);
        for (uint32_t k = 0; k < active && spent < audit_pairs && status == ERGO_OK; k++) {
            const uint32_t walker = k ? k - 1 : active - 1;
            spent += each;
            if (4 * pairs <= most_pairs)
                status = compare_walker(ctx, c, m, walker);
            else
                status = compare_trials(ctx, c, m, walker,
                                        (uint32_t)(audit_pairs / (6 * (double)h->n)) + 1);
        }
    }
    return status;
}

static bool tunes_at(const struct helium_state *s, uint64_t step) {
    return s->members[0].target && step <= s->shape.start_steps && step % HELIUM_TUNE_EVERY == 0;
}

static bool multiplies_at(const struct helium_state *s, uint64_t step) {
    return step == s->shape.start_steps && s->shape.active < s->shape.walkers;
}

static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    struct helium_state *s = r->state;
    const size_t all = s->batch->count * s->shape.walkers;
    const bool one = r->samples * r->every == 1;
    struct scene c = {.s = s,
                      .r = r,
                      .positions = malloc(all * s->shape.walker_bytes),
                      .walkers = malloc(all * sizeof *c.walkers),
                      .sums = malloc((size_t)8 * s->shape.n),
                      .place = malloc(s->shape.walker_bytes),
                      .tables = malloc((table_u_size(s) + table_e_size(s) + 2 * HELIUM_R_SIZE) *
                                       sizeof *c.tables),
                      .tunes = one && tunes_at(s, r->step + 1),
                      .multiplies = one && multiplies_at(s, r->step + 1)};
    uint32_t *factors = malloc(s->batch->count * sizeof *factors);
    enum ergo_status status = c.positions && c.walkers && c.sums && c.place && c.tables && factors
                                  ? ERGO_OK
                                  : no_memory(ctx);
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, s->positions, 0, all * s->shape.walker_bytes,
                                  c.positions);
    if (status == ERGO_OK)
        status =
            ergo_buffer_read(ctx, s->device, s->walkers, 0, all * HELIUM_WALKER_BYTES, c.walkers);
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, s->factors, 0, 4 * s->batch->count, factors);
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
    free(c.tables);
    free(factors);
    return status;
}

/* ---- stretches ------------------------------------------------------------------------------- */

/* Energies that the fixed point does not hold end a run with the key that is to blame; not an
 * audit, which is at macroupdates that no measurement of the run may be at. */
static enum ergo_status collect(struct ergo_context *ctx, void *state, unsigned slot,
                                struct ergo_samples *samples) {
    const enum ergo_status status = helium_collect(ctx, state, slot, samples);
    if (status != ERGO_E_JOB)
        return status;
    ergo_error_clear(ctx);
    return ERGO_OK;
}

static enum ergo_status replay(struct ergo_context *ctx, struct helium_state *s, uint64_t step,
                               size_t samples, uint64_t every) {
    const struct helium_shape *h = &s->shape;
    const size_t all = s->batch->count * h->walkers, most = s->launch.block_samples;
    const uint64_t now = s->step;
    struct ergo_replay_row rows[10] = {
        [ROW_POSITIONS] = {"walkers' atoms", ERGO_REPLAY_STATE, &s->positions, NULL,
                           all * h->walker_bytes},
        [ROW_WALKERS] = {"walkers", ERGO_REPLAY_STATE, &s->walkers, NULL,
                         all * HELIUM_WALKER_BYTES},
        [ROW_FACTORS] = {"displacements", ERGO_REPLAY_STATE, &s->factors, NULL,
                         4 * s->batch->count},
        {"sums of atoms", s->rebuild ? ERGO_REPLAY_RESULT : ERGO_REPLAY_STATE, &s->atom_sums, NULL,
         all * h->n * 8},
        {"samples", ERGO_REPLAY_RESULT, &s->slots[0].sums, NULL, all * most * HELIUM_SUMS_BYTES},
        {"step", ERGO_REPLAY_HOST, NULL, &s->step, sizeof s->step},
        {"rebuild", ERGO_REPLAY_HOST, NULL, &s->rebuild, sizeof s->rebuild}};
    size_t n_rows = 7;
    if (s->attempts)
        rows[n_rows++] =
            (struct ergo_replay_row){"sums of trials", ERGO_REPLAY_RESULT, &s->attempts, NULL,
                                     all * helium_attempt_bytes(h, &s->launch)};
    if (s->decisions)
        rows[n_rows++] =
            (struct ergo_replay_row){"accepted moves", ERGO_REPLAY_RESULT, &s->decisions, NULL,
                                     all * helium_decision_bytes(&s->launch)};
    if (s->energy_parts)
        rows[n_rows++] =
            (struct ergo_replay_row){"parts of energies", ERGO_REPLAY_RESULT, &s->energy_parts,
                                     NULL, all * s->launch.energy_pieces * HELIUM_SUMS_BYTES};
    const struct ergo_point *point = s->batch->points[0];
    size_t sizes[3];
    for (size_t c = 0; c < 3; c++)
        sizes[c] = ergo_helium_vmc.ops->curve_size(point, c);
    struct ergo_replay r = {
        .sampler = "helium-vmc",
        .remedy = "/tuning/path and /tuning/work_group",
        .device = s->device,
        .state = s,
        .rows = rows,
        .n_rows = n_rows,
        .members = s->batch->count,
        .n_columns = ergo_helium_vmc.info->n_columns,
        .n_curves = 3,
        .curve_sizes = sizes,
        .step = step,
        .samples = samples,
        .every = every,
        .advance = samples * every == 1 && tunes_at(s, step + 1) ? advance_tuned : helium_advance,
        .collect = collect,
        .compare = compare};
    s->step = step;
    const enum ergo_status status = ergo_replay(ctx, &r);
    s->step = now;
    return status;
}

/* From the run's own step: two samples of three macroupdates where there is time for one walker at
 * least, and no start in it that ends. */
static enum ergo_status replay_chain(struct ergo_context *ctx, struct helium_state *s) {
    const double pairs = (double)s->shape.n * s->shape.n;
    const uint64_t launch = s->launch.launch_steps, step = s->step;
    uint64_t next = UINT64_MAX; /* step after which something of the start is due */
    if (step < s->shape.start_steps)
        next = s->members[0].target ? (step / HELIUM_TUNE_EVERY + 1) * HELIUM_TUNE_EVERY
                                    : s->shape.start_steps;
    next = step < s->shape.start_steps && next > s->shape.start_steps ? s->shape.start_steps : next;
    size_t samples = s->launch.block_samples > 1 && launch > 1 ? 2 : 1;
    uint64_t every = 3;
    while (every > 1 && ((double)samples * pairs * (2 * (double)every + 2) > audit_pairs ||
                         samples * every > launch || step + samples * every >= next))
        every--;
    if ((double)samples * pairs * 4 > audit_pairs || step + samples * every >= next)
        samples = every = 1;
    return replay(ctx, s, step, samples, every);
}

/* The macroupdates that end with a tuning and with copies, while there are such ahead. */
static enum ergo_status replay_start(struct ergo_context *ctx, struct helium_state *s) {
    const uint64_t end = s->shape.start_steps;
    const uint64_t tuned = (s->step / HELIUM_TUNE_EVERY + 1) * HELIUM_TUNE_EVERY;
    enum ergo_status status = ERGO_OK;
    if (s->step < end && tunes_at(s, tuned))
        status = replay(ctx, s, tuned - 1, 1, 1);
    if (status == ERGO_OK && s->step < end && multiplies_at(s, end) && !(end == tuned))
        status = replay(ctx, s, end - 1, 1, 1);
    return status;
}

/* ---- what there is --------------------------------------------------------------------------- */

static enum ergo_status differs(struct ergo_context *ctx, const struct helium_state *s,
                                size_t member, const char *what) {
    return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                     "audit of helium-vmc failed on %s (%s) at macroupdate %llu: %s of member %zu "
                     "differ between the device and the host",
                     s->device->summary.name, s->device->summary.driver,
                     (unsigned long long)s->step, what, member);
}

/* All walkers: running ln psi against all pairs, by the kernel that began it. */
static enum ergo_status compare_running(struct ergo_context *ctx, struct helium_state *s) {
    const size_t all = s->batch->count * s->shape.walkers, bytes = all * HELIUM_SUMS_BYTES;
    struct helium_walker *walkers = malloc(all * sizeof *walkers);
    struct helium_sums *sums = malloc(bytes);
    enum ergo_status status = walkers && sums ? ERGO_OK : no_memory(ctx);
    if (status == ERGO_OK) {
        memset(sums, 0xff, bytes); /* what is there may be the right answer */
        status = ergo_buffer_write(ctx, s->device, s->slots[0].sums, 0, bytes, sums);
    }
    if (status == ERGO_OK)
        status = helium_run_energy(ctx, s, s->slots[0].sums, 0, true);
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, s->slots[0].sums, 0, bytes, sums);
    if (status == ERGO_OK)
        status =
            ergo_buffer_read(ctx, s->device, s->walkers, 0, all * HELIUM_WALKER_BYTES, walkers);
    for (size_t i = 0; i < all && status == ERGO_OK; i++)
        if (2 * walkers[i].ln_psi != sums[i].ln_psi)
            status = differs(ctx, s, i / s->shape.walkers,
                             "the running ln psi of a walker and that of all its pairs");
    free(walkers);
    free(sums);
    return status;
}

/* The members' last walkers, as many as there is time for. */
static enum ergo_status compare_beginning(struct ergo_context *ctx, struct helium_state *s) {
    const struct helium_shape *h = &s->shape;
    const size_t bytes = h->walker_bytes;
    const bool file = ergo_point_value(s->batch->points[0], "/system/start")->present;
    int32_t *expected = malloc(bytes * h->walkers), *found = malloc(bytes);
    enum ergo_status status = expected && found ? ERGO_OK : no_memory(ctx);
    double spent = 0;
    for (size_t m = s->batch->count; m-- > 0 && spent < audit_pairs && status == ERGO_OK;) {
        if (file)
            status =
                helium_start_read(ctx, s->batch->points[m], &s->models[m], h->walkers, expected);
        for (uint32_t w = h->walkers; w-- > 0 && spent < audit_pairs && status == ERGO_OK;) {
            struct helium_twin t = {.member = &s->members[m],
                                    .n = h->n,
                                    .walker = w,
                                    .place = expected + 3 * (size_t)w * h->n};
            if (!file)
                helium_twin_start(h, &t);
            status = ergo_buffer_read(ctx, s->device, s->positions, (m * h->walkers + w) * bytes,
                                      bytes, found);
            if (status == ERGO_OK && memcmp(found, t.place, bytes) != 0)
                status = differs(ctx, s, m, "the atoms of the start");
            spent += 8 * (double)h->n;
        }
    }
    free(expected);
    free(found);
    return status;
}

static enum ergo_status compare_factors(struct ergo_context *ctx, struct helium_state *s) {
    enum ergo_status status = ERGO_OK;
    for (size_t m = 0; m < s->batch->count && status == ERGO_OK; m++) {
        uint32_t factor = 0;
        status = ergo_buffer_read(ctx, s->device, s->factors, 4 * m, 4, &factor);
        if (status == ERGO_OK && s->members[m].target == 0 && factor != HELIUM_FACTOR_ONE)
            status = differs(ctx, s, m, "the displacements");
    }
    return status;
}

enum ergo_status helium_audit(struct ergo_context *ctx, void *opaque) {
    struct helium_state *s = opaque;
    const double pairs = (double)s->shape.n * s->shape.n;
    enum ergo_status status = ergo_constants_check(ctx, s->device, &s->constants, "helium-vmc");
    if (status == ERGO_OK)
        status = compare_factors(ctx, s);
    if (status == ERGO_OK && s->step == 0)
        status = compare_beginning(ctx, s);
    if (status == ERGO_OK)
        status = compare_running(ctx, s);
    if (status == ERGO_OK)
        status = replay_chain(ctx, s);
    if (status == ERGO_OK)
        status = replay_start(ctx, s);
    if (status == ERGO_OK && pairs > most_pairs)
        ergo_log(ctx, ERGO_LOG_WARNING,
                 "the audit did not compare the energies of %u atoms with the host's: that would "
                 "take seconds",
                 s->shape.n);
    return status;
}
