/*
 * Audit: a stretch of the run, with and without samples, repeated by the device as in the run and
 * by the host's twin. Bonds and labels of the last sweep (against Hoshen and Kopelman), the new
 * spins, and all columns and histograms of all samples must be equal. Before the first sweep, the
 * starting configuration.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/sw.h"
#include "samplers/swendsen_wang/tables.h"

/* Site updates of the twin: a tenth of a second. At least one member is compared, if it has at
 * most most_sites sites. Of larger lattices some rows are compared (audit_rows.c). */
static const uint64_t budget = UINT64_C(1) << 22, most_sites = UINT64_C(1) << 22;

static const struct sw_state *state_of(const struct ergo_replay *r) {
    return r->state;
}

enum ergo_status sw_audit_names(struct ergo_context *ctx, struct sw_state *s, size_t member,
                                uint64_t first, uint64_t count, uint32_t *names) {
    memset(names, 0xff, 128 * (size_t)count); /* sites without a name keep this value */
    ergo_engine_begin(&s->e, ctx);
    for (uint64_t at = 0; at < count; at += SW_NAMES_AT_ONCE) {
        const uint64_t n = count - at < SW_NAMES_AT_ONCE ? count - at : SW_NAMES_AT_ONCE;
        ergo_engine_write(&s->e, SW_NAMES, 0, 128 * (size_t)n, names + 32 * at);
        ERGO_LAUNCH(&s->e, SW_NAME_SITES, ergo_grid_items((size_t)n, s->launch.group, 1),
                    BUFFER(SW_RIGHT), BUFFER(SW_RUN_LABELS), BUFFER(SW_OPEN), BUFFER(SW_LABELS),
                    BUFFER(SW_NAMES), U32(member), U32(first + at), U32(n));
        ergo_engine_read(&s->e, SW_NAMES, 0, 128 * (size_t)n, names + 32 * at);
    }
    return ergo_engine_end(&s->e);
}

void sw_replay_curves(const struct sw_shape *shape, bool clusters, uint32_t distances,
                      size_t *sizes) {
    sizes[SW_CURVE_SIZES] = clusters ? 64 - (size_t)__builtin_clzll(shape->sites) : 0;
    sizes[SW_CURVE_CORRELATION] = distances ? distances - SW_DISTANCE_CURVE : 0;
}

static bool curve_differs(const struct ergo_replay *r, size_t c, size_t at, const double *curve) {
    const size_t size = r->curve_sizes[c];
    return size && !ergo_replay_same(curve, r->found.curves[c] + at * size, size);
}

static const char *counts_differ(const struct sw_shape *shape, const struct ergo_point *point,
                                 bool clusters, const struct sw_twin *t,
                                 const struct ergo_replay *r, size_t at) {
    const double *found = r->found.columns + at * SW_COLUMNS;
    double columns[SW_COLUMNS], curve[SW_CLUSTER_BINS];
    struct sw_counts c = t->counts;
    if (!clusters) {
        c.clusters = c.largest = c.squares = 0;
        c.fourths = 0;
    }
    sw_convert(shape, sw_unit_of(point), &c, columns);
    columns[SW_COLUMN_WRAPS] = clusters && t->around ? 1.0 : 0.0;
    for (size_t b = 0; b < SW_CLUSTER_BINS; b++)
        curve[b] = (double)c.bins[b] / (double)shape->sites;
    if (!ergo_replay_same(columns, found, SW_COLUMN_PSI2 + 1))
        return "counts of spins and bonds";
    if (!ergo_replay_same(columns + SW_COLUMN_WRAPS, found + SW_COLUMN_WRAPS, 1))
        return "clusters around the lattice";
    if (!ergo_replay_same(columns, found, SW_COLUMN_HALF) ||
        curve_differs(r, SW_CURVE_SIZES, at, curve))
        return "number and sizes of clusters";
    return NULL;
}

