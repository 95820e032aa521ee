/*
 * Audits: no two disks overlap (all pairs of neighbouring cells, in integers), no disk was lost, no
 * cell holds more than four; and a few sweeps and a sample of one member, replayed by the twin on
 * the host from the same configuration, are the same bits. Afterwards the device has its state
 * back.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/hard_disks/disks.h"

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

/* Room for a sample of all members, as the run layer has it. */
static bool sample_open(const struct disks_state *s, struct ergo_samples *samples) {
    bool ok = (samples->columns = calloc(4 * s->batch->count, sizeof(double))) != NULL;
    for (size_t c = 0; c < DISKS_CURVES; c++)
        if (s->launch.bins[c])
            ok = (samples->curves[c] = calloc(s->batch->count * (size_t)s->launch.bins[c],
                                              sizeof(double))) != NULL &&
                 ok;
    return ok;
}

static void sample_close(struct ergo_samples *samples) {
    free(samples->columns);
    for (size_t c = 0; c < DISKS_CURVES; c++)
        free(samples->curves[c]);
}

static bool equal(const double *a, const double *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

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
    *same = equal(columns, found, 4);
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
        *same = equal(values, found, bins);
    }
    free(limits);
    free(counts);
    free(values);
    return ok;
}

static enum ergo_status compare_sample(struct ergo_context *ctx, struct disks_state *s,
                                       size_t member, const struct disks_config *config,
                                       struct disks_tally tally,
                                       const struct ergo_samples *samples) {
    static const char *const names[] = {"the contact histogram", "g(r)", "the density histogram"};
    const char *wrong = NULL;
    bool same = true;
    bool ok = same_columns(s, member, config, tally, samples->columns + 4 * member, &same);
    if (ok && !same)
        wrong = "psi_6, the acceptance or the occupied cells";
    for (size_t c = 0; c < DISKS_CURVES && ok && !wrong; c++) {
        if (!s->launch.bins[c])
            continue;
        ok = same_curve(s, member, config, c, samples->curves[c] + member * s->launch.bins[c],
                        &same);
        if (ok && !same)
            wrong = names[c];
    }
    if (!ok)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    return !wrong ? ERGO_OK
                  : ERGO_FAIL(ctx, ERGO_E_AUDIT,
                              "audit of hard-disks failed on %s (%s): of the same configuration, "
                              "%s of member %zu differ between the device and the host",
                              s->device->summary.name, s->device->summary.driver, wrong, member);
}

/* Two sweeps and a sample, as the run makes them. What is left in the slot is wiped first: a sample
 * that is not made must not look like the last one. */
static enum ergo_status sample_once(struct ergo_context *ctx, struct disks_state *s,
                                    struct ergo_samples *samples) {
    struct disks_slot *slot = &s->slots[0];
    const size_t bytes = sizeof *slot->host_sums * s->batch->count * s->launch.sums;
    memset(slot->host_sums, 0xff, bytes);
    enum ergo_status status =
        ergo_buffer_write(ctx, s->device, slot->sums, 0, bytes, slot->host_sums);
    if (status == ERGO_OK)
        status = disks_advance(ctx, s, 0, 1, 2, 0);
    return status == ERGO_OK ? disks_collect(ctx, s, 0, samples) : status;
}

