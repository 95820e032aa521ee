#include "samplers/hard_disks/hexatic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/fourier.h"
#include "base/memory.h"

static const double pi = 3.14159265358979323846;

/* Arrays of an analysis. */
struct analysis {
    const struct hexatic_plan *plan;
    const struct disks_plane *plane;
    struct disks_bins bins;
    struct disks_voronoi *cells; /* [n] */
    double psi[2];               /* Psi_6 */
    double q[2];                 /* q_0 */
};

/* ---- what there is ----------------------------------------------------------------------------
 */

struct hexatic_plan hexatic_plan_of(const double side[2], size_t n, double block) {
    struct hexatic_plan p = {.side = {side[0], side[1]}};
    const double shorter = fmin(side[0], side[1]), root = sqrt((double)n);
    p.sizes[HEXATIC_G6] = p.sizes[HEXATIC_GQ] = (size_t)fmax(1, floor(root / 2));
    p.sizes[HEXATIC_CUT] = (size_t)fmax(1, floor(5 * root));
    /* no ring without a vector along the longer side, at any density */
    p.sizes[HEXATIC_SK] = (size_t)fmax(1, fmin(160, floor(HEXATIC_Q_MAX * root / 6.8)));
    p.sizes[HEXATIC_LOCAL_DENSITY] = block > 0 ? (size_t)ceil(0.92 / HEXATIC_DENSITY_BIN) : 0;
    p.bin = 0.5 * shorter / (double)p.sizes[HEXATIC_G6];
    p.cut = 0.5 * shorter / (double)p.sizes[HEXATIC_CUT];
    p.structure = ergo_structure_plan(2, side, p.sizes[HEXATIC_SK], HEXATIC_Q_MAX, 2.75);
    const double density = (double)n / (side[0] * side[1]);
    p.structure.lattice = 2 * pi * sqrt(2 * density / sqrt(3)); /* of the triangular lattice */
    for (int a = 0; a < 2; a++) {
        p.mesh[a] = ergo_structure_parts(side[a], p.bin);
        p.boxes[a] = block > 0 ? (size_t)fmax(1, floor(side[a] / block)) : 0;
    }
    return p;
}

void hexatic_x(const struct hexatic_plan *p, enum hexatic_curve curve, double *x) {
    for (size_t i = 0; i < p->sizes[curve]; i++)
        x[i] = curve == HEXATIC_CUT             ? ((double)i + 0.5) * p->cut
               : curve == HEXATIC_SK            ? (double)(i + 1) * p->structure.wave
               : curve == HEXATIC_LOCAL_DENSITY ? ((double)i + 0.5) * HEXATIC_DENSITY_BIN
                                                : (double)(i + 1) * p->bin;
}

/* ---- Psi_6 ------------------------------------------------------------------------------------
 */

static void order(struct analysis *a, double *numbers) {
    const size_t n = a->plane->n;
    double re = 0, im = 0, local = 0, defects = 0;
    for (size_t i = 0; i < n; i++) {
        re += a->cells[i].re;
        im += a->cells[i].im;
        local += hypot(a->cells[i].re, a->cells[i].im);
        defects += a->cells[i].sides != 6;
    }
    a->psi[0] = re / (double)n;
    a->psi[1] = im / (double)n;
    numbers[HEXATIC_PSI] = hypot(a->psi[0], a->psi[1]);
    numbers[HEXATIC_PSI2] = a->psi[0] * a->psi[0] + a->psi[1] * a->psi[1];
    numbers[HEXATIC_LOCAL] = local / (double)n;
    numbers[HEXATIC_DEFECTS] = defects / (double)n;
}

/* ---- S(q) -------------------------------------------------------------------------------------
 */

static bool structure(struct analysis *a, double *numbers, double *sk) {
    const double *const at[2] = {a->plane->x, a->plane->y};
    const struct ergo_places places = {a->plan->side, a->plane->n, at};
    if (!ergo_structure_analyse(&a->plan->structure, &places, sk, a->q))
        return false;
    numbers[HEXATIC_PEAK] = ergo_structure_at(&places, 2, a->q);
    numbers[HEXATIC_PEAK_Q] = hypot(a->q[0], a->q[1]);
    return true;
}

/* ---- correlations -----------------------------------------------------------------------------
 */

