/* Pair functions of the model, and their tables. */
#include "samplers/helium/model.h"

#include <math.h>
#include <string.h>

#include "base/portable.h"
#include "helium/params.h"
#include "samplers/helium/liquid.h"

/* V = epsilon (a exp(-alpha x - beta x^2) - F(x) (c6/x^6 + c8/x^8 + c10/x^10)), x = r / rm, F =
 * exp(-(d/x - 1)^2) for x < d, else 1. K, A. */
static const struct aziz {
    const char *name;
    double epsilon, rm, d, a, alpha, beta, c6, c8, c10;
} azizs[] = {
    /* HFD-B(HE): Aziz, McCourt, Wong, Mol. Phys. 61, 1487 (1987) */
    [HELIUM_AZIZ] = {"aziz-hfd-b-he", 10.948, 2.963, 1.4826, 1.8443101e5, 10.43329537, 2.27965105,
                     1.36745214, 0.42123807, 0.17473318},
    /* HFDHE2: Aziz, Nain, Carley, Taylor, McConville, J. Chem. Phys. 70, 4330 (1979) */
    [HELIUM_AZIZ_1979] = {"aziz-hfdhe2", 10.8, 2.9673, 1.241314, 0.5448504e6, 13.353384, 0,
                          1.3732412, 0.4253785, 0.1781},
    /* HFD-B3-FCI1: Aziz, Janzen, Moldover, Phys. Rev. Lett. 74, 1586 (1995) */
    [HELIUM_AZIZ_1995] = {"aziz-hfd-b3-fci1", 10.956, 2.9683, 1.438, 1.86924404e5, 10.5717543,
                          2.07758779, 1.35186623, 0.41495143, 0.17151143},
};

bool helium_potential_named(const char *name, enum helium_potential *potential) {
    *potential = HELIUM_LENNARD_JONES;
    if (strcmp(name, "lennard-jones") == 0)
        return true;
    for (int k = 0; k < HELIUM_LENNARD_JONES; k++)
        if (strcmp(azizs[k].name, name) == 0) {
            *potential = (enum helium_potential)k;
            return true;
        }
    return false;
}

double helium_lambda(double mass) {
    const double hbar = 1.054571817e-34, unit = 1.66053906660e-27, boltzmann = 1.380649e-23;
    return hbar * hbar / (2.0 * unit * boltzmann) * 1e20 / mass;
}

/* x^(1/3) by Newton's method, because cbrt of libm may differ between hosts in the last bit. */
double helium_cube_root(double x) {
    double y = 1.0;
    while (y * y * y < x)
        y *= 2.0;
    for (int i = 0; i < 60; i++)
        y -= (y - x / (y * y)) / 3.0;
    return y;
}

double helium_apart(uint32_t dimensions, double density) {
    return dimensions == 2 ? 1 / sqrt(density) : helium_cube_root(1 / density);
}

double helium_shell(uint32_t dimensions, double a, double b) {
    return dimensions == 2 ? 3.14159265358979323846 * (b * b - a * a)
                           : 4 * 3.14159265358979323846 / 3 * (b * b * b - a * a * a);
}

void helium_model_core(struct helium_model *m) {
    const double most = 0.997 * HELIUM_U_LIMIT;
    double u[3], low = m->core, high = m->half;
    helium_model_u(m, m->core, u);
    if (m->f_curve) { /* it need not be monotonic: take the outermost place */
        const int parts = 4096;
        const double width = (high - low) / parts;
        int k = parts;
        do
            helium_model_u(m, low + width * --k, u);
        while (k && fabs(u[0]) <= most);
        low += width * k;
        high = low + width;
    }
    if (fabs(u[0]) <= most)
        return;
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        helium_model_u(m, middle, u);
        if (fabs(u[0]) > most)
            low = middle;
        else
            high = middle;
    }
    m->core = high;
}