static enum ergo_status replay(struct ergo_context *ctx, struct disks_state *s, size_t member,
                               struct disks_config *expected) {
    const uint64_t before = s->step;
    struct disks_config found;
    struct disks_tally tally;
    struct ergo_samples samples = {0};
    struct ergo_text a = {0}, b = {0};
    enum ergo_status status = sample_open(s, &samples)
                                  ? sample_once(ctx, s, &samples)
                                  : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    if (status == ERGO_OK)
        status = disks_fetch(ctx, s, member, &found);
    if (status != ERGO_OK) {
        sample_close(&samples);
        return status;
    }
    const bool swept = disks_twin_sweeps(s->batch->points[member], &s->shapes[member], expected,
                                         before, s->step - before, &tally);
    disks_config_write(expected, &a);
    disks_config_write(&found, &b);
    if (!swept || a.failed || b.failed)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    else if (a.length != b.length || memcmp(a.data, b.data, a.length) != 0)
        status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                           "audit of hard-disks failed on %s (%s): from the same configuration, "
                           "sweeps %llu and %llu of member %zu differ between the device and the "
                           "host. The device's compiler or hardware is wrong for these kernels: "
                           "try another device, or /tuning/path",
                           s->device->summary.name, s->device->summary.driver,
                           (unsigned long long)before, (unsigned long long)before + 1, member);
    else
        status = compare_sample(ctx, s, member, expected, tally, &samples);
    ergo_text_free(&a);
    ergo_text_free(&b);
    sample_close(&samples);
    disks_config_free(&found);
    s->step = before;
    return status;
}

static enum ergo_status audit_chain(struct ergo_context *ctx, struct disks_state *s) {
    const size_t count = s->batch->count, member = count - 1;
    uint64_t disks = 0;
    for (size_t i = 0; i < count; i++)
        disks += s->shapes[i].n;
    if (disks > replay_disks)
        return ERGO_OK;
    struct disks_config *saved = calloc(count + 1, sizeof *saved);
    enum ergo_status status =
        saved ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    size_t n = 0;
    for (; n < count && status == ERGO_OK; n++)
        status = disks_fetch(ctx, s, n, &saved[n]);
    if (status == ERGO_OK)
        status = disks_fetch(ctx, s, member, &saved[count]);
    if (status == ERGO_OK)
        status = replay(ctx, s, member, &saved[count]);
    if (status == ERGO_OK)
        status = disks_store_all(ctx, s, saved);
    for (size_t i = 0; saved && i <= count; i++)
        disks_config_free(&saved[i]);
    free(saved);
    return status;
}

/* Parameters and bins that the device holds, against the host's. */
static enum ergo_status audit_buffer(struct ergo_context *ctx, struct disks_state *s, cl_mem buffer,
                                     const char *what, const void *expected, size_t bytes) {
    void *found = malloc(bytes);
    enum ergo_status status = found ? ergo_buffer_read(ctx, s->device, buffer, 0, bytes, found)
                                    : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    if (status == ERGO_OK && memcmp(found, expected, bytes) != 0)
        status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                           "audit of hard-disks failed on %s at sweep %llu: the %s in the device's "
                           "memory are no longer what was written there",
                           s->device->summary.name, (unsigned long long)s->step, what);
    free(found);
    return status;
}

static enum ergo_status audit_buffers(struct ergo_context *ctx, struct disks_state *s) {
    enum ergo_status status = audit_buffer(ctx, s, s->member_buffer, "parameters", s->members,
                                           s->batch->count * sizeof *s->members);
    for (size_t c = 0; c < 2 && status == ERGO_OK; c++) {
        const size_t each = s->launch.bins[c] + 1, all = s->batch->count * each;
        if (!s->limits[c])
            continue;
        uint64_t *limits = malloc(all * sizeof *limits);
        if (!limits)
            return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
        for (size_t i = 0; i < s->batch->count; i++)
            disks_limits(s->batch->points[i], &s->shapes[i], c, limits + i * each);
        status =
            audit_buffer(ctx, s, s->limits[c], "bins of a histogram", limits, all * sizeof *limits);
        free(limits);
    }
    return status;
}

enum ergo_status disks_audit(struct ergo_context *ctx, void *opaque) {
    struct disks_state *s = opaque;
    enum ergo_status status = audit_buffers(ctx, s);
    for (size_t i = 0; i < s->batch->count && status == ERGO_OK; i++)
        status = audit_member(ctx, s, i);
    return status == ERGO_OK ? audit_chain(ctx, s) : status;
}