/* |F(k)|^2 of a field on a mesh, into the real parts; 0 into the others. */
static bool power(double *field, const size_t n[2]) {
    if (!ergo_fourier_plane(field, n))
        return false;
    for (size_t i = 0; i < n[0] * n[1]; i++) {
        field[2 * i] = field[2 * i] * field[2 * i] + field[2 * i + 1] * field[2 * i + 1];
        field[2 * i + 1] = 0;
    }
    return true;
}

/* The sums over all pairs of disks, by the bins of their distance, of the real parts of conj(f_i)
 * f_j, where f is a number of each disk; disks are where the middle of their mesh cell is. Of pairs
 * in one cell nothing is known, and the first bin is 1. */
static bool pair_sums(const struct analysis *a,
                      void (*value)(const struct analysis *, size_t, double *), double *field,
                      double *sums) {
    const struct hexatic_plan *p = a->plan;
    const size_t *n = p->mesh;
    memset(field, 0, 2 * n[0] * n[1] * sizeof *field);
    memset(sums, 0, p->sizes[HEXATIC_G6] * sizeof *sums);
    for (size_t i = 0; i < a->plane->n; i++) {
        const size_t x = (size_t)(a->plane->x[i] / p->side[0] * (double)n[0]) & (n[0] - 1);
        const size_t y = (size_t)(a->plane->y[i] / p->side[1] * (double)n[1]) & (n[1] - 1);
        double f[2];
        value(a, i, f);
        field[2 * (y * n[0] + x)] += f[0];
        field[2 * (y * n[0] + x) + 1] += f[1];
    }
    /* the transform of the power is the sum for each displacement, times the number of cells */
    if (!power(field, n) || !ergo_fourier_plane(field, n))
        return false;
    for (size_t y = 0; y < n[1]; y++) {
        const double dy = (double)(y <= n[1] / 2 ? y : n[1] - y) * p->side[1] / (double)n[1];
        for (size_t x = 0; x < n[0]; x++) {
            const double dx = (double)(x <= n[0] / 2 ? x : n[0] - x) * p->side[0] / (double)n[0];
            const size_t bin = (size_t)(sqrt(dx * dx + dy * dy) / p->bin + 0.5);
            if (bin && bin <= p->sizes[HEXATIC_G6])
                sums[bin - 1] += field[2 * (y * n[0] + x)] / (double)(n[0] * n[1]);
        }
    }
    return true;
}

static void one(const struct analysis *a, size_t i, double *f) {
    (void)a, (void)i;
    f[0] = 1;
    f[1] = 0;
}

static void bond(const struct analysis *a, size_t i, double *f) {
    f[0] = a->cells[i].re;
    f[1] = a->cells[i].im;
}

static void wave(const struct analysis *a, size_t i, double *f) {
    const double phase = a->q[0] * a->plane->x[i] + a->q[1] * a->plane->y[i];
    f[0] = cos(phase);
    f[1] = sin(phase);
}

static bool correlations(const struct analysis *a, double *g6, double *gq) {
    const struct hexatic_plan *p = a->plan;
    const size_t size = p->sizes[HEXATIC_G6];
    double *field = malloc(2 * p->mesh[0] * p->mesh[1] * sizeof *field);
    double *pairs = malloc((size + 1) * sizeof *pairs);
    const bool ok = field && pairs && pair_sums(a, one, field, pairs) &&
                    pair_sums(a, bond, field, g6) && pair_sums(a, wave, field, gq);
    for (size_t i = 0; i < size && ok; i++) { /* sums of ones are whole but for rounding */
        g6[i] = pairs[i] > 0.5 ? g6[i] / pairs[i] : 0;
        gq[i] = pairs[i] > 0.5 ? gq[i] / pairs[i] : 0;
    }
    free(field);
    free(pairs);
    return ok;
}

/* ---- g along the lattice ----------------------------------------------------------------------
 */

struct strip {
    const struct analysis *a;
    double direction[2];
    double *counts;
};

/* Of which box a bin is, counted from that of the plane. */
static int64_t box_of(int64_t bin, int64_t bins) {
    return bin >= 0 ? bin / bins : -((bins - 1 - bin) / bins);
}