void helium_model_box(const struct ergo_point *point, struct helium_model *m) {
    memset(m, 0, sizeof *m);
    m->n = (uint32_t)of_quantum(point)->n;
    m->dimensions = helium_dimensions(point);
    m->density = of_quantum(point)->density;
    m->b = of_quantum(point)->b;
    m->lambda = helium_lambda(of_quantum(point)->mass);
    if (!helium_potential_named(of_quantum(point)->potential, &m->potential))
        m->potential = HELIUM_AZIZ; /* a file's curve takes its place */
    m->symmetrised = of_quantum(point)->symmetrised;
    m->epsilon = of_quantum(point)->epsilon;
    m->sigma = of_quantum(point)->sigma;

    int64_t aspect[3];
    helium_aspect(point, aspect);
    const double cells = (double)(aspect[0] * aspect[1] * aspect[2]);
    m->one = helium_one_body_of(point, m);
    const double *edge = m->one.edge;
    const double part = (double)m->n / m->density / cells / (edge[0] * edge[1] * edge[2]);
    const double unit = m->dimensions == 2 ? sqrt(part) : helium_cube_root(part);
    m->half = INFINITY;
    for (uint32_t k = 0; k < m->dimensions; k++) {
        m->side[k] = unit * (double)aspect[k] * edge[k];
        m->half = m->side[k] / 2 < m->half ? m->side[k] / 2 : m->half;
    }
    if (m->dimensions == 2)
        m->side[2] = 2 * m->half;
    m->triplet = helium_triplet_of(point, m->half);
    (void)helium_triplet_bits(&m->triplet,
                              m->n); /* helium_triplet_check refuses what is too large */
}

void helium_model_step(struct helium_model *m, double rms, double unit) {
    for (uint32_t k = 0; k < 3; k++)
        m->step[k] = k < m->dimensions ? rms / sqrt(m->dimensions) * unit / m->side[k] : 0;
}

void helium_model_of(const struct ergo_point *point, struct helium_model *m) {
    helium_model_box(point, m);
    if (m->potential != HELIUM_LENNARD_JONES && !helium_is_file(of_quantum(point)->potential))
        m->kink = azizs[m->potential].d * azizs[m->potential].rm;
    m->core = 0.5 < m->half / 4 ? 0.5 : m->half / 4;
    if (helium_is_schiff_verlet(point))
        helium_model_core(m);
    if (of_quantum(point)->tail_correction)
        helium_tails(m);
}

/* u from f of a file, symmetrised or not. */
static void file_u(const struct helium_model *m, double r, double out[3]) {
    double f[3], g[3] = {0}, h[3];
    ergo_radial_at(m->f_curve, r, f);
    ergo_radial_at(m->f_curve, m->half, h);
    if (m->symmetrised)
        ergo_radial_at(m->f_curve, 2 * m->half - r, g);
    out[0] = m->symmetrised ? f[0] + g[0] - 2 * h[0] : f[0] - h[0];
    out[1] = f[1] - g[1];
    out[2] = f[2] + g[2];
}

/* u = f(r) + f(L-r) - 2 f(L/2) with f = -(b/r)^5 / 2 (Eq. 9; Eq. 8 is misprinted, see the
 * README). */
void helium_model_pair_u(const struct helium_model *m, double r, double out[3]) {
    const double s = 2 * m->half - r, h = m->half;
    const double b2 = m->b * m->b, c = -0.5 * b2 * b2 * m->b;
    out[0] = out[1] = out[2] = 0;
    if (r >= h)
        return;
    if (m->f_curve) {
        file_u(m, r, out);
        return;
    }
    const double r5 = r * r * r * r * r, s5 = s * s * s * s * s, h5 = h * h * h * h * h;
    out[0] = c * (1 / r5 + 1 / s5 - 2 / h5);
    out[1] = -5 * c * (1 / (r5 * r) - 1 / (s5 * s));
    out[2] = 30 * c * (1 / (r5 * r * r) + 1 / (s5 * s * s));
}

void helium_model_two_body(const struct helium_model *m, double r, double out[3]) {
    helium_model_pair_u(m, r, out);
    helium_spline_add(&m->spline, r, out);
}

void helium_model_u(const struct helium_model *m, double r, double out[3]) {
    helium_model_two_body(m, r, out);
    helium_triplet_pairs(&m->triplet, r, out);
}

