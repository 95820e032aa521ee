/* Spins that are unit vectors: what a job tells without a device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/vector/parameters.h"
#include "samplers/spin_lattice/vector/vector.h"

_Static_assert(sizeof(struct vector_member) == VECTOR_MEMBER_BYTES, "vector_member has no padding");

struct vector_shape vector_shape_of(const struct ergo_point *point) {
    struct vector_shape s = {.d = (uint32_t)of_lattice(point)->size.items};
    s.sites = lattice_sides(point, s.l);
    s.triangular = ergo_says(of_lattice(point)->lattice.text, "triangular");
    s.space = *(const bool *)point->job->model->rule;
    s.q = (uint32_t)of_lattice(point)->q;
    s.heat_bath = s.space && ergo_says(of_lattice(point)->dynamics, "heat-bath");
    const bool file = of_lattice(point)->field_file.present;
    s.random = file || of_lattice(point)->random_field.present;
    s.stored = file || ergo_says(of_lattice(point)->field_distribution.text, "gaussian");
    s.coupled = of_lattice(point)->disorder.present || of_lattice(point)->disorder_file.present;
    s.relax = s.q ? 0 : (uint32_t)of_vector(point)->over_relaxation;
    s.colours = s.triangular ? 3 : 2;
    s.directions = s.triangular ? 3 : s.d;
    s.components = s.space ? 3 : 1;
    s.numbers = s.space ? VECTOR_NUMBERS_SPACE : VECTOR_NUMBERS_PLANE;
    return s;
}

struct vector_shape vector_shape_of_layers(const struct vector_shape *whole, uint32_t layers) {
    struct vector_shape s = *whole;
    s.sites = whole->sites / vector_layers(whole) * layers;
    s.l[s.d - 1] = layers;
    return s;
}

/* Slabs of 2^22 sites take an H100 80 us a sweep and more, beside which rows that ranks exchange
 * are little; planes are so for slabs of 2^26, 1.2 ms. */
bool vector_pays_to_cut(const struct ergo_point *point, size_t ranks) {
    const struct vector_shape s = vector_shape_of(point);
    return !model_has_ladder(point) && s.d > 1 &&
           (double)s.sites >= (s.d == 2 ? 0x1p22 : 0x1p26) * (double)ranks;
}

struct vector_physics vector_physics_of(const struct ergo_point *point) {
    return (struct vector_physics){.t = point->parameters->temperature,
                                   .j = of_lattice(point)->coupling.real,
                                   .b = of_lattice(point)->field.real,
                                   .anisotropy = of_vector(point)->anisotropy,
                                   .random = of_lattice(point)->random_field.present
                                                 ? of_lattice(point)->random_field.real
                                                 : of_lattice(point)->field_file.present,
                                   .bond_unit = 1,
                                   .field_unit = 1};
}

