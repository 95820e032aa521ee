/*
 * Audits. No two disks overlap (all pairs of neighbouring cells, in integers), no disk was lost,
 * and no cell holds more than four. A stretch of the run, with samples, has the same bits as the
 * twin's on the host from the same configuration. Afterwards the device has its state back. At
 * constant pressure the stretch has a volume move, however rare they are.
 *
 * For systems that would take the twin too long, it makes only some rows of cells of the last
 * member, on both sides of the edge of the box. The last sample is measured again from the device's
 * configuration: acceptance, occupied cells, and as much of psi_6 (from the last work-groups) and
 * of the histograms as the budget allows. The device then takes histograms from these first cells
 * only.
 */
#include <stdlib.h>
#include <string.h>

#include "hard_disks/core.h"
#include "samplers/hard_disks/order.h"

/* About a tenth of a second each: disks times sweeps of the twin; cells of which it measures psi_6;
 * pairs of cells for a pair histogram. */
static const uint64_t budget_sweeps = 1u << 17, budget_psi6 = 1u << 17, budget_pairs = 1u << 25;
static const uint64_t most_lead = 64;

/* Half of the rows that a partial replay compares; there are as many on each side of the edge. */
enum { BAND = 4 };

struct audit {
    struct disks_state *s;
    bool whole;
    uint32_t cells; /* cells of a member that histograms use; see launch.look_cells */
};

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
}

static enum ergo_status audit_member(struct ergo_context *ctx, struct disks_state *s,
                                     size_t member) {
    const struct disks_shape *shape = &s->shapes[member];
    struct disks_config config;
    size_t cell[2];
    unsigned slot[2];
    uint64_t n = 0;
    enum ergo_status status = disks_fetch(ctx, s, member, &config);
    if (status != ERGO_OK)
        return status;
    bool inside = true;
    for (size_t i = 0; i < disks_config_cells(&config); i++) {
        n += config.count[i];
        for (size_t k = 0; k < config.count[i]; k++)
            inside = inside && config.x[i * DISKS_SLOTS + k] < shape->width &&
                     config.y[i * DISKS_SLOTS + k] < shape->width;
    }
    if (n != shape->n)
        status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                           "audit of hard-disks failed on %s at sweep %llu: member %zu has %llu "
                           "disks, not %llu",
                           s->e.device->summary.name, (unsigned long long)s->e.step, member,
                           (unsigned long long)n, (unsigned long long)shape->n);
    else if (disks_config_crosses(&config, shape))
        status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                           "audit of hard-disks failed on %s at sweep %llu: member %zu has a disk "
                           "in a wall",
                           s->e.device->summary.name, (unsigned long long)s->e.step, member);
    else if (!inside)
        status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                           "audit of hard-disks failed on %s at sweep %llu: member %zu has a disk "
                           "outside of its cell",
                           s->e.device->summary.name, (unsigned long long)s->e.step, member);
    else if (disks_config_closest(&config, shape, cell, slot) <
             (shape->npt ? config.size.contact : shape->contact))
        status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                           "audit of hard-disks failed on %s at sweep %llu: in member %zu disk %u "
                           "of cell (%zu, %zu) and disk %u of cell (%zu, %zu) overlap",
                           s->e.device->summary.name, (unsigned long long)s->e.step, member,
                           slot[0], cell[0] % shape->cells[0], cell[0] / shape->cells[0], slot[1],
                           cell[1] % shape->cells[0], cell[1] / shape->cells[0]);
    disks_config_free(&config);
    return status;
}

