/* Launches of macroupdates and measurements; samples made from their sums. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "helium_vmc/params.h"
#include "samplers/helium_vmc/helium.h"

/* `mates` walkers of a member share a work-group. */
static struct ergo_grid grid_of(const struct helium_state *s, uint32_t active) {
    const struct helium_launch *l = &s->launch;
    const size_t crews = ((size_t)active + l->mates - 1) / l->mates;
    return ergo_grid_groups(s->e.batch->count * crews, (size_t)l->mates * l->group, 1);
}

/* Paths lanes and registers: one launch makes all macroupdates. */
static void walk_groups(struct helium_state *s, uint64_t steps) {
    const uint32_t active = helium_active(&s->shape, s->e.step);
    ERGO_LAUNCH(&s->e, HELIUM_WALK, grid_of(s, active), BUFFER(HELIUM_POSITIONS),
                BUFFER(HELIUM_ATOM_SUMS), BUFFER(HELIUM_WALKERS), BUFFER(HELIUM_MEMBERS),
                BUFFER(HELIUM_FACTORS), BUFFER(HELIUM_U_TABLES), BUFFER(HELIUM_RANDOM),
                BUFFER(HELIUM_SITES), U64(s->e.step), U32(steps), U32(s->shape.walkers),
                U32(active), U32(s->rebuild));
}

/* The same with a triplet factor. */
static void walk_triplets(struct helium_state *s, uint64_t steps) {
    const uint32_t active = helium_active(&s->shape, s->e.step);
    ERGO_LAUNCH(&s->e, HELIUM_WALK, grid_of(s, active), BUFFER(HELIUM_POSITIONS),
                BUFFER(HELIUM_WALKERS), BUFFER(HELIUM_MEMBERS), BUFFER(HELIUM_TRIPLETS),
                BUFFER(HELIUM_FACTORS), BUFFER(HELIUM_U_TABLES), BUFFER(HELIUM_T_TABLES),
                BUFFER(HELIUM_RANDOM), BUFFER(HELIUM_SITES), U64(s->e.step), U32(steps),
                U32(s->shape.walkers), U32(active), BUFFER(HELIUM_FIELDS));
}

/* Path blocks: sums of u for the trials of one block, from atom `first` on. apply: first update
 * the sums by the moves that the block before accepted. */
static void attempt(struct helium_state *s, uint64_t step, uint32_t first, bool apply) {
    const struct helium_launch *l = &s->launch;
    const uint32_t active = helium_active(&s->shape, s->e.step);
    ERGO_LAUNCH(&s->e, HELIUM_ATTEMPT,
                ergo_grid_groups((s->shape.n + l->tile - 1) / l->tile, l->group,
                                 s->e.batch->count * active),
                BUFFER(HELIUM_POSITIONS), BUFFER(HELIUM_ATOM_SUMS), BUFFER(HELIUM_MEMBERS),
                BUFFER(HELIUM_FACTORS), BUFFER(HELIUM_U_TABLES), BUFFER(HELIUM_RANDOM), U64(step),
                U32(first), U32(s->shape.walkers), U32(active), U32(apply),
                BUFFER(HELIUM_DECISIONS), BUFFER(HELIUM_ATTEMPTS));
}

/* Path blocks: for each block of trials, one launch for the sums and one for the decisions. */
static void walk_blocks(struct helium_state *s, uint64_t steps) {
    const struct helium_launch *l = &s->launch;
    const uint32_t active = helium_active(&s->shape, s->e.step), n = s->shape.n;
    const size_t walkers = s->e.batch->count * active;
    bool apply = false;
    if (s->rebuild)
        ERGO_LAUNCH(&s->e, HELIUM_SUM, ergo_grid_items(n, l->group, walkers),
                    BUFFER(HELIUM_POSITIONS), BUFFER(HELIUM_ATOM_SUMS), BUFFER(HELIUM_MEMBERS),
                    BUFFER(HELIUM_U_TABLES), BUFFER(HELIUM_SITES), U32(s->shape.walkers),
                    U32(active));
    for (uint64_t step = s->e.step; step < s->e.step + steps; step++)
        for (uint32_t first = 0; first < n; first += l->group) {
            attempt(s, step, first, apply);
            ERGO_LAUNCH(&s->e, HELIUM_DECIDE, ergo_grid_groups(walkers, l->group, 1),
                        BUFFER(HELIUM_POSITIONS), BUFFER(HELIUM_ATOM_SUMS), BUFFER(HELIUM_WALKERS),
                        BUFFER(HELIUM_MEMBERS), BUFFER(HELIUM_FACTORS), BUFFER(HELIUM_U_TABLES),
                        BUFFER(HELIUM_RANDOM), BUFFER(HELIUM_SITES), U64(step), U32(first),
                        U32(s->shape.walkers), U32(active), BUFFER(HELIUM_DECISIONS),
                        BUFFER(HELIUM_ATTEMPTS));
            apply = true;
        }
    if (apply)
        attempt(s, s->e.step + steps, n, true);
}

