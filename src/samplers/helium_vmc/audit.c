/*
 * Audits: what the device keeps against what the host finds.
 *
 * Every walker: the running ln psi against the sum over all pairs, exactly (both are integers).
 * One walker: ln psi and energies in double precision from the positions and the formulas, without
 * tables. One walker's chain: macroupdates by the very kernel of the run and by its twin in C; this
 * finds miscompiled kernels, whose states are consistent but whose chain is wrong. All on copies:
 * the run's buffers stay as they are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "helium_vmc/params.h"
#include "samplers/helium_vmc/helium.h"

/* Sums over ordered pairs and atoms as in struct helium_sums, and the scale of their terms. */
struct plain {
    double ln_psi, potential, virial, laplacian, gradient, size;
};

static void plain_energies(const struct helium_model *m, const int32_t *place, struct plain *p) {
    const size_t n = m->n;
    memset(p, 0, sizeof *p);
    for (size_t i = 0; i < n; i++) {
        double gradient[3] = {0};
        for (size_t j = 0; j < n; j++) {
            double d[3], u[3], v[2], r2 = 0;
            for (size_t k = 0; k < 3; k++) {
                d[k] = m->side[k] * 0x1p-32 *
                       (int32_t)((uint32_t)place[k * n + i] - (uint32_t)place[k * n + j]);
                r2 += d[k] * d[k];
            }
            const double r = fmax(sqrt(r2), m->core);
            if (j == i || r >= m->half)
                continue;
            helium_model_u(m, r, u);
            helium_model_v(m, r, v);
            p->ln_psi += u[0];
            p->potential += v[0];
            p->virial += v[1];
            p->laplacian -= m->lambda * (u[2] + 2 * u[1] / r);
            p->size += fabs(v[0]) + fabs(v[1]) + m->lambda * fabs(u[2]);
            for (size_t k = 0; k < 3; k++)
                gradient[k] += u[1] / r * d[k];
        }
        p->gradient += m->lambda * (gradient[0] * gradient[0] + gradient[1] * gradient[1] +
                                    gradient[2] * gradient[2]);
    }
    p->size += p->gradient;
}

static enum ergo_status differs(struct ergo_context *ctx, const struct helium_state *s,
                                size_t member, const char *what, double device, double host) {
    return ERGO_FAIL(
        ctx, ERGO_E_AUDIT,
        "audit of helium-vmc failed on %s at macroupdate %llu, member %zu: %s is %.12g "
        "on the device, %.12g from scratch on the host",
        s->device->summary.name, (unsigned long long)s->step, member, what, device, host);
}

/* `sums` of a walker of the member against double precision. */
static enum ergo_status compare_plain(struct ergo_context *ctx, const struct helium_state *s,
                                      size_t member, const struct helium_sums *sums,
                                      const int32_t *place) {
    struct plain p;
    plain_energies(&s->models[member], place, &p);
    const int *bits = s->models[member].bits;
    const double n = s->shape.n;
    const double ln_psi = (double)sums->ln_psi / (double)(1 << HELIUM_U_BITS);
    /* rounding of a pair's u: half a unit and 1e-6 of itself; of energies: 1e-5 of the terms (the
     * kink of the potential's damping, float sums) and a unit an atom */
    if (!(fabs(ln_psi - p.ln_psi) < 2e-6 * fabs(p.ln_psi) + 3e-7 * n * n))
        return differs(ctx, s, member, "ln psi (twice)", ln_psi, p.ln_psi);
    const double device[4] = {
        ldexp((double)sums->potential, -bits[0]), ldexp((double)sums->virial, -bits[1]),
        ldexp((double)sums->laplacian, -bits[2]), ldexp((double)sums->gradient, -bits[3])};
    const double host[4] = {p.potential, p.virial, p.laplacian, p.gradient};
    static const char *const names[4] = {"the potential (twice, K)", "the virial (twice, K)",
                                         "lap ln psi (K)", "(grad ln psi)^2 (K)"};
    for (int k = 0; k < 4; k++)
        if (!(fabs(device[k] - host[k]) < 1e-5 * p.size + n * (1e-5 + ldexp(1, -bits[k]))))
            return differs(ctx, s, member, names[k], device[k], host[k]);
    return ERGO_OK;
}

/* `bytes` of `from` at `offset` in a buffer of their own. By way of the host: Oclgrind takes what
 * clEnqueueCopyBuffer wrote for uninitialised. */
static enum ergo_status copy_out(struct ergo_context *ctx, struct helium_state *s, cl_mem from,
                                 size_t offset, size_t bytes, cl_mem *to) {
    void *room = malloc(bytes);
    enum ergo_status status = room ? ergo_buffer_read(ctx, s->device, from, offset, bytes, room)
                                   : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, s->device, "a copy for the audit", bytes, room, to);
    free(room);
    return status;
}

/* The chain of the member's walker number `walker`: the last of those that are copied and moved, so
 * that walkers which take each other's numbers are seen. */