/* Disks of a bin that are in the strip from `at` on. */
static void count_bin(const struct strip *s, const double at[2], int64_t bx, int64_t by) {
    const struct disks_bins *b = &s->a->bins;
    const struct hexatic_plan *p = s->a->plan;
    const int64_t nx = (int64_t)b->bins[0], ny = (int64_t)b->bins[1];
    const int64_t ix = box_of(bx, nx), iy = box_of(by, ny);
    const size_t bin = (size_t)((by - iy * ny) * nx + bx - ix * nx);
    for (uint32_t i = b->first[bin]; i < b->first[bin + 1]; i++) {
        const double dx = b->x[i] + (double)ix * p->side[0] - at[0];
        const double dy = b->y[i] + (double)iy * p->side[1] - at[1];
        const double along = dx * s->direction[0] + dy * s->direction[1];
        const double beside = dy * s->direction[0] - dx * s->direction[1];
        if (along <= 0 || fabs(beside) >= 0.5 * HEXATIC_CUT_WIDTH)
            continue;
        const size_t to = (size_t)(along / p->cut);
        if (to < p->sizes[HEXATIC_CUT])
            s->counts[to]++;
    }
}

/* Along the axis that is nearer to the direction, bin by bin; across it, those that the strip
 * meets: where a box has few bins, also those of boxes beyond the next. */
static void walk(const struct strip *s, const double at[2]) {
    const struct disks_bins *b = &s->a->bins;
    const struct hexatic_plan *p = s->a->plan;
    const int main = fabs(s->direction[0]) >= fabs(s->direction[1]) ? 0 : 1, cross = 1 - main;
    const double length = (double)p->sizes[HEXATIC_CUT] * p->cut;
    const double end = at[main] + length * s->direction[main];
    const double slope = s->direction[cross] / s->direction[main];
    const double wide = 0.5 * HEXATIC_CUT_WIDTH / fabs(s->direction[main]);
    /* the strip's ends are cut square, and reach a bit beyond the ends of its axis */
    const int64_t first = (int64_t)floor((fmin(at[main], end) - wide) / b->width[main]);
    const int64_t last = (int64_t)floor((fmax(at[main], end) + wide) / b->width[main]);
    for (int64_t k = first; k <= last; k++) {
        const double low = ((double)k * b->width[main] - at[main]) * slope;
        const double high = ((double)(k + 1) * b->width[main] - at[main]) * slope;
        const int64_t from = (int64_t)floor((at[cross] + fmin(low, high) - wide) / b->width[cross]);
        const int64_t to = (int64_t)floor((at[cross] + fmax(low, high) + wide) / b->width[cross]);
        for (int64_t c = from; c <= to; c++)
            count_bin(s, at, main == 0 ? k : c, main == 0 ? c : k);
    }
}

/* g(x, 0), x along a bond of the crystal that Psi_6 says: the mean of the six directions. */
static void cut(const struct analysis *a, double *g) {
    const struct hexatic_plan *p = a->plan;
    const size_t n = a->plane->n, most = HEXATIC_CUT_ORIGINS;
    const size_t stride = n > most ? (n + most - 1) / most : 1, origins = (n + stride - 1) / stride;
    const double angle = atan2(a->psi[1], a->psi[0]) / 6;
    const double density = (double)(n - 1) / (p->side[0] * p->side[1]); /* of the others */
    memset(g, 0, p->sizes[HEXATIC_CUT] * sizeof *g);
    for (int d = 0; d < 6; d++) {
        const struct strip s = {a, {cos(angle + d * pi / 3), sin(angle + d * pi / 3)}, g};
        for (size_t i = 0; i < n; i += stride)
            walk(&s, (const double[2]){a->bins.x[i], a->bins.y[i]});
    }
    for (size_t i = 0; i < p->sizes[HEXATIC_CUT]; i++)
        g[i] /= 6 * (double)origins * density * p->cut * HEXATIC_CUT_WIDTH;
}

/* ---- local densities --------------------------------------------------------------------------
 */

/* Shares of square boxes by their packing fraction: the area of the disks whose centre is in the
 * box over that of their cells, which has less noise than the box's own area has. A box without a
 * centre has none, and is no vapour: it does not count. */