static void tune(struct helium_state *s) {
    ERGO_LAUNCH(&s->e, HELIUM_TUNE, ergo_grid_groups(s->e.batch->count, 1, 1),
                BUFFER(HELIUM_WALKERS), BUFFER(HELIUM_MEMBERS), BUFFER(HELIUM_FACTORS),
                U32(s->e.batch->count), U32(s->shape.walkers), U32(s->shape.active));
}

static void multiply(struct helium_state *s) {
    const size_t copies = s->shape.walkers - s->shape.active;
    ERGO_LAUNCH(&s->e, HELIUM_MULTIPLY,
                ergo_grid_items(3 * (size_t)s->shape.n, 32, s->e.batch->count * copies),
                BUFFER(HELIUM_POSITIONS), BUFFER(HELIUM_WALKERS), U32(s->shape.walkers),
                U32(s->shape.active));
}

/* A loaded state is the job's, or memory or a file has changed. */
static void prove_ln_psi(struct helium_state *s) {
    const size_t all = s->e.batch->count * s->shape.walkers;
    struct helium_walker *walkers = malloc(all * sizeof *walkers);
    struct helium_sums *sums = malloc(all * sizeof *sums);
    if (!walkers || !sums) {
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for %zu walkers", all);
    } else {
        helium_ln_psi(s, sums);
        ergo_engine_read(&s->e, HELIUM_WALKERS, 0, all * sizeof *walkers, walkers);
    }
    for (size_t i = 0; i < all && ergo_engine_end(&s->e) == ERGO_OK; i++)
        if (2 * walkers[i].ln_psi != sums[i].ln_psi)
            ERGO_ENGINE_FAIL(&s->e, ERGO_E_AUDIT,
                             "audit of helium-vmc failed on %s: at macroupdate %" PRIu64
                             " walker %zu of member %zu has a running ln psi of %.6f, its atoms "
                             "one of %.6f",
                             s->e.device->summary.name, s->e.step, i % s->shape.walkers,
                             i / s->shape.walkers, ldexp((double)walkers[i].ln_psi, -HELIUM_U_BITS),
                             ldexp((double)sums[i].ln_psi, -HELIUM_U_BITS - 1));
    free(walkers);
    free(sums);
    s->unproven = false;
}

void helium_steps(void *state, uint64_t steps) {
    struct helium_state *s = state;
    const uint64_t start = s->shape.start_steps;
    const bool tunes = s->members[0].target != 0; /* the key is not scanned, so all members agree */
    if (s->unproven)
        prove_ln_psi(s);
    while (steps && ergo_engine_end(&s->e) == ERGO_OK) {
        const uint64_t step = s->e.step;
        const bool starting = step < start;
        uint64_t now = steps;
        if (starting && now > start - step)
            now = start - step;
        if (starting && tunes && now > HELIUM_TUNE_EVERY - step % HELIUM_TUNE_EVERY)
            now = HELIUM_TUNE_EVERY - step % HELIUM_TUNE_EVERY;
        const uint64_t event = helium_event_next(&s->optimisation.schedule, step);
        now = now < event - step ? now : event - step;
        now = ergo_engine_next(&s->e, &s->e.pace, now, s->launch.launch_steps);
        if (s->launch.path == HELIUM_PATH_TRIPLET)
            walk_triplets(s, now);
        else if (s->launch.path == HELIUM_PATH_BLOCKS)
            walk_blocks(s, now);
        else
            walk_groups(s, now);
        ergo_engine_made(&s->e, &s->e.pace, now);
        s->rebuild = false;
        s->e.step += now;
        steps -= now;
        if (starting && tunes && s->e.step % HELIUM_TUNE_EVERY == 0)
            tune(s);
        if (starting && s->e.step == start) {
            if (s->shape.active < s->shape.walkers)
                multiply(s);
            s->rebuild = true; /* the copies need their sums of u */
        }
        helium_optimise(s);
    }
}

/* ---- measurements -----------------------------------------------------------------------------
 */

