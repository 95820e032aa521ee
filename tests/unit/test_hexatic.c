/*
 * Hexatic analysis of disks: Voronoi cells, correlations and S(q) against sums over everything and
 * all images; a triangular crystal, random points, two phases side by side.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/xoshiro.h"
#include "samplers/hard_disks/hexatic.h"
#include "stats/fourier.h"

static const double pi = 3.14159265358979323846;

#define CLOSE(a, b, most) assert_true(fabs((a) - (b)) <= (most))

/* A configuration, its plan, and what the analysis makes of it. */
struct case_of {
    struct disks_plane plane;
    struct hexatic_plan plan;
    double *x, *y, numbers[HEXATIC_NUMBERS], *curves[HEXATIC_CURVES];
};

static struct case_of new_case(double lx, double ly, size_t n, double block) {
    struct case_of c = {.plan = hexatic_plan_of((const double[2]){lx, ly}, n, block)};
    c.x = malloc(n * sizeof *c.x);
    c.y = malloc(n * sizeof *c.y);
    c.plane = (struct disks_plane){{lx, ly}, n, c.x, c.y};
    for (size_t i = 0; i < HEXATIC_CURVES; i++)
        c.curves[i] = calloc(c.plan.sizes[i] + 1, sizeof(double));
    return c;
}

static void analyse(struct case_of *c) {
    assert_true(hexatic_analyse(&c->plan, &c->plane, c->numbers, c->curves));
}

static void free_case(struct case_of *c) {
    free(c->x);
    free(c->y);
    for (size_t i = 0; i < HEXATIC_CURVES; i++)
        free(c->curves[i]);
}

static struct case_of random_case(double lx, double ly, size_t n, uint64_t seed) {
    struct case_of c = new_case(lx, ly, n, 0);
    uint64_t s[4];
    ergo_oracle_xoshiro_seed(s, seed);
    for (size_t i = 0; i < n; i++) {
        c.x[i] = lx * ergo_oracle_xoshiro_uniform(s);
        c.y[i] = ly * ergo_oracle_xoshiro_uniform(s);
    }
    return c;
}

/* Columns of rows of a triangular lattice, a bond along x. */
static struct case_of crystal(size_t columns, size_t rows, double spacing, double block) {
    const double row = spacing * sqrt(3) / 2;
    struct case_of c =
        new_case((double)columns * spacing, (double)rows * row, columns * rows, block);
    for (size_t i = 0; i < columns * rows; i++) {
        c.x[i] = ((double)(i % columns) + 0.5 * (double)(i / columns % 2) + 0.1) * spacing;
        c.y[i] = ((double)(i / columns) + 0.1) * row;
    }
    return c;
}

/* ---- cells ------------------------------------------------------------------------------------
 */

enum { IMAGES = 5, POINTS = 9, ALL = IMAGES * IMAGES * POINTS };

/* The cell of disk i from its corners: centres of circles through it and two others (images too)
 * that have no disk in them. The two corners that share a disk are the ends of its side. */
static struct disks_voronoi cell_by_circles(const struct disks_plane *plane, size_t i) {
    static double dx[ALL], dy[ALL], ends[ALL][4];
    static int n_ends[ALL];
    struct disks_voronoi cell = {0, 0, 0, 0};
    size_t n = 0;
    double around = 0;
    for (int ix = -IMAGES / 2; ix <= IMAGES / 2; ix++)
        for (int iy = -IMAGES / 2; iy <= IMAGES / 2; iy++)
            for (size_t j = 0; j < plane->n; j++) {
                if (j == i && !ix && !iy)
                    continue;
                dx[n] = plane->x[j] - plane->x[i] + ix * plane->side[0];
                dy[n++] = plane->y[j] - plane->y[i] + iy * plane->side[1];
            }
    memset(n_ends, 0, sizeof n_ends);
    for (size_t j = 0; j < n; j++)
        for (size_t k = j + 1; k < n; k++) {
            const double det = 2 * (dx[j] * dy[k] - dy[j] * dx[k]);
            const double rj = dx[j] * dx[j] + dy[j] * dy[j], rk = dx[k] * dx[k] + dy[k] * dy[k];
            const double x = (rj * dy[k] - rk * dy[j]) / det, y = (rk * dx[j] - rj * dx[k]) / det;
            bool empty = fabs(det) > 1e-12;
            for (size_t l = 0; l < n && empty; l++)
                empty = l == j || l == k ||
                        (dx[l] - x) * (dx[l] - x) + (dy[l] - y) * (dy[l] - y) >= x * x + y * y;
            for (int e = 0; e < 2 && empty; e++) {
                const size_t at = e ? k : j;
                assert_true(n_ends[at] < 2);
                ends[at][2 * n_ends[at]] = x;
                ends[at][2 * n_ends[at]++ + 1] = y;
            }
        }
    for (size_t j = 0; j < n; j++)
        if (n_ends[j]) {
            assert_int_equal(n_ends[j], 2);
            const double *e = ends[j], length = hypot(e[2] - e[0], e[3] - e[1]);
            const double angle = atan2(dy[j], dx[j]);
            cell.re += length * cos(6 * angle);
            cell.im += length * sin(6 * angle);
            cell.area += 0.5 * fabs(e[0] * e[3] - e[1] * e[2]);
            cell.sides++;
            around += length;
        }
    cell.re /= around;
    cell.im /= around;
    return cell;
}

