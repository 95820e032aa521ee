/*
 * Audits. No two spheres overlap (all pairs of neighbouring cells, in integers), and none was lost.
 * A stretch of the run, with samples, has the same bits as the twin's on the host from the same
 * configuration. Afterwards the device has its state back. At constant pressure the stretch
 * has a volume move, however rare they are.
 *
 * For systems that would take the twin too long, it makes only some layers of cells of the last
 * member, on both sides of the edge of the box. The last sample is measured again from the device's
 * configuration, histograms as far as the budget allows: the device then takes them from the first
 * cells only.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/hard_spheres/order.h"

/* About a tenth of a second each: spheres times sweeps of the twin; pairs of cells. */
static const uint64_t budget_sweeps = 1u << 16, budget_pairs = 1u << 24;
static const uint64_t most_lead = 64;

/* Layers that a partial replay compares. */
enum { BAND = 4 };

struct audit {
    struct spheres_state *s;
    bool whole;
    uint32_t cells; /* of a member that histograms use; see launch.look_cells */
};

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
}

static enum ergo_status audit_member(struct ergo_context *ctx, struct spheres_state *s,
                                     size_t member) {
    const struct spheres_shape *shape = &s->shapes[member];
    struct spheres_config config;
    size_t cell[2] = {0, 0};
    unsigned slot[2] = {0, 0};
    uint64_t n = 0;
    enum ergo_status status = spheres_fetch(ctx, s, member, &config);
    if (status != ERGO_OK)
        return status;
    bool inside = true;
    for (size_t i = 0; i < shape->all; i++) {
        n += config.count[i];
        for (size_t j = 0; j < config.count[i]; j++)
            for (int k = 0; k < 3; k++)
                inside = inside && config.place[i * SPHERES_MANY + j].at[k] < shape->width[k];
    }
    if (n != shape->n)
        status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                           "audit of hard-spheres failed on %s at sweep %llu: member %zu has %llu "
                           "spheres, not %llu",
                           s->e.device->summary.name, (unsigned long long)s->e.step, member,
                           (unsigned long long)n, (unsigned long long)shape->n);
    else if (spheres_config_crosses(&config, shape))
        status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                           "audit of hard-spheres failed on %s at sweep %llu: member %zu has a "
                           "sphere in a wall",
                           s->e.device->summary.name, (unsigned long long)s->e.step, member);
    else if (!inside)
        status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                           "audit of hard-spheres failed on %s at sweep %llu: member %zu has a "
                           "sphere outside of its cell",
                           s->e.device->summary.name, (unsigned long long)s->e.step, member);
    else if (spheres_config_closest(&config, shape, cell, slot) < config.contact)
        status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                           "audit of hard-spheres failed on %s at sweep %llu: in member %zu sphere "
                           "%u of cell %zu and sphere %u of cell %zu overlap",
                           s->e.device->summary.name, (unsigned long long)s->e.step, member,
                           slot[0], cell[0], slot[1], cell[1]);
    spheres_config_free(&config);
    return status;
}

/* Compare the device's partial sums of a sample with the host's for `config`, whose cells have made
 * tally[] moves. */
static bool same_sums(const struct spheres_state *s, size_t sample, size_t member,
                      const struct spheres_config *config, const uint32_t *tally,
                      struct spheres_total *total) {
    const struct spheres_launch *l = &s->launch;
    const size_t items = (size_t)l->sums * l->sum_group;
    const struct spheres_sum *found =
        (const struct spheres_sum *)ergo_engine_host(&s->e, SPHERES_SUMS, 0, sample) +
        member * l->sums;
    const int64_t *field = spheres_field_of(s, member);
    const int64_t *energy =
        field ? (const int64_t *)ergo_engine_host(&s->e, SPHERES_ENERGIES, 0, sample) +
                    member * l->sums
              : NULL;
    struct spheres_sum *parts = calloc(l->sums, sizeof *parts);
    int64_t *energies = calloc(l->sums, sizeof *energies);
    if (!parts || !energies) {
        free(parts);
        free(energies);
        return false;
    }
    for (size_t cell = 0; cell < s->shapes[member].all; cell++) {
        const size_t group = spheres_raw_place(config->cells, cell) % items / l->sum_group;
        struct spheres_sum *part = &parts[group];
        if (field)
            energies[group] += spheres_twin_energy(&s->shapes[member], config, field, cell);
        part->spheres += config->count[cell];
        part->occupied += config->count[cell] > 0;
        part->accepted += tally[cell] & 0xffff;
        part->tried += tally[cell] >> 16;
        total->spheres += config->count[cell];
        total->occupied += config->count[cell] > 0;
        total->accepted += tally[cell] & 0xffff;
        total->tried += tally[cell] >> 16;
    }
    for (size_t i = 0; i < l->sums; i++)
        total->energy += energies[i];
    const bool same = memcmp(parts, found, l->sums * sizeof *parts) == 0 &&
                      (!field || memcmp(energies, energy, l->sums * sizeof *energy) == 0);
    free(parts);
    free(energies);
    return same;
}