void helium_energy(struct helium_state *s, unsigned buffer, size_t row, bool psi) {
    const struct helium_launch *l = &s->launch;
    const size_t all = s->e.batch->count * s->shape.walkers;
    const size_t crews =
        s->e.batch->count * (((size_t)s->shape.walkers + l->energy_mates - 1) / l->energy_mates);
    const bool parts = l->energy_pieces > 1;
    if (l->triplet) {
        ERGO_LAUNCH(&s->e, HELIUM_ENERGY,
                    ergo_grid_groups(crews, (size_t)l->energy_group * l->energy_mates, 1),
                    BUFFER(HELIUM_POSITIONS), BUFFER(HELIUM_WALKERS), BUFFER(HELIUM_MEMBERS),
                    BUFFER(HELIUM_U_TABLES), BUFFER(HELIUM_E_TABLES), BUFFER(HELIUM_SITES),
                    U32(s->shape.walkers), U32(all), U32(row), U32(psi), BUFFER(HELIUM_TRIPLETS),
                    BUFFER(HELIUM_T_TABLES), BUFFER(HELIUM_FIELDS), BUFFER(buffer));
        return;
    }
    ERGO_LAUNCH(
        &s->e, HELIUM_ENERGY,
        ergo_grid_groups(crews, (size_t)l->energy_group * l->energy_mates, l->energy_pieces),
        BUFFER(HELIUM_POSITIONS), BUFFER(HELIUM_WALKERS), BUFFER(HELIUM_MEMBERS),
        BUFFER(HELIUM_U_TABLES), BUFFER(HELIUM_E_TABLES), BUFFER(HELIUM_SITES),
        U32(s->shape.walkers), U32(all), U32(parts ? 0 : row), U32(psi),
        BUFFER(parts ? HELIUM_PARTS : buffer));
    if (parts)
        ERGO_LAUNCH(&s->e, HELIUM_ENERGY_ADD, ergo_grid_items(all, 32, 1), BUFFER(HELIUM_PARTS),
                    U32(l->energy_pieces), U32(all), U32(row), BUFFER(buffer));
}

void helium_measure(void *state, size_t sample) {
    helium_energy(state, HELIUM_SUMS, sample, false);
}

/* After the measurement of energies, which has made G of all atoms. */
static void displace(struct helium_state *s, size_t curve) {
    static const struct helium_density_rows rows = {
        .kernel = HELIUM_DISPLACE,
        .places = HELIUM_POSITIONS,
        .members = HELIUM_MEMBERS,
        .u_tables = HELIUM_U_TABLES,
        .sites = HELIUM_SITES,
        .sums = HELIUM_RATIOS,
        .triplets = HELIUM_TRIPLETS,
        .t_tables = HELIUM_T_TABLES,
        .fields = HELIUM_FIELDS,
    };
    helium_density_displace(&s->e, &rows, &s->launch.density, s->shape.n, s->shape.walkers,
                            s->shape.structure_walkers, s->shape.points, s->launch.triplet, curve);
}

/* Read the positions of the first walkers of each member, as of this point in the queue. */
void helium_measure_curves(void *state, size_t curve) {
    struct helium_state *s = state;
    const size_t each = (size_t)s->shape.walker_bytes, bytes = s->shape.structure_walkers * each;
    for (size_t m = 0; m < s->e.batch->count; m++)
        ergo_engine_read_curve(&s->e, HELIUM_POSITIONS, m * s->shape.walkers * each, bytes,
                               HELIUM_PLACES, curve, m * bytes);
    if (s->shape.points)
        displace(s, curve);
}

/* ---- samples ----------------------------------------------------------------------------------
 */

enum { COLUMNS = 8 };

static const struct helium_sums *sums_of(const struct helium_state *s, unsigned slot, size_t sample,
                                         size_t member) {
    const struct helium_sums *sums = ergo_engine_host(&s->e, HELIUM_SUMS, slot, sample);
    return sums + member * s->shape.walkers;
}

/* The walkers that moved before a sample of the slot. */
static uint32_t moved(const struct helium_state *s, unsigned which, size_t sample) {
    const struct ergo_engine_slot *slot = &s->e.slots[which];
    return helium_active(&s->shape, slot->step + (sample + 1) * slot->every);
}

/* The fixed-point sums hold atoms up to a limit, and the kernel marks walkers with an atom
 * beyond it. Their sums are wrong. The error is the job's, and it names the key. */
enum ergo_status helium_refuse(struct ergo_context *ctx, const void *state, unsigned which,
                               const struct ergo_samples *samples) {
    static const char *const names[] = {"potential energy", "virial", "lap ln psi",
                                        "(grad ln psi)^2"};
    static const char *const keys[] = {"/system/potential", "/system/potential",
                                       "/system/wave_function", "/system/wave_function"};
    const struct helium_state *s = state;
    const struct ergo_engine_slot *slot = &s->e.slots[which];
    const size_t members = s->e.batch->count;
    for (size_t i = 0; i < samples->count * members; i++) {
        const size_t m = i % members, sample = i / members;
        const uint64_t marks =
            helium_marks_of(sums_of(s, which, sample, m), moved(s, which, sample));
        for (int k = 0; k < HELIUM_E_KINDS; k++)
            if (marks >> k & 1)
                return ergo_job_error(
                    ctx, keys[k],
                    "at macroupdate %llu the %s of an atom is beyond %.3g K, which is more than "
                    "the sums can hold: two atoms of a walker are too close, or the function has a "
                    "spike. No mean would be right; use a larger /system/b, a smoother function, "
                    "or another /system/start",
                    (unsigned long long)(slot->step + (sample + 1) * slot->every), names[k],
                    (double)s->members[m].limit[k]);
    }
    return ERGO_OK;
}

