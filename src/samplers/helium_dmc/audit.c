/*
 * Audit: a stretch of the run against the host's twin, measurements and the comb included. Where
 * the host has no time for all walkers, the stretch is one step: then some walkers are followed,
 * and what is made of all (the comb, ancestors, what curves are taken from) is compared as it
 * follows from the device's energies and places of the others. At step 0 also the starting
 * configuration.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "helium_dmc/core.h"
#include "samplers/helium_dmc/dmc.h"

/* Pair visits of the host in a stretch, 10 to 20 ns each. */
static const double most_pairs = 0x1p22;

/* A member's walkers on the host, and what the device has at the end. */
struct scene {
    struct dmc_state *s;
    const struct ergo_replay *r;
    struct helium_cubic_host *tables, *random;
    int32_t *places, *next, *middle, *found, *found_middle; /* [walkers][3][n] */
    int32_t *euler; /* [3][n], and as many for a triplet factor */
    int64_t *records, *next_records, *found_records;
    struct helium_sums *sums;
    uint32_t *parents, *found_parents, *taken;
    uint64_t *grown, *found_grown; /* [remember][2] */
    uint32_t first, early;         /* walkers from `first` on, and below `early`, are followed */
    struct dmc_forward forward, found_forward;
};

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit of helium-dmc");
}

static size_t table_size(const struct dmc_state *s) {
    return 2 * (size_t)helium_energy_pieces(s->launch.binades);
}

static size_t triplet_size(const struct dmc_state *s) {
    return (size_t)2 * s->launch.binades << HELIUM_U_PIECES;
}

static double pairs_of_step(const struct dmc_state *s) {
    return 3.0 * s->shape.n * s->shape.n; /* of a walker */
}

static size_t records_of(const struct dmc_state *s) {
    return s->shape.every ? HELIUM_DMC_RECORDS : 0;
}

static bool follows(const struct scene *c, uint32_t walker) {
    return walker >= c->first || walker < c->early;
}

/* ---- a stretch ------------------------------------------------------------------------------- */

/* Walkers take what their parents have. */
static void take_parents(const struct scene *c, const uint32_t *parents) {
    const size_t size = 3 * (size_t)c->s->shape.n, records = records_of(c->s);
    for (uint32_t w = 0; w < c->s->shape.walkers; w++) {
        memcpy(c->places + w * size, c->next + parents[w] * size, 4 * size);
        if (records)
            memcpy(c->records + w * records, c->next_records + parents[w] * records, 8 * records);
    }
}

static const char *compare_sample(const struct scene *c, size_t member, size_t i) {
    const struct dmc_state *s = c->s;
    const uint32_t count = s->shape.walkers;
    const struct helium_sums *found = ergo_engine_host(&s->e, DMC_SAMPLE, 0, i);
    found += member * count;
    for (uint32_t w = 0; w < count; w++)
        if (follows(c, w) && memcmp(&found[w], &c->sums[w], sizeof *found) != 0)
            return "the energies";
    const size_t remember = 2 * (size_t)s->shape.remember;
    if (remember &&
        memcmp((const uint64_t *)ergo_engine_host(&s->e, DMC_HISTORY, 0, i) + member * remember,
               c->grown, 8 * remember) != 0)
        return "the growth of the last steps";
    if (c->first > 0)
        return NULL;
    for (size_t k = 0; k < records_of(s); k++) {
        const int64_t *kept = ergo_engine_host(&s->e, DMC_FORWARD, 0, i);
        int64_t sum = 0;
        for (uint32_t w = 0; w < count; w++)
            sum += c->next_records[w * HELIUM_DMC_RECORDS + k];
        if (kept[member * HELIUM_DMC_RECORDS + k] != sum)
            return "the forward walks";
    }
    return NULL;
}

/* Displaced atoms after `step`, from the device's places: of large populations the walkers that
 * curves are made of are none of those that are followed. */