static void cells_by_circles(void **state) {
    static const double sides[][2] = {{5, 5}, {3, 7}, {11, 4}, {2, 2.5}};
    (void)state;
    for (size_t k = 0; k < 4 * 5; k++) {
        struct case_of c =
            random_case(sides[k % 4][0], sides[k % 4][1], k / 4 ? POINTS - k / 4 : POINTS, 7 + k);
        struct disks_bins bins;
        struct disks_voronoi cells[POINTS];
        assert_true(disks_bins_init(&bins, &c.plane));
        assert_true(disks_voronoi_cells(&c.plane, &bins, cells));
        for (size_t i = 0; i < c.plane.n; i++) {
            const struct disks_voronoi expected = cell_by_circles(&c.plane, i);
            CLOSE(cells[i].re, expected.re, 1e-9);
            CLOSE(cells[i].im, expected.im, 1e-9);
            CLOSE(cells[i].area, expected.area, 1e-9);
            assert_int_equal(cells[i].sides, expected.sides);
        }
        disks_bins_free(&bins);
        free_case(&c);
    }
}

/* Cells cover the box without gaps, and have six sides in the mean (Euler), from one disk to many
 * in a corner of a long box. */
static void cells_cover(void **state) {
    static const double sides[][2] = {{30, 30}, {100, 3}, {2, 90}};
    (void)state;
    for (size_t k = 0; k < 9; k++) {
        const size_t n = k < 3 ? 1 : k < 6 ? 40 : 1000;
        struct case_of c = random_case(sides[k % 3][0], sides[k % 3][1], n, 70 + k);
        struct disks_bins bins;
        struct disks_voronoi *cells = malloc(n * sizeof *cells);
        double area = 0;
        size_t corners = 0;
        for (size_t i = 0; i < n && k >= 6; i++) /* crowded */
            c.x[i] *= 0.1, c.y[i] *= 0.1;
        assert_true(disks_bins_init(&bins, &c.plane));
        assert_true(disks_voronoi_cells(&c.plane, &bins, cells));
        for (size_t i = 0; i < n; i++) {
            area += cells[i].area;
            corners += cells[i].sides;
        }
        CLOSE(area / (sides[k % 3][0] * sides[k % 3][1]), 1, 1e-10);
        if (n > 1) /* a single disk has a rectangle */
            assert_int_equal(corners, 6 * n);
        disks_bins_free(&bins);
        free(cells);
        free_case(&c);
    }
}

/* ---- all of it --------------------------------------------------------------------------------
 */