void vector_member_fill(const struct ergo_point *point, struct vector_member *member) {
    const struct vector_shape s = vector_shape_of(point);
    const struct vector_physics p = vector_physics_of(point);
    const double step = of_vector(point)->step;
    const uint64_t field = model_field_key(point, true);
    *member = (struct vector_member){.key0 = (uint32_t)point->stream,
                                     .key1 = (uint32_t)(point->stream >> 32),
                                     .beta = (float)(1 / p.t),
                                     .coupling = (float)p.j,
                                     .field = (float)p.b,
                                     .anisotropy = (float)p.anisotropy,
                                     .step = (float)step,
                                     .random = (float)p.random,
                                     .field0 = (uint32_t)field,
                                     .field1 = (uint32_t)(field >> 32)};
    if (s.q) /* at least to the directions beside */
        member->width = 2 * (uint32_t)fmax(1, floor(step * s.q / 2)) + 1;
    else if (!s.space)
        member->width = (uint32_t)fmin(step * 0x1p32, 4294967295.0) | 1u;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static enum ergo_status check_size(struct ergo_context *ctx, const struct ergo_point *point) {
    static const char *const lattices[4] = {"", "chain", "square", "cubic"};
    const struct vector_shape s = vector_shape_of(point);
    const struct ergo_value *lattice = &of_lattice(point)->lattice;
    enum ergo_status status = ERGO_OK;
    if (lattice->present && strcmp(lattice->text, lattices[s.d & 3]) != 0 &&
        !(s.triangular && s.d == 2))
        status = ergo_job_error(ctx, "/system/lattice",
                                "\"%s\" with %u sides: chain has one, square and triangular two, "
                                "cubic three",
                                lattice->text, s.d);
    for (uint32_t k = 0; k < s.d && k < 3 && status == ERGO_OK; k++)
        if (s.l[k] % s.colours)
            status = ergo_job_error(
                ctx, "/system/size", "a side of %u is no multiple of %u; %s", s.l[k], s.colours,
                s.triangular ? "the three colours of the triangular lattice need it"
                             : "the checkerboard update needs even sides");
    if (status == ERGO_OK && s.d == 1 && ergo_says(point->parameters->distribute, "lattice"))
        status = ergo_job_error(ctx, "/distribute",
                                "\"lattice\": a chain of spins cannot be cut over ranks; use "
                                "\"points\"");
    if (status == ERGO_OK)
        status = ergo_shares_check(ctx, point);
    if (status == ERGO_OK && (double)s.sites * s.components > 0x1p31)
        status = ergo_job_error(ctx, "/system/size", "more than %.4g sites",
                                floor(0x1p31 / s.components));
    return status;
}

/* A number of the energy: 0, or so large that squares of fields are normal in single precision. */
static enum ergo_status check_energy(struct ergo_context *ctx, const char *pointer, double value) {
    if (value == 0 || fabs(value) >= 1e-6)
        return ERGO_OK;
    return ergo_job_error(ctx, pointer, "%g: 0, or from 1e-6 on; choose another unit of energy",
                          value);
}

enum ergo_status vector_check(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct vector_shape s = vector_shape_of(point);
    const struct vector_physics p = vector_physics_of(point);
    enum ergo_status status = check_size(ctx, point);
    const enum ergo_status checks[4] = {
        check_energy(ctx, "/system/coupling", p.j), check_energy(ctx, "/system/field", p.b),
        check_energy(ctx, "/system/random_field", p.random),
        s.space ? check_energy(ctx, "/system/anisotropy", p.anisotropy) : ERGO_OK};
    struct vector_waves waves;
    for (int i = 0; i < 4 && status == ERGO_OK; i++)
        status = checks[i];
    if (status == ERGO_OK && !vector_waves_of(point, &waves))
        status = ergo_job_error(ctx, "/run/wave_vectors",
                                "\"%s\": up to %d wave vectors with ; between them, each of %u "
                                "numbers from -1 to 1, for example \"%s\"",
                                of_vector(point)->wave_vectors.text, VECTOR_WAVES_LISTED, s.d,
                                s.d == 1   ? "0.5; 0.25"
                                : s.d == 2 ? "0.5 0.5; 0.5 0"
                                           : "0.5 0.5 0.5; 0.5 0 0");
    if (status == ERGO_OK)
        status = vector_terms_check(ctx, point);
    if (status == ERGO_OK && p.anisotropy != 0 && s.heat_bath)
        status = ergo_job_error(ctx, "/system/dynamics",
                                "\"heat-bath\" with an anisotropy: only for an energy that is "
                                "linear in each spin; use \"metropolis\"");
    if (status == ERGO_OK && p.anisotropy != 0 && s.relax)
        status = ergo_job_error(ctx, "/system/over_relaxation",
                                "with an anisotropy a reflection at the local field does not keep "
                                "the energy; leave it out");
    return status == ERGO_OK ? ergo_tempered_check(ctx, point) : status;
}

bool vector_has_column(const struct ergo_point *point, size_t c) {
    const struct vector_shape s = vector_shape_of(point);
    return c == VECTOR_Z || c == VECTOR_Z2 ? s.space
           : c == VECTOR_VORTICES          ? !s.space && s.d == 2 && !s.triangular
           : c == VECTOR_CHIRALITY         ? !s.space && s.triangular
           : c == VECTOR_RANDOM_ALIGNMENT  ? s.random
                                           : true;
}

bool vector_waves_of(const struct ergo_point *point, struct vector_waves *waves) {
    const struct vector_shape s = vector_shape_of(point);
    const struct ergo_value *list = &of_vector(point)->wave_vectors;
    *waves = (struct vector_waves){.n = 0};
    if (model_correlation_every(point) == 0)
        return true;
    for (uint32_t k = 0; k < s.d; k++)
        waves->k[k + 1][k] = (uint32_t)(0x1p32 / s.l[k] + 0.5); /* a side is 2 at least */
    waves->n = s.d + 1;
    if (list->present && !*list->text)
        return false;
    for (const char *at = list->present ? list->text : ""; *at; waves->n++) {
        if (waves->n == VECTOR_WAVES_MAX)
            return false;
        for (uint32_t k = 0; k < s.d; k++) {
            char *end = NULL;
            const double turns = strtod(at, &end);
            if (end == at || !(fabs(turns) <= 1))
                return false;
            waves->k[waves->n][k] = (uint32_t)(int64_t)floor(turns * 0x1p32 + 0.5);
            at = end;
        }
        at += strspn(at, " ");
        if (*at && *at++ != ';')
            return false;
    }
    return true;
}

/* ---- closed chains, by transfer matrices (M. E. Fisher, Am. J. Phys. 32, 343 (1964)) ----------
 */

/* Ratios I_{n+1}(k) / I_n(k) of modified Bessel functions of order n + half, n = 0 .. count - 1, by
 * Gauss' continued fraction from above. half: 1/2 for spherical ones, for which these are the
 * ratios of i_{n+1} to i_n, too. */
static void bessel_ratios(double k, double half, size_t count, double *ratio) {
    double r = 0;
    for (size_t n = count + 200 + (size_t)(2 * k); n-- > 0;) {
        r = k / (2 * ((double)n + half + 1) + k * r);
        if (n < count)
            ratio[n] = r;
    }
}

/* The mean of s.s' of neighbours on a ring of n sites, K = J/T > 0: sum_l w_l lambda_l^(n - 1)
 * lambda_l' / sum_l w_l lambda_l^n with eigenvalues lambda_l = I_l(K), w = 1, 2, 2, ..., in a
 * plane; i_l(K), w = 2l + 1, in space. lambda' follows from recurrences. n is even, so for K < 0
 * the mean only changes its sign. */
static double ring(bool space, double k, double n) {
    enum { TERMS = 2000 };
    double above = 0, below = 0, power = 1, *ratio = calloc(TERMS + 1, sizeof *ratio);
    if (!ratio)
        return NAN;
    bessel_ratios(k, space ? 0.5 : 0, TERMS + 1, ratio);
    for (int l = 0; l < TERMS && power > 1e-18; l++) {
        const double weight = space ? 2 * l + 1 : l ? 2 : 1;
        /* lambda_l' / lambda_l = lambda_{l+1} / lambda_l + l / K */
        const double slope = ratio[l] + l / k;
        above += weight * power * slope;
        below += weight * power;
        power *= pow(ratio[l], n);
    }
    free(ratio);
    return above / below;
}

/* clock: eigenvalues sum over d of exp(K cos(2 pi d / q)) cos(2 pi d l / q) */
static double clock_ring(uint32_t q, double k, double n) {
    double above = 0, below = 0, largest = 0;
    for (uint32_t l = 0; l < q; l++) {
        double value = 0, slope = 0;
        for (uint32_t d = 0; d < q; d++) {
            const double c = cos(2 * acos(-1) * d / q);
            const double term = exp(k * c - fabs(k)) * cos(2 * acos(-1) * (d * l % q) / q);
            value += term;
            slope += term * c;
        }
        largest = l ? largest : value;
        above += pow(value / largest, n - 1) * slope / largest;
        below += pow(value / largest, n);
    }
    return above / below;
}

double vector_exact(const struct ergo_point *point, const char *observable) {
    const struct vector_shape s = vector_shape_of(point);
    const struct vector_physics p = vector_physics_of(point);
    const double k = p.j / p.t, n = (double)s.sites;
    if (s.d != 1 || p.b != 0 || p.anisotropy != 0 || s.random || s.coupled ||
        strcmp(observable, "energy") != 0 || fabs(k) > 100)
        return NAN;
    return s.q ? -p.j * clock_ring(s.q, k, n) : k == 0 ? 0 : -fabs(p.j) * ring(s.space, fabs(k), n);
}