static bool density_differs(const struct scene *c, const struct dmc_twin *t, size_t member,
                            size_t curve, uint64_t step) {
    const struct dmc_shape *h = &c->s->shape;
    const size_t size = 3 * (size_t)h->n, each = 2 * (size_t)h->points;
    struct helium_atoms atoms = dmc_twin_atoms(t, NULL);
    if (curve >= c->s->e.slots[0].curves)
        return false;
    const int32_t *places = ergo_engine_host(&c->s->e, DMC_PLACES, 0, curve);
    const int64_t *found = ergo_engine_host(&c->s->e, DMC_RATIOS, 0, curve);
    places += member * h->structure_walkers * size;
    found += member * h->structure_walkers * each;
    atoms.u_table = c->tables + table_size(c->s) + triplet_size(c->s);
    double spent = 0;
    for (uint32_t w = h->structure_walkers; w-- > 0 && spent < most_pairs;
         spent += pairs_of_step(c->s)) {
        atoms.place = places + w * size;
        if (atoms.triplet)
            helium_atoms_field(&atoms, t->field);
        if (helium_density_differs(&atoms, w, h->structure_walkers, step, h->points,
                                   found + w * each, c->euler))
            return true;
    }
    return false;
}

static const char *compare_places(const struct scene *c, size_t member, size_t curve) {
    const struct dmc_shape *h = &c->s->shape;
    const size_t size = 3 * (size_t)h->n;
    if (curve >= c->s->e.slots[0].curves)
        return NULL;
    const int32_t *found = ergo_engine_host(&c->s->e, DMC_PLACES, 0, curve);
    found += member * h->structure_walkers * size;
    if (memcmp(found, c->middle, h->structure_walkers * 4 * size) != 0)
        return "the positions for g(r) and S(k)";
    if (!h->chosen)
        return NULL;
    const int32_t *pure = ergo_engine_host(&c->s->e, DMC_PURE_SAMPLE, 0, curve);
    return memcmp(pure + member * h->chosen * size, c->forward.pure, h->chosen * 4 * size) == 0
               ? NULL
               : "the positions for pure g(r) and S(k)";
}

/* Some walkers are compared: the other records are those of the device. */
static const char *compare_forward(const struct scene *c, size_t member) {
    const struct dmc_state *s = c->s;
    for (size_t k = 0; k < records_of(s); k++) {
        const int64_t *kept = ergo_engine_host(&s->e, DMC_FORWARD, 0, 0);
        int64_t sum = 0;
        for (uint32_t w = 0; w < s->shape.walkers; w++)
            sum += c->found_records[w * HELIUM_DMC_RECORDS + k];
        if (kept[member * HELIUM_DMC_RECORDS + k] != sum)
            return "the forward walks";
    }
    return NULL;
}

static const char *compare_end(const struct scene *c, size_t member) {
    const struct dmc_state *s = c->s;
    const size_t size = 3 * (size_t)s->shape.n, records = records_of(s);
    for (uint32_t w = 0; w < s->shape.walkers; w++) {
        if (!follows(c, w))
            continue;
        if (memcmp(c->found + w * size, c->next + w * size, 4 * size) != 0)
            return "the atoms";
        if (memcmp(c->found_middle + w * size, c->middle + w * size, 4 * size) != 0)
            return "the atoms in the middle of the last step";
        if (records &&
            memcmp(c->found_records + w * records, c->next_records + w * records, 8 * records) != 0)
            return "the records of potential energies";
    }
    for (uint32_t w = 0; w < s->shape.walkers; w++)
        if (c->found_parents[w] + w != c->parents[w])
            return "the parents";
    if (memcmp(c->found_grown, c->grown, 16 * s->shape.remember) != 0)
        return "the growth of the last steps, at the end,";
    if (!dmc_forward_same(&s->shape, &c->found_forward, &c->forward))
        return "the ancestors, or their places";
    return c->first > 0 ? compare_forward(c, member) : NULL;
}