static void perfect_crystal(void **state) {
    struct case_of c = crystal(40, 40, 1.137, 5);
    (void)state;
    analyse(&c);
    CLOSE(c.numbers[HEXATIC_PSI], 1, 1e-12);
    CLOSE(c.numbers[HEXATIC_PSI2], 1, 1e-12);
    CLOSE(c.numbers[HEXATIC_LOCAL], 1, 1e-12);
    CLOSE(c.numbers[HEXATIC_DEFECTS], 0, 0);
    CLOSE(c.numbers[HEXATIC_PEAK], 1600, 1e-6);
    CLOSE(c.numbers[HEXATIC_PEAK_Q], 4 * pi / (sqrt(3) * 1.137), 1e-9);
    for (size_t i = 0; i < c.plan.sizes[HEXATIC_G6]; i++) {
        CLOSE(c.curves[HEXATIC_G6][i], 1, 1e-9);
        CLOSE(c.curves[HEXATIC_GQ][i], 1, 1e-9);
    }
    for (size_t i = 0; i < c.plan.sizes[HEXATIC_CUT]; i++) { /* a disk at each lattice spacing */
        const double low = (double)i * c.plan.cut / 1.137, high = low + c.plan.cut / 1.137;
        const double density = 1599 / 1600.0 * 2 / (sqrt(3) * 1.137 * 1.137); /* of the others */
        const bool one = floor(high - 1e-6) > floor(low - 1e-6) && high > 1;
        CLOSE(c.curves[HEXATIC_CUT][i], one ? 1 / (density * c.plan.cut * HEXATIC_CUT_WIDTH) : 0,
              1e-3);
    }
    free_case(&c);
}

/* Sums over all pairs and all disks. */
static void by_all_pairs(void **state) {
    struct case_of c = random_case(14, 11, 130, 3);
    (void)state;
    analyse(&c);
    const size_t n = c.plane.n, size = c.plan.sizes[HEXATIC_G6];
    struct disks_bins bins;
    struct disks_voronoi *cells = malloc(n * sizeof *cells);
    double *sums = calloc(3 * size, sizeof *sums), psi[2] = {0, 0}, most = 0;
    assert_true(disks_bins_init(&bins, &c.plane));
    assert_true(disks_voronoi_cells(&c.plane, &bins, cells));
    for (size_t i = 0; i < n; i++)
        psi[0] += cells[i].re / (double)n, psi[1] += cells[i].im / (double)n;
    CLOSE(c.numbers[HEXATIC_PSI], hypot(psi[0], psi[1]), 1e-12);
    /* S(q) */
    double *sk = calloc(2 * c.plan.sizes[HEXATIC_SK], sizeof *sk), q0[2] = {0, 0};
    const double lattice = 4 * pi / sqrt(3) * sqrt(sqrt(3) / 2 * (double)n / (14 * 11));
    for (int a = -20; a <= 20; a++)
        for (int b = -20; b <= 20; b++) {
            const double q[2] = {2 * pi * a / 14, 2 * pi * b / 11};
            const size_t bin = (size_t)(hypot(q[0], q[1]) / c.plan.structure.wave + 0.5);
            double re = 0, im = 0;
            for (size_t i = 0; i < n; i++) {
                re += cos(q[0] * c.x[i] + q[1] * c.y[i]);
                im += sin(q[0] * c.x[i] + q[1] * c.y[i]);
            }
            const double s = (re * re + im * im) / (double)n;
            if (bin && bin <= c.plan.sizes[HEXATIC_SK])
                sk[2 * bin - 2] += s, sk[2 * bin - 1]++;
            if (fabs(hypot(q[0], q[1]) - lattice) < 0.2 * lattice && s > most)
                most = s, q0[0] = q[0], q0[1] = q[1];
        }
    CLOSE(c.numbers[HEXATIC_PEAK], most, 1e-9 * most);
    CLOSE(c.numbers[HEXATIC_PEAK_Q], hypot(q0[0], q0[1]), 1e-9);
    for (size_t i = 0; i < c.plan.sizes[HEXATIC_SK]; i++)
        CLOSE(c.curves[HEXATIC_SK][i], sk[2 * i] / sk[2 * i + 1], 0.02);
    /* correlations, of places in the mesh */
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double d[2];
            for (int k = 0; k < 2; k++) {
                const double *at = k ? c.y : c.x, h = c.plan.side[k] / (double)c.plan.mesh[k];
                d[k] = fabs(floor(at[i] / h) - floor(at[j] / h)) * h;
                d[k] = fmin(d[k], c.plan.side[k] - d[k]);
            }
            const size_t bin = (size_t)(hypot(d[0], d[1]) / c.plan.bin + 0.5);
            if (!bin || bin > size)
                continue;
            sums[3 * bin - 3]++;
            sums[3 * bin - 2] += cells[i].re * cells[j].re + cells[i].im * cells[j].im;
            sums[3 * bin - 1] += cos(q0[0] * (c.x[i] - c.x[j]) + q0[1] * (c.y[i] - c.y[j]));
        }
    for (size_t i = 0; i < size; i++) {
        CLOSE(c.curves[HEXATIC_G6][i], sums[3 * i + 1] / sums[3 * i], 1e-9);
        CLOSE(c.curves[HEXATIC_GQ][i], sums[3 * i + 2] / sums[3 * i], 1e-9);
    }
    /* along the lattice */
    const double width = HEXATIC_CUT_WIDTH;
    double *cut = calloc(c.plan.sizes[HEXATIC_CUT], sizeof *cut);
    for (int k = 0; k < 6; k++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < 9 * n; j++) {
                const double angle = atan2(psi[1], psi[0]) / 6 + k * pi / 3;
                const double dx = c.x[j % n] - c.x[i] + 14 * ((double)(j / n % 3) - 1);
                const double dy = c.y[j % n] - c.y[i] + 11 * ((double)(j / n / 3) - 1);
                const double along = dx * cos(angle) + dy * sin(angle);
                if (along > 0 && along < c.plan.cut * (double)c.plan.sizes[HEXATIC_CUT] &&
                    fabs(dy * cos(angle) - dx * sin(angle)) < width / 2)
                    cut[(size_t)(along / c.plan.cut)] +=
                        14 * 11 / (6.0 * (double)(n * (n - 1)) * c.plan.cut * width);
            }
    for (size_t i = 0; i < c.plan.sizes[HEXATIC_CUT]; i++)
        CLOSE(c.curves[HEXATIC_CUT][i], cut[i], 1e-9);
    disks_bins_free(&bins);
    free(cells);
    free(sums);
    free(sk);
    free(cut);
    free_case(&c);
}

