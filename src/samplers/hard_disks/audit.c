/*
 * Audits: no two disks overlap (all pairs of neighbouring cells, in integers), no disk was lost, no
 * cell holds more than four; and a few sweeps and a sample of one member, replayed by the twin on
 * the host from the same configuration, are the same bits. Afterwards the device has its state
 * back.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/hard_disks/disks.h"

/* Rows of the replay that the twin begins with. */
enum { ROW_CELLS, ROW_GRID };

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
    for (size_t i = 0; i < (size_t)config.cells * config.cells; i++) {
        n += config.count[i];
        for (size_t k = 0; k < config.count[i]; k++)
            inside = inside && config.x[i * DISKS_SLOTS + k] < shape->width &&
                     config.y[i * DISKS_SLOTS + k] < shape->width;
    }
    if (n != shape->n)
        status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                           "audit of hard-disks failed on %s at sweep %llu: member %zu has %llu "
                           "disks, not %llu",
                           s->device->summary.name, (unsigned long long)s->step, member,
                           (unsigned long long)n, (unsigned long long)shape->n);
    else if (!inside)
        status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                           "audit of hard-disks failed on %s at sweep %llu: member %zu has a disk "
                           "outside of its cell",
                           s->device->summary.name, (unsigned long long)s->step, member);
    else if (disks_config_overlap(&config, shape, cell, slot))
        status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                           "audit of hard-disks failed on %s at sweep %llu: in member %zu disk %u "
                           "of cell (%zu, %zu) and disk %u of cell (%zu, %zu) overlap",
                           s->device->summary.name, (unsigned long long)s->step, member, slot[0],
                           cell[0] % shape->cells, cell[0] / shape->cells, slot[1],
                           cell[1] % shape->cells, cell[1] / shape->cells);
    disks_config_free(&config);
    return status;
}

/* Replaying more would take seconds. */
static const uint64_t replay_disks = 1u << 18;

/* The host's columns of a member, and whether they are the sample's. */
static bool same_columns(const struct disks_state *s, size_t member,
                         const struct disks_config *config, struct disks_tally tally,
                         const double *found, bool *same) {
    const size_t n = (size_t)s->shapes[member].n;
    struct disks_sum sum = {0};
    double columns[4];
    int32_t *psi6 = malloc(2 * n * sizeof *psi6);
    if (!psi6)
        return false;
    disks_twin_psi6(&s->members[member], &s->shapes[member], config, psi6, psi6 + n);
    for (size_t i = 0; i < n; i++) {
        sum.re += psi6[i];
        sum.im += psi6[n + i];
    }
    for (size_t i = 0; i < (size_t)config->cells * config->cells; i++)
        sum.occupied += config->count[i] > 0;
    disks_columns(s->batch->points[member], &s->shapes[member], &sum, tally, columns);
    *same = ergo_replay_same(columns, found, 4);
    free(psi6);
    return true;
}

/* The same of a curve. */
static bool same_curve(const struct disks_state *s, size_t member,
                       const struct disks_config *config, size_t c, const double *found,
                       bool *same) {
    const struct ergo_point *point = s->batch->points[member];
    const struct disks_member *m = &s->members[member];
    const size_t bins = s->launch.bins[c];
    uint64_t *limits = malloc((bins + 1) * sizeof *limits);
    uint32_t *counts = malloc(bins * sizeof *counts);
    double *values = malloc(bins * sizeof *values);
    const bool ok = limits && counts && values;
    if (ok && c == DISKS_CURVE_DENSITY) {
        disks_twin_blocks(config, m->block, bins, counts);
    } else if (ok) {
        disks_limits(point, &s->shapes[member], c, limits);
        disks_twin_pairs(&s->shapes[member], config, m->reach[c], limits, bins, counts);
    }
    if (ok) {
        disks_curve_convert(point, &s->shapes[member], c,
                            c < 2 ? s->areas[c] + member * bins : NULL, counts, values);
        *same = ergo_replay_same(values, found, bins);
    }
    free(limits);
    free(counts);
    free(values);
    return ok;
}