static enum ergo_status correlations_differ(struct ergo_context *ctx, const struct sw_shape *shape,
                                            uint32_t distances, const struct sw_twin *t,
                                            const struct ergo_replay *r, size_t at,
                                            const char **wrong) {
    const double *found = r->found.columns + at * SW_COLUMNS;
    double columns[SW_COLUMNS], correlation[SW_DISTANCES];
    struct sw_correlations correlations;
    if (!sw_twin_correlate(shape, distances, t, &correlations))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit of correlations");
    memcpy(columns, found, sizeof columns);
    sw_correlate_convert(shape, distances, &correlations, columns, correlation);
    if (!ergo_replay_same(columns, found, SW_COLUMNS) ||
        curve_differs(r, SW_CURVE_CORRELATION, at, correlation))
        *wrong = "correlations of clusters";
    return ERGO_OK;
}

enum ergo_status sw_sample_differs(struct ergo_context *ctx, const struct sw_shape *shape,
                                   const struct ergo_point *point, bool clusters,
                                   uint32_t distances, const struct sw_twin *t,
                                   const struct ergo_replay *r, size_t at, const char **wrong) {
    *wrong = counts_differ(shape, point, clusters, t, r, at);
    return *wrong || !distances ? ERGO_OK
                                : correlations_differ(ctx, shape, distances, t, r, at, wrong);
}

/* Compare a member's bytes in a buffer of the device with the host's. */
static enum ergo_status compare_bytes(struct ergo_context *ctx, struct sw_state *s,
                                      const struct ergo_replay *r, size_t member, unsigned buffer,
                                      const void *expected, size_t bytes, const char *what) {
    void *found = malloc(bytes);
    if (!found)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, buffer, member * bytes, bytes, found);
    enum ergo_status status = ergo_engine_end(&s->e);
    if (status == ERGO_OK && memcmp(found, expected, bytes) != 0)
        status = ergo_replay_differs(ctx, r, member, what);
    free(found);
    return status;
}

static enum ergo_status compare_labels(struct ergo_context *ctx, const struct ergo_replay *r,
                                       size_t member, const struct sw_twin *t) {
    const struct sw_shape *shape = &state_of(r)->shape;
    const size_t words = (size_t)shape->words, row = 32 * (size_t)shape->row_words;
    uint32_t *names = malloc(128 * words);
    enum ergo_status status = names ? sw_audit_names(ctx, r->state, member, 0, words, names)
                                    : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    for (size_t i = 0; i < 32 * words && status == ERGO_OK; i++)
        if (names[i] != (i % row < (size_t)shape->lx ? t->labels[i] : 0))
            status = ergo_replay_differs(ctx, r, member, "labels of the last sweep");
    free(names);
    return status;
}

/* Compare the state after the last sweep. Labels of lattices in local memory are not stored;
 * they are checked only by the spins and cluster sizes that follow from them. */
static enum ergo_status compare_state(struct ergo_context *ctx, const struct ergo_replay *r,
                                      size_t member, const struct sw_twin *t) {
    struct sw_state *s = r->state;
    const size_t words = (size_t)s->shape.words;
    enum ergo_status status = compare_bytes(ctx, s, r, member, SW_SPINS, t->planes,
                                            (size_t)s->shape.member_bytes, "new spins");
    if (status != ERGO_OK || s->launch.local)
        return status;
    status = compare_bytes(ctx, s, r, member, SW_RIGHT, t->right, 4 * words,
                           "bonds to the right in the last sweep");
    if (status == ERGO_OK)
        status = compare_bytes(ctx, s, r, member, SW_DOWN, t->down, 4 * words,
                               "bonds down in the last sweep");
    return status == ERGO_OK ? compare_labels(ctx, r, member, t) : status;
}

/* The twins of the last members. */
struct twins {
    size_t first;
    struct sw_twin *of;
};

/* The samples; the twin is at the end of the stretch then. */
static enum ergo_status compare_samples(struct ergo_context *ctx, const struct ergo_replay *r,
                                        size_t member, void *user) {
    const struct twins *twins = user;
    const struct sw_state *s = state_of(r);
    struct sw_twin *t = &twins->of[member - twins->first];
    const struct ergo_point *point = s->e.batch->points[member];
    const size_t bytes = (size_t)s->shape.member_bytes;
    const char *wrong = NULL;
    uint64_t step = r->step;
    memcpy(t->planes, (const char *)r->kept[SW_SPINS] + member * bytes, bytes);
    for (uint64_t e = 0; e < r->lead; e++)
        sw_twin_sweep(point, &s->shape, step++, false, t);
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < r->samples && !wrong && status == ERGO_OK; i++) {
        for (uint64_t e = 1; e <= r->every; e++)
            sw_twin_sweep(point, &s->shape, step++, e == r->every, t);
        status = sw_sample_differs(ctx, &s->shape, point, s->clusters, s->distances, t, r,
                                   i * r->members + member, &wrong);
    }
    return wrong ? ergo_replay_differs(ctx, r, member, wrong) : status;
}

