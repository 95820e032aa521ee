/*
 * S(k) and bond-orientational order in three dimensions: against sums over all particles and all
 * images, perfect crystals, random points.
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
#include "samplers/bonds.h"
#include "stats/fourier.h"

static const double pi = 3.14159265358979323846;

#define CLOSE(a, b, most) assert_true(fabs((a) - (b)) <= (most))

enum { MOST = 4000 };

/* Particles in a box. */
struct box {
    double side[3], x[3][MOST];
    const double *at[3];
    struct ergo_places places;
};

static struct box *new_box(const double side[3], size_t n) {
    struct box *b = malloc(sizeof *b);
    memcpy(b->side, side, sizeof b->side);
    for (int k = 0; k < 3; k++)
        b->at[k] = b->x[k];
    b->places = (struct ergo_places){b->side, n, b->at};
    return b;
}

static struct box *random_box(const double side[3], size_t n, uint64_t seed) {
    struct box *b = new_box(side, n);
    uint64_t s[4];
    ergo_oracle_xoshiro_seed(s, seed);
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            b->x[k][i] = side[k] * ergo_oracle_xoshiro_uniform(s);
    return b;
}

/* Cells with particles at these places, in parts of their edges. */
static struct box *crystal(const double edge[3], const int cells[3], size_t basis,
                           const double (*at)[3]) {
    struct box *b =
        new_box((const double[3]){cells[0] * edge[0], cells[1] * edge[1], cells[2] * edge[2]},
                (size_t)(cells[0] * cells[1] * cells[2]) * basis);
    for (size_t i = 0; i < b->places.n; i++) {
        const int cell = (int)(i / basis);
        const int place[3] = {cell % cells[0], cell / cells[0] % cells[1],
                              cell / cells[0] / cells[1]};
        for (int k = 0; k < 3; k++) /* not on the faces of the box */
            b->x[k][i] = (place[k] + at[i % basis][k] + 0.11) * edge[k];
    }
    return b;
}

static const double fcc[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
static const double hcp[4][3] = {{0, 0, 0},
                                 {0.5, 0.5, 0},
                                 {0.5, 5.0 / 6, 0.5},
                                 {0, 1.0 / 3, 0.5}}; /* edges 1, sqrt 3, sqrt 8/3 */

/* ---- directions ------------------------------------------------------------------------------ */

static double p6(double z) {
    return (231 * pow(z, 6) - 315 * pow(z, 4) + 105 * z * z - 5) / 16;
}

static void unit_vector(uint64_t s[4], double u[3]) {
    const double z = 2 * ergo_oracle_xoshiro_uniform(s) - 1, r = sqrt(1 - z * z);
    const double angle = 2 * pi * ergo_oracle_xoshiro_uniform(s);
    u[0] = r * cos(angle);
    u[1] = r * sin(angle);
    u[2] = z;
}

/* The addition theorem, and that the parts are those of Y_6m up to factors: orthogonal. */
static void directions(void **state) {
    uint64_t s[4];
    (void)state;
    ergo_oracle_xoshiro_seed(s, 1);
    for (int i = 0; i < 1000; i++) {
        double a[3], b[3], ya[13], yb[13], sum = 0;
        unit_vector(s, a);
        unit_vector(s, b);
        ergo_bonds_direction(a, ya);
        ergo_bonds_direction(b, yb);
        for (int k = 0; k < 13; k++)
            sum += ya[k] * yb[k];
        CLOSE(sum, p6(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]), 1e-12);
    }
}

/* ---- order against all images ---------------------------------------------------------------- */

enum { IMAGES = 7, AROUND = 14, FEW = 30 };

struct bond {
    double r2, d[3];
    size_t other;
};

static int compare_bonds(const void *a, const void *b) {
    const double x = ((const struct bond *)a)->r2, y = ((const struct bond *)b)->r2;
    return (x > y) - (x < y);
}

/* The nearest of all particles in IMAGES^3 boxes. */
static void nearest(const struct box *b, size_t i, struct bond bonds[AROUND]) {
    static struct bond all[IMAGES * IMAGES * IMAGES * FEW];
    size_t n = 0;
    for (int image = 0; image < IMAGES * IMAGES * IMAGES; image++)
        for (size_t j = 0; j < b->places.n; j++) {
            const int away[3] = {image % IMAGES - IMAGES / 2, image / IMAGES % IMAGES - IMAGES / 2,
                                 image / IMAGES / IMAGES - IMAGES / 2};
            struct bond *bond = &all[n];
            bond->r2 = 0;
            bond->other = j;
            for (int k = 0; k < 3; k++) {
                bond->d[k] = b->x[k][j] - b->x[k][i] + away[k] * b->side[k];
                bond->r2 += bond->d[k] * bond->d[k];
            }
            n += bond->r2 > 0;
        }
    qsort(all, n, sizeof *all, compare_bonds);
    memcpy(bonds, all, AROUND * sizeof *all);
}

