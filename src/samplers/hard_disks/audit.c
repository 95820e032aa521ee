/*
 * Audits: no two disks overlap (all pairs of neighbouring cells, in integers), no disk was lost, no
 * cell holds more than four; and a few sweeps of one member, replayed by the twin on the host from
 * the same configuration, end in the same bits. Afterwards the device has its state back.
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

static enum ergo_status replay(struct ergo_context *ctx, struct disks_state *s, size_t member,
                               struct disks_config *expected) {
    const uint64_t before = s->step;
    struct disks_config found;
    struct ergo_text a = {0}, b = {0};
    enum ergo_status status = disks_sweeps(ctx, s, 2);
    if (status == ERGO_OK)
        status = disks_fetch(ctx, s, member, &found);
    if (status != ERGO_OK)
        return status;
    const bool swept = disks_twin_sweeps(s->batch->points[member], &s->shapes[member], expected,
                                         before, s->step - before);
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
    ergo_text_free(&a);
    ergo_text_free(&b);
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