static void aziz(const struct aziz *p, double r, double out[2]) {
    const double d = p->d, x = r / p->rm, y = 1 / (x * x), y3 = y * y * y, z = d / x - 1;
    const double wall = p->a * ergo_portable_exp(-p->alpha * x - p->beta * x * x);
    const double damp = x < d ? ergo_portable_exp(-z * z) : 1.0;
    const double c6 = p->c6 * y3, c8 = p->c8 * y3 * y, c10 = p->c10 * y3 * y * y;
    const double sum = c6 + c8 + c10, slope = x < d ? damp * 2 * z * d / x : 0.0;
    out[0] = p->epsilon * (wall - damp * sum);
    out[1] = p->epsilon * (wall * (-p->alpha * x - 2 * p->beta * x * x) - slope * sum +
                           damp * (6 * c6 + 8 * c8 + 10 * c10));
}

void helium_model_v(const struct helium_model *m, double r, double out[2]) {
    if (m->v_curve) {
        double v[3];
        ergo_radial_at(m->v_curve, r, v);
        out[0] = v[0];
        out[1] = r * v[1];
        return;
    }
    if (m->potential != HELIUM_LENNARD_JONES) {
        aziz(&azizs[m->potential], r, out);
        return;
    }
    const double y = m->sigma / r, y2 = y * y, y6 = y2 * y2 * y2;
    out[0] = 4 * m->epsilon * (y6 * y6 - y6);
    out[1] = 4 * m->epsilon * (-12 * y6 * y6 + 6 * y6);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Nodes of Chebyshev interpolation by a cubic: cos(pi/8), cos(3 pi/8) and their negatives. */
static const double nodes[4] = {-0.92387953251128675613, -0.38268343236508977173,
                                0.38268343236508977173, 0.92387953251128675613};

double helium_cubic_node(double start, double h, int i) {
    return start + 0.5 * h * (1 + nodes[i]);
}

/* Coefficients of the polynomial of `count` terms through f at the places t. */
static void terms(const double *t, const double *f, int count, double *c) {
    double d[4] = {0};
    for (int i = 0; i < count; i++) {
        d[i] = f[i];
        c[i] = 0;
    }
    for (int level = 1; level < count; level++) /* Newton's divided differences */
        for (int i = count - 1; i >= level; i--)
            d[i] = (d[i] - d[i - 1]) / (t[i] - t[i - level]);
    c[0] = d[count - 1];
    for (int i = count - 2; i >= 0; i--) { /* c := c (t - t[i]) + d[i] */
        for (int k = count - 1; k > 0; k--)
            c[k] = c[k - 1] - t[i] * c[k];
        c[0] = d[i] - t[i] * c[0];
    }
}

struct helium_cubic_host helium_cubic_fit(const double f[4], double h) {
    double t[4], c[4];
    for (int i = 0; i < 4; i++)
        t[i] = helium_cubic_node(0, h, i);
    terms(t, f, 4, c);
    return (struct helium_cubic_host){{(float)c[0], (float)c[1], (float)c[2], (float)c[3]}};
}

/* Start and width of piece k. The table begins at 2^lowest and has 2^pieces pieces in a binade. */
static void piece_of(int lowest, unsigned pieces, unsigned k, double *start, double *width) {
    const double binade = ldexp(1.0, lowest + (int)(k >> pieces));
    *width = ldexp(binade, -(int)pieces);
    *start = binade + *width * (double)(k & ((1u << pieces) - 1));
}

float helium_model_low(const struct helium_model *m) {
    return (float)(m->core * m->core / (m->half * m->half));
}

unsigned helium_model_binades(const struct helium_model *m) {
    unsigned binades = 1;
    while (ldexp(1.0, -(int)binades) > (double)helium_model_low(m))
        binades++;
    return binades;
}

void helium_table_u(const struct helium_model *m, unsigned binades,
                    struct helium_cubic_host *table) {
    const double scale = ldexp(1.0, HELIUM_U_BITS);
    for (unsigned k = 0; k < binades << HELIUM_U_PIECES; k++) {
        double start, width, f[4], u[3];
        piece_of(-(int)binades, HELIUM_U_PIECES, k, &start, &width);
        for (int i = 0; i < 4; i++) {
            helium_model_u(m, m->half * sqrt(helium_cubic_node(start, width, i)), u);
            f[i] = scale * u[0];
        }
        /* half a unit, so that truncation rounds to nearest; u from files may be positive */
        const double half = f[0] + f[3] > 0 ? 0.5 : -0.5;
        for (int i = 0; i < 4; i++)
            f[i] += half;
        table[k] = helium_cubic_fit(f, width);
    }
}

void helium_table_triplet(const struct helium_model *m, unsigned binades,
                          struct helium_cubic_host *table) {
    const unsigned pieces = binades << HELIUM_U_PIECES;
    for (unsigned k = 0; k < pieces; k++) {
        double start, width, f[2][4];
        piece_of(-(int)binades, HELIUM_U_PIECES, k, &start, &width);
        for (int i = 0; i < 4; i++) {
            double x[2];
            helium_triplet_scaled(&m->triplet, m->half * sqrt(helium_cubic_node(start, width, i)),
                                  x);
            f[0][i] = x[0];
            f[1][i] = x[1];
        }
        table[k] = helium_cubic_fit(f[0], width);
        table[pieces + k] = helium_cubic_fit(f[1], width);
    }
}

/* The float nearest x that has zeros in its last `bits` bits. Beyond 1e-30 and 1e30 it is 0,
 * because nothing depends on subnormal numbers. */
static float rounded(double x, unsigned bits) {
    float f = (float)x;
    uint32_t word;
    memcpy(&word, &f, sizeof word);
    word = !(fabs(x) > 1e-30 && fabs(x) < 1e30)
               ? 0
               : (word + (1u << (bits - 1))) & (0xffffffffu << bits);
    memcpy(&f, &word, sizeof f);
    return f;
}

/* V, u'/r sqrt(lambda), and their derivatives at x. */
static void pair_functions(const struct helium_model *m, double x, double value[2],
                           double slope[2]) {
    const double r = m->half * sqrt(x), root = sqrt(m->lambda);
    double u[3], v[2];
    helium_model_u(m, r, u);
    helium_model_v(m, r, v);
    value[0] = v[0];
    slope[0] = v[1] / (2 * x);
    value[1] = root * u[1] / r;
    slope[1] = root * (u[2] - u[1] / r) / (2 * x);
}

/* Chebyshev nodes for polynomials of one to four terms. */
static const double nodes_of[5][4] = {{0},
                                      {0},
                                      {-0.70710678118654752440, 0.70710678118654752440},
                                      {-0.86602540378443864676, 0, 0.86602540378443864676},
                                      {-0.92387953251128675613, -0.38268343236508977173,
                                       0.38268343236508977173, 0.92387953251128675613}};

/* Fit the part [from, to] of the piece that begins at `start`: a quartic to V (`which` 0), a cubic
 * to u'/r (1). The derivative is fitted, because its error is the larger one. Coefficients of a
 * quartic that have few bits are rounded one after the other, and the lower ones make up for it. */
static struct helium_cubic_host fit_slope(const struct helium_model *m, int which, double start,
                                          double from, double to) {
    double c[5] = {0}, value[2], slope[2];
    for (int top = which ? 3 : 4; top > 0; top--) {
        double t[4], d[4], found[4];
        for (int i = 0; i < top; i++) {
            t[i] = from + 0.5 * (to - from) * (1 + nodes_of[top][i]);
            pair_functions(m, start + t[i], value, slope);
            d[i] = slope[which] - t[i] * t[i] * (3 * c[3] + 4 * c[4] * t[i]);
        }
        terms(t, d, top, found);
        if (!which && top > 2) {
            const unsigned bits = HELIUM_FOURTH_BITS;
            c[top] = rounded(found[top - 1] / top, top == 4 ? 32 - bits : bits);
            continue;
        }
        for (int k = 1; k <= top; k++)
            c[k] = (float)(found[k - 1] / k);
        break;
    }
    for (int i = 0; i < 4; i++) {
        const double t = from + 0.5 * (to - from) * (1 + nodes_of[4][i]);
        pair_functions(m, start + t, value, slope);
        c[0] += 0.25 * (value[which] - t * (c[1] + t * (c[2] + t * (c[3] + t * c[4]))));
    }
    float last[2] = {(float)c[3], (float)c[4]};
    uint32_t word[2];
    memcpy(word, last, sizeof word);
    word[0] |= word[1] >> (32 - HELIUM_FOURTH_BITS);
    memcpy(last, word, sizeof word);
    return (struct helium_cubic_host){{(float)c[0], (float)c[1], (float)c[2], last[0]}};
}

unsigned helium_energy_pieces(unsigned binades) {
    return (binades << HELIUM_E_PIECES) + 1;
}

void helium_model_kink(const struct helium_model *m, uint32_t *begin, uint32_t *width) {
    const float x = (float)(m->kink * m->kink / (m->half * m->half));
    const uint32_t piece = 1u << (23 - HELIUM_E_PIECES);
    memcpy(begin, &x, sizeof *begin);
    *width = x > helium_model_low(m) && x < 1 ? piece - *begin % piece : 0;
}

void helium_table_energy(const struct helium_model *m, unsigned binades,
                         struct helium_cubic_host *table) {
    const unsigned pieces = binades << HELIUM_E_PIECES;
    uint32_t bits, beyond;
    float kink;
    helium_model_kink(m, &bits, &beyond);
    memcpy(&kink, &bits, sizeof kink);
    for (int which = 0; which < 2; which++, table += pieces + 1) {
        memset(table + pieces, 0, sizeof *table);
        for (unsigned k = 0; k < pieces; k++) {
            double start, width;
            piece_of(-(int)binades, HELIUM_E_PIECES, k, &start, &width);
            if (!beyond || kink < start || kink >= start + width) {
                table[k] = fit_slope(m, which, start, 0, width);
                continue;
            }
            /* if the kink is at the start, only the piece beyond it is read */
            table[k] = fit_slope(m, which, start, 0, kink > start ? kink - start : width);
            table[pieces] = fit_slope(m, which, start, kink - start, width);
        }
    }
}

/* ---- random numbers -------------------------------------------------------------------------- */

double helium_normal_tail(double z) {
    const double density = 0.39894228040143267794 * ergo_portable_exp(-0.5 * z * z);
    if (z < 2.5) { /* 1/2 - density (z + z^3/3 + z^5/15 + ...) */
        double term = z, sum = z;
        for (int k = 3; term > 1e-18 * sum; k += 2) {
            term *= z * z / k;
            sum += term;
        }
        return 0.5 - density * sum;
    }
    double fraction = z; /* density / (z + 1/(z + 2/(z + 3/(...)))) */
    for (int k = 120; k >= 1; k--)
        fraction = z + k / fraction;
    return density / fraction;
}

double helium_normal_inverse(double p, double start) {
    double z = start;
    /* from the left, where the tail is convex, so that no step overshoots */
    for (int i = 0; i < 40; i++) {
        const double density = 0.39894228040143267794 * ergo_portable_exp(-0.5 * z * z);
        const double change = (helium_normal_tail(z) - p) / density;
        z += change;
        if (fabs(change) < 1e-15)
            break;
    }
    return z;
}

/* ln x for x > 0. */
static double portable_log(double x) {
    int exponent;
    const double m = 2 * frexp(x, &exponent), s = (m - 1) / (m + 1);
    double sum = 0; /* 2 atanh(s), s <= 1/3 */
    for (int k = 41; k >= 1; k -= 2)
        sum = sum * s * s + 2.0 / k;
    return sum * s + (exponent - 1) * 0.69314718055994530942;
}

void helium_table_random(struct helium_cubic_host *table) {
    const int lowest = (int)HELIUM_R_LOWEST - 127;
    const double scale = ldexp(1.0, HELIUM_U_BITS - 1);
    double z = 0;
    memset(table, 0, 2 * HELIUM_R_SIZE * sizeof *table);
    for (unsigned k = HELIUM_R_SIZE; k-- > 0;) { /* from p = 1/2 down, so that z grows */
        double start, width, f[4];
        piece_of(lowest, HELIUM_R_PIECES, k, &start, &width);
        if (start < 0x1p31) { /* a word of 31 bits may round to 2^31, where z = 0 */
            for (int i = 3; i >= 0; i--)
                f[i] = z = helium_normal_inverse(helium_cubic_node(start, width, i) * 0x1p-32, z);
            table[k] = helium_cubic_fit(f, width);
        }
        if (start < 0x1p32) { /* a word may round to 2^32, where the logarithm is 0 */
            for (int i = 0; i < 4; i++)
                f[i] = scale * portable_log(helium_cubic_node(start, width, i) * 0x1p-32);
            table[HELIUM_R_SIZE + k] = helium_cubic_fit(f, width);
        }
    }
}