/* At constant pressure, parameters change with the size. */
static enum ergo_status audit_sizes(struct ergo_context *ctx, struct disks_state *s) {
    const size_t count = s->e.batch->count;
    struct disks_size *sizes = malloc(count * sizeof *sizes);
    struct disks_member *members = malloc(count * sizeof *members);
    enum ergo_status status = sizes && members ? ERGO_OK : no_memory(ctx);
    ergo_engine_begin(&s->e, ctx);
    if (status == ERGO_OK) {
        ergo_engine_read(&s->e, DISKS_SIZES, 0, count * sizeof *sizes, sizes);
        ergo_engine_read(&s->e, DISKS_MEMBERS, 0, count * sizeof *members, members);
        status = ergo_engine_end(&s->e);
    }
    for (size_t i = 0; i < count && status == ERGO_OK; i++) {
        const struct disks_rules *rules = &s->shapes[i].rules;
        const struct disks_size size = disks_size_at(*rules, sizes[i].volume);
        const struct disks_member member = disks_resized(s->members[i], *rules, size);
        if (memcmp(&size, &sizes[i], sizeof size) != 0 ||
            memcmp((const void *)&member, (const void *)&members[i], sizeof member) != 0) /* bits */
            status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                               "audit of hard-disks failed on %s at sweep %llu: the parameters of "
                               "member %zu are not those of its volume",
                               s->e.device->summary.name, (unsigned long long)s->e.step, i);
    }
    free(sizes);
    free(members);
    return status;
}

/* Compare the device's partial sums of a sample with the host's for `config`, whose cells have made
 * tally[] moves. *sum gets all of them, with the device's psi_6. */
static bool same_sums(const struct disks_state *s, size_t sample, size_t member,
                      const struct disks_config *config, const uint32_t *tally,
                      struct disks_sum *sum, struct disks_tally *moves, int64_t *energy) {
    const int64_t *field = disks_field_of(s, member);
    const int64_t *energies =
        field ? (const int64_t *)ergo_engine_host(&s->e, DISKS_ENERGIES, 0, sample) +
                    member * s->launch.sums
              : NULL;
    const struct disks_member now = disks_member_at(s, member, config);
    const struct disks_launch *l = &s->launch;
    const size_t cells = disks_config_cells(config), items = l->sums * l->sum_group;
    const struct disks_sum *found =
        (const struct disks_sum *)ergo_engine_host(&s->e, DISKS_SUMS, 0, sample) + member * l->sums;
    const size_t most = (size_t)(budget_psi6 / (cells / l->sums + 1)) + 1;
    const size_t first = most < l->sums ? l->sums - most : 0;
    bool same = true;
    for (size_t g = 0; g < l->sums && same; g++) {
        struct disks_sum part = {0};
        int64_t part_energy = 0;
        for (size_t round = 0; round < cells; round += items)
            for (size_t k = 0; k < l->sum_group; k++) {
                const size_t cell = round + g * l->sum_group + k;
                int32_t re[DISKS_SLOTS], im[DISKS_SLOTS];
                if (cell >= cells)
                    continue;
                if (field)
                    part_energy += disks_twin_energy(&s->shapes[member], config, field, cell);
                part.disks += config->count[cell];
                part.occupied += config->count[cell] > 0;
                part.accepted += tally[cell] & 0xffff;
                part.tried += tally[cell] >> 16;
                if (g < first)
                    continue;
                disks_twin_psi6_cell(&now, &s->shapes[member], config, cell, re, im);
                for (size_t i = 0; i < config->count[cell]; i++) {
                    part.re += re[i];
                    part.im += im[i];
                }
            }
        if (g < first) {
            part.re = found[g].re;
            part.im = found[g].im;
        }
        same = memcmp(&part, &found[g], sizeof part) == 0 && (!field || energies[g] == part_energy);
        *energy += part_energy;
        sum->re += part.re;
        sum->im += part.im;
        sum->occupied += part.occupied;
        moves->accepted += part.accepted;
        moves->tried += part.tried;
    }
    return same;
}

/* Bins of a curve that is counted on the device. */
static size_t bins_of(const struct disks_launch *l, size_t c) {
    return c < DISKS_CURVES           ? l->bins[c]
           : c < DISKS_CURVE_CONFINED ? 0
                                      : l->profile_bins[c - DISKS_CURVE_CONFINED];
}