/* Compute the host's curve for `config`, and whether it equals the sample's. False: no memory. */
static bool same_curve(const struct ergo_replay *r, size_t member,
                       const struct spheres_config *config, size_t c, const double *found,
                       bool *same) {
    const struct audit *a = r->user;
    const struct spheres_state *s = a->s;
    const struct ergo_point *point = s->e.batch->points[member];
    const size_t bins = s->launch.bins[c];
    uint64_t *limits = malloc((bins + 1) * sizeof *limits);
    uint32_t *counts = malloc(bins * sizeof *counts);
    double *values = malloc(bins * sizeof *values);
    bool ok = limits && counts && values;
    if (ok && c >= SPHERES_PAIR_CURVES) {
        spheres_twin_profile(&s->shapes[member], config,
                             ergo_confined_counts((unsigned)(c - SPHERES_PAIR_CURVES)), bins,
                             counts);
    } else if (ok) {
        spheres_limits(point, &s->shapes[member], c, limits);
        ok = spheres_twin_pairs(&s->shapes[member], config, a->cells, s->members[member].reach[c],
                                limits, bins, counts);
    }
    if (ok) {
        spheres_curve_convert(point, &s->shapes[member], c, counts, values);
        *same = ergo_replay_same(values, found, bins);
    }
    free(limits);
    free(counts);
    free(values);
    return ok;
}

/* Compare a sample with the host's for `config`. */
static enum ergo_status compare_sample(struct ergo_context *ctx, const struct ergo_replay *r,
                                       size_t sample, size_t member,
                                       const struct spheres_config *config, const uint32_t *tally) {
    static const char *const names[SPHERES_CURVES] = {"the contact histogram",
                                                      "g(r)",
                                                      "the profile",
                                                      "places next to the lower wall",
                                                      "places next to the upper wall",
                                                      "the weight above"};
    const struct spheres_state *s = r->state;
    const uint64_t interval = s->e.curve_interval;
    struct spheres_total total = {0};
    double columns[SPHERES_COLUMNS];
    bool same = same_sums(s, sample, member, config, tally, &total), ok = true;
    spheres_columns(&s->shapes[member], &total, s->shapes[member].npt ? &config->volume : NULL,
                    columns);
    if (!same || !ergo_replay_same(
                     columns, r->found.columns + SPHERES_COLUMNS * (sample * r->members + member),
                     SPHERES_COLUMNS))
        return ergo_replay_differs(ctx, r, member,
                                   "the acceptance, the occupied cells, the volume or the "
                                   "energy in the field");
    for (size_t c = 0; c < SPHERES_CURVES && ergo_replay_has_curve(r, interval, sample) && ok;
         c++) {
        const size_t bins = s->launch.bins[c];
        const size_t at = (size_t)((r->first_sample + sample) / interval) * r->members + member;
        if (bins)
            ok = same_curve(r, member, config, c, r->found.curves[c] + at * bins, &same);
        if (ok && !same)
            return ergo_replay_differs(ctx, r, member, names[c]);
    }
    if (ok && ergo_replay_has_curve(r, interval, sample) &&
        !spheres_order_same(s, (size_t)((r->first_sample + sample) / interval), member, config))
        return ergo_replay_differs(ctx, r, member, "the spheres that are read back for analysis");
    return ok ? ERGO_OK : no_memory(ctx);
}

/* A member as it was before the stretch. False: no memory. */
static bool config_before(const struct ergo_replay *r, size_t member,
                          struct spheres_config *config) {
    const struct spheres_state *s = r->state;
    const uint64_t *grids = r->kept[SPHERES_GRIDS];
    if (!spheres_config_init(config, s->shapes[member].cells))
        return false;
    spheres_config_from_raw(config, s->launch.slots, r->kept[SPHERES_CELLS],
                            s->members[member].first, (size_t)s->launch.all_cells);
    memcpy(config->grid, grids + 3 * member, sizeof config->grid);
    config->contact = s->shapes[member].contact;
    if (s->shapes[member].npt) {
        config->contact = ((const uint64_t *)r->kept[SPHERES_CONTACTS])[s->contact_words * member];
        config->volume = ((const struct ergo_volume *)r->kept[SPHERES_VOLUMES])[member];
    }
    return true;
}