/* The member from the state before the stretch on. Returns what differs, or NULL. */
static const char *follow(const struct scene *c, const struct dmc_twin *t, size_t member) {
    const struct dmc_state *s = c->s;
    const uint32_t count = s->shape.walkers;
    const size_t size = 3 * (size_t)s->shape.n, records = records_of(s), at = member * count;
    const uint64_t every = c->r->every, interval = s->e.curve_interval;
    const char *wrong = NULL;
    size_t curves = 0, seen = 0;
    for (uint32_t w = 0; w < count; w++) {
        c->parents[w] = ((const uint32_t *)c->r->kept[DMC_PARENTS])[at + w] + w;
        if (c->parents[w] >= count)
            return "the parents before these steps";
    }
    const size_t remember = s->shape.remember;
    uint64_t unused[2] = {0, 0};
    dmc_forward_kept(s, c->r, member, &c->forward);
    memcpy(c->grown, (const uint64_t *)c->r->kept[DMC_GROWN] + member * 2 * remember,
           16 * remember);
    memcpy(c->next, (const int32_t *)c->r->kept[DMC_POSITIONS] + at * size, 4 * count * size);
    if (records)
        memcpy(c->next_records, (const int64_t *)c->r->kept[DMC_RECORDS] + at * records,
               8 * count * records);
    for (size_t i = 0; i < c->r->samples && !wrong; i++) {
        for (uint64_t k = 0; k < every; k++) {
            const uint64_t step = c->r->step + i * every + k;
            take_parents(c, c->parents);
            if (c->first > 0)
                memcpy(c->sums,
                       (const struct helium_sums *)ergo_engine_host(&s->e, DMC_SAMPLE, 0, i) + at,
                       count * sizeof *c->sums);
            memcpy(c->taken, c->parents, 4 * (size_t)count);
            memcpy(c->middle, c->found_middle, c->first * 4 * size);
            for (uint32_t w = 0; w < count; w++) {
                if (!follows(c, w))
                    continue;
                dmc_twin_step(t, step, w, c->places + w * size, c->next + w * size,
                              c->middle + w * size, &c->sums[w]);
                if (records)
                    dmc_twin_records(t, step, &c->sums[w], c->records + w * records,
                                     c->next_records + w * records);
            }
            dmc_forward_twin(&s->shape, step, c->taken, c->middle, &c->forward);
            dmc_twin_comb(t, step, c->sums, c->parents,
                          remember ? c->grown + 2 * (step % remember) : unused);
        }
        wrong = compare_sample(c, member, i);
        if (!wrong && interval && (c->r->first_sample + i) % interval == 0)
            wrong = compare_places(c, member, curves++);
        if (!wrong && curves > seen && s->shape.points &&
            density_differs(c, t, member, seen, c->r->step + (i + 1) * every))
            wrong = "the displaced atoms of the density matrix";
        seen = curves;
    }
    return wrong ? wrong : compare_end(c, member);
}

static enum ergo_status compare_member(struct ergo_context *ctx, const struct scene *c,
                                       size_t member) {
    struct dmc_state *s = c->s;
    const uint32_t count = s->shape.walkers;
    const size_t bytes = count * (size_t)s->shape.walker_bytes;
    const size_t records = count * 8 * records_of(s);
    struct dmc_twin twin = {.member = &s->members[member],
                            .dmc = &s->steps[member],
                            .e_table = c->tables,
                            .random = c->random,
                            .binades = s->launch.binades,
                            .n = s->shape.n,
                            .walkers = count,
                            .sites = helium_has_sites(s->e.batch->points[0]) ? s->sites : NULL,
                            .euler = c->euler};
    if (s->launch.triplet) {
        twin.triplet = &s->triplets[member];
        twin.t_table = c->tables + table_size(s);
        twin.field = c->euler + 3 * (size_t)s->shape.n;
    }
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, DMC_POSITIONS, member * bytes, bytes, c->found);
    ergo_engine_read(&s->e, DMC_MIDDLE, member * bytes, bytes, c->found_middle);
    ergo_engine_read(&s->e, DMC_PARENTS, member * count * 4, count * 4, c->found_parents);
    dmc_forward_read(s, member, &c->found_forward);
    const size_t grown = 16 * (size_t)s->shape.remember;
    if (grown)
        ergo_engine_read(&s->e, DMC_GROWN, member * grown, grown, c->found_grown);
    if (records)
        ergo_engine_read(&s->e, DMC_RECORDS, member * records, records, c->found_records);
    const enum ergo_status status = ergo_engine_end(&s->e);
    const char *wrong = status == ERGO_OK ? follow(c, &twin, member) : NULL;
    return wrong ? ergo_replay_differs(ctx, c->r, member, wrong) : status;
}