/* Compute the host's curve for `config`, and whether it equals the sample's. False: no memory. */
static bool same_curve(const struct ergo_replay *r, size_t member,
                       const struct disks_config *config, size_t c, const double *found,
                       bool *same) {
    const struct audit *a = r->user;
    const struct disks_state *s = a->s;
    const struct ergo_point *point = s->e.batch->points[member];
    const struct disks_member *m = &s->members[member];
    const size_t bins = bins_of(&s->launch, c);
    uint64_t *limits = malloc((bins + 1) * sizeof *limits);
    uint32_t *counts = malloc(bins * sizeof *counts);
    double *values = malloc(bins * sizeof *values);
    bool ok = limits && counts && values;
    if (ok && c >= DISKS_CURVE_CONFINED) {
        const unsigned kind = (unsigned)(c - DISKS_CURVE_CONFINED);
        disks_twin_profile(&s->shapes[member], config, ergo_confined_counts(kind), bins, counts);
        ergo_confined_convert(point, &s->shapes[member].confined, kind, bins, counts, values);
    } else if (ok && c == DISKS_CURVE_DENSITY) {
        disks_twin_blocks(config, a->cells, m->block, bins, counts);
    } else if (ok) {
        disks_limits(point, &s->shapes[member], c, limits);
        ok = disks_twin_pairs(&s->shapes[member], config, a->cells, m->reach[c], limits, bins,
                              counts);
    }
    if (ok && c < DISKS_CURVES)
        disks_curve_convert(point, &s->shapes[member],
                            disks_density_at(&s->shapes[member], &config->size.volume), c,
                            c < 2 ? s->areas[c] + member * bins : NULL, counts, values);
    if (ok)
        *same = ergo_replay_same(values, found, bins);
    free(limits);
    free(counts);
    free(values);
    return ok;
}

/* Compare a sample with the host's for `config`. */
static enum ergo_status compare_sample(struct ergo_context *ctx, const struct ergo_replay *r,
                                       size_t sample, size_t member,
                                       const struct disks_config *config, const uint32_t *tally) {
    static const char *const names[DISKS_CURVES_ALL] = {"the contact histogram",
                                                        "g(r)",
                                                        "the density histogram",
                                                        [DISKS_CURVE_CONFINED] = "the profile",
                                                        "the places next to the lower wall",
                                                        "the places next to the upper wall",
                                                        "the weight above"};
    const struct disks_state *s = r->state;
    const uint64_t interval = s->e.curve_interval;
    const bool with_curves = ergo_replay_has_curve(r, interval, sample);
    struct disks_sum sum = {0};
    struct disks_tally moves = {0, 0};
    double columns[DISKS_COLUMNS];
    const size_t n = disks_n_columns(&s->shapes[member]);
    int64_t energy = 0;
    bool same = same_sums(s, sample, member, config, tally, &sum, &moves, &energy), ok = true;
    disks_columns(&s->shapes[member], &sum, moves, &config->size.volume, energy, columns);
    if (!same ||
        !ergo_replay_same(columns, r->found.columns + n * (sample * r->members + member), n))
        return ergo_replay_differs(ctx, r, member,
                                   s->shapes[member].npt
                                       ? "psi_6, the acceptance, the occupied cells or the volume"
                                   : s->shapes[member].confined.field
                                       ? "psi_6, the acceptance, the occupied cells or the energy "
                                         "in the field"
                                       : "psi_6, the acceptance or the occupied cells");
    for (size_t c = 0; c < DISKS_CURVES_ALL && with_curves && ok; c++) {
        const size_t bins = bins_of(&s->launch, c);
        const size_t at = (size_t)((r->first_sample + sample) / interval) * r->members + member;
        if (bins)
            ok = same_curve(r, member, config, c, r->found.curves[c] + at * bins, &same);
        if (ok && !same)
            return ergo_replay_differs(ctx, r, member, names[c]);
    }
    if (ok && with_curves &&
        !disks_order_same(s, (size_t)((r->first_sample + sample) / interval), member, config))
        return ergo_replay_differs(ctx, r, member, "the disks that are read back for analysis");
    return ok ? ERGO_OK : no_memory(ctx);
}

/* A member as it was before the stretch. False: no memory. */
static bool config_before(const struct ergo_replay *r, size_t member, struct disks_config *config) {
    const struct disks_state *s = r->state;
    const uint64_t *grids = r->kept[DISKS_GRIDS];
    if (!disks_config_init(config, s->shapes[member].cells))
        return false;
    disks_config_from_raw(config, &s->shapes[member], r->kept[DISKS_CELLS],
                          s->members[member].first, (size_t)s->launch.all_cells);
    memcpy(config->grid, grids + 2 * member, sizeof config->grid);
    if (s->shapes[member].npt)
        config->size = ((const struct disks_size *)r->kept[DISKS_SIZES])[member];
    return true;
}

