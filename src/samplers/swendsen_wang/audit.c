/*
 * Audit: a stretch of the run, with and without samples, on the device as the run makes it and on
 * the host by the twin, from the same lattices: bonds and labels of the last sweep (against Hoshen
 * and Kopelman), new spins, and all columns and histograms of all samples have to be equal; before
 * the first sweep, the start.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/sw.h"

/* Of the twin, sites times sweeps in all: a tenth of a second. At least one member is looked at,
 * up to so many sites; of larger ones, some rows (audit_rows.c). */
static const uint64_t budget = UINT64_C(1) << 22, most_sites = UINT64_C(1) << 22;

/* Rows of the replay. */
enum { ROW_SPINS };

static const struct sw_state *state_of(const struct ergo_replay *r) {
    return r->state;
}

enum ergo_status sw_audit_names(struct ergo_context *ctx, struct sw_state *s, size_t member,
                                uint64_t first, uint64_t count, uint32_t *names) {
    enum { AT_ONCE = 4096 };
    const size_t room = 128 * (size_t)(count < AT_ONCE ? count : AT_ONCE);
    const size_t local = s->launch.group;
    cl_mem buffer = NULL;
    memset(names, 0xff, room); /* what is not found stays no name */
    enum ergo_status status =
        ergo_buffer_create(ctx, s->device, "audited labels", room, NULL, &buffer);
    for (uint64_t at = 0; at < count && status == ERGO_OK; at += AT_ONCE) {
        const uint64_t n = count - at < AT_ONCE ? count - at : AT_ONCE;
        const cl_uint index = (cl_uint)member, from = (cl_uint)(first + at), words = (cl_uint)n;
        const struct ergo_arg args[] = {ERGO_ARG(s->right),  ERGO_ARG(s->runs), ERGO_ARG(s->open),
                                        ERGO_ARG(s->labels), ERGO_ARG(buffer),  ERGO_ARG(index),
                                        ERGO_ARG(from),      ERGO_ARG(words)};
        const size_t global = ergo_round_up((size_t)n, local);
        uint32_t *to = names + 32 * at;
        memset(to, 0xff, 128 * (size_t)n);
        status = ergo_buffer_write(ctx, s->device, buffer, 0, 128 * (size_t)n, to);
        if (status == ERGO_OK)
            status = ergo_kernel_launch(ctx, s->device, s->kernels[SW_NAMES], "sw_names", args, 8,
                                        1, &global, &local, NULL);
        if (status == ERGO_OK)
            status = ergo_buffer_read(ctx, s->device, buffer, 0, 128 * (size_t)n, to);
    }
    ergo_buffer_release(&buffer);
    return status;
}

const char *sw_sample_differs(const struct sw_shape *shape, const struct ergo_point *point,
                              bool clusters, const struct sw_twin *t, const double *found,
                              const double *found_curve, size_t bins) {
    double columns[SW_COLUMNS], curve[SW_CLUSTER_BINS];
    struct sw_counts c = t->counts;
    if (!clusters) {
        c.clusters = c.largest = c.squares = 0;
        c.fourths = 0;
    }
    sw_convert(shape, sw_unit_of(point), &c, columns);
    columns[SW_COLUMN_WRAPS] = clusters && t->around ? 1.0 : 0.0;
    for (size_t b = 0; b < bins; b++)
        curve[b] = (double)c.bins[b] / (double)shape->sites;
    if (!ergo_replay_same(columns, found, SW_COLUMN_PSI2 + 1))
        return "counts of spins and bonds";
    if (!ergo_replay_same(columns + SW_COLUMN_WRAPS, found + SW_COLUMN_WRAPS, 1))
        return "clusters around the lattice";
    if (!ergo_replay_same(columns, found, SW_COLUMNS) ||
        !ergo_replay_same(curve, found_curve, bins))
        return "number and sizes of clusters";
    return NULL;
}

