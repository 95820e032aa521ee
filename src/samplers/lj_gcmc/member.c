/* Parameters of a chain from the values of a job. What enters the chain is computed with IEEE
 * basic operations alone, so that all hosts agree. */
#include <math.h>
#include <string.h>

#include "base/portable.h"
#include "lj_gcmc/core.h"
#include "samplers/lj_gcmc/lj.h"

static const double PI = 3.14159265358979323846;

/* Defaults of the checkerboard; the sampler's README has the measurements. */
enum { LJ_GAP_CELLS = 2, LJ_CELL_TRIALS = 32 };

static double given(const struct ergo_point *point, const char *pointer, double otherwise) {
    const struct ergo_value *value = ergo_point_value(point, pointer);
    return value->present ? value->real : otherwise;
}

static int64_t given_int(const struct ergo_point *point, const char *pointer, int64_t otherwise) {
    return ergo_point_value(point, pointer)->present ? ergo_point_int(point, pointer) : otherwise;
}

enum lj_ensemble lj_ensemble_of(const struct ergo_point *point) {
    const char *name = point->job->model->name; /* lj-gcmc has one model, without a name */
    if (!name)
        return LJ_MUVT;
    return strcmp(name, "npt") == 0                          ? LJ_NPT
           : strcmp(name, "gibbs") == 0                      ? LJ_GIBBS
           : strcmp(name, "nvt") == 0 || lj_is_matrix(point) ? LJ_NVT
                                                             : LJ_MUVT;
}

bool lj_has_volume(const struct ergo_point *point) {
    return lj_ensemble_of(point) == LJ_NPT || lj_ensemble_of(point) == LJ_GIBBS;
}

unsigned lj_boxes_of(const struct ergo_point *point) {
    return lj_ensemble_of(point) == LJ_GIBBS ? 2 : 1;
}

bool lj_is_matrix(const struct ergo_point *point) {
    const char *name = point->job->model->name;
    return name && strcmp(name, "muvt") == 0 &&
           strcmp(ergo_point_text(point, "/run/method"), "transition-matrix") == 0;
}

bool lj_has_displacements(const struct ergo_point *point) {
    return lj_ensemble_of(point) != LJ_MUVT ||
           ergo_point_real(point, "/system/moves/displacement") > 0;
}

uint64_t lj_curve_every(const struct ergo_point *point) {
    return lj_has_volume(point) ? 0 : (uint64_t)ergo_point_int(point, "/run/curve_every");
}

uint32_t lj_gr_bins(const struct ergo_point *point) {
    return lj_has_volume(point) ? 1 : (uint32_t)ergo_point_int(point, "/run/gr_bins");
}

uint32_t lj_ghosts_of(const struct ergo_point *point) {
    return lj_ensemble_of(point) == LJ_MUVT ? 0
                                            : (uint32_t)ergo_point_int(point, "/run/insertions");
}

static double activity_of(const struct ergo_point *point, double temperature) {
    if (ergo_point_value(point, "/system/activity")->present)
        return ergo_point_real(point, "/system/activity");
    if (ergo_point_value(point, "/system/beta_mu")->present)
        return ergo_portable_exp(ergo_point_real(point, "/system/beta_mu"));
    if (ergo_point_value(point, "/system/mu")->present) {
        const double lambda = given(point, "/system/lambda", 1);
        return ergo_portable_exp(ergo_point_real(point, "/system/mu") / temperature) /
               (lambda * lambda * lambda);
    }
    return 0;
}