/* Columns of a sample: means over the walkers. The host adds them, because the order of a
 * floating-point sum must be fixed. */
static void convert_sample(const struct helium_state *s, const struct helium_model *model,
                           const struct helium_sums *sums, uint32_t walkers, double *columns) {
    const double n = s->shape.n;
    double sum[COLUMNS] = {0};
    for (uint32_t w = 0; w < walkers; w++) {
        const struct helium_energies e = helium_energies_of(model, &sums[w]);
        const double laplacian = e.laplacian - e.gradient, energy = e.potential + laplacian;
        const double ln_psi = (double)sums[w].ln_psi * (0.5 / ((double)(1 << HELIUM_U_BITS) * n));
        sum[0] += e.potential;
        sum[1] += laplacian;
        sum[2] += e.gradient;
        sum[3] += (double)sums[w].accepted * (1 / n);
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

bool helium_row(const void *state, unsigned slot, const struct ergo_row *row) {
    const struct helium_state *s = state;
    const uint32_t active = moved(s, slot, row->sample);
    const struct helium_sums *sums = sums_of(s, slot, row->sample, row->member);
    convert_sample(s, &s->models[row->member], sums, active, row->columns);
    return helium_marks_of(sums, active) == 0;
}

/* A curve of the density matrix, the mean of walkers. step: of the sample. */
static bool convert_density(const struct helium_state *s, size_t member, uint64_t step,
                            const int64_t *ratios, uint32_t walkers, size_t curve, double *out) {
    const struct ergo_point *point = s->e.batch->points[member];
    bool whole = true;
    memset(out, 0, helium_density_size(point, curve) * sizeof *out);
    for (uint32_t w = 0; w < walkers && whole; w++)
        whole =
            helium_density_add(point, &s->models[member], &s->members[member], w, step,
                               ratios + (size_t)w * 2 * s->shape.points, curve, 1.0 / walkers, out);
    return whole;
}

bool helium_curve_row(const void *state, unsigned slot, const struct ergo_row *row) {
    const struct helium_state *s = state;
    const struct ergo_engine_slot *block = &s->e.slots[slot];
    const struct helium_shape *h = &s->shape;
    const size_t m = row->member, sample = row->taken;
    bool whole = true;
    const struct ergo_point *point = s->e.batch->points[m];
    const uint32_t active = moved(s, slot, sample);
    const uint32_t walkers = active < h->structure_walkers ? active : h->structure_walkers;
    const int32_t *places = ergo_engine_host(&s->e, HELIUM_PLACES, slot, row->sample);
    places += m * 3 * h->structure_walkers * h->n;
    helium_gr(point, &s->models[m], places, walkers,
              row->curves[0] + row->number * helium_gr_size(point));
    helium_sk(point, &s->models[m], places, walkers,
              row->curves[1] + row->number * helium_sk_size(point));
    if (row->curves[HELIUM_MAP])
        helium_pair_map(point, &s->models[m], places, walkers,
                        row->curves[HELIUM_MAP] + row->number * helium_pair_map_size(point));
    for (size_t c = 0; c < HELIUM_SITE_CURVE_COUNT; c++)
        if (row->curves[HELIUM_OF_SITES + c])
            helium_site_curve(point, &s->models[m], c, places, walkers,
                              row->curves[HELIUM_OF_SITES + c] +
                                  row->number * helium_site_curve_size(point, c));
    const int64_t *ratios =
        h->points ? ergo_engine_host(&s->e, HELIUM_RATIOS, slot, row->sample) : NULL;
    for (size_t c = 0; c < HELIUM_DENSITY_CURVE_COUNT && ratios && whole; c++)
        whole = convert_density(s, m, block->step + (sample + 1) * block->every,
                                ratios + m * h->structure_walkers * 2 * h->points, walkers, c,
                                row->curves[HELIUM_OF_DENSITY + c] +
                                    row->number * helium_density_size(point, c));
    if (row->curves[2])
        convert_moments(s, m, sums_of(s, slot, sample, m), active,
                        row->curves[2] + row->number * 2 * HELIUM_B_POINTS);
    for (size_t c = HELIUM_OPTIMISATION; c < HELIUM_OF_SITES && s->optimisation.schedule.all; c++)
        helium_optimisation_curve(
            s, m, c, row->curves[c] + row->number * helium_optimisation_size(point, c));
    return whole;
}