/* Without order everything is 1 or 0 within what so many points scatter: |Psi_6|^2 is <|psi_6|^2>
 * correlated over neighbours, over N. */
static void random_points(void **state) {
    struct case_of c = random_case(90, 80, 10000, 11);
    double mean = 0;
    (void)state;
    analyse(&c);
    assert_true(c.numbers[HEXATIC_PSI2] * 10000 < 8);
    for (size_t i = 3; i < c.plan.sizes[HEXATIC_G6]; i++)
        CLOSE(c.curves[HEXATIC_G6][i], 0, 0.01);
    for (size_t i = 20; i < c.plan.sizes[HEXATIC_SK]; i++)
        CLOSE(c.curves[HEXATIC_SK][i], 1, 6 / sqrt(pi * (double)i)); /* of 2 pi i / 2 vectors */
    for (size_t i = 0; i < c.plan.sizes[HEXATIC_CUT]; i++)
        mean += c.curves[HEXATIC_CUT][i] / (double)c.plan.sizes[HEXATIC_CUT];
    CLOSE(mean, 1, 0.02);
    free_case(&c);
}

/* A crystal whose right half is stretched: boxes have either density, and it is found. */
static void two_phases(void **state) {
    const double dense = 0.72, rare = 0.70;
    const double spacing = sqrt(pi / (2 * sqrt(3) * dense)), row = spacing * sqrt(3) / 2;
    const double wide = spacing * dense / rare;
    struct case_of c = new_case(100 * (spacing + wide), 200 * row, 40000, 10);
    double peaks[2];
    (void)state;
    for (size_t i = 0; i < 40000; i++) {
        const double column = (double)(i % 200) + 0.5 * (double)(i / 200 % 2) + 0.2;
        c.x[i] = column < 100 ? column * spacing : 100 * spacing + (column - 100) * wide;
        c.y[i] = ((double)(i / 200) + 0.5) * row;
    }
    analyse(&c);
    assert_true(hexatic_two_peaks(c.curves[HEXATIC_LOCAL_DENSITY],
                                  c.plan.sizes[HEXATIC_LOCAL_DENSITY], peaks));
    CLOSE(peaks[0], rare, 0.0015);
    CLOSE(peaks[1], dense, 0.0015);
    free_case(&c);
    c = crystal(40, 40, 1.137, 5);
    analyse(&c);
    assert_false(hexatic_two_peaks(c.curves[HEXATIC_LOCAL_DENSITY],
                                   c.plan.sizes[HEXATIC_LOCAL_DENSITY], peaks));
    free_case(&c);
}

/* Boxes of which three quarters hold no disk: the shares are of the others, and there is no vapour.
 */
