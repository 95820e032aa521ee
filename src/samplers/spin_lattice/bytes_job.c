/* Models with a byte per spin: what a job tells without a device. */
#include "samplers/spin_lattice/bytes.h"

#include <math.h>
#include <string.h>

#include "base/portable.h"
#include "samplers/spin_lattice/exact.h"
#include "samplers/spin_lattice/spin_glass/glass.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/two_times.h"

_Static_assert(sizeof(struct bytes_member) == BYTES_MEMBER_BYTES, "bytes_member has no padding");

static bool is_potts(const struct ergo_point *point) {
    return of_lattice(point)->q > 0;
}

static bool is_blume_capel(const struct ergo_point *point) {
    const enum bytes_kind *kind = point->job->model->rule;
    return kind && *kind == BYTES_BLUME_CAPEL;
}

static bool is_heat_bath(const struct ergo_point *point) {
    return !is_blume_capel(point) && ergo_says(of_lattice(point)->dynamics, "heat-bath");
}

static bool has_bonds(const struct ergo_point *point) {
    return of_lattice(point)->disorder.present || of_lattice(point)->disorder_file.present;
}

struct bytes_shape bytes_shape_of(const struct ergo_point *point) {
    struct bytes_shape s = {.d = (uint32_t)of_lattice(point)->size.items, .q = 2};
    s.sites = lattice_sides(point, s.l);
    if (is_potts(point)) {
        s.q = (uint32_t)of_lattice(point)->q;
        s.kind = is_heat_bath(point) ? BYTES_POTTS_HEAT : BYTES_POTTS;
    }
    if (is_blume_capel(point)) {
        s.q = 3;
        s.kind = BYTES_BLUME_CAPEL;
    }
    const bool random =
        of_lattice(point)->random_field.present || of_lattice(point)->field_file.present;
    s.bonds = has_bonds(point);
    if (s.kind == BYTES_ISING)
        s.general = s.bonds || of_lattice(point)->field_file.present ||
                    ergo_says(of_lattice(point)->field_distribution.text, "gaussian");
    else if (is_potts(point)) /* a field of 0 that is given may be one of a scan */
        s.general = s.bonds || random || of_lattice(point)->field.given;
    else
        s.general = s.bonds || random;
    s.fields = !s.general ? 0 : !is_potts(point) ? 1 : random ? s.q : 0;
    s.heat_bath = is_heat_bath(point);
    s.states = s.kind == BYTES_ISING ? 4 : s.q;
    s.counts = 3 + s.states + (s.kind == BYTES_ISING ? 1 : 0);
    s.numbers = s.counts + (s.general ? 2 : 0);
    s.pitch = (s.l[0] / 2 + 15) / 16 * 16;
    s.all_rows = (uint64_t)s.l[1] * s.l[2];
    s.colour = s.all_rows * s.pitch;
    return s;
}

struct bytes_shape bytes_shape_of_layers(const struct bytes_shape *whole, uint64_t first,
                                         uint64_t layers) {
    struct bytes_shape s = *whole;
    s.l[s.d - 1] = (uint32_t)layers;
    s.sites = (uint64_t)s.l[0] * s.l[1] * s.l[2];
    s.colour = (uint64_t)s.l[1] * s.l[2] * s.pitch;
    s.first_row = first % bytes_layers(whole) * bytes_layer_rows(whole);
    return s;
}

/* Slabs of 2^24 sites take an H100 80 us a sweep and more, beside which what ranks exchange is
 * little; smaller lattices have faster kernels on one device. */
bool bytes_pays_to_cut(const struct ergo_point *point, size_t ranks) {
    const struct bytes_shape s = bytes_shape_of(point);
    return !model_has_ladder(point) && !timed_is(point) && s.d > 1 &&
           (double)s.sites >= 0x1p24 * (double)ranks;
}