static struct spheres_sweeps sweeps_of(const struct spheres_state *s, size_t member, uint64_t step,
                                       uint64_t count) {
    return (struct spheres_sweeps){.member = &s->members[member],
                                   .shape = &s->shapes[member],
                                   .field = spheres_field_of(s, member),
                                   .step = step,
                                   .count = count};
}

static enum ergo_status compare_whole(struct ergo_context *ctx, const struct ergo_replay *r,
                                      size_t member) {
    struct spheres_state *s = r->state;
    struct spheres_config expected = {0}, found = {0};
    uint32_t *tally = malloc(4 * (size_t)s->shapes[member].all);
    struct spheres_sweeps sweeps = sweeps_of(s, member, r->step, r->lead);
    bool ok = tally && config_before(r, member, &expected);
    enum ergo_status status = ERGO_OK;
    if (ok && r->lead)
        ok = spheres_twin_sweeps(&sweeps, &expected, NULL);
    for (size_t i = 0; i < r->samples && ok && status == ERGO_OK; i++) {
        sweeps.step += sweeps.count;
        sweeps.count = r->every;
        ok = spheres_twin_sweeps(&sweeps, &expected, tally);
        if (ok)
            status = compare_sample(ctx, r, i, member, &expected, tally);
    }
    if (!ok)
        status = no_memory(ctx);
    if (status == ERGO_OK)
        status = spheres_fetch(ctx, s, member, &found);
    if (status == ERGO_OK && !spheres_config_same(&expected, &found, 0))
        status = ergo_replay_differs(ctx, r, member, "the spheres");
    spheres_config_free(&expected);
    spheres_config_free(&found);
    free(tally);
    return status;
}

/* Read the moves that the device has counted, in the order of cells. */
static enum ergo_status read_tally(struct ergo_context *ctx, struct spheres_state *s, size_t member,
                                   uint32_t *tally) {
    const struct spheres_shape *shape = &s->shapes[member];
    const size_t all = (size_t)shape->all;
    uint32_t *raw = malloc(4 * all);
    if (!raw)
        return no_memory(ctx);
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, SPHERES_TALLY, 4 * (size_t)s->members[member].first, 4 * all, raw);
    const enum ergo_status status = ergo_engine_end(&s->e);
    for (size_t cell = 0; cell < all && status == ERGO_OK; cell++)
        tally[cell] = raw[spheres_raw_place(shape->cells, cell)];
    free(raw);
    return status;
}

static enum ergo_status compare_band(struct ergo_context *ctx, const struct ergo_replay *r,
                                     size_t member) {
    struct spheres_state *s = r->state;
    const struct spheres_shape *shape = &s->shapes[member];
    const struct spheres_sweeps sweeps =
        sweeps_of(s, member, r->step, r->lead + r->samples * r->every);
    const size_t layer = (size_t)shape->cells[0] * shape->cells[1];
    const uint32_t m = shape->cells[2], margin = (uint32_t)sweeps.count * SPHERES_SPOILED;
    const uint32_t layers = BAND + 2 * margin, first = m - layers / 2;
    struct spheres_config before = {0}, band = {0}, found = {0};
    uint32_t *tally = malloc(4 * layer * m), *expected = malloc(4 * layer * layers);
    bool ok = tally && expected && config_before(r, member, &before) &&
              spheres_config_band(&band, &before, first, layers),
         same = true;
    spheres_config_free(&before);
    ok = ok && spheres_twin_sweeps(&sweeps, &band, expected);
    enum ergo_status status = ok ? spheres_fetch(ctx, s, member, &found) : no_memory(ctx);
    if (status == ERGO_OK)
        status = read_tally(ctx, s, member, tally);
    if (status == ERGO_OK && shape->npt) /* of one sweep; the move leaves places as they are */
        spheres_twin_volume(&sweeps, &band, r->step,
                            spheres_twin_least(&sweeps, &band.volume, &found, r->step));
    if (status == ERGO_OK && !spheres_config_same(&band, &found, margin))
        status = ergo_replay_differs(ctx, r, member, "the spheres");
    for (uint32_t z = margin; z + margin < layers && status == ERGO_OK; z++)
        same =
            same && memcmp(expected + z * layer, tally + (first + z) % m * layer, 4 * layer) == 0;
    if (status == ERGO_OK && !same)
        status = ergo_replay_differs(ctx, r, member, "the accepted moves");
    if (status == ERGO_OK)
        status = compare_sample(ctx, r, r->samples - 1, member, &found, tally);
    spheres_config_free(&band);
    spheres_config_free(&found);
    free(tally);
    free(expected);
    return status;
}

