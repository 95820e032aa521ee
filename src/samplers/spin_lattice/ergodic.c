/* Where Metropolis samples: ergodic.h. */
#include "samplers/spin_lattice/ergodic.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "samplers/spin_lattice/graph/network.h"

bool ergodic_lattice(const struct ergodic_lattice *lattice) {
    const double *j = lattice->j;
    double sites = 1, most = fabs(lattice->b) + fabs(lattice->h);
    int coupled = 0, twice = 0;
    bool zero = false; /* may a spin feel no force? */
    for (uint32_t k = 0; k < lattice->d; k++) {
        sites *= (double)lattice->l[k];
        coupled += j[k] != 0;
        twice += lattice->l[k] == 2;
        most += 2 * fabs(j[k]);
    }
    for (int i = 0; i < 54; i++) {
        const int n[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 % 3 - 1};
        double force = lattice->b + (i / 27 ? lattice->h : -lattice->h);
        for (uint32_t k = 0; k < lattice->d; k++)
            force += 2 * j[k] * n[k];
        zero = zero || fabs(force) <= 1e-6 * most;
    }
    if (lattice->missing || (lattice->signs && twice && zero))
        return false;
    return !zero || (coupled > 1 && sites >= ERGODIC_SITES);
}

bool ergodic_complete(uint32_t n, double field) {
    const double units = fabs(field) * sqrt(n), whole = floor(units + 0.5);
    const bool odd = fmod(whole + n - 1, 2) > 0.5;
    return n >= ERGODIC_SITES || odd || whole > n - 1 || fabs(units - whole) > 1e-2;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static int falling(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Can no choice of signs make the sum of n numbers > 0, from the largest on, zero? Few are tried
 * out; more are multiples of one number, an odd sum of them, or else they cancel only in pairs. */
static bool never_cancel(const double *w, size_t n) {
    if (n <= 8) {
        double least = INFINITY;
        for (uint32_t signs = 0; signs < (n ? 1u << (n - 1) : 0); signs++) {
            double sum = w[0];
            for (size_t k = 1; k < n; k++)
                sum += signs >> (k - 1) & 1 ? -w[k] : w[k];
            least = fmin(least, fabs(sum));
        }
        return n && least > 1e-3 * w[0];
    }
    for (int parts = 1; parts <= 64; parts++) {
        const double unit = w[n - 1] / parts;
        double all = 0, off = 0;
        for (size_t k = 0; k < n; k++) {
            const double whole = floor(w[k] / unit + 0.5);
            off = fmax(off, fabs(w[k] / unit - whole));
            all += fmod(whole, 2);
        }
        if (off < 1e-6)
            return fmod(all, 2) > 0.5;
    }
    bool odd = false;
    for (size_t k = 0, next; k < n && !odd; k = next) {
        for (next = k + 1; next < n && w[next] >= w[k] * (1 - 1e-9);)
            next++;
        odd = (next - k) % 2;
    }
    return odd;
}

/* |J| of vertex v, and |h|, from the largest on; returns how many are not 0. Makes a part of what
 * is coupled; neighbours: others that are. at: [n], the place in w of a neighbour, or SIZE_MAX. */
static size_t gather(const struct graph_problem *p, const struct graph_lists *l, uint32_t *part,
                     uint32_t v, size_t *at, double *w, size_t *neighbours) {
    size_t n = 0, kept = 0;
    for (size_t k = l->first[v]; k < l->first[v + 1]; k++) {
        if (at[l->to[k]] == SIZE_MAX) {
            at[l->to[k]] = n;
            w[n++] = 0;
        }
        w[at[l->to[k]]] += l->w[k];
    }
    for (size_t k = l->first[v]; k < l->first[v + 1]; k++) {
        const size_t i = at[l->to[k]];
        at[l->to[k]] = SIZE_MAX;
        if (i == SIZE_MAX || w[i] == 0)
            continue;
        const uint32_t a = graph_root(part, v), b = graph_root(part, l->to[k]);
        part[a > b ? a : b] = a < b ? a : b;
    }
    for (size_t i = 0; i < n; i++)
        if (w[i] != 0)
            w[kept++] = fabs(w[i]);
    *neighbours = kept;
    if (p->fields[v] != 0)
        w[kept++] = fabs(p->fields[v]);
    qsort(w, kept, sizeof *w, falling);
    return kept;
}

uint32_t ergodic_graph(const struct graph_problem *p) {
    enum { UNSURE, THIN, SURE }; /* of a vertex, then of a part's first the strongest */
    struct graph_lists l = {0};
    uint32_t *part = malloc(((size_t)p->n + 1) * sizeof *part);
    uint32_t *size = calloc((size_t)p->n + 1, sizeof *size); /* of a part: vertices of it */
    size_t *at = malloc(((size_t)p->n + 1) * sizeof *at);
    double *w = malloc(((size_t)p->n + 1) * sizeof *w);
    uint8_t *is = calloc((size_t)p->n + 1, 1);
    uint32_t found = UINT32_MAX;
    if (!graph_lists_make(p, &l) || !part || !size || !at || !w || !is)
        goto out;
    for (uint32_t v = 0; v < p->n; v++) {
        at[v] = SIZE_MAX;
        part[v] = v;
    }
    for (uint32_t v = 0; v < p->n; v++) {
        size_t neighbours;
        const size_t n = gather(p, &l, part, v, at, w, &neighbours);
        /* a vertex that is alone has heat bath of its own */
        const bool alone = l.first[v] == l.first[v + 1];
        is[v] = alone || never_cancel(w, n) ? SURE : neighbours < 3 ? THIN : UNSURE;
    }
    for (uint32_t v = 0; v < p->n; v++) {
        const uint32_t first = graph_root(part, v);
        size[first]++;
        is[first] = is[v] > is[first] ? is[v] : is[first];
    }
    found = p->n;
    for (uint32_t v = p->n; v-- > 0;)
        if (part[v] == v && (is[v] == THIN || (is[v] == UNSURE && size[v] < ERGODIC_SITES)))
            found = v;
out:
    graph_lists_free(&l);
    free(part);
    free(size);
    free(at);
    free(w);
    free(is);
    return found;
}

/* NOLINTNEXTLINE(readability-non-const-parameter) a problem's fields are not const */
bool ergodic_bonds(const struct ergodic_bonds *bonds, double *fields) {
    struct graph_problem p = {.n = (uint32_t)bonds->n, .fields = fields};
    uint64_t stride = 1;
    p.edges = malloc(bonds->d * bonds->n * sizeof *p.edges);
    if (!p.edges)
        return false;
    for (uint32_t k = 0; k < bonds->d && k < 3; stride *= bonds->l[k++])
        for (uint64_t i = 0; i < bonds->n; i++) {
            const uint64_t at = i / stride % bonds->l[k];
            const uint64_t next = i - at * stride + (at + 1) % bonds->l[k] * stride;
            const int32_t j = bonds->j[(k * bonds->n + i) * bonds->step];
            p.edges[p.m++] = (struct graph_edge){(uint32_t)i, (uint32_t)next, j};
        }
    const bool samples = ergodic_graph(&p) == p.n;
    free(p.edges);
    return samples;
}