struct bytes_physics bytes_physics_of(const struct ergo_point *point) {
    struct bytes_physics p = {.t = point->parameters->temperature};
    if (is_blume_capel(point)) {
        p.crystal = of_lattice(point)->crystal_field;
        p.j[0] = p.j[1] = p.j[2] = of_lattice(point)->coupling.real;
    } else {
        const struct ergo_value *j = &of_lattice(point)->couplings;
        for (int k = 0; k < 3; k++)
            p.j[k] = !j->present    ? of_lattice(point)->coupling.real
                     : k < j->items ? j->reals[k]
                                    : 0;
    }
    const struct ergo_value *h = &of_lattice(point)->random_field;
    p.b = of_lattice(point)->field.real;
    p.h = h->present ? h->real : of_lattice(point)->field_file.present;
    return p;
}

uint32_t bytes_staggered_axes(const struct ergo_point *point) {
    const struct ergo_value *size = &of_lattice(point)->size;
    const struct ergo_value *j = &of_lattice(point)->couplings;
    uint32_t axes = 0;
    for (int k = 0; k < size->items; k++)
        if ((j->present ? k < j->items ? j->reals[k] : 0 : of_lattice(point)->coupling.real) < 0)
            axes |= 1u << k;
    return axes;
}

/* cl/spin_lattice/bytes.h describes the order of the tables. */
void bytes_member_fill(const struct ergo_point *point, struct bytes_member *member) {
    const struct bytes_shape s = bytes_shape_of(point);
    const struct bytes_physics p = bytes_physics_of(point);
    const bool heat_bath = is_heat_bath(point);
    const uint64_t field = model_field_key(point, true);
    memset(member, 0, sizeof *member);
    member->key0 = (uint32_t)point->stream;
    member->key1 = (uint32_t)(point->stream >> 32);
    member->field0 = (uint32_t)field;
    member->field1 = (uint32_t)(field >> 32);
    member->staggered = s.kind == BYTES_BLUME_CAPEL ? 0 : bytes_staggered_axes(point);
    for (int i = 0; i < 108 && s.kind == BYTES_ISING; i++) {
        const int up[3] = {i % 3, i / 3 % 3, i / 9 % 3};
        double force = p.b + (i / 54 ? p.h : -p.h);
        for (uint32_t k = 0; k < s.d && k < 3; k++)
            force += p.j[k] * (2.0 * up[k] - 2.0);
        const double cost = 2 * (i / 27 % 2 ? force : -force) / p.t; /* of the flip */
        const double weight = ergo_portable_exp(-cost);
        member->table[i] = lattice_chance(heat_bath   ? 1 / (1 + 1 / weight)
                                          : cost <= 0 ? 1
                                                      : weight);
    }
    for (int i = 0; i < 125 && s.kind == BYTES_POTTS; i++) {
        const int less[3] = {i % 5 - 2, i / 5 % 5 - 2, i / 25 - 2};
        double cost = 0;
        for (uint32_t k = 0; k < s.d && k < 3; k++)
            cost += p.j[k] * less[k] / p.t;
        member->table[i] = lattice_chance(cost <= 0 ? 1 : ergo_portable_exp(-cost));
    }
    for (int i = 0; i < 117 && s.kind == BYTES_BLUME_CAPEL; i++) {
        const int own = 1 - i / 39, other = 1 - i / 13 % 3, around = 2 * (int)s.d - i % 13;
        const double cost =
            (own - other) * (p.j[0] * around + p.b) + (other * other - own * own) * p.crystal;
        member->table[i] = lattice_chance(cost <= 0 ? 1 : ergo_portable_exp(-cost / p.t));
    }
    double most = 0; /* the largest exponent of a weight */
    for (uint32_t k = 0; k < s.d; k++)
        most += p.j[k] > 0 ? 2 * p.j[k] / p.t : 0;
    for (int i = 0; i < 27 && s.kind == BYTES_POTTS_HEAT; i++) {
        const int same[3] = {i % 3, i / 3 % 3, i / 9};
        double exponent = -most;
        for (uint32_t k = 0; k < s.d && k < 3; k++)
            exponent += p.j[k] * same[k] / p.t;
        /* never zero, because the kernel recognises the neighbours' states by their weights */
        const uint64_t weight = (uint64_t)(ergo_portable_exp(exponent) * 0x1p40 + 1);
        member->table[i] = (uint32_t)(weight >> 32);
        member->low[i] = (uint32_t)weight;
    }
}

