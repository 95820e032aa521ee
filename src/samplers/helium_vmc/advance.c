/* Blocks of samples: enqueue, and turn sums into columns and curves. */
#include <math.h>
#include <string.h>

#include "helium_vmc/params.h"
#include "samplers/helium_vmc/helium.h"

/* The first walkers of every member, as they are now in the queue. */
static enum ergo_status read_structure(struct ergo_context *ctx, struct helium_state *s,
                                       struct helium_slot *slot) {
    const size_t bytes = s->shape.structure_walkers * (size_t)s->shape.walker_bytes;
    char *to = (char *)slot->host_positions + slot->curves * s->batch->count * bytes;
    enum ergo_status status = ERGO_OK;
    for (size_t m = 0; m < s->batch->count && status == ERGO_OK; m++)
        status = ergo_buffer_read_later(ctx, s->device, s->positions,
                                        m * s->shape.walkers * s->shape.walker_bytes, bytes,
                                        to + m * bytes, &slot->positions_ready);
    return status;
}

enum ergo_status helium_advance(struct ergo_context *ctx, void *opaque, unsigned which,
                                size_t count, uint64_t every, uint64_t first_sample) {
    struct helium_state *s = opaque;
    struct helium_slot *slot = &s->slots[which];
    enum ergo_status status = ERGO_OK;
    slot->samples = count;
    slot->curves = 0;
    slot->every = every;
    slot->step = s->step;
    if (count == 0) {
        status = helium_run_steps(ctx, s, every);
        if (status == ERGO_OK)
            clFlush(s->device->queue);
        return status;
    }
    const uint64_t interval = (uint64_t)ergo_point_int(s->batch->points[0], "/run/structure_every");
    for (size_t i = 0; i < count && status == ERGO_OK; i++) {
        status = helium_run_steps(ctx, s, every);
        if (status == ERGO_OK)
            status = helium_run_energy(ctx, s, slot->sums, i, false);
        if (status == ERGO_OK && interval && (first_sample + i) % interval == 0) {
            if (slot->curves == 0)
                slot->curve_first = i;
            status = read_structure(ctx, s, slot);
            slot->curves++;
        }
        if (i % 64 == 63)
            clFlush(s->device->queue);
    }
    if (status == ERGO_OK)
        status =
            ergo_buffer_read_later(ctx, s->device, slot->sums, 0,
                                   count * s->batch->count * s->shape.walkers * HELIUM_SUMS_BYTES,
                                   slot->host_sums, &slot->sums_ready);
    if (status == ERGO_OK)
        clFlush(s->device->queue);
    return status;
}

/* ---- collect --------------------------------------------------------------------------------- */

enum { COLUMNS = 8 };

/* Pairs were seen from both sides. */
struct helium_energies helium_energies_of(const struct helium_model *model,
                                          const struct helium_sums *sums) {
    const double n = model->n;
    return (struct helium_energies){
        .potential = 0.5 * (double)sums->potential * model->unit[0] / n + model->tail_potential,
        .virial = 0.5 * (double)sums->virial * model->unit[1] / n + model->tail_virial,
        .laplacian = (double)sums->laplacian * model->unit[2] / n,
        .gradient = (double)sums->gradient * model->unit[3] / n};
}

/* Was an atom's share of them more than the fixed point holds? Nothing of it may be used then:
 * an error of the job that names the key. */
static enum ergo_status energies_whole(struct ergo_context *ctx, const struct helium_state *s,
                                       size_t member, uint64_t step,
                                       const struct helium_sums *sums) {
    static const char *const names[] = {"potential energy", "virial", "lap ln psi",
                                        "(grad ln psi)^2"};
    static const char *const keys[] = {"/system/potential", "/system/potential",
                                       "/system/wave_function", "/system/wave_function"};
    const uint64_t marks = (uint64_t)sums->accepted >> HELIUM_BEYOND;
    for (int k = 0; k < HELIUM_E_KINDS; k++)
        if (marks >> k & 1)
            return ergo_job_error(
                ctx, keys[k],
                "at macroupdate %llu the %s of an atom is beyond %.3g K, and cannot be added to "
                "the others': atoms of a walker lie on one another, or the function has a spike. "
                "No mean would be right; use a larger /system/b, a smoother function, or another "
                "/system/start",
                (unsigned long long)step, names[k], (double)s->members[member].limit[k]);
    return ERGO_OK;
}

/* Potential, both kinetic estimators, acceptance, virial, ln psi, and products: a mean over
 * walkers. The order of this sum is fixed: the host does it. */