static enum ergo_status compare_whole(struct ergo_context *ctx, const struct ergo_replay *r,
                                      size_t member) {
    struct disks_state *s = r->state;
    const struct ergo_point *point = s->e.batch->points[member];
    const struct disks_shape *shape = &s->shapes[member];
    const int64_t *field = disks_field_of(s, member);
    struct disks_config expected = {0}, found = {0};
    uint32_t *tally = malloc(4 * disks_cells(shape));
    uint64_t step = r->step;
    bool ok = tally && config_before(r, member, &expected);
    enum ergo_status status = ERGO_OK;
    if (ok && r->lead)
        ok = disks_twin_sweeps(point, shape, field, &expected, step, r->lead, NULL);
    step += r->lead;
    for (size_t i = 0; i < r->samples && ok && status == ERGO_OK; i++, step += r->every) {
        ok = disks_twin_sweeps(point, shape, field, &expected, step, r->every, tally);
        if (ok)
            status = compare_sample(ctx, r, i, member, &expected, tally);
    }
    if (!ok)
        status = no_memory(ctx);
    if (status == ERGO_OK)
        status = disks_fetch(ctx, s, member, &found);
    if (status == ERGO_OK && !disks_config_same(&expected, &found, 0))
        status = ergo_replay_differs(ctx, r, member, "the disks");
    disks_config_free(&expected);
    disks_config_free(&found);
    free(tally);
    return status;
}

/* Read the moves that the device has counted, row by row. */
static enum ergo_status read_tally(struct ergo_context *ctx, struct disks_state *s, size_t member,
                                   uint32_t *tally) {
    const struct disks_shape *shape = &s->shapes[member];
    const size_t m = shape->cells[0], rows = shape->cells[1], h = shape->half[0],
                 v = shape->half[1];
    uint32_t *raw = malloc(4 * m * rows);
    if (!raw)
        return no_memory(ctx);
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, DISKS_TALLY, 4 * (size_t)s->members[member].first, 4 * m * rows, raw);
    const enum ergo_status status = ergo_engine_end(&s->e);
    for (size_t y = 0; y < rows && status == ERGO_OK; y++)
        for (size_t x = 0; x < m; x++)
            tally[y * m + x] = raw[(x % 2 + y % 2 * 2) * h * v + y / 2 * h + x / 2];
    free(raw);
    return status;
}