/* The sum over the bonds of two particles of P_6 of their angles: 144 times the product of both
 * means of Y_6m, without spherical harmonics. */
static double correlation(const struct bond *a, const struct bond *b, unsigned neighbours) {
    double sum = 0;
    for (unsigned i = 0; i < neighbours; i++)
        for (unsigned j = 0; j < neighbours; j++)
            sum += p6((a[i].d[0] * b[j].d[0] + a[i].d[1] * b[j].d[1] + a[i].d[2] * b[j].d[2]) /
                      sqrt(a[i].r2 * b[j].r2));
    return sum / (neighbours * neighbours);
}

static struct ergo_bonds by_pairs(const struct box *b, unsigned neighbours, unsigned connected) {
    static struct bond bonds[FEW][AROUND];
    static double pairs[FEW][FEW];
    const size_t n = b->places.n;
    struct ergo_bonds o = {0, 0, 0};
    for (size_t i = 0; i < n; i++)
        nearest(b, i, bonds[i]);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            o.q6 += pairs[i][j] = correlation(bonds[i], bonds[j], neighbours);
    o.q6 = sqrt(o.q6) / (double)n;
    for (size_t i = 0; i < n; i++) {
        size_t set[AROUND + 1] = {i};
        unsigned links = 0;
        double sum = 0;
        for (unsigned j = 0; j < neighbours; j++) {
            const size_t other = set[j + 1] = bonds[i][j].other;
            links += pairs[i][other] > 0.7 * sqrt(pairs[i][i] * pairs[other][other]);
        }
        for (unsigned j = 0; j <= neighbours; j++)
            for (unsigned k = 0; k <= neighbours; k++)
                sum += pairs[set[j]][set[k]];
        o.averaged += sqrt(sum) / (neighbours + 1) / (double)n;
        o.solid += (links >= connected) / (double)n;
    }
    return o;
}

static void by_all_images(void **state) {
    static const double sides[][3] = {{3, 3, 3}, {2, 3.1, 5}, {7, 1.9, 2.3}, {2.2, 2.1, 2.6}};
    size_t some = 0; /* boxes in which some are solid and others not */
    (void)state;
    for (size_t k = 0; k < 4 * 6; k++) {
        const size_t n = k < 4 ? 2 : k < 8 ? 5 : FEW;
        const unsigned neighbours = k % 3 ? 12 : 14, connected = k < 12 ? 1 : 2;
        struct box *b = random_box(sides[k % 4], n, 7 + k);
        struct ergo_bonds found;
        assert_true(ergo_bonds_analyse(&b->places, neighbours, connected, &found));
        const struct ergo_bonds expected = by_pairs(b, neighbours, connected);
        CLOSE(found.q6, expected.q6, 1e-9);
        CLOSE(found.averaged, expected.averaged, 1e-9);
        CLOSE(found.solid, expected.solid, 1e-9);
        some += found.solid > 0 && found.solid < 1;
        free(b);
    }
    print_message("some are solid in %zu boxes\n", some);
    assert_true(some >= 5);
}

/* Neighbours in many bins, and far from all others: where half of the box is empty. */
static void many_bins(void **state) {
    const size_t n = 1000;
    struct box *b = random_box((const double[3]){11, 9, 13}, n, 3);
    struct ergo_bonds found;
    double sums[13] = {0}, q6 = 0;
    (void)state;
    for (size_t i = 0; i < n; i++)
        b->x[2][i] *= 0.5;
    assert_true(ergo_bonds_analyse(&b->places, 12, 7, &found));
    for (size_t i = 0; i < n; i++) {
        static struct bond all[MOST];
        for (size_t j = 0; j < n; j++) {
            all[j].r2 = i == j ? 1e9 : 0;
            for (int k = 0; k < 3; k++) {
                all[j].d[k] = remainder(b->x[k][j] - b->x[k][i], b->side[k]);
                all[j].r2 += all[j].d[k] * all[j].d[k];
            }
        }
        qsort(all, n, sizeof *all, compare_bonds);
        for (size_t j = 0; j < 12; j++) {
            double unit[3], y[13];
            for (int k = 0; k < 3; k++)
                unit[k] = all[j].d[k] / sqrt(all[j].r2);
            ergo_bonds_direction(unit, y);
            for (int k = 0; k < 13; k++)
                sums[k] += y[k] / (12.0 * (double)n);
        }
    }
    for (int k = 0; k < 13; k++)
        q6 += sums[k] * sums[k];
    CLOSE(found.q6, sqrt(q6), 1e-10);
    free(b);
}