static bool local_density(const struct analysis *a, double *shares) {
    const struct hexatic_plan *p = a->plan;
    const size_t boxes = p->boxes[0] * p->boxes[1], size = p->sizes[HEXATIC_LOCAL_DENSITY];
    double *sums = calloc(2 * boxes + 1, sizeof *sums);
    if (!sums)
        return false;
    for (size_t i = 0; i < a->plane->n; i++) {
        const size_t x = (size_t)(a->plane->x[i] / p->side[0] * (double)p->boxes[0]);
        const size_t y = (size_t)(a->plane->y[i] / p->side[1] * (double)p->boxes[1]);
        double *sum = sums + 2 * (y % p->boxes[1] * p->boxes[0] + x % p->boxes[0]);
        sum[0] += pi / 4;
        sum[1] += a->cells[i].area;
    }
    size_t counted = 0;
    memset(shares, 0, size * sizeof *shares);
    for (size_t i = 0; i < boxes; i++)
        counted += sums[2 * i + 1] > 0;
    for (size_t i = 0; i < boxes; i++) {
        if (!(sums[2 * i + 1] > 0))
            continue;
        const size_t bin = (size_t)(sums[2 * i] / sums[2 * i + 1] / HEXATIC_DENSITY_BIN);
        shares[bin < size ? bin : size - 1] += 1 / (double)counted;
    }
    free(sums);
    return true;
}

/* Share of bin i after smoothing by weights 1 2 3 2 1. */
static double smooth(const double *shares, size_t size, size_t i) {
    double sum = 0;
    for (size_t k = 0; k < 5; k++)
        if (i + k >= 2 && i + k - 2 < size)
            sum += (k < 3 ? (double)(k + 1) : (double)(5 - k)) * shares[i + k - 2];
    return sum / 9;
}

/* The maximum near bin i, by the parabola through three points. */
static double summit(const double *shares, size_t size, size_t i) {
    const double a = i ? smooth(shares, size, i - 1) : 0, b = smooth(shares, size, i);
    const double c = smooth(shares, size, i + 1), bend = a - 2 * b + c;
    return ((double)i + 0.5 + (bend < 0 ? 0.5 * (a - c) / bend : 0)) * HEXATIC_DENSITY_BIN;
}

/* The share of one box, of which all are multiples, or more: the smallest that is not 0 but for
 * rounding. */
static double one_box(const double *shares, size_t size) {
    double one = 1;
    for (size_t i = 0; i < size; i++)
        if (shares[i] > 1e-12)
            one = fmin(one, shares[i]);
    return one;
}

/* Is the difference of these smoothed shares more than four times what numbers of boxes scatter?
 * Weights 1 2 3 2 1 leave 19/81 of a number's variance. */
static bool parted(double here, double valley, double one) {
    return (here - valley) * (here - valley) > 16.0 * 19 / 81 * (here + valley) * one;
}

bool hexatic_two_peaks(const double *shares, size_t size, double peaks[2]) {
    const double one = one_box(shares, size);
    size_t first = 0, second = SIZE_MAX;
    for (size_t i = 0; i < size; i++)
        if (smooth(shares, size, i) > smooth(shares, size, first))
            first = i;
    double most = 0.25 * smooth(shares, size, first); /* tails have maxima of a few boxes */
    for (int way = -1; way <= 1; way += 2) {          /* from the highest one down, and up again */
        double valley = smooth(shares, size, first);
        for (size_t i = first; i < size; i += (size_t)way) { /* below 0 it wraps around */
            const double here = smooth(shares, size, i);
            valley = fmin(valley, here);
            if (here > most && valley < 0.7 * here && parted(here, valley, one)) {
                most = here;
                second = i;
            }
        }
    }
    if (second == SIZE_MAX)
        return false;
    peaks[0] = summit(shares, size, first < second ? first : second);
    peaks[1] = summit(shares, size, first < second ? second : first);
    return true;
}

/* ---- all --------------------------------------------------------------------------------------
 */

bool hexatic_analyse(const struct hexatic_plan *plan, const struct disks_plane *plane,
                     double *numbers, double *const curves[HEXATIC_CURVES]) {
    struct analysis a = {.plan = plan, .plane = plane};
    a.cells = malloc((plane->n + 1) * sizeof *a.cells);
    bool ok = a.cells && disks_bins_init(&a.bins, plane);
    ok = ok && disks_voronoi_cells(plane, &a.bins, a.cells);
    if (ok)
        order(&a, numbers);
    ok = ok && structure(&a, numbers, curves[HEXATIC_SK]) &&
         correlations(&a, curves[HEXATIC_G6], curves[HEXATIC_GQ]);
    if (ok)
        cut(&a, curves[HEXATIC_CUT]);
    ok = ok &&
         (!plan->sizes[HEXATIC_LOCAL_DENSITY] || local_density(&a, curves[HEXATIC_LOCAL_DENSITY]));
    disks_bins_free(&a.bins);
    free(a.cells);
    return ok;
}
