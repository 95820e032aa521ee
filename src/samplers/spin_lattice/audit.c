/*
 * Audits: what the device keeps against what the host finds.
 *
 * The counts: up spins and unequal bonds, counted by words on the device and by sites here.
 * The chain: a few more sweeps of one member, on the device by the very kernels of the run and here
 * by their twin in C, from the same state; afterwards the device has its state back. This finds
 * miscompiled kernels (FACTS: they exist), whose lattices are consistent but whose chain is wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/twin.h"
#include "spin_lattice/params.h"

/* The device's counts, taken with word operations, against a plain count over sites on the host. */
static enum ergo_status audit_counts(struct ergo_context *ctx, struct ising_state *s) {
    uint64_t *device_counts = malloc(2 * s->batch->count * sizeof *device_counts);
    uint8_t *rows = NULL;
    if (!device_counts)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the audit");
    uint64_t *up = device_counts, *unequal = device_counts + s->batch->count;
    enum ergo_status status = ising_measure_now(ctx, s, up, unequal);
    for (size_t i = 0; i < s->batch->count && status == ERGO_OK; i++) {
        size_t length = 0;
        uint64_t true_up, true_unequal;
        status = ising_fetch(ctx, s, i, &rows, &length);
        if (status != ERGO_OK)
            break;
        ising_count(&s->shape, rows, &true_up, &true_unequal);
        if (up[i] != true_up || unequal[i] != true_unequal)
            status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                               "audit of spin-lattice failed on %s at sweep %llu, member %zu: the "
                               "device counts %llu up spins and %llu unequal bonds, the host %llu "
                               "and %llu",
                               s->device->summary.name, (unsigned long long)s->step, i,
                               (unsigned long long)up[i], (unsigned long long)unequal[i],
                               (unsigned long long)true_up, (unsigned long long)true_unequal);
        free(rows);
        rows = NULL;
    }
    free(device_counts);
    return status;
}

/* Replaying a larger lattice would take more than a few seconds, or the copy too much memory. */
static const uint64_t replay_sites = 1u << 22, replay_bytes = 1u << 28;

static enum ergo_status compare_chains(struct ergo_context *ctx, struct ising_state *s,
                                       size_t member, uint32_t *expected, uint32_t *found) {
    const size_t bytes = s->shape.member_bytes, offset = member * bytes;
    const uint64_t before = s->step;
    enum ergo_status status = ergo_buffer_read(ctx, s->device, s->spins, offset, bytes, expected);
    if (status == ERGO_OK)
        status = ising_advance_audit(ctx, s);
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, s->spins, offset, bytes, found);
    if (status == ERGO_OK) {
        ising_twin_sweeps(s->batch->points[member], &s->shape, expected, before, s->step - before);
        if (memcmp(expected, found, bytes) != 0)
            status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                               "audit of spin-lattice failed on %s (%s): from the same lattice, "
                               "sweeps %llu to %llu of member %zu differ between the device and "
                               "the host. The device's compiler or hardware is wrong for these "
                               "kernels: try another device, or /tuning/path and /tuning/lanes",
                               s->device->summary.name, s->device->summary.driver,
                               (unsigned long long)before, (unsigned long long)s->step - 1, member);
    }
    s->step = before;
    return status;
}

static enum ergo_status audit_chain(struct ergo_context *ctx, struct ising_state *s) {
    const size_t bytes = s->shape.member_bytes;
    if ((uint64_t)s->shape.lx * (uint64_t)s->shape.ly > replay_sites ||
        bytes * s->batch->count > replay_bytes)
        return ERGO_OK;
    /* Saved here and not in a second buffer there: Oclgrind takes what clEnqueueCopyBuffer wrote
     * for uninitialised. */
    const size_t all = bytes * s->batch->count;
    uint32_t *saved = malloc(all), *words = malloc(2 * bytes);
    enum ergo_status status = ERGO_OK;
    if (!saved || !words)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, s->spins, 0, all, saved);
    if (status == ERGO_OK) /* the last member: its place in the buffers is the most error-prone */
        status = compare_chains(ctx, s, s->batch->count - 1, words, words + bytes / 4);
    if (status == ERGO_OK)
        status = ergo_buffer_write(ctx, s->device, s->spins, 0, all, saved);
    free(saved);
    free(words);
    return status;
}

enum ergo_status ising_audit(struct ergo_context *ctx, void *opaque) {
    struct ising_state *s = opaque;
    const enum ergo_status status = audit_counts(ctx, s);
    return status == ERGO_OK ? audit_chain(ctx, s) : status;
}