/* Steinhardt, Nelson, Ronchetti (1983), Fig. 2: fcc, hcp, bcc, simple cubic. */
static void perfect_crystals(void **state) {
    static const double bcc[2][3] = {{0, 0, 0}, {0.5, 0.5, 0.5}};
    const struct {
        double edge[3];
        size_t basis;
        const double (*at)[3];
        unsigned neighbours;
        double q6;
    } crystals[] = {{{1.6, 1.6, 1.6}, 4, fcc, 12, 0.5745242597140699},
                    {{1.1, 1.1 * sqrt(3), 1.1 * sqrt(8.0 / 3)}, 4, hcp, 12, 0.484761685},
                    {{1.3, 1.3, 1.3}, 2, bcc, 14, 0.510688230857},
                    {{1.2, 1.2, 1.2}, 1, fcc, 6, 0.35355339059327373}}; /* sqrt(1/8) */
    (void)state;
    for (size_t i = 0; i < sizeof crystals / sizeof *crystals; i++) {
        struct box *b =
            crystal(crystals[i].edge, (const int[3]){5, 4, 6}, crystals[i].basis, crystals[i].at);
        struct ergo_bonds found;
        assert_true(
            ergo_bonds_analyse(&b->places, crystals[i].neighbours, crystals[i].neighbours, &found));
        CLOSE(found.q6, crystals[i].q6, 1e-8);
        CLOSE(found.averaged, crystals[i].q6, 1e-8);
        CLOSE(found.solid, 1, 0);
        free(b);
    }
}

/* Bonds of random points: were they independent, N Q_6^2 would be 1/12 in the mean; were all
 * mutual, 1/6. */
static void random_points(void **state) {
    double mean = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct box *b = random_box((const double[3]){8, 9, 7}, 500, 100 + seed);
        struct ergo_bonds found;
        assert_true(ergo_bonds_analyse(&b->places, 12, 7, &found));
        mean += 500 * found.q6 * found.q6 / 40;
        assert_true(found.solid < 0.02);
        assert_true(found.averaged < 0.15);
        free(b);
    }
    print_message("N Q_6^2 of random points: %.4f\n", mean);
    assert_true(mean > 1.0 / 12 && mean < 1.0 / 5);
}

/* ---- S(k) ------------------------------------------------------------------------------------ */

static struct ergo_structure plan_of(const struct box *b, size_t shells) {
    struct ergo_structure p = ergo_structure_plan(3, b->side, shells, 10, 3);
    p.lattice =
        2 * pi * sqrt(3) * cbrt((double)b->places.n / (4 * b->side[0] * b->side[1] * b->side[2]));
    return p;
}

/* All wave vectors, one by one. Their shells within what the mesh adds, (k / (30 - k))^8; the peak
 * is the same. */
static void all_vectors(void **state) {
    static const double sides[][3] = {{5, 4, 3}, {2.5, 6, 4}, {4, 4, 7}};
    (void)state;
    for (size_t c = 0; c < 3; c++) {
        enum { SHELLS = 6 };
        struct box *b = random_box(sides[c], 90, 3 + c);
        const struct ergo_structure p = plan_of(b, SHELLS);
        double sk[SHELLS], peak[3], sums[2 * SHELLS] = {0}, most = 0, where[3] = {0, 0, 0};
        assert_true(ergo_structure_analyse(&p, &b->places, sk, peak));
        for (int i = 0; i < 31 * 31 * 31; i++) {
            const int h[3] = {i % 31 - 15, i / 31 % 31 - 15, i / 961 - 15};
            double k[3], re = 0, im = 0, q = 0;
            for (int a = 0; a < 3; a++) {
                k[a] = 2 * pi * h[a] / b->side[a];
                q += k[a] * k[a];
            }
            q = sqrt(q);
            const size_t bin = (size_t)(q / p.wave + 0.5);
            if (!bin || bin > SHELLS)
                continue;
            for (size_t j = 0; j < b->places.n; j++) {
                const double phase = k[0] * b->x[0][j] + k[1] * b->x[1][j] + k[2] * b->x[2][j];
                re += cos(phase);
                im += sin(phase);
            }
            const double s = (re * re + im * im) / (double)b->places.n;
            CLOSE(ergo_structure_at(&b->places, 3, k), s, 1e-10 * (1 + s));
            sums[2 * bin - 2] += s;
            sums[2 * bin - 1]++;
            if (fabs(q - p.lattice) < 0.2 * p.lattice && s > most)
                most = s, memcpy(where, k, sizeof where);
        }
        for (size_t i = 0; i < SHELLS; i++)
            CLOSE(sk[i], sums[2 * i] / sums[2 * i + 1], i < 3 ? 2e-4 : 0.01);
        CLOSE(ergo_structure_at(&b->places, 3, peak), most, 1e-9 * most);
        CLOSE(hypot(hypot(peak[0], peak[1]), peak[2]), hypot(hypot(where[0], where[1]), where[2]),
              1e-9);
        free(b);
    }
}

