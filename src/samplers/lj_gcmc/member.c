/* Parameters of a chain from the values of a job. What enters the chain is computed with IEEE
 * basic operations alone, so that all hosts agree. */
#include <math.h>
#include <string.h>

#include "base/portable.h"
#include "lj_gcmc/core.h"
#include "samplers/lj_gcmc/lj.h"

/* Defaults of the checkerboard; the sampler's README has the measurements. */
enum { LJ_GAP_CELLS = 2, LJ_CELL_TRIALS = 32 };

bool lj_takes_density(const struct ergo_point *point) {
    const enum lj_ensemble *of = point->job->model->rule;
    return of && *of != LJ_MUVT;
}

bool lj_has_density(const struct ergo_point *point) {
    return lj_takes_density(point) && of_lj(point)->density.present;
}

int64_t lj_particles_of(const struct ergo_point *point) {
    const struct ergo_value *box = &of_particle(point)->box;
    double side[3];
    if (!lj_has_density(point) || !box->present)
        return ergo_int_or(&of_lj(point)->particles, 0);
    lj_sides_of(point, side);
    return (int64_t)fmin(floor(of_lj(point)->density.real * side[0] * side[1] * side[2] + 0.5),
                         1e12);
}

const char *lj_number_key(const struct ergo_point *point) {
    return lj_has_density(point) ? "/system/density" : "/system/particles";
}

void lj_sides_of(const struct ergo_point *point, double box[3]) {
    const struct ergo_value *value = &of_particle(point)->box;
    double side = value->present ? value->real : 1; /* 1: refused by lj_check */
    if (!value->present && lj_has_density(point))
        side = lj_cube_root((double)ergo_int_or(&of_lj(point)->particles, 0) /
                            of_lj(point)->density.real);
    for (int k = 0; k < 3; k++)
        box[k] = value->present && value->items ? value->reals[k] : side;
}

enum lj_ensemble lj_ensemble_of(const struct ergo_point *point) {
    const enum lj_ensemble *of = point->job->model->rule;
    return !of ? LJ_MUVT : lj_is_matrix(point) ? LJ_NVT : *of;
}

bool lj_has_volume(const struct ergo_point *point) {
    return lj_ensemble_of(point) == LJ_NPT || lj_ensemble_of(point) == LJ_GIBBS;
}

unsigned lj_boxes_of(const struct ergo_point *point) {
    return lj_ensemble_of(point) == LJ_GIBBS ? 2 : 1;
}

bool lj_is_matrix(const struct ergo_point *point) {
    const enum lj_ensemble *of = point->job->model->rule;
    return of && *of == LJ_MUVT && ergo_says(of_lj(point)->run_method, "transition-matrix");
}

bool lj_has_displacements(const struct ergo_point *point) {
    return lj_ensemble_of(point) != LJ_MUVT || of_lj(point)->moves_displacement > 0;
}

uint64_t lj_curve_every(const struct ergo_point *point) {
    return lj_has_volume(point) ? 0 : (uint64_t)of_lj(point)->curve_every;
}

uint32_t lj_gr_bins(const struct ergo_point *point) {
    return lj_has_volume(point) ? 1 : (uint32_t)of_lj(point)->gr_bins;
}

uint32_t lj_ghosts_of(const struct ergo_point *point) {
    if (lj_ensemble_of(point) == LJ_MUVT)
        return 0;
    const struct ergo_value *given = &of_lj(point)->insertions;
    if (!given->present)
        return lj_has_species(point) ? 0 : 64;
    return (uint32_t)given->integer;
}

static double activity_of(const struct ergo_point *point, double temperature) {
    if (of_lj(point)->activity.present)
        return of_lj(point)->activity.real;
    if (of_lj(point)->beta_mu.present)
        return ergo_portable_exp(of_lj(point)->beta_mu.real);
    if (of_lj(point)->mu.present) {
        const double lambda = ergo_real_or(&of_lj(point)->lambda, 1);
        return ergo_portable_exp(of_lj(point)->mu.real / temperature) / (lambda * lambda * lambda);
    }
    return 0;
}

