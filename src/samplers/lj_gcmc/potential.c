/*
 * The pair potential, u(r) = C epsilon [(sigma/r)^n - (sigma/r)^m]: n = 12, m = 6, C = 4 is
 * Lennard-Jones, and other exponents are a Mie potential (G. Mie, Ann. Phys. 316, 657 (1903)), with
 * C = n/(n - m) (n/m)^(m/(n - m)), so that its depth is epsilon. What enters the chain is computed
 * with IEEE basic operations alone; that of Lennard-Jones in the order it has always had.
 */
#include <math.h>

#include "samplers/lj_gcmc/lj.h"

static const double PI = 3.14159265358979323846;

bool lj_is_mie(const struct ergo_point *point) {
    return ergo_says(of_lj(point)->potential, "mie");
}

static double power(double x, uint32_t k) {
    double y = 1;
    for (; k; k >>= 1, x *= x)
        y *= k & 1 ? x : 1;
    return y;
}

/* x with f(x) = power(x, n) - shift power(x, m) = value by bisection; f grows from low to high. */
static double solve(uint32_t n, uint32_t m, double shift, double value, double low, double high) {
    for (int i = 0; i < 2000; i++) {
        const double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high))
            break;
        *(power(middle, n) - shift * power(middle, m) < value ? &low : &high) = middle;
    }
    return high;
}

void lj_potential_of(const struct ergo_point *point, struct lj_system *s) {
    s->mie = lj_is_mie(point);
    s->tabulated = lj_is_table(point);
    s->repulsion = 12;
    s->attraction = 6;
    s->unit = s->epsilon == 0 && s->field ? s->temperature : 4 * s->epsilon;
    if (!s->mie)
        return;
    s->repulsion = (uint32_t)of_lj(point)->repulsive_exponent;
    s->attraction = (uint32_t)of_lj(point)->attractive_exponent;
    if (s->repulsion <= s->attraction) /* refused by lj_check */
        return;
    const double n = s->repulsion, m = s->attraction;
    /* x = (n/m)^(1/(n - m)) is sigma/r at the minimum */
    const double x = solve(s->repulsion - s->attraction, 0, 0, n / m, 1, n / m);
    s->unit = n / (n - m) * power(x, s->attraction) * s->epsilon;
}

/* (sigma/r)^n - (sigma/r)^m */
static double shape(const struct lj_system *s, double r) {
    const double x = s->sigma / r;
    if (s->tabulated)
        return lj_table_energy(s, r);
    if (s->mie)
        return power(x, s->repulsion) - power(x, s->attraction);
    const double s3 = x * x * x, s6 = s3 * s3;
    return s6 * s6 - s6;
}

double lj_pair_at_cutoff(const struct lj_system *s) {
    const double cutoff = s->cutoff / s->sigma;
    if (s->mie || s->tabulated)
        return shape(s, s->cutoff);
    const double s3 = 1 / (cutoff * cutoff * cutoff), s6 = s3 * s3;
    return s6 * s6 - s6;
}

static double pair_energy(const struct lj_system *s, double r) {
    return s->unit * shape(s, r);
}

/* A core is where u(r) > 100 T. With s6 = (sigma/r)^6: 4 epsilon (s6^2 - s6) = 100 T, so s6 = (1
 * + sqrt(1 + 100 T / epsilon)) / 2 and r^2 = s6^(-1/3). */
double lj_core2(const struct lj_system *s) {
    const double cutoff = s->cutoff / s->sigma;
    double core2;
    if (s->epsilon == 0)
        return 0;
    if (s->species.n)
        return lj_species_core2(s);
    if (s->tabulated) {
        core2 = lj_table_core2(s);
    } else if (s->mie) {
        const double x =
            solve(s->repulsion, s->attraction, 1, 100 * s->temperature / s->unit, 1, 1e3);
        core2 = 1 / (x * x);
    } else {
        core2 = 1 / lj_cube_root((1 + sqrt(1 + 100 * s->temperature / s->epsilon)) / 2);
    }
    return fmin(core2, cutoff * cutoff);
}

/* 2 pi times the integral of u r^2 beyond the cutoff. */
double lj_tail_coefficient(const struct lj_system *s) {
    if (s->species.n)
        return lj_species_tail(s, s->species.share);
    const double x = s->sigma / s->cutoff, cube = s->sigma * s->sigma * s->sigma;
    if (s->mie)
        return 2 * PI * s->unit * cube *
               (power(x, s->repulsion - 3) / (s->repulsion - 3) -
                power(x, s->attraction - 3) / (s->attraction - 3));
    const double r3 = x * x * x;
    return 8 * PI / 3 * s->epsilon * s->sigma * s->sigma * s->sigma * (r3 * r3 * r3 / 3 - r3);
}

double lj_tail_energy(const struct lj_system *s, double n) {
    return s->tail ? lj_tail_coefficient(s) * n * n / s->volume : 0;
}

/* Small compared with the distances over which g(r) changes. */
double lj_contact_width(const struct lj_system *s) {
    return fmin(0.02 * s->cutoff, 0.05 * s->sigma);
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

double lj_energy_of(const struct lj_system *s, int64_t fixed) {
    return s->unit * (double)fixed * 0x1p-30;
}

double lj_virial_of(const struct lj_system *s, int64_t fixed) {
    return (s->mie || s->tabulated ? 32 * s->unit : 24 * s->epsilon) * (double)fixed * 0x1p-30;
}