/* From the last member on, because its place in the buffers is the most error-prone. */
static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    const struct audit *a = r->user;
    const uint64_t sweeps = r->lead + r->samples * r->every;
    enum ergo_status status = ERGO_OK;
    uint64_t done = 0;
    if (!a->whole)
        return compare_band(ctx, r, r->members - 1);
    for (size_t m = r->members; m-- > 0 && done < budget_sweeps && status == ERGO_OK;
         done += sweeps * a->s->shapes[m].n)
        status = compare_whole(ctx, r, m);
    return status;
}

/* Number of cells from which pairs are counted: all, or 256. */
static uint32_t cells_of(const struct spheres_state *s, size_t curves) {
    const struct spheres_member *m = &s->members[s->e.batch->count - 1];
    uint64_t each = 1;
    for (size_t c = 0; c < SPHERES_PAIR_CURVES; c++)
        if (s->launch.bins[c])
            each += (2 * (uint64_t)m->reach[c][0] + 1) * (2 * (uint64_t)m->reach[c][1] + 1) *
                    (m->reach[c][2] + (uint64_t)1);
    const uint64_t most = budget_pairs / (each * curves) / 256 * 256;
    return most >= s->launch.most_cells ? s->launch.most_cells : most ? (uint32_t)most : 256;
}

/* First sweeps without samples, because rare events need many, but no more than the run has. Then
 * two samples with curves if there is room, with as many sweeps between them as in the run. */
static void choose_stretch(struct audit *a, struct ergo_replay *r) {
    const struct spheres_state *s = a->s;
    const struct spheres_shape *shape = &s->shapes[s->e.batch->count - 1];
    const struct ergo_point *first = s->e.batch->points[0];
    const uint64_t every = (uint64_t)ergo_point_int(first, "/run/measure_every");
    const uint64_t interval = s->e.curve_interval, fit = budget_sweeps / shape->n;
    a->whole = fit >= 4;
    r->samples = s->e.block_samples > 1 ? 2 : 1;
    const uint64_t sweeps = (uint64_t)ergo_point_int(first, "/run/sweeps");
    const uint64_t lead = fit / 4 < most_lead ? fit / 4 : most_lead;
    r->lead = fit < 16 ? 0 : lead < sweeps ? lead : sweeps;
    if (fit >= 16 && interval > 1 && interval < fit / 4 && interval < s->e.block_samples)
        r->samples = (size_t)interval + 1;
    const uint64_t most = a->whole ? (fit - r->lead) / r->samples : 1;
    r->every = every < most ? every : most;
    if (!a->whole) { /* the states between samples are not known */
        r->samples = 1;
        a->whole = shape->cells[2] <= BAND + 2 * SPHERES_SPOILED * r->every;
    }
    a->cells = cells_of(s, interval == 1 ? r->samples : 1);
}

static enum ergo_status audit_chain(struct ergo_context *ctx, struct spheres_state *s) {
    size_t sizes[SPHERES_CURVES];
    for (size_t c = 0; c < SPHERES_CURVES; c++)
        sizes[c] = s->launch.bins[c];
    struct audit a = {.s = s};
    struct ergo_replay r = {.remedy = "/tuning/work_group",
                            .user = &a,
                            .n_columns = SPHERES_COLUMNS,
                            .n_curves = s->shapes[0].npt ? 0 : SPHERES_CURVES,
                            .curve_sizes = sizes,
                            .compare = compare};
    const uint64_t step = s->e.step;
    choose_stretch(&a, &r);
    if (s->shapes[0].npt)
        s->e.step = ergo_isobaric_stretch(step, s->shapes[0].volume_every, r.lead + r.every,
                                          r.lead + r.samples * r.every);
    s->launch.look_cells = a.cells;
    const enum ergo_status status = ergo_engine_replay(ctx, &s->e, &r, NULL, 0);
    s->launch.look_cells = s->launch.most_cells;
    s->e.step = step;
    return status;
}

enum ergo_status spheres_audit(struct ergo_context *ctx, void *opaque) {
    struct spheres_state *s = opaque;
    enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    for (size_t i = 0; i < s->e.batch->count && status == ERGO_OK; i++)
        status = audit_member(ctx, s, i);
    return status == ERGO_OK ? audit_chain(ctx, s) : status;
}