struct lj_system lj_system_of(const struct ergo_point *point) {
    struct lj_system s = {
        .temperature = point->parameters->temperature,
        .epsilon = of_lj(point)->epsilon,
        .sigma = of_lj(point)->sigma,
        .cutoff = of_lj(point)->cutoff.real,
        .max_displacement = ergo_real_or(&of_particle(point)->max_displacement, 0),
        .shifted = of_lj(point)->shifted,
        .tail = of_lj(point)->tail_correction,
        .ensemble = lj_ensemble_of(point),
    };
    lj_slit_of(point, &s.slit);
    lj_sides_of(point, s.box);
    s.volume = s.box[0] * s.box[1] * s.box[2];
    lj_species_of(point, &s);
    lj_field_of(point, &s);
    lj_potential_of(point, &s);
    if (s.ensemble == LJ_NPT)
        s.pressure = of_particle(point)->pressure;
    if (lj_is_matrix(point))
        s.activity = activity_of(point, s.temperature);
    if (s.ensemble != LJ_MUVT)
        return s;
    s.activity = activity_of(point, s.temperature);
    if (of_lj(point)->decomposition.present) {
        s.period = LJ_ACTIVE + (uint32_t)ergo_int_or(&of_lj(point)->gap_cells, LJ_GAP_CELLS);
        s.trials = (uint32_t)ergo_int_or(&of_lj(point)->cell_trials, LJ_CELL_TRIALS);
    }
    return s;
}

double lj_cube_root(double x) {
    double y = x < 1 ? 1 : x;
    for (int i = 0; i < 200; i++)
        y -= (y * y * y - x) / (3 * y * y);
    return y;
}

struct lj_system lj_box_system(const struct ergo_point *point, size_t box) {
    struct lj_system s = lj_system_of(point);
    if (box == 0)
        return s;
    const double factor =
        lj_cube_root(ergo_real_or(&of_lj(point)->second_volume, s.volume) / s.volume);
    for (int k = 0; k < 3; k++)
        s.box[k] *= factor;
    s.volume = s.box[0] * s.box[1] * s.box[2];
    return s;
}

bool lj_has_fixed(const struct ergo_point *point, int64_t n) {
    const enum lj_ensemble ensemble = lj_ensemble_of(point);
    return (ensemble == LJ_NVT || ensemble == LJ_NPT) && !lj_start_file(point) &&
           lj_particles_of(point) == n;
}

uint32_t lj_box_particles(const struct ergo_point *point, size_t box) {
    return (uint32_t)(box ? of_lj(point)->second_particles : lj_particles_of(point));
}

bool lj_is_open(const struct ergo_point *point) {
    return lj_ensemble_of(point) == LJ_MUVT && of_lj(point)->moves_insertion > 0;
}

double lj_widest_core(const struct lj_state *s) {
    double core2 = 0;
    for (size_t m = 0; m < lj_chains(s); m++)
        core2 = fmax(core2, (double)s->members[m].core2);
    return sqrt(core2);
}

static double shortest(const struct lj_system *s) {
    return fmin(s->box[0], fmin(s->box[1], s->box[2]));
}

uint32_t lj_step_size(const struct lj_system *s) {
    return (uint32_t)fmin(s->max_displacement / shortest(s) * 0x1p32, 0x1p31);
}