/* Bytes of a member in a buffer of the device against the host's. */
static enum ergo_status compare_bytes(struct ergo_context *ctx, const struct ergo_replay *r,
                                      size_t member, cl_mem mem, const void *expected, size_t bytes,
                                      const char *what) {
    void *found = malloc(bytes);
    enum ergo_status status =
        found ? ergo_buffer_read(ctx, r->device, mem, member * bytes, bytes, found)
              : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
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

/* What the last sweep has left. In local memory labels stay where they are, and are judged by what
 * comes of them. */
static enum ergo_status compare_state(struct ergo_context *ctx, const struct ergo_replay *r,
                                      size_t member, const struct sw_twin *t) {
    const struct sw_state *s = state_of(r);
    const size_t words = (size_t)s->shape.words;
    enum ergo_status status = compare_bytes(ctx, r, member, s->spins, t->planes,
                                            (size_t)s->shape.member_bytes, "new spins");
    if (status != ERGO_OK || s->launch.local)
        return status;
    status = compare_bytes(ctx, r, member, s->right, t->right, 4 * words,
                           "bonds to the right in the last sweep");
    if (status == ERGO_OK)
        status = compare_bytes(ctx, r, member, s->down, t->down, 4 * words,
                               "bonds down in the last sweep");
    return status == ERGO_OK ? compare_labels(ctx, r, member, t) : status;
}

static enum ergo_status compare_member(struct ergo_context *ctx, const struct ergo_replay *r,
                                       size_t member, struct sw_twin *t) {
    const struct sw_state *s = state_of(r);
    const struct ergo_point *point = s->batch->points[member];
    const size_t bytes = (size_t)s->shape.member_bytes;
    const char *wrong = NULL;
    uint64_t step = r->step;
    memcpy(t->planes, (const char *)r->kept[ROW_SPINS] + member * bytes, bytes);
    for (uint64_t e = 0; e < r->lead; e++)
        sw_twin_sweep(point, &s->shape, step++, false, t);
    for (size_t i = 0; i < r->samples && !wrong; i++) {
        for (uint64_t e = 1; e <= r->every; e++)
            sw_twin_sweep(point, &s->shape, step++, e == r->every, t);
        const size_t at = i * r->members + member, bins = r->curve_sizes[0];
        wrong =
            sw_sample_differs(&s->shape, point, s->clusters, t, r->found.columns + at * SW_COLUMNS,
                              bins ? r->found.curves[0] + at * bins : NULL, bins);
    }
    return wrong ? ergo_replay_differs(ctx, r, member, wrong) : compare_state(ctx, r, member, t);
}

/* From the last member on: its place in the buffers is the most error-prone. */
static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    const struct sw_state *s = state_of(r);
    const uint64_t sweeps = r->lead + r->samples * r->every;
    struct sw_twin t;
    enum ergo_status status = sw_twin_open(&t, &s->shape)
                                  ? ERGO_OK
                                  : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    uint64_t done = 0;
    for (size_t m = r->members; m-- > 0 && done < budget && status == ERGO_OK;
         done += sweeps * s->shape.sites)
        status = compare_member(ctx, r, m, &t);
    sw_twin_close(&t);
    return status;
}

/* The lattices as sw_start has left them; as many as the budget allows. */
static enum ergo_status compare_start(struct ergo_context *ctx, struct sw_state *s) {
    struct ergo_replay r = {
        .sampler = "swendsen-wang", .device = s->device, .every = 1, .samples = 1};
    struct sw_twin t;
    enum ergo_status status = sw_twin_open(&t, &s->shape)
                                  ? ERGO_OK
                                  : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    uint64_t done = 0;
    for (size_t m = s->batch->count; m-- > 0 && done < budget && status == ERGO_OK;
         done += s->shape.sites) {
        sw_twin_start(s->batch->points[m], &s->shape, &t);
        status = compare_bytes(ctx, &r, m, s->spins, t.planes, (size_t)s->shape.member_bytes,
                               "the spins of the start");
    }
    sw_twin_close(&t);
    return status;
}

/* As many sweeps between samples as the run has, where the device makes that many in a tenth of a
 * second and the twin in its budget; but two where the run has more: other kernels measure each. */
static uint64_t every_of(const struct sw_state *s, size_t samples) {
    const uint64_t every = (uint64_t)ergo_point_int(s->batch->points[0], "/run/measure_every");
    const uint64_t fast = s->launch.launch_sweeps, few = budget / s->shape.sites;
    const uint64_t most = (fast < few ? fast : few) / samples;
    return every <= most ? every : most > 2 ? most : every < 2 ? every : 2;
}

static enum ergo_status audit_chain(struct ergo_context *ctx, struct sw_state *s) {
    const size_t count = s->batch->count, most = s->launch.block_samples;
    const size_t bins = s->clusters ? 64 - (size_t)__builtin_clzll(s->shape.sites) : 0;
    const bool small = s->shape.sites <= budget / 32;
    size_t bytes[SW_RESULTS], samples = small ? 3 : 2;
    samples = samples < most ? samples : most;
    sw_result_bytes(s, samples, s->clusters, bytes);
    struct ergo_replay_row rows[1 + SW_RESULTS + 1] = {
        [ROW_SPINS] = {"lattices", ERGO_REPLAY_STATE, &s->spins, NULL,
                       (size_t)s->shape.member_bytes * count},
        {"step", ERGO_REPLAY_HOST, NULL, &s->step, sizeof s->step}};
    size_t n_rows = 2;
    for (int k = 0; k < SW_RESULTS; k++)
        if (bytes[k])
            rows[n_rows++] = (struct ergo_replay_row){"samples", ERGO_REPLAY_RESULT,
                                                      &s->slots[0].results[k], NULL, bytes[k]};
    struct ergo_replay r = {.sampler = "swendsen-wang",
                            .remedy = "/tuning/path",
                            .device = s->device,
                            .state = s,
                            .rows = rows,
                            .n_rows = n_rows,
                            .members = count,
                            .n_columns = SW_COLUMNS,
                            .n_curves = 1,
                            .curve_sizes = &bins,
                            .step = s->step,
                            .lead = small ? 3 : 1,
                            .samples = samples,
                            .every = every_of(s, samples),
                            .advance = sw_advance,
                            .collect = sw_collect,
                            .compare = compare};
    return ergo_replay(ctx, &r);
}

enum ergo_status sw_audit(struct ergo_context *ctx, void *opaque) {
    struct sw_state *s = opaque;
    enum ergo_status status = ergo_constants_check(ctx, s->device, &s->constants, "swendsen-wang");
    if (status == ERGO_OK && s->shape.sites > most_sites)
        return sw_audit_rows(ctx, s);
    if (status == ERGO_OK && s->started && s->step == 0)
        status = compare_start(ctx, s);
    return status == ERGO_OK ? audit_chain(ctx, s) : status;
}