struct lj_system lj_system_of(const struct ergo_point *point) {
    struct lj_system s = {
        .temperature = ergo_point_real(point, "/system/temperature"),
        .epsilon = ergo_point_real(point, "/system/epsilon"),
        .sigma = ergo_point_real(point, "/system/sigma"),
        .cutoff = ergo_point_real(point, "/system/cutoff"),
        .max_displacement = given(point, "/system/max_displacement", 0),
        .shifted = ergo_point_bool(point, "/system/shifted"),
        .tail = ergo_point_bool(point, "/system/tail_correction"),
        .ensemble = lj_ensemble_of(point),
    };
    const struct ergo_value *box = ergo_point_value(point, "/system/box");
    for (int k = 0; k < 3; k++)
        s.box[k] = box->reals[k];
    s.volume = s.box[0] * s.box[1] * s.box[2];
    if (s.ensemble == LJ_NPT)
        s.pressure = ergo_point_real(point, "/system/pressure");
    if (lj_is_matrix(point))
        s.activity = activity_of(point, s.temperature);
    if (s.ensemble != LJ_MUVT)
        return s;
    s.activity = activity_of(point, s.temperature);
    if (ergo_point_value(point, "/system/decomposition")->present) {
        s.period = LJ_ACTIVE + (uint32_t)given_int(point, "/system/gap_cells", LJ_GAP_CELLS);
        s.trials = (uint32_t)given_int(point, "/system/cell_trials", LJ_CELL_TRIALS);
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
    const double factor = lj_cube_root(given(point, "/system/second_volume", s.volume) / s.volume);
    for (int k = 0; k < 3; k++)
        s.box[k] *= factor;
    s.volume = s.box[0] * s.box[1] * s.box[2];
    return s;
}

uint32_t lj_box_particles(const struct ergo_point *point, size_t box) {
    const char *const key = box ? "/system/second_particles" : "/system/particles";
    return (uint32_t)ergo_point_int(point, key);
}

bool lj_is_open(const struct ergo_point *point) {
    return lj_ensemble_of(point) == LJ_MUVT &&
           ergo_point_real(point, "/system/moves/insertion") > 0;
}

/* A core is where u(r) > 100 T. With s6 = (sigma/r)^6: 4 epsilon (s6^2 - s6) = 100 T, so s6 = (1
 * + sqrt(1 + 100 T / epsilon)) / 2 and r^2 = s6^(-1/3). */
double lj_core2(double epsilon, double temperature, double cutoff) {
    if (epsilon == 0)
        return 0;
    const double core2 = 1 / lj_cube_root((1 + sqrt(1 + 100 * temperature / epsilon)) / 2);
    return fmin(core2, cutoff * cutoff);
}

double lj_widest_core(const struct lj_state *s) {
    double core2 = 0;
    for (size_t m = 0; m < lj_chains(s); m++)
        core2 = fmax(core2, (double)s->members[m].core2);
    return sqrt(core2);
}

/* U_tail = coefficient N^2 / V, the energy of a uniform fluid beyond the cutoff. */
static double tail_coefficient(const struct lj_system *s) {
    const double r3 = s->sigma / s->cutoff * (s->sigma / s->cutoff) * (s->sigma / s->cutoff);
    return 8 * PI / 3 * s->epsilon * s->sigma * s->sigma * s->sigma * (r3 * r3 * r3 / 3 - r3);
}

double lj_tail_energy(const struct lj_system *s, double n) {
    return s->tail ? tail_coefficient(s) * n * n / s->volume : 0;
}

/* Small compared with the distances over which g(r) changes. */
double lj_contact_width(const struct lj_system *s) {
    return fmin(0.02 * s->cutoff, 0.05 * s->sigma);
}

static double pair_energy(const struct lj_system *s, double r) {
    const double s3 = s->sigma / r * (s->sigma / r) * (s->sigma / r), s6 = s3 * s3;
    return 4 * s->epsilon * (s6 * s6 - s6);
}

/* Integral of 4 pi r^2 exp(-(u(r) - u(r_c))/T) over the shell inner < r < outer, by Simpson's
 * rule. */
static double shell_weight(const struct lj_system *s, double inner, double outer) {
    enum { INTERVALS = 32 };
    const double step = (outer - inner) / INTERVALS, at_cutoff = pair_energy(s, s->cutoff);
    double sum = 0;
    for (int i = 0; i <= INTERVALS; i++) {
        const double r = inner + i * step;
        const double factor = i == 0 || i == INTERVALS ? 1 : i % 2 ? 4 : 2;
        sum += factor * r * r * exp((at_cutoff - pair_energy(s, r)) / s->temperature);
    }
    return 4 * PI * sum * step / 3;
}

/*
 * A truncated potential jumps at r_c from u_c to 0. This is a force at one distance, which a sum of
 * r f does not contain. The pair density rho^2 g(r) is y(r) exp(-u(r)/T), where y is continuous at
 * r_c. So the jump adds (2 pi/3) r_c^3 y(r_c) T (1 - exp(-u_c/T)) to the pressure, which is
 * W_imp/(3V) with
 *     W_imp = 2 pi r_c^3 V T (exp(u_c/T) - 1) Y,  Y = y(r_c) exp(-u_c/T) = rho^2 g just inside.
 *
 * Two shells of width d inside r_c hold c_1 (outer) and c_2 (inner) pairs. With w_k from
 * shell_weight, Y_k = 2 c_k / (V w_k) is Y in the middle of shell k up to terms of order d^2. A
 * line through both gives Y = (3 Y_1 - Y_2)/2. Its relative error is (3/8) d^2 y''/y, some 0.1% in
 * a liquid.
 */
struct lj_jump lj_jump_of(const struct lj_system *s) {
    struct lj_jump jump = {0, 0};
    const double d = lj_contact_width(s), rc = s->cutoff;
    if (s->shifted || s->epsilon == 0 || rc < s->sigma)
        return jump;
    const double w1 = shell_weight(s, rc - d, rc), w2 = shell_weight(s, rc - 2 * d, rc - d);
    const double factor =
        4 * PI * rc * rc * rc * s->temperature * expm1(pair_energy(s, rc) / s->temperature);
    const bool both = w2 > 1e-3 * w1; /* with a steep core the inner shell may have no pairs */
    jump.outer = factor * (both ? 1.5 : 1) / w1;
    jump.inner = both ? -0.5 * factor / w2 : 0;
    return jump;
}

double lj_impulsive_of(const struct lj_jump *jump, int64_t contacts) {
    const uint64_t both = (uint64_t)contacts;
    return jump->outer * (double)(both & 0xffffffffu) + jump->inner * (double)(both >> 32);
}

double lj_energy_of(double epsilon, int64_t fixed) {
    return 4 * epsilon * (double)fixed * 0x1p-30;
}

double lj_virial_of(double epsilon, int64_t fixed) {
    return 24 * epsilon * (double)fixed * 0x1p-30;
}

static double shortest(const struct lj_system *s) {
    return fmin(s->box[0], fmin(s->box[1], s->box[2]));
}

uint32_t lj_step_size(const struct lj_system *s) {
    return (uint32_t)fmin(s->max_displacement / shortest(s) * 0x1p32, 0x1p31);
}

void lj_member_fill(const struct ergo_point *point, size_t box, struct lj_member *m) {
    const struct lj_system s = lj_box_system(point, box);
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
    m->core2 = (float)lj_core2(s.epsilon, s.temperature, cutoff);
    m->beta4 = (float)(4 * s.epsilon / s.temperature * 0x1p-30);
    if (s.shifted) {
        const double s3 = 1 / (cutoff * cutoff * cutoff), s6 = s3 * s3;
        m->shift = (int64_t)floor((s6 * s6 - s6) * 0x1p30 + 0.5);
    }
    m->tail = s.tail ? (float)(tail_coefficient(&s) / s.volume / s.temperature) : 0;
    m->ideal = s.epsilon == 0;
    m->local_moves = s.max_displacement > 0;
    m->tune_until = (uint64_t)ergo_point_int(point, "/system/tune_steps");

    const bool moves = s.ensemble == LJ_MUVT;
    const double d = moves ? ergo_point_real(point, "/system/moves/displacement") : 1;
    const double i = moves ? ergo_point_real(point, "/system/moves/insertion") : 0;
    const double e = moves ? ergo_point_real(point, "/system/moves/deletion") : 0;
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

void lj_lattice_sites(const struct lj_system *s, uint32_t count, uint32_t n[3]) {
    n[0] = n[1] = n[2] = 1;
    while ((double)n[0] * n[1] * n[2] < count) { /* refine the axis with the widest spacing */
        int widest = 0;
        for (int k = 1; k < 3; k++)
            if (s->box[k] / n[k] > s->box[widest] / n[widest])
                widest = k;
        n[widest]++;
    }
}

void lj_lattice(const struct lj_system *s, uint32_t count, uint32_t *words) {
    uint32_t n[3];
    lj_lattice_sites(s, count, n);
    const double sites = (double)n[0] * n[1] * n[2];
    for (uint32_t i = 0; i < count; i++) {
        /* spread empty sites over the lattice */
        const uint64_t site = (uint64_t)floor((double)i * (sites / count));
        const uint64_t at[3] = {site % n[0], site / n[0] % n[1], site / n[0] / n[1]};
        for (int k = 0; k < 3; k++)
            words[3 * (size_t)i + (size_t)k] = (uint32_t)(((2 * at[k] + 1) << 31) / n[k]);
    }
}