void lj_member_fill(const struct ergo_point *point, size_t box, const struct ergo_radial *pair,
                    struct lj_member *m) {
    struct lj_system s = lj_box_system(point, box);
    s.pair = pair;
    const double cutoff = s.cutoff / s.sigma;
    memset(m, 0, sizeof *m);
    m->key0 = (uint32_t)point->stream;
    m->key1 = (uint32_t)(point->stream >> 32);
    m->box = (uint32_t)box;
    for (int k = 0; k < 3; k++) {
        m->scale[k] = (float)(s.box[k] / s.sigma * 0x1p-32);
        const double ratio = floor(shortest(&s) / s.box[k] * 0x1p32);
        m->ratio[k] = ratio >= 0x1p32 ? 0 : (uint32_t)ratio;
    }
    m->cutoff2 = (float)(cutoff * cutoff);
    const double shell = lj_contact_width(&s) / s.sigma;
    for (int k = 0; k < 2; k++)
        m->contact2[k] = (float)((cutoff - (k + 1) * shell) * (cutoff - (k + 1) * shell));
    m->core2 = (float)lj_core2(&s);
    m->beta4 = (float)(s.unit / s.temperature * 0x1p-30);
    m->field = s.slit.width > 0 ? (float)(s.slit.unit / s.unit * 0x1p30) : 0;
    m->voxels = lj_has_voxels(point) ? (float)(of_lj(point)->field_unit / s.unit * 0x1p30) : 0;
    m->exponents = s.mie ? s.repulsion | s.attraction << 8 : 0;
    if (s.shifted)
        m->shift = (int64_t)floor(lj_pair_at_cutoff(&s) * 0x1p30 + 0.5);
    m->tail = s.tail ? (float)(lj_tail_coefficient(&s) / s.volume / s.temperature) : 0;
    m->ideal = s.epsilon == 0;
    m->local_moves = s.max_displacement > 0;
    m->tune_until = (uint64_t)of_lj(point)->tune_steps;

    const bool moves = s.ensemble == LJ_MUVT;
    const double d = moves ? of_lj(point)->moves_displacement : 1;
    const double i = moves ? of_lj(point)->moves_insertion : 0;
    const double e = moves ? of_lj(point)->moves_deletion : 0;
    const double all = d + i + e;
    m->displacement = (uint32_t)floor(d / all * 0x1p31 + 0.5);
    m->insertion = (uint32_t)floor((d + i) / all * 0x1p31 + 0.5);
    if (e == 0)
        m->insertion = 0x80000000u; /* so that rounding leaves no deletions */
    if (i == 0)
        m->insertion = m->displacement;
    /* The shares after rounding: if insertions and deletions differ, the acceptance corrects for
     * it. */
    const double insertions = (double)m->insertion - (double)m->displacement;
    const double deletions = 0x1p31 - (double)m->insertion;
    uint32_t blocks[3];
    const double share = (double)LJ_ACTIVE / s.period, part = share * share * share;
    const double volume =
        s.period ? s.volume / (double)lj_board_blocks(&s, blocks) * part : s.volume;
    if (s.ensemble != LJ_MUVT)
        m->zv = (float)(s.activity * s.volume);
    else
        m->zv = insertions > 0 ? (float)(s.activity * volume * (deletions / insertions)) : 0;
}

/* Where the lattice is: the box, or what is free of a slit. */
static void lattice_room(const struct lj_system *s, double low[3], double side[3]) {
    double range[2];
    for (int k = 0; k < 3; k++) {
        low[k] = 0;
        side[k] = s->box[k];
    }
    if (s->slit.width > 0) {
        lj_slit_free(s, range);
        low[2] = range[0];
        side[2] = range[1] - range[0];
    }
}

void lj_lattice_sites(const struct lj_system *s, uint32_t count, uint32_t n[3], double spacing[3]) {
    double low[3], side[3];
    lattice_room(s, low, side);
    n[0] = n[1] = n[2] = 1;
    while ((double)n[0] * n[1] * n[2] < count) { /* refine the axis with the widest spacing */
        int widest = 0;
        for (int k = 1; k < 3; k++)
            if (side[k] / n[k] > side[widest] / n[widest])
                widest = k;
        n[widest]++;
    }
    for (int k = 0; k < 3; k++)
        spacing[k] = side[k] / n[k];
}

void lj_lattice(const struct lj_system *s, uint32_t count, uint32_t *words) {
    uint32_t n[3];
    double spacing[3], low[3], side[3];
    lattice_room(s, low, side);
    lj_lattice_sites(s, count, n, spacing);
    const double sites = (double)n[0] * n[1] * n[2];
    for (uint32_t i = 0; i < count; i++) {
        /* spread empty sites over the lattice */
        const uint64_t site = (uint64_t)floor((double)i * (sites / count));
        const uint64_t at[3] = {site % n[0], site / n[0] % n[1], site / n[0] / n[1]};
        uint32_t *to = words + 3 * (size_t)i;
        for (int k = 0; k < 3; k++)
            to[k] = (uint32_t)(((2 * at[k] + 1) << 31) / n[k]);
        if (s->slit.width > 0)
            to[2] = (uint32_t)floor((low[2] + side[2] * ((double)to[2] * 0x1p-32)) / s->box[2] *
                                    0x1p32);
    }
}
