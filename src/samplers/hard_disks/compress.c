/*
 * Random starts: points thrown at random grow to disks of diameter 1 in the box of the target
 * density. All grow at one rate, each at most until it touches; Monte Carlo moves in between make
 * room. No overlap exists at any time. Doubles, but only + - * / and square roots, which IEEE 754
 * fixes, so that the start has the same bits everywhere.
 */
#include <math.h>
#include <stdlib.h>

#include "common/rng.h"
#include "samplers/hard_disks/disks.h"

enum { SWEEPS_GROWTH = 200, SWEEPS_MOST = 20000 };

struct crowd {
    const struct disks_shape *shape;
    size_t n;
    double *x, *y, *diameter;
    uint32_t cells; /* a side, at least 1 wide */
    double cell;
    size_t *head, *next; /* lists of the disks in a cell; SIZE_MAX ends */
};

static size_t cell_of(const struct crowd *c, double x, double y) {
    size_t i = (size_t)(x / c->cell), j = (size_t)(y / c->cell);
    i = i < c->cells ? i : c->cells - 1;
    j = j < c->cells ? j : c->cells - 1;
    return j * c->cells + i;
}

static double nearest_image(double d, double box) {
    return d > 0.5 * box ? d - box : d < -0.5 * box ? d + box : d;
}

/* Does a disk i of that diameter at (x, y) stay clear of all others? And how large could it be? */
static double room(const struct crowd *c, size_t i, double x, double y, double least) {
    const size_t m = c->cells, at = cell_of(c, x, y);
    double largest = 4.0;
    size_t seen[9] = {0}, n_seen = 0;
    for (size_t k = 0; k < 9; k++) {
        const size_t cell = (at / m + k / 3 + m - 1) % m * m + (at % m + k % 3 + m - 1) % m;
        bool again = false; /* in boxes of one or two cells a side */
        for (size_t l = 0; l < n_seen; l++)
            again = again || seen[l] == cell;
        if (again)
            continue;
        seen[n_seen++] = cell;
        for (size_t j = c->head[cell]; j != SIZE_MAX; j = c->next[j]) {
            if (j == i)
                continue;
            const double dx = nearest_image(c->x[j] - x, c->shape->box);
            const double dy = nearest_image(c->y[j] - y, c->shape->box);
            const double most = 2.0 * sqrt(dx * dx + dy * dy) - c->diameter[j];
            if (most < largest)
                largest = most;
            if (largest < least)
                return largest;
        }
    }
    return largest;
}

static void relink(struct crowd *c, size_t i, double x, double y) {
    const size_t from = cell_of(c, c->x[i], c->y[i]), to = cell_of(c, x, y);
    c->x[i] = x;
    c->y[i] = y;
    if (from == to)
        return;
    size_t *link = &c->head[from];
    while (*link != i)
        link = &c->next[*link];
    *link = c->next[i];
    c->next[i] = c->head[to];
    c->head[to] = i;
}

static double unit(uint32_t word) {
    return ((double)word + 0.5) * 0x1p-32;
}

static double wrap(double x, double box) {
    x = x < 0.0 ? x + box : x >= box ? x - box : x;
    return x < box ? x : 0.0;
}

/* A move and a growth of every disk; the number that are not full-grown. */
static size_t sweep(struct crowd *c, uint64_t stream, uint32_t step, double limit, double target) {
    size_t small = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct ergo_words r =
            ergo_philox_words((uint32_t)i, step, 0, ERGO_DRAW(DISKS_PURPOSE_START, 1),
                              (uint32_t)stream, (uint32_t)(stream >> 32));
        const double box = c->shape->box, reach = 0.16;
        const double x = wrap(c->x[i] + reach * (2.0 * unit(r.x) - 1.0), box);
        const double y = wrap(c->y[i] + reach * (2.0 * unit(r.y) - 1.0), box);
        double largest = room(c, i, x, y, c->diameter[i]);
        if (largest >= c->diameter[i])
            relink(c, i, x, y);
        else
            largest = room(c, i, c->x[i], c->y[i], c->diameter[i]);
        if (largest > limit)
            largest = limit;
        if (largest > c->diameter[i])
            c->diameter[i] = largest;
        small += c->diameter[i] < target;
    }
    return small;
}

bool disks_compress(const struct disks_shape *s, uint64_t stream, double *x, double *y) {
    const double target = 1.0 + 4.0 / s->sigma; /* whole units round by less */
    struct crowd c = {.shape = s, .n = (size_t)s->n, .x = x, .y = y};
    c.cells = (uint32_t)floor(s->box / target);
    c.cells = c.cells ? c.cells : 1;
    c.cell = s->box / c.cells;
    c.diameter = calloc(c.n, sizeof *c.diameter);
    c.next = malloc(c.n * sizeof *c.next);
    c.head = malloc((size_t)c.cells * c.cells * sizeof *c.head);
    size_t small = c.n;
    if (!c.diameter || !c.next || !c.head)
        goto out;
    for (size_t i = 0; i < (size_t)c.cells * c.cells; i++)
        c.head[i] = SIZE_MAX;
    for (size_t i = 0; i < c.n; i++) {
        const struct ergo_words r =
            ergo_philox_words((uint32_t)i, 0, 0, ERGO_DRAW(DISKS_PURPOSE_START, 0),
                              (uint32_t)stream, (uint32_t)(stream >> 32));
        x[i] = unit(r.x) * s->box;
        y[i] = unit(r.y) * s->box;
        const size_t cell = cell_of(&c, x[i], y[i]);
        c.next[i] = c.head[cell];
        c.head[cell] = i;
    }
    for (uint32_t step = 0; step < SWEEPS_MOST && small; step++) {
        const double grown = target * (double)(step + 1) / SWEEPS_GROWTH;
        small = sweep(&c, stream, step, grown < target ? grown : target, target);
    }
out:
    free(c.diameter);
    free(c.next);
    free(c.head);
    return small == 0;
}
