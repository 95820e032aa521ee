#include "samplers/bonds.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = ERGO_BONDS_PARTS };

/* sqrt(2 (6 - m)! / (6 + m)!) times the derivative number m of P_6(z), times (x + i y)^m. */
void ergo_bonds_direction(const double *unit, double *y) {
    const double z = unit[2], z2 = z * z;
    const double derivatives[7] = {(((231 * z2 - 315) * z2 + 105) * z2 - 5) / 16,
                                   ((1386 * z2 - 1260) * z2 + 210) * z / 16,
                                   ((6930 * z2 - 3780) * z2 + 210) / 16,
                                   (27720 * z2 - 7560) * z / 16,
                                   (83160 * z2 - 7560) / 16,
                                   10395 * z,
                                   10395};
    double re = 1, im = 0, factor = 2;
    y[0] = derivatives[0];
    for (int m = 1; m <= 6; m++) {
        const double next = re * unit[0] - im * unit[1];
        im = re * unit[1] + im * unit[0];
        re = next;
        factor /= (6 + m) * (7 - m);
        y[2 * m - 1] = sqrt(factor) * derivatives[m] * re;
        y[2 * m] = sqrt(factor) * derivatives[m] * im;
    }
}

/* ---- neighbours ------------------------------------------------------------------------------ */

/* Particles by bins, about two in each. */
struct binned {
    const struct ergo_places *places;
    int64_t bins[3];
    double width[3];
    uint32_t *first;  /* [bins + 1], into the following: */
    uint32_t *number; /* which particle */
};

/* The nearest particles so far, near ones first: squared distances, vectors, numbers. */
struct nearest {
    unsigned n;
    double r2[ERGO_BONDS_MOST], d[ERGO_BONDS_MOST][3];
    uint32_t number[ERGO_BONDS_MOST];
};

static int64_t bin_along(const struct binned *b, size_t i, int axis) {
    const int64_t at = (int64_t)(b->places->at[axis][i] / b->width[axis]);
    return at < b->bins[axis] ? at : b->bins[axis] - 1;
}

static size_t bin_of(const struct binned *b, size_t i) {
    return (size_t)((bin_along(b, i, 2) * b->bins[1] + bin_along(b, i, 1)) * b->bins[0] +
                    bin_along(b, i, 0));
}

static bool binned_init(struct binned *b, const struct ergo_places *places) {
    const double *side = places->side;
    const double width = cbrt(2 * side[0] * side[1] * side[2] / (double)places->n);
    *b = (struct binned){.places = places};
    size_t all = 1;
    for (int k = 0; k < 3; k++) {
        b->bins[k] = side[k] > width ? (int64_t)(side[k] / width) : 1;
        b->width[k] = side[k] / (double)b->bins[k];
        all *= (size_t)b->bins[k];
    }
    b->first = calloc(all + 2, sizeof *b->first);
    b->number = malloc((places->n + 1) * sizeof *b->number);
    if (!b->first || !b->number)
        return false;
    for (size_t i = 0; i < places->n; i++)
        b->first[bin_of(b, i) + 2]++;
    for (size_t i = 2; i < all + 2; i++)
        b->first[i] += b->first[i - 1];
    for (size_t i = 0; i < places->n; i++) /* which leaves in first[k + 1] where bin k ends */
        b->number[b->first[bin_of(b, i) + 1]++] = (uint32_t)i;
    return true;
}

static void insert(struct nearest *near, unsigned most, const double d[3], uint32_t number) {
    const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    if (near->n == most && !(r2 < near->r2[most - 1]))
        return;
    unsigned at = near->n < most ? near->n++ : most - 1;
    for (; at > 0 && r2 < near->r2[at - 1]; at--) {
        near->r2[at] = near->r2[at - 1];
        near->number[at] = near->number[at - 1];
        memcpy(near->d[at], near->d[at - 1], sizeof near->d[at]);
    }
    near->r2[at] = r2;
    near->number[at] = number;
    memcpy(near->d[at], d, sizeof near->d[at]);
}

/* Particles of a bin, or of its image where it is outside of the box, as neighbours of i. */
static void look_in(const struct binned *b, size_t i, const int64_t at[3], unsigned most,
                    struct nearest *near) {
    const struct ergo_places *p = b->places;
    double away[3];
    size_t bin = 0;
    for (int k = 2; k >= 0; k--) {
        const int64_t m = b->bins[k], image = at[k] >= 0 ? at[k] / m : -((m - 1 - at[k]) / m);
        bin = bin * (size_t)m + (size_t)(at[k] - image * m);
        away[k] = (double)image * p->side[k];
    }
    const bool home = away[0] == 0 && away[1] == 0 && away[2] == 0;
    for (uint32_t j = b->first[bin]; j < b->first[bin + 1]; j++) {
        const uint32_t other = b->number[j];
        double d[3];
        for (int k = 0; k < 3; k++)
            d[k] = p->at[k][other] + away[k] - p->at[k][i];
        if (other != i || !home)
            insert(near, most, d, other);
    }
}