/* The last members, because the places of the last ones in the buffers are the most error-prone. */
static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    const struct sw_state *s = state_of(r);
    const uint64_t each = (r->lead + r->samples * r->every) * s->shape.sites;
    const uint64_t fit = (budget + each - 1) / each;
    const size_t some = fit < r->members ? (size_t)fit : r->members;
    struct twins twins = {r->members - some, calloc(some, sizeof *twins.of)};
    bool memory = twins.of != NULL;
    for (size_t i = 0; i < some && memory; i++)
        memory = sw_twin_open(&twins.of[i], &s->shape);
    enum ergo_status status =
        memory ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    if (status == ERGO_OK)
        status = ergo_replay_each(ctx, r, twins.first, r->members, compare_samples, &twins);
    for (size_t m = r->members; m-- > twins.first && status == ERGO_OK;)
        status = compare_state(ctx, r, m, &twins.of[m - twins.first]);
    for (size_t i = 0; twins.of && i < some; i++)
        sw_twin_close(&twins.of[i]);
    free(twins.of);
    return status;
}

/* Compare the lattices after sw_start, as many as the budget allows. */
static enum ergo_status compare_start(struct ergo_context *ctx, struct sw_state *s) {
    struct ergo_replay r = {
        .sampler = "swendsen-wang", .device = s->e.device, .every = 1, .samples = 1};
    struct sw_twin t;
    enum ergo_status status = sw_twin_open(&t, &s->shape)
                                  ? ERGO_OK
                                  : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    uint64_t done = 0;
    for (size_t m = s->e.batch->count; m-- > 0 && done < budget && status == ERGO_OK;
         done += s->shape.sites) {
        sw_twin_start(s->e.batch->points[m], &s->shape, &t);
        status = compare_bytes(ctx, s, &r, m, SW_SPINS, t.planes, (size_t)s->shape.member_bytes,
                               "the spins of the start");
    }
    sw_twin_close(&t);
    return status;
}

/* Sweeps between samples: as in the run, if the device makes them in a tenth of a second and the
 * twin within its budget. But two if the run has more, because other kernels make the sweeps
 * without a sample. */
static uint64_t every_of(const struct sw_state *s, size_t samples) {
    const uint64_t every = (uint64_t)ergo_point_int(s->e.batch->points[0], "/run/measure_every");
    const uint64_t fast = (uint64_t)s->e.plan.block_steps, few = budget / s->shape.sites;
    const uint64_t most = (fast < few ? fast : few) / samples;
    return every <= most ? every : most > 2 ? most : every < 2 ? every : 2;
}

static enum ergo_status audit_chain(struct ergo_context *ctx, struct sw_state *s) {
    const size_t most = s->e.block_samples;
    size_t sizes[SW_CURVES];
    const bool small = s->shape.sites <= budget / 32;
    const size_t wish = small ? 3 : 2, samples = wish < most ? wish : most;
    struct ergo_replay r = {.remedy = "/tuning/path",
                            .n_columns = SW_COLUMNS,
                            .n_curves = SW_CURVES,
                            .curve_sizes = sizes,
                            .lead = small ? 3 : 1,
                            .samples = samples,
                            .every = every_of(s, samples),
                            .compare = compare};
    sw_replay_curves(&s->shape, s->clusters, s->distances, sizes);
    return ergo_engine_replay(ctx, &s->e, &r, NULL, 0);
}

enum ergo_status sw_audit(struct ergo_context *ctx, void *opaque) {
    struct sw_state *s = opaque;
    enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    if (status == ERGO_OK && s->shape.sites > most_sites)
        return sw_audit_rows(ctx, s);
    if (status == ERGO_OK && s->started && s->e.step == 0)
        status = compare_start(ctx, s);
    return status == ERGO_OK ? audit_chain(ctx, s) : status;
}