static void convert_sample(const struct helium_state *s, const struct helium_model *model,
                           const struct helium_sums *sums, uint32_t walkers, double *columns) {
    const double n = s->shape.n;
    double sum[COLUMNS] = {0};
    for (uint32_t w = 0; w < walkers; w++) {
        const struct helium_energies e = helium_energies_of(model, &sums[w]);
        const double laplacian = e.laplacian - e.gradient, energy = e.potential + laplacian;
        const double ln_psi = 0.5 * (double)sums[w].ln_psi / ((double)(1 << HELIUM_U_BITS) * n);
        sum[0] += e.potential;
        sum[1] += laplacian;
        sum[2] += e.gradient;
        sum[3] += (double)sums[w].accepted / n;
        sum[4] += e.virial;
        sum[5] += ln_psi;
        sum[6] += energy * energy;
        sum[7] += energy * ln_psi;
    }
    for (int c = 0; c < COLUMNS; c++)
        columns[c] = sum[c] / walkers;
}

static void convert_moments(const struct helium_state *s, size_t member,
                            const struct helium_sums *sums, uint32_t walkers, double *moments) {
    memset(moments, 0, 2 * HELIUM_B_POINTS * sizeof *moments);
    for (uint32_t w = 0; w < walkers; w++) {
        const struct helium_energies e = helium_energies_of(&s->models[member], &sums[w]);
        helium_b_add(&s->models[member],
                     0.5 * (double)sums[w].ln_psi / (double)(1 << HELIUM_U_BITS), e.potential,
                     e.laplacian, e.gradient, moments);
    }
    for (size_t k = 0; k < 2 * HELIUM_B_POINTS; k++)
        moments[k] /= walkers;
}

static void convert_curves(const struct helium_state *s, const struct helium_slot *slot,
                           struct ergo_samples *samples) {
    const size_t members = s->batch->count;
    const struct ergo_point *first = s->batch->points[0];
    const size_t gr = helium_gr_size(first), sk = helium_sk_size(first);
    const uint64_t interval = (uint64_t)ergo_point_int(first, "/run/structure_every");
    for (size_t k = 0; k < slot->curves; k++) {
        const size_t sample = slot->curve_first + k * interval;
        const uint32_t active = helium_active(&s->shape, slot->step + (sample + 1) * slot->every);
        const uint32_t walkers =
            active < s->shape.structure_walkers ? active : s->shape.structure_walkers;
        for (size_t m = 0; m < members; m++) {
            const size_t row = k * members + m;
            const int32_t *places =
                slot->host_positions + row * s->shape.structure_walkers * 3 * s->shape.n;
            helium_gr(s->batch->points[m], &s->models[m], places, walkers,
                      samples->curves[0] + row * gr);
            helium_sk(s->batch->points[m], &s->models[m], places, walkers,
                      samples->curves[1] + row * sk);
            if (samples->curves[2])
                convert_moments(s, m, slot->host_sums + (sample * members + m) * s->shape.walkers,
                                active, samples->curves[2] + row * 2 * HELIUM_B_POINTS);
        }
    }
}

enum ergo_status helium_collect(struct ergo_context *ctx, void *opaque, unsigned which,
                                struct ergo_samples *samples) {
    struct helium_state *s = opaque;
    struct helium_slot *slot = &s->slots[which];
    samples->count = slot->samples;
    samples->n_curve_samples = slot->curves;
    if (slot->samples == 0)
        return ERGO_OK;
    enum ergo_status status = ergo_event_wait(ctx, s->device, &slot->sums_ready, NULL);
    if (status == ERGO_OK && slot->positions_ready)
        status = ergo_event_wait(ctx, s->device, &slot->positions_ready, NULL);
    if (status != ERGO_OK)
        return status;
    const size_t members = s->batch->count;
    for (size_t i = 0; i < slot->samples; i++) {
        const uint32_t active = helium_active(&s->shape, slot->step + (i + 1) * slot->every);
        for (size_t m = 0; m < members; m++) {
            const size_t row = i * members + m;
            const struct helium_sums *sums = slot->host_sums + row * s->shape.walkers;
            for (uint32_t w = 0; w < active && status == ERGO_OK; w++)
                status = energies_whole(ctx, s, m, slot->step + (i + 1) * slot->every, &sums[w]);
            if (status != ERGO_OK)
                return status;
            convert_sample(s, &s->models[m], sums, active, samples->columns + row * COLUMNS);
        }
    }
    convert_curves(s, slot, samples);
    return ERGO_OK;
}