/* The last member first, to find members and walkers that use the random numbers of others. */
static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    struct dmc_state *s = r->state;
    const size_t count = s->shape.walkers, bytes = count * (size_t)s->shape.walker_bytes;
    const size_t records = count * 8 * records_of(s) + 1;
    const size_t tables = table_size(s) + triplet_size(s) * 3 / 2; /* the last of u */
    const double each = pairs_of_step(s) * (double)(r->samples * r->every);
    struct scene c = {.s = s,
                      .r = r,
                      .tables = malloc(tables * sizeof *c.tables),
                      .random = malloc(2 * HELIUM_R_SIZE * sizeof *c.random),
                      .places = malloc(bytes),
                      .next = malloc(bytes),
                      .middle = malloc(bytes),
                      .found = malloc(bytes),
                      .found_middle = malloc(bytes),
                      .euler = malloc(2 * (size_t)s->shape.walker_bytes),
                      .records = malloc(records),
                      .next_records = malloc(records),
                      .found_records = malloc(records),
                      .sums = malloc(count * sizeof *c.sums),
                      .parents = malloc(count * sizeof *c.parents),
                      .taken = malloc(count * sizeof *c.taken),
                      .grown = malloc(16 * (size_t)s->shape.remember + 1),
                      .found_grown = malloc(16 * (size_t)s->shape.remember + 1),
                      .found_parents = malloc(count * sizeof *c.found_parents)};
    enum ergo_status status = c.tables && c.random && c.places && c.next && c.middle && c.found &&
                                      c.found_middle && c.euler && c.records && c.next_records &&
                                      c.found_records && c.sums && c.parents && c.found_parents &&
                                      c.grown && c.found_grown
                                  ? ERGO_OK
                                  : no_memory(ctx);
    double left = most_pairs;
    if (status == ERGO_OK && (!c.taken || !dmc_forward_make(&s->shape, &c.forward) ||
                              !dmc_forward_make(&s->shape, &c.found_forward)))
        status = no_memory(ctx);
    if (status == ERGO_OK && s->cut) {
        ergo_engine_begin(&s->e, ctx);
        dmc_cut_share(s, DMC_MIDDLE, DMC_ALL, 0, (uint32_t)count);
        if (!dmc_cut_unite(s, DMC_ALL))
            status = ergo_replay_differs(ctx, r, 0, "copies of other ranks' walkers, at the end,");
        else
            status = ergo_engine_end(&s->e);
    }
    if (status == ERGO_OK)
        helium_table_random(c.random);
    for (size_t m = r->members; m-- > 0 && left > 0 && status == ERGO_OK;) {
        double most = left / each;
        most = r->samples * r->every > 1 || most > (double)count ? (double)count : most;
        most = most < 1 ? 1 : most;
        /* of what curves are made of too, but not at the cost of more than half of the others */
        c.early = most < (double)count ? s->shape.structure_walkers : 0;
        c.early = c.early > 1 && c.early > most / 2 ? (uint32_t)fmax(1, most / 2) : c.early;
        most = fmax(1, most - c.early);
        c.first = (uint32_t)(count - (size_t)most);
        left -= each * most;
        if (m + 1 == r->members || !dmc_model_shared(s->e.batch, m + 1))
            helium_table_energy(&s->models[m], s->launch.binades, c.tables);
        if (s->launch.triplet)
            helium_table_triplet(&s->models[m], s->launch.binades, c.tables + table_size(s));
        if (s->shape.points)
            helium_table_u(&s->models[m], s->launch.binades,
                           c.tables + table_size(s) + triplet_size(s));
        status = compare_member(ctx, &c, m);
    }
    free(c.tables);
    free(c.random);
    free(c.places);
    free(c.next);
    free(c.middle);
    free(c.found);
    free(c.found_middle);
    free(c.euler);
    free(c.records);
    free(c.next_records);
    free(c.found_records);
    free(c.sums);
    free(c.parents);
    free(c.found_parents);
    free(c.taken);
    dmc_forward_free(&c.forward);
    dmc_forward_free(&c.found_forward);
    free(c.grown);
    free(c.found_grown);
    return status;
}

/* Measurements that end a run, with an error of the job, are none of the audit's: the run may never
 * measure at these steps. */
static enum ergo_status collect(struct ergo_context *ctx, void *state, unsigned slot,
                                struct ergo_samples *samples) {
    const enum ergo_status status = ergo_engine_collect(ctx, state, slot, samples);
    if (status != ERGO_E_JOB)
        return status;
    ergo_error_clear(ctx);
    return ERGO_OK;
}