enum ergo_status bytes_check_disorder(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct bytes_shape s = bytes_shape_of(point);
    const bool file = of_lattice(point)->disorder_file.present;
    const double numbers = s.fields + (s.bonds ? 2.0 * s.d : 0); /* of a site */
    enum ergo_status status = ERGO_OK;
    if (file && of_lattice(point)->disorder.present)
        status = ergo_job_error(ctx, "/system/disorder", "given together with disorder_file");
    if (s.bonds && s.sites > 1 << 30)
        status = ergo_job_error(ctx, "/system/size", "more than 2^30 sites with random couplings");
    if (numbers > 6 && (double)s.sites * numbers > 0x1p36)
        status = ergo_job_error(ctx, "/system/size",
                                "%.0f fields and couplings for each of %.3g sites: more than 2^36",
                                numbers, (double)s.sites);
    if (is_potts(point) && s.general && s.heat_bath)
        status = ergo_job_error(ctx, "/system/dynamics",
                                "heat-bath has neither fields nor random couplings in model "
                                "potts: use \"metropolis\"");
    if (status == ERGO_OK && of_lattice(point)->field_file.present)
        status = bytes_file_check(ctx, point);
    if (status == ERGO_OK && file)
        status = bytes_bonds_check(ctx, point);
    return status;
}

enum ergo_status bytes_check(struct ergo_context *ctx, const struct ergo_point *point) {
    enum ergo_status status = lattice_check_size(ctx, point, 0x1p31);
    const enum ergo_status timed = timed_check(ctx, point);
    status = timed != ERGO_OK ? timed : status;
    const struct ergo_value *size = &of_lattice(point)->size;
    const struct ergo_value *j = &of_lattice(point)->couplings;
    if (j->present && j->items != size->items)
        status = ergo_job_error(ctx, "/system/couplings", "%d numbers for %d dimensions", j->items,
                                size->items);
    if (status == ERGO_OK)
        status = model_dynamics_check(ctx, point, model_metropolis_samples(point));
    if (status == ERGO_OK)
        status = bytes_check_disorder(ctx, point);
    if (status == ERGO_OK)
        status = ergo_tempered_check(ctx, point);
    const struct bytes_physics p = bytes_physics_of(point);
    double cost = 0;
    for (uint32_t k = 0; k < (uint32_t)size->items; k++)
        cost += 4 * fabs(p.j[k]);
    /* half of the force on a spin among equal ones */
    const double force = p.j[0] + p.j[1] + p.j[2];
    const bool two = bytes_shape_of(point).q == 2 && !has_bonds(point);
    if (status == ERGO_OK && two && force == 0 && p.b == 0 && p.h == 0 && !is_heat_bath(point) &&
        !ergo_says(of_lattice(point)->start, "random"))
        status = ergo_job_error(
            ctx, "/system/start",
            "\"%s\", metropolis and couplings whose sum is 0: every flip would "
            "cost nothing, the whole lattice would flip, and the chain would not sample; start "
            "from \"random\", or use dynamics \"heat-bath\"",
            of_lattice(point)->start);
    cost += 2 * fabs(p.b) + 2 * fabs(p.h);
    if (!(cost >= 1e-3 * p.t) && !is_heat_bath(point))
        status = ergo_job_error(ctx, "/system/temperature",
                                "%g is more than 1000 times the largest energy of a flip: "
                                "Metropolis would accept nearly every one; use dynamics "
                                "\"heat-bath\"",
                                p.t);
    return status;
}