static void empty_boxes(void **state) {
    struct case_of c = crystal(40, 40, 1.137, 0.57);
    double sum = 0;
    (void)state;
    analyse(&c);
    assert_true(c.plan.sizes[HEXATIC_LOCAL_DENSITY] > 0);
    CLOSE(c.curves[HEXATIC_LOCAL_DENSITY][0], 0, 0);
    for (size_t i = 0; i < c.plan.sizes[HEXATIC_LOCAL_DENSITY]; i++)
        sum += c.curves[HEXATIC_LOCAL_DENSITY][i];
    CLOSE(sum, 1, 1e-9);
    free_case(&c);
}

/* One phase, whose local densities scatter: it is not taken for two, however few boxes there are.
 */
static void one_phase(void **state) {
    static const double boxes[] = {100, 1000, 5000, 30000};
    uint64_t s[4];
    (void)state;
    ergo_oracle_xoshiro_seed(s, 7);
    for (size_t k = 0; k < 4 * 50; k++) {
        double shares[460] = {0}, peaks[2];
        for (size_t i = 0; i < (size_t)boxes[k / 50]; i++) {
            double sum = 0; /* of twelve, nearly a Gaussian number */
            for (int j = 0; j < 12; j++)
                sum += ergo_oracle_xoshiro_uniform(s) - 0.5;
            shares[(size_t)(250 + 15 * sum)] += 1 / boxes[k / 50];
        }
        assert_false(hexatic_two_peaks(shares, 460, peaks));
    }
}

/* A maximum of less than a quarter of the other is none, such as correlated tails have. */
static void small_maxima(void **state) {
    (void)state;
    for (int k = 1; k < 8; k++) {
        double shares[460] = {0}, peaks[2];
        for (int i = -20; i <= 20; i++) {
            shares[200 + i] += 1e-3 * (20 - abs(i));
            shares[260 + i] += 1e-4 * k * (20 - abs(i));
        }
        assert_int_equal(hexatic_two_peaks(shares, 460, peaks), k > 2);
    }
}

/* Two disks far apart: q_0 is among the shortest wave vectors, which no ring of S(q) has. */
static void few_disks(void **state) {
    struct case_of c = random_case(100, 100, 2, 3);
    const double lattice = 2 * pi * sqrt(2 * 2e-4 / sqrt(3));
    (void)state;
    analyse(&c);
    assert_true(fabs(c.numbers[HEXATIC_PEAK_Q] - lattice) < 0.2 * lattice);
    free_case(&c);
}

/* Transforms against their definition. */
static void transforms(void **state) {
    const size_t n[3] = {16, 8, 1};
    double plane[2 * 128], before[2 * 128], real[128], half[2 * 9 * 8];
    uint64_t s[4];
    (void)state;
    ergo_oracle_xoshiro_seed(s, 5);
    for (size_t i = 0; i < 256; i++)
        plane[i] = before[i] = ergo_oracle_xoshiro_uniform(s) - 0.5;
    for (size_t i = 0; i < 128; i++)
        real[i] = before[2 * i];
    assert_true(ergo_fourier_plane(plane, n));
    assert_true(ergo_fourier_real(real, n, half));
    for (size_t k = 0; k < 128; k++) {
        double f[4] = {0, 0, 0, 0};
        for (size_t i = 0; i < 128; i++) {
            const double phase =
                -2 * pi * ((double)(k % 16 * (i % 16)) / 16 + (double)(k / 16 * (i / 16)) / 8);
            f[0] += before[2 * i] * cos(phase) - before[2 * i + 1] * sin(phase);
            f[1] += before[2 * i] * sin(phase) + before[2 * i + 1] * cos(phase);
            f[2] += real[i] * cos(phase);
            f[3] += real[i] * sin(phase);
        }
        CLOSE(plane[2 * k], f[0], 1e-12);
        CLOSE(plane[2 * k + 1], f[1], 1e-12);
        if (k % 16 <= 8) {
            CLOSE(half[2 * (k / 16 * 9 + k % 16)], f[2], 1e-12);
            CLOSE(half[2 * (k / 16 * 9 + k % 16) + 1], f[3], 1e-12);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_by_circles), cmocka_unit_test(cells_cover),
        cmocka_unit_test(perfect_crystal),  cmocka_unit_test(by_all_pairs),
        cmocka_unit_test(random_points),    cmocka_unit_test(two_phases),
        cmocka_unit_test(one_phase),        cmocka_unit_test(small_maxima),
        cmocka_unit_test(empty_boxes),      cmocka_unit_test(few_disks),
        cmocka_unit_test(transforms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