static enum ergo_status compare_chain(struct ergo_context *ctx, struct helium_state *s,
                                      size_t member, uint32_t walker, int32_t *place,
                                      uint32_t steps) {
    const size_t u_size = (size_t)s->launch.binades << HELIUM_U_PIECES;
    const size_t bytes = s->shape.walker_bytes, first = member * s->shape.walkers;
    const size_t count = (size_t)walker + 1;
    cl_mem copies[6] = {NULL};
    struct helium_cubic_host *tables = malloc((u_size + 2 * HELIUM_R_SIZE) * sizeof *tables);
    int32_t *found = malloc(bytes);
    struct helium_walker before, after;
    struct helium_twin twin = {.member = &s->members[member],
                               .u_table = tables,
                               .random = tables ? tables + u_size : NULL,
                               .binades = s->launch.binades,
                               .n = s->shape.n,
                               .walker = walker,
                               .place = place};
    enum ergo_status status =
        tables && found ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    if (status == ERGO_OK)
        status = copy_out(ctx, s, s->positions, first * bytes, count * bytes, &copies[0]);
    if (status == ERGO_OK)
        status = copy_out(ctx, s, s->walkers, first * HELIUM_WALKER_BYTES,
                          count * HELIUM_WALKER_BYTES, &copies[1]);
    if (status == ERGO_OK)
        status = copy_out(ctx, s, s->member_buffer, member * HELIUM_MEMBER_BYTES,
                          HELIUM_MEMBER_BYTES, &copies[2]);
    if (status == ERGO_OK)
        status = copy_out(ctx, s, s->factors, 4 * member, 4, &copies[3]);
    if (status == ERGO_OK)
        status = copy_out(ctx, s, s->u_tables, member * u_size * 16, u_size * 16, &copies[4]);
    if (status == ERGO_OK) /* as they are kept: wrong ones give a wrong chain */
        status = copy_out(ctx, s, s->atom_sums, first * s->shape.n * 8, count * s->shape.n * 8,
                          &copies[5]);
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, copies[1], walker * sizeof before, sizeof before,
                                  &before);
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, copies[3], 0, 4, &twin.factor);
    if (status != ERGO_OK)
        goto out;
    const struct helium_walk walk = {.positions = copies[0],
                                     .atom_sums = copies[5],
                                     .walkers = copies[1],
                                     .members = copies[2],
                                     .factors = copies[3],
                                     .u_tables = copies[4],
                                     .n_members = 1,
                                     .count = (cl_uint)count,
                                     .active = (cl_uint)count,
                                     .rebuild = s->rebuild};
    const uint64_t step = s->step;
    status = helium_walk(ctx, s, &walk, step, steps);
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, copies[0], walker * bytes, bytes, found);
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, copies[1], walker * sizeof after, sizeof after,
                                  &after);
    if (status != ERGO_OK)
        goto out;
    helium_table_u(&s->models[member], s->launch.binades, tables);
    helium_table_random(tables + u_size);
    twin.ln_psi = before.ln_psi;
    helium_twin_steps(&twin, step, steps);
    if (memcmp(found, place, bytes) != 0 || after.ln_psi != twin.ln_psi ||
        after.window - before.window != twin.accepted)
        status =
            ERGO_FAIL(ctx, ERGO_E_AUDIT,
                      "audit of helium-vmc failed on %s (%s): from the same walker, "
                      "macroupdates %llu to %llu of member %zu differ between the device and "
                      "the host. The device's compiler or hardware is wrong for these "
                      "kernels: try another device, or /tuning/path and /tuning/work_group",
                      s->device->summary.name, s->device->summary.driver, (unsigned long long)step,
                      (unsigned long long)(step + steps - 1), member);
out:
    for (int i = 0; i < 6; i++)
        ergo_buffer_release(&copies[i]);
    free(tables);
    free(found);
    return status;
}

/* The walkers that move now: running ln psi against all pairs. */
static enum ergo_status compare_running(struct ergo_context *ctx, const struct helium_state *s,
                                        const struct helium_sums *sums,
                                        const struct helium_walker *walkers) {
    for (size_t m = 0; m < s->batch->count; m++)
        for (size_t w = 0; w < s->shape.walkers; w++) {
            const size_t i = m * s->shape.walkers + w;
            if (2 * walkers[i].ln_psi != sums[i].ln_psi)
                return differs(ctx, s, m, "the running ln psi of a walker",
                               (double)walkers[i].ln_psi * 0x1p-21,
                               (double)sums[i].ln_psi * 0x1p-22);
        }
    return ERGO_OK;
}

enum ergo_status helium_audit(struct ergo_context *ctx, void *opaque) {
    struct helium_state *s = opaque;
    struct helium_slot *slot = &s->slots[0];
    const size_t all = s->batch->count * s->shape.walkers, last = s->batch->count - 1;
    struct helium_walker *walkers = malloc(all * sizeof *walkers);
    int32_t *place = malloc(s->shape.walker_bytes);
    enum ergo_status status =
        walkers && place ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    if (status == ERGO_OK)
        status = helium_run_energy(ctx, s, slot->sums, 0, true);
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, slot->sums, 0, all * HELIUM_SUMS_BYTES,
                                  slot->host_sums);
    if (status == ERGO_OK)
        status =
            ergo_buffer_read(ctx, s->device, s->walkers, 0, all * HELIUM_WALKER_BYTES, walkers);
    if (status == ERGO_OK)
        status = compare_running(ctx, s, slot->host_sums, walkers);
    const double pairs = (double)s->shape.n * s->shape.n;
    /* more walkers than these would take the audit too long to copy */
    const uint32_t active = helium_active(&s->shape, s->step);
    const uint64_t room = ((uint64_t)1 << 28) / s->shape.walker_bytes + 1;
    const uint32_t walker = (uint32_t)(active < room ? active : room) - 1;
    const size_t first = last * s->shape.walkers + walker;
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, s->positions, first * s->shape.walker_bytes,
                                  s->shape.walker_bytes, place);
    if (status == ERGO_OK)
        status = helium_energies_whole(ctx, s, last, s->step, &slot->host_sums[first]);
    if (status == ERGO_OK && pairs <= 1e8) /* seconds on the host, beyond */
        status = compare_plain(ctx, s, last, &slot->host_sums[first], place);
    if (status == ERGO_OK && pairs <= 1e8)
        status = compare_chain(ctx, s, last, walker, place,
                               pairs < 2e6 && s->launch.launch_steps > 1 ? 2 : 1);
    free(walkers);
    free(place);
    return status;
}