/* ---- curves ---------------------------------------------------------------------------------- */

uint32_t bytes_reach(const struct ergo_point *point) {
    const struct bytes_shape s = bytes_shape_of(point);
    if (s.kind == BYTES_BLUME_CAPEL) /* blume-capel has no curves */
        return 0;
    int64_t reach = of_lattice(point)->correlation_max;
    for (uint32_t k = 0; k < s.d; k++)
        reach = reach < s.l[k] / 2 ? reach : s.l[k] / 2;
    return model_correlation_every(point) ? (uint32_t)reach : 0;
}

bool bytes_has_structure(const struct ergo_point *point) {
    const struct bytes_shape s = bytes_shape_of(point);
    return s.kind != BYTES_BLUME_CAPEL && s.d > 1 && s.l[s.d - 1] * (uint64_t)s.q <= 1 << 17 &&
           model_correlation_every(point);
}

size_t bytes_curve_size(const struct ergo_point *point, size_t c) {
    const struct bytes_shape s = bytes_shape_of(point);
    const uint32_t reach = bytes_reach(point);
    if (c == CURVE_STRUCTURE)
        return bytes_has_structure(point) ? 2 : 0;
    if (c == CURVE_TWO_TIMES)
        return timed_size(point);
    const bool measured = c <= CURVE_CORRELATION_X || (c == CURVE_CORRELATION_Y && s.d > 1) ||
                          (c == CURVE_CORRELATION_Z && s.d > 2);
    return reach && measured ? reach + 1 : 0;
}

size_t bytes_tempered_curve_size(const struct ergo_point *point, size_t c) {
    size_t size;
    return ergo_tempered_curve_size(point, c, &size) ? size : bytes_curve_size(point, c);
}

void bytes_curve_x(const struct ergo_point *point, size_t c, double *x) {
    const struct bytes_shape s = bytes_shape_of(point);
    if (ergo_tempered_curve_x(point, c, x) || (c == CURVE_TWO_TIMES && timed_x(point, x)))
        return;
    for (size_t i = 0; i < bytes_curve_size(point, c); i++)
        x[i] = c == CURVE_STRUCTURE ? acos(-1) * ((bytes_staggered_axes(point) >> (s.d - 1) & 1) +
                                                  (double)i * 2 / s.l[s.d - 1])
                                    : (double)i;
}

void bytes_wave(const struct bytes_shape *s, double *wave) {
    const uint32_t length = s->l[s->d - 1];
    for (uint32_t p = 0; p < length; p++) {
        const double phase = 2 * acos(-1) * p / length;
        wave[2 * (size_t)p] = cos(phase);
        wave[2 * (size_t)p + 1] = sin(phase);
    }
}

/* The sum over states of |sum over sites of exp(i k r) (delta - 1/q)|^2 q / (q - 1) / N. With
 * alternating signs the terms 1/q cancel. */
void bytes_structure(const struct bytes_shape *s, bool staggered, const double *wave,
                     const uint32_t *planes, double out[2]) {
    const uint32_t length = s->l[s->d - 1];
    out[0] = out[1] = 0;
    for (uint32_t a = 0; a < s->q; a++) {
        double sum = 0, re = 0, im = 0;
        for (uint32_t p = 0; p < length; p++) {
            const double n = (int32_t)planes[s->q * (size_t)p + a];
            sum += n;
            re += n * wave[2 * (size_t)p];
            im += n * wave[2 * (size_t)p + 1];
        }
        sum -= staggered ? 0 : (double)s->sites / s->q;
        out[0] += sum * sum;
        out[1] += re * re + im * im;
    }
    const double scale = s->q / (s->q - 1.0) / (double)s->sites;
    out[0] *= scale;
    out[1] *= scale;
}

double bytes_correlation_length(const struct ergo_point *point, const double *mean, size_t size) {
    const struct bytes_shape s = bytes_shape_of(point);
    (void)size;
    return mean[0] > mean[1] ? sqrt(mean[0] / mean[1] - 1) / (2 * sin(acos(-1) / s.l[s.d - 1]))
                             : NAN;
}