/* Shells of bins around that of particle i, until what is beyond is farther than those found. */
static void look_around(const struct binned *b, size_t i, unsigned most, struct nearest *near) {
    int64_t home[3];
    double margin = INFINITY; /* from the particle to the nearest face of its bin */
    double narrow = INFINITY;
    for (int k = 0; k < 3; k++) {
        home[k] = bin_along(b, i, k);
        const double in = b->places->at[k][i] - (double)home[k] * b->width[k];
        margin = fmin(margin, fmin(in, b->width[k] - in));
        narrow = fmin(narrow, b->width[k]);
    }
    near->n = 0;
    for (int64_t ring = 0;; ring++) {
        for (int64_t z = -ring; z <= ring; z++)
            for (int64_t y = -ring; y <= ring; y++) {
                const bool inside = llabs(z) < ring && llabs(y) < ring;
                for (int64_t x = -ring; x <= ring; x += inside ? 2 * ring : 1)
                    look_in(b, i, (const int64_t[3]){home[0] + x, home[1] + y, home[2] + z}, most,
                            near);
            }
        const double seen = fmax(0, margin + (double)ring * narrow);
        if (near->n == most && near->r2[most - 1] <= seen * seen)
            return;
    }
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Of each particle the mean of y over its bonds, and its neighbours. */
struct order {
    size_t n;
    unsigned neighbours;
    double *y;        /* [n][PARTS] */
    uint32_t *number; /* [n][neighbours] */
};

static double product(const double *a, const double *b) {
    double sum = 0;
    for (int k = 0; k < PARTS; k++)
        sum += a[k] * b[k];
    return sum;
}

static void particle(const struct binned *b, size_t i, struct order *o) {
    struct nearest near;
    double *mean = o->y + i * PARTS;
    look_around(b, i, o->neighbours, &near);
    memset(mean, 0, PARTS * sizeof *mean);
    for (unsigned j = 0; j < near.n; j++) {
        const double r = sqrt(near.r2[j]);
        double unit[3], y[PARTS];
        for (int k = 0; k < 3; k++)
            unit[k] = near.d[j][k] / r;
        ergo_bonds_direction(unit, y);
        for (int k = 0; k < PARTS; k++)
            mean[k] += y[k] / o->neighbours;
        o->number[i * o->neighbours + j] = near.number[j];
    }
}

static void averages(const struct order *o, unsigned connected, struct ergo_bonds *found) {
    double all[PARTS] = {0}, averaged = 0;
    size_t solid = 0;
    for (size_t i = 0; i < o->n; i++) {
        const double *own = o->y + i * PARTS;
        double around[PARTS];
        unsigned links = 0;
        memcpy(around, own, sizeof around);
        for (unsigned j = 0; j < o->neighbours; j++) {
            const double *other = o->y + (size_t)o->number[i * o->neighbours + j] * PARTS;
            for (int k = 0; k < PARTS; k++)
                around[k] += other[k];
            links += product(own, other) >
                     ERGO_BONDS_CONNECTED * sqrt(product(own, own) * product(other, other));
        }
        for (int k = 0; k < PARTS; k++)
            all[k] += own[k] / (double)o->n;
        averaged += sqrt(product(around, around)) / (o->neighbours + 1);
        solid += links >= connected;
    }
    found->q6 = sqrt(product(all, all));
    found->averaged = averaged / (double)o->n;
    found->solid = (double)solid / (double)o->n;
}

uint64_t ergo_bonds_bytes(uint64_t n) {
    return n * (8 * PARTS + 4 * ERGO_BONDS_MOST + 8);
}

bool ergo_bonds_analyse(const struct ergo_places *places, unsigned neighbours, unsigned connected,
                        struct ergo_bonds *found) {
    struct binned b;
    struct order o = {.n = places->n, .neighbours = neighbours};
    o.y = malloc(o.n * PARTS * sizeof *o.y);
    o.number = malloc(o.n * neighbours * sizeof *o.number);
    const bool ok = binned_init(&b, places) && o.y && o.number;
    for (size_t i = 0; i < o.n && ok; i++)
        particle(&b, i, &o);
    if (ok)
        averages(&o, connected, found);
    free(b.first);
    free(b.number);
    free(o.y);
    free(o.number);
    return ok;
}