static enum ergo_status compare_band(struct ergo_context *ctx, const struct ergo_replay *r,
                                     size_t member) {
    struct disks_state *s = r->state;
    const struct disks_shape *shape = &s->shapes[member];
    const uint64_t sweeps = r->lead + r->samples * r->every;
    const uint32_t m = shape->cells[0], all_rows = shape->cells[1];
    const uint32_t margin = (uint32_t)sweeps * DISKS_SPOILED;
    const uint32_t rows = BAND + 2 * margin, first = all_rows - rows / 2;
    struct disks_config before = {0}, band = {0}, found = {0};
    uint32_t *tally = malloc(4 * (size_t)m * all_rows), *expected = malloc(4 * (size_t)m * rows);
    bool ok = tally && expected && config_before(r, member, &before) &&
              disks_config_band(&band, &before, first, rows),
         same = true;
    disks_config_free(&before);
    ok = ok && disks_twin_sweeps(s->e.batch->points[member], shape, disks_field_of(s, member),
                                 &band, r->step, sweeps, expected);
    enum ergo_status status = ok ? disks_fetch(ctx, s, member, &found) : no_memory(ctx);
    if (status == ERGO_OK)
        status = read_tally(ctx, s, member, tally);
    if (status == ERGO_OK && shape->npt) /* of one sweep; the move leaves places as they are */
        disks_twin_volume(
            &s->members[member], shape, &band, r->step,
            disks_twin_least(&s->members[member], shape, &band.size, &found, r->step));
    if (status == ERGO_OK && !disks_config_same(&band, &found, margin))
        status = ergo_replay_differs(ctx, r, member, "the disks");
    for (uint32_t y = margin; y + margin < rows && status == ERGO_OK; y++)
        same = same && memcmp(expected + (size_t)y * m,
                              tally + (size_t)((first + y) % all_rows) * m, 4 * m) == 0;
    if (status == ERGO_OK && !same)
        status = ergo_replay_differs(ctx, r, member, "the accepted moves");
    if (status == ERGO_OK)
        status = compare_sample(ctx, r, r->samples - 1, member, &found, tally);
    disks_config_free(&band);
    disks_config_free(&found);
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

/* Number of cells from which pairs are counted: all, or 1024. */
static uint32_t cells_of(const struct disks_state *s, size_t curves) {
    const struct disks_member *m = &s->members[s->e.batch->count - 1];
    uint64_t each = 1;
    for (size_t c = 0; c < 2; c++)
        if (s->launch.bins[c])
            each += (2 * (uint64_t)m->reach[c] + 1) * (m->reach[c] + 1);
    const uint64_t most = budget_pairs / (each * curves) / 1024 * 1024;
    return most >= s->launch.most_cells ? s->launch.most_cells : most ? (uint32_t)most : 1024;
}

/* First sweeps without samples, because these take another number of sweeps per launch. So many
 * that rare events happen (three disks in a cell), but no more than the run has. Then two samples
 * with curves if there is room, with as many sweeps between them as in the run. */
static void choose_stretch(struct audit *a, struct ergo_replay *r) {
    const struct disks_state *s = a->s;
    const struct disks_shape *shape = &s->shapes[s->e.batch->count - 1];
    const struct ergo_point *first = s->e.batch->points[0];
    const uint64_t every = (uint64_t)ergo_point_int(first, "/run/measure_every");
    const uint64_t interval = s->e.curve_interval;
    const uint64_t fit = budget_sweeps / shape->n;
    a->whole = fit >= 4;
    r->samples = s->e.block_samples > 1 ? 2 : 1;
    const uint64_t sweeps = (uint64_t)ergo_point_int(first, "/run/sweeps");
    const uint64_t lead = fit / 4 < most_lead ? fit / 4 : most_lead;
    r->lead = fit < 16 ? 0 : lead < sweeps ? lead : sweeps;
    if (fit >= 16 && interval > 1 && interval < fit / 4 && interval < s->e.block_samples)
        r->samples = (size_t)interval + 1;
    const uint64_t most = a->whole ? (fit - r->lead) / r->samples : 2;
    r->every = every < most ? every : most;
    if (!a->whole) { /* the states between samples are not known */
        r->samples =
            interval == 1 && disks_cells(shape) <= 1u << 20 && !shape->npt ? r->samples : 1;
        r->every = shape->npt                                                  ? 1
                   : s->launch.path == DISKS_PATH_TILE || shape->n <= 1u << 18 ? 2
                                                                               : 1;
        a->whole = shape->cells[1] <= BAND + 2 * DISKS_SPOILED * r->samples * r->every;
    }
    a->cells = cells_of(s, interval == 1 ? r->samples : 1);
}

static enum ergo_status audit_chain(struct ergo_context *ctx, struct disks_state *s) {
    size_t sizes[DISKS_CURVES_ALL];
    for (size_t c = 0; c < DISKS_CURVES_ALL; c++)
        sizes[c] = bins_of(&s->launch, c);
    struct audit a = {.s = s};
    struct ergo_replay r = {.remedy = "/tuning/path",
                            .user = &a,
                            .n_columns = disks_n_columns(s->shapes),
                            .n_curves = DISKS_CURVES_ALL,
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

enum ergo_status disks_audit(struct ergo_context *ctx, void *opaque) {
    struct disks_state *s = opaque;
    enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    for (size_t i = 0; i < s->e.batch->count && status == ERGO_OK; i++)
        status = audit_member(ctx, s, i);
    if (status == ERGO_OK && s->shapes[0].npt)
        status = audit_sizes(ctx, s);
    return status == ERGO_OK ? audit_chain(ctx, s) : status;
}