double bytes_longest_side(const struct ergo_point *point) {
    const struct bytes_shape s = bytes_shape_of(point);
    uint32_t longest = 0;
    for (uint32_t k = 0; k < s.d; k++)
        longest = s.l[k] > longest ? s.l[k] : longest;
    return longest;
}

void bytes_columns(const void *state, size_t member, const uint64_t *counts, double *columns) {
    const struct bytes_state *batch = state;
    const struct bytes_shape *s = &batch->whole;
    const struct bytes_physics *p = &batch->physics[member];
    const double n = (double)s->sites;
    const uint64_t *of = counts + 3;
    /* with general terms, the sum of those that are not counted */
    const int64_t sum = s->general ? (int64_t)counts[s->counts] : 0;
    const double general = batch->units[member] * (double)sum / n;
    double energy = 0;
    if (s->kind == BYTES_ISING) {
        const double up = (double)(of[1] + of[3]), along = (double)(of[0] + of[3]);
        for (uint32_t k = 0; k < s->d; k++)
            energy -= p->j[k] * (2 * (double)counts[k] / n - 1);
        /* of[0]: down in a field that is down; of[3]: up in a field that is up */
        columns[COLUMN_MAGNETIZATION] = 2 * up / n - 1;
        columns[COLUMN_STAGGERED] = (4 * (double)of[4] - 2 * up) / n;
        if (s->general) {
            columns[COLUMN_ENERGY] = (s->bonds ? 0 : energy) - general;
            return;
        }
        columns[COLUMN_ENERGY] =
            energy - p->b * columns[COLUMN_MAGNETIZATION] - p->h * (2 * along / n - 1);
        return;
    }
    if (s->kind == BYTES_BLUME_CAPEL) { /* sites with s = 1, 0, -1; pairs: the sum of s s' */
        for (uint32_t k = 0; k < s->d; k++)
            energy -= p->j[k] * (int32_t)counts[k] / n;
        columns[COLUMN_MAGNETIZATION] = ((double)of[0] - (double)of[2]) / n;
        columns[COLUMN_QUADRUPOLE] = (double)(of[0] + of[2]) / n;
        columns[COLUMN_ENERGY] = (s->bonds ? 0 : energy) + p->crystal * columns[COLUMN_QUADRUPOLE] -
                                 (s->general ? general : p->b * columns[COLUMN_MAGNETIZATION]);
        return;
    }
    uint64_t most = 0;
    for (uint32_t k = 0; k < s->q; k++)
        most = of[k] > most ? of[k] : most;
    for (uint32_t k = 0; k < s->d; k++)
        energy += p->j[k] * (1 - (double)counts[k] / n);
    columns[COLUMN_ENERGY] = (s->bonds ? 0 : energy) - general;
    columns[COLUMN_MAGNETIZATION] = (s->q * (double)most / n - 1) / (s->q - 1);
    columns[COLUMN_FIRST_STATE] = (double)of[0] / n;
}

/* Above 1 in the ordered phase of a lattice without a field, and below 1 in the disordered one.
 * Two dimensions, exact: Ising sinh(2 Jx/T) sinh(2 Jy/T) (L. Onsager, Phys. Rev. 65, 117
 * (1944)), Potts (exp(Jx/T) - 1)(exp(Jy/T) - 1) / q (R. J. Baxter, J. Phys. C 6, L445 (1973)).
 * Three dimensions: the critical temperature of mean-field theory, which is too high by at most
 * a third. Ising antiferromagnets order like their ferromagnets. Potts antiferromagnets: 0. */