/* N at (111) and (200) of fcc, and nothing beside them. */
static void crystal_peak(void **state) {
    struct box *b = crystal((const double[3]){1.57, 1.57, 1.57}, (const int[3]){4, 5, 6}, 4, fcc);
    const struct ergo_structure p = plan_of(b, 9);
    double sk[9], peak[3];
    (void)state;
    assert_true(ergo_structure_analyse(&p, &b->places, sk, peak));
    CLOSE(ergo_structure_at(&b->places, 3, peak), 480, 1e-6);
    const double k = hypot(hypot(peak[0], peak[1]), peak[2]) * 1.57 / (2 * pi);
    CLOSE(fmin(fabs(k - sqrt(3)), fabs(k - 2)), 0, 1e-9);
    for (size_t i = 0; i < 9; i++)
        assert_true(i == 5 || i == 6 ? sk[i] > 1 : sk[i] < 1e-3);
    free(b);
}

/* Random points: 1 within what so many vectors scatter, and what the mesh adds. */
static void ideal_gas(void **state) {
    enum { SHELLS = 12, BOXES = 40 };
    double mean[SHELLS] = {0};
    const double side[3] = {8, 9, 10};
    (void)state;
    for (uint64_t seed = 0; seed < BOXES; seed++) {
        struct box *b = random_box(side, 700, 200 + seed);
        const struct ergo_structure p = plan_of(b, SHELLS);
        double sk[SHELLS], peak[3];
        assert_true(ergo_structure_analyse(&p, &b->places, sk, peak));
        for (size_t i = 0; i < SHELLS; i++)
            mean[i] += sk[i] / BOXES;
        free(b);
    }
    for (size_t i = 0; i < SHELLS; i++) {
        const double k = (double)(i + 1) * 10 / SHELLS, width = 10.0 / SHELLS;
        const double half = k * k * width * 720 / (4 * pi * pi); /* vectors, of each pair one */
        CLOSE(mean[i], 1, 4.2 / sqrt(half * BOXES) + 2 * pow(k / (30 - k), 8));
    }
}

/* The transform of a mesh in space, by its definition. */
static void transform(void **state) {
    enum { X = 8, Y = 4, Z = 16, ALL = X * Y * Z, HALF = X / 2 + 1 };
    static double mesh[ALL], half[2 * HALF * Y * Z];
    const size_t n[3] = {X, Y, Z};
    uint64_t s[4];
    (void)state;
    ergo_oracle_xoshiro_seed(s, 5);
    for (size_t i = 0; i < ALL; i++)
        mesh[i] = ergo_oracle_xoshiro_uniform(s) - 0.5;
    assert_true(ergo_fourier_real(mesh, n, half));
    for (size_t k = 0; k < (size_t)HALF * Y * Z; k++) {
        const size_t h[3] = {k % HALF, k / HALF % Y, k / HALF / Y};
        double re = 0, im = 0;
        for (size_t i = 0; i < ALL; i++) {
            const double phase = -2 * pi *
                                 ((double)(h[0] * (i % X)) / X + (double)(h[1] * (i / X % Y)) / Y +
                                  (double)(h[2] * (i / X / Y)) / Z);
            re += mesh[i] * cos(phase);
            im += mesh[i] * sin(phase);
        }
        CLOSE(half[2 * k], re, 1e-12);
        CLOSE(half[2 * k + 1], im, 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directions),    cmocka_unit_test(by_all_images),
        cmocka_unit_test(many_bins),     cmocka_unit_test(perfect_crystals),
        cmocka_unit_test(random_points), cmocka_unit_test(all_vectors),
        cmocka_unit_test(crystal_peak),  cmocka_unit_test(ideal_gas),
        cmocka_unit_test(transform),
    };
    return cmocka_run_group_tests_name("bonds", tests, NULL, NULL);
}