static enum ergo_status replay(struct ergo_context *ctx, struct dmc_state *s, uint64_t step,
                               size_t samples, uint64_t every) {
    const struct ergo_point *point = s->e.batch->points[0];
    const uint64_t now = s->e.step;
    size_t sizes[DMC_CURVES];
    for (size_t k = 0; k < DMC_CURVES; k++)
        sizes[k] = ergo_point_curve_size(point, k);
    struct ergo_replay r = {.remedy = "/tuning/path, /tuning/energy_group and /tuning/comb_group",
                            .n_columns = DMC_COLUMNS,
                            .n_curves = DMC_CURVES,
                            .curve_sizes = sizes,
                            .samples = samples,
                            .every = every,
                            .advance = ergo_engine_advance,
                            .collect = collect,
                            .compare = compare};
    s->e.step = step;
    const enum ergo_status status = ergo_engine_replay(ctx, &s->e, &r, NULL, 0);
    s->e.step = now;
    return status;
}

/* Two samples of two steps, or as many as the host can follow with all walkers of a member; else
 * one step. */
static enum ergo_status replay_chain(struct ergo_context *ctx, struct dmc_state *s) {
    const double pairs = pairs_of_step(s) * s->shape.walkers;
    size_t samples = s->e.block_samples > 1 ? 2 : 1;
    uint64_t every = 2;
    while (every > 1 && pairs * (double)(samples * every) > most_pairs)
        every--;
    if (pairs * (double)(samples * every) > most_pairs)
        samples = every = 1;
    return replay(ctx, s, s->e.step, samples, every);
}

/* The step that ends a window of forward walking, from these walkers: hardly any stretch meets one
 * by itself. */
static enum ergo_status replay_window(struct ergo_context *ctx, struct dmc_state *s) {
    const uint64_t window = s->shape.window;
    return s->shape.chosen ? replay(ctx, s, (s->e.step / window + 1) * window - 1, 1, 1) : ERGO_OK;
}

/* ---- the beginning --------------------------------------------------------------------------- */

static enum ergo_status differs(struct ergo_context *ctx, const struct dmc_state *s, size_t member,
                                const char *what) {
    return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                     "audit of helium-dmc failed on %s (%s) at step %llu: %s of member %zu differ "
                     "between the device and the host",
                     s->e.device->summary.name, s->e.device->summary.driver,
                     (unsigned long long)s->e.step, what, member);
}

static enum ergo_status compare_beginning(struct ergo_context *ctx, struct dmc_state *s) {
    const struct dmc_shape *h = &s->shape;
    const size_t size = 3 * (size_t)h->n, records = records_of(s);
    int32_t *expected = malloc(4 * size * h->walkers), *found = malloc(4 * size * h->walkers);
    int64_t *old = malloc(8 * h->walkers * records + 1);
    uint32_t *parents = malloc(h->walkers * sizeof *parents);
    enum ergo_status status = expected && found && old && parents ? ERGO_OK : no_memory(ctx);
    ergo_engine_begin(&s->e, ctx);
    for (size_t m = s->e.batch->count; m-- > 0 && status == ERGO_OK;) {
        bool same = true;
        status = helium_start_places(ctx, s->e.batch->points[m], &s->models[m], &s->members[m],
                                     h->sites, h->walkers, expected);
        ergo_engine_read(&s->e, DMC_POSITIONS, m * h->walkers * 4 * size, h->walkers * 4 * size,
                         found);
        ergo_engine_read(&s->e, DMC_PARENTS, m * h->walkers * 4, h->walkers * 4, parents);
        if (records)
            ergo_engine_read(&s->e, DMC_RECORDS, m * h->walkers * 8 * records,
                             h->walkers * 8 * records, old);
        status = status == ERGO_OK ? ergo_engine_end(&s->e) : status;
        if (status == ERGO_OK && memcmp(found, expected, h->walkers * 4 * size) != 0)
            status = differs(ctx, s, m, "the atoms of the start");
        for (uint32_t w = 0; w < h->walkers && status == ERGO_OK; w++) {
            same = same && parents[w] == 0;
            for (size_t k = 0; k < records; k++)
                same = same && old[w * records + k] == 0;
        }
        if (!same)
            status = differs(ctx, s, m, "parents or records of the start");
    }
    free(expected);
    free(found);
    free(old);
    free(parents);
    return status;
}

enum ergo_status dmc_audit(struct ergo_context *ctx, void *opaque) {
    struct dmc_state *s = opaque;
    enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    if (status == ERGO_OK && s->e.step == 0 && !s->e.carried)
        status = compare_beginning(ctx, s);
    if (status == ERGO_OK)
        status = replay_chain(ctx, s);
    return status == ERGO_OK ? replay_window(ctx, s) : status;
}