static double ordered_by(const struct ergo_point *point) {
    const struct bytes_shape s = bytes_shape_of(point);
    const struct bytes_physics p = bytes_physics_of(point);
    const bool potts = is_potts(point);
    if (s.d < 2 || (potts && bytes_staggered_axes(point)))
        return 0;
    if (s.d == 2)
        return potts ? expm1(p.j[0] / p.t) * expm1(p.j[1] / p.t) / s.q
                     : sinh(2 * fabs(p.j[0]) / p.t) * sinh(2 * fabs(p.j[1]) / p.t);
    const double all = fabs(p.j[0]) + fabs(p.j[1]) + fabs(p.j[2]);
    return (potts ? 2.0 / s.q : 2.0) * all / p.t;
}

const char *bytes_remedy(const struct ergo_point *point) {
    const struct bytes_shape s = bytes_shape_of(point);
    const struct bytes_physics p = bytes_physics_of(point);
    const char *start = of_lattice(point)->start;
    const uint32_t axes = bytes_staggered_axes(point), all = (1u << s.d) - 1;
    const double ordered = ordered_by(point);
    if (s.general || p.h != 0)
        return NULL;
    if (is_potts(point) && s.q > (s.d == 2 ? 4 : 2) && ordered > 0.5 && ordered < 2)
        return "two phases can live side by side near this transition, of first order: chains that "
               "start from \"up\" and from \"random\" bound the truth";
    if (ordered < 1 || (axes != 0 && axes != all)) /* with mixed signs no start is ordered */
        return NULL;
    if (p.b != 0 && axes == 0)
        return strcmp(start, p.b > 0 ? "up" : "down") == 0 ? NULL
               : p.b > 0 ? "below the critical temperature a lattice can live long against its "
                           "field: set /system/start to \"up\""
                         : "below the critical temperature a lattice can live long against its "
                           "field: set /system/start to \"down\"";
    return strcmp(start, "random") == 0 ? "below the critical temperature some random starts keep "
                                          "stripes for very long: set "
                                          "/system/start to \"up\""
                                        : NULL;
}

/* Closed chains (one dimension), by transfer matrices. */
double bytes_exact(const struct ergo_point *point, const char *observable) {
    const struct bytes_shape s = bytes_shape_of(point);
    const struct bytes_physics p = bytes_physics_of(point);
    const bool energy = strcmp(observable, "energy") == 0;
    if (s.d != 1 || p.h != 0 || s.bonds || (s.general && is_potts(point)))
        return NAN;
    if (s.kind != BYTES_ISING) {
        /* eigenvalues 1 + (q - 1) w, and 1 - w with multiplicity q - 1 */
        const double w = exp(-p.j[0] / p.t), more = s.q - 1.0;
        const double ratio = pow((1 - w) / (1 + more * w), (double)s.sites - 1);
        const double all = (1 + more * w) + more * ratio * (1 - w);
        return energy ? p.j[0] * more * w * (1 - ratio) / all : NAN;
    }
    if (!energy && strcmp(observable, "magnetization") != 0)
        return NAN;
    /* T(s, s') = exp(J s s' + B (s + s') / 2), s = 1 and -1, divided by its larger eigenvalue */
    const double k = p.j[0] / p.t, b = p.b / p.t, scale = fabs(k) + fabs(b);
    const double t00 = exp(k + b - scale), t11 = exp(k - b - scale), t01 = exp(-k - scale);
    const double middle = 0.5 * (t00 + t11), half = 0.5 * (t00 - t11);
    const double root = sqrt(half * half + t01 * t01);
    const double plus = middle + root, minus = middle - root;
    const double ratio = pow(fabs(minus / plus), (double)s.sites); /* the number of sites is even */
    const double cosine = half / root;                             /* <+|s|+>, and -<-|s|-> */
    const double z = 1 + ratio;
    const double m = cosine * (1 - ratio) / z;
    const double mixed = (minus / plus + ratio * plus / minus) / z; /* <+|s|->^2 = 1 - cosine^2 */
    const double pair = cosine * cosine + (1 - cosine * cosine) * mixed;
    return energy ? -p.j[0] * pair - p.b * m : m;
}