/* The member's sample against the host's of `config`. */
static enum ergo_status compare_sample(struct ergo_context *ctx, const struct ergo_replay *r,
                                       size_t member, const struct disks_config *config,
                                       struct disks_tally tally) {
    static const char *const names[] = {"the contact histogram", "g(r)", "the density histogram"};
    const struct disks_state *s = r->state;
    const char *wrong = NULL;
    bool same = true;
    bool ok = same_columns(s, member, config, tally, r->found.columns + 4 * member, &same);
    if (ok && !same)
        wrong = "psi_6, the acceptance or the occupied cells";
    for (size_t c = 0; c < DISKS_CURVES && ok && !wrong; c++) {
        if (!s->launch.bins[c])
            continue;
        ok = same_curve(s, member, config, c, r->found.curves[c] + member * s->launch.bins[c],
                        &same);
        if (ok && !same)
            wrong = names[c];
    }
    if (!ok)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    return wrong ? ergo_replay_differs(ctx, r, member, wrong) : ERGO_OK;
}

static enum ergo_status compare_member(struct ergo_context *ctx, const struct ergo_replay *r,
                                       size_t member) {
    struct disks_state *s = r->state;
    const struct disks_shape *shape = &s->shapes[member];
    struct disks_config expected = {0}, found = {0};
    struct disks_tally tally;
    struct ergo_text a = {0}, b = {0};
    const uint64_t *grids = r->kept[ROW_GRID];
    enum ergo_status status = disks_fetch(ctx, s, member, &found);
    if (status != ERGO_OK)
        return status;
    bool memory = disks_config_init(&expected, shape->cells);
    if (memory) {
        disks_config_from_raw(&expected, shape, r->kept[ROW_CELLS], s->members[member].first,
                              (size_t)s->launch.all_cells);
        memcpy(expected.grid, grids + 2 * member, sizeof expected.grid);
        memory = disks_twin_sweeps(s->batch->points[member], shape, &expected, r->step, r->every,
                                   &tally);
        disks_config_write(&expected, &a);
        disks_config_write(&found, &b);
    }
    if (!memory || a.failed || b.failed)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    else if (a.length != b.length || memcmp(a.data, b.data, a.length) != 0)
        status = ergo_replay_differs(ctx, r, member, "the disks");
    else
        status = compare_sample(ctx, r, member, &expected, tally);
    ergo_text_free(&a);
    ergo_text_free(&b);
    disks_config_free(&expected);
    disks_config_free(&found);
    return status;
}

/* From the last member on: its place in the buffers is the most error-prone. */
static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    const struct disks_state *s = r->state;
    enum ergo_status status = ERGO_OK;
    uint64_t disks = 0;
    for (size_t m = r->members; m-- > 0 && disks < replay_disks && status == ERGO_OK;
         disks += s->shapes[m].n)
        status = compare_member(ctx, r, m);
    return status;
}

static enum ergo_status audit_chain(struct ergo_context *ctx, struct disks_state *s) {
    const size_t count = s->batch->count;
    const struct ergo_replay_row rows[] = {
        [ROW_CELLS] = {"cells", ERGO_REPLAY_STATE, &s->cells, NULL,
                       (size_t)s->launch.all_cells * DISKS_PLANE_BYTES *
                           disks_planes(&s->shapes[0])},
        [ROW_GRID] = {"grids", ERGO_REPLAY_STATE, &s->grid, NULL, 16 * count},
        {"accepted moves", ERGO_REPLAY_RESULT, &s->tally, NULL, 4 * (size_t)s->launch.all_cells},
        {"samples", ERGO_REPLAY_RESULT, &s->slots[0].sums, NULL,
         sizeof(struct disks_sum) * count * s->launch.sums},
        {"step", ERGO_REPLAY_HOST, NULL, &s->step, sizeof s->step},
    };
    const size_t sizes[DISKS_CURVES] = {s->launch.bins[0], s->launch.bins[1], s->launch.bins[2]};
    struct ergo_replay r = {.sampler = "hard-disks",
                            .remedy = "/tuning/path",
                            .device = s->device,
                            .state = s,
                            .rows = rows,
                            .n_rows = sizeof rows / sizeof rows[0],
                            .members = count,
                            .n_columns = 4,
                            .n_curves = DISKS_CURVES,
                            .curve_sizes = sizes,
                            .step = s->step,
                            .samples = 1,
                            .every = 2,
                            .advance = disks_advance,
                            .collect = disks_collect,
                            .compare = compare};
    if (s->shapes[count - 1].n > replay_disks)
        return ERGO_OK;
    return ergo_replay(ctx, &r);
}

enum ergo_status disks_audit(struct ergo_context *ctx, void *opaque) {
    struct disks_state *s = opaque;
    enum ergo_status status = ergo_constants_check(ctx, s->device, &s->constants, "hard-disks");
    for (size_t i = 0; i < s->batch->count && status == ERGO_OK; i++)
        status = audit_member(ctx, s, i);
    return status == ERGO_OK ? audit_chain(ctx, s) : status;
}
