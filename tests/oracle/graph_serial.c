#include "oracle/graph_serial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/philox_ref.h"

void graph_oracle_free(struct graph_oracle *o) {
    free(o->j);
    free(o->bond);
    free(o->h);
    memset(o, 0, sizeof *o);
}

static bool make(struct graph_oracle *o, int n, double field) {
    o->n = n;
    o->offset = 0;
    o->j = calloc((size_t)n * (size_t)n, sizeof(double));
    o->h = malloc((size_t)n * sizeof(double));
    o->bond = calloc((size_t)n * (size_t)n, sizeof(bool));
    for (int i = 0; i < n && o->h; i++)
        o->h[i] = field;
    return o->j && o->h && o->bond;
}

/* ---- lattices -------------------------------------------------------------------------------- */

/* Vectors of the cell and its sites, Cartesian. */
struct cell {
    int d, sites;
    double a[4][4], at[8][4];
};

static const double half_root3 = 0.8660254037844386;

static bool cell_of(const char *name, struct cell *c) {
    static const double diamond[4][3] = {{0, 0, 0}, {0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0}};
    memset(c, 0, sizeof *c);
    c->sites = 1;
    c->d = strcmp(name, "chain") == 0                                   ? 1
           : strcmp(name, "hypercubic") == 0                            ? 4
           : strstr("square triangular honeycomb kagome", name) != NULL ? 2
                                                                        : 3;
    for (int k = 0; k < c->d; k++)
        c->a[k][k] = 1;
    if (c->d == 2 && strcmp(name, "square") != 0) {
        c->a[1][0] = 0.5;
        c->a[1][1] = half_root3;
    }
    if (strcmp(name, "honeycomb") == 0) {
        c->sites = 2;
        c->at[1][0] = 0.5;
        c->at[1][1] = half_root3 / 3;
    } else if (strcmp(name, "kagome") == 0) {
        c->sites = 3;
        c->at[1][0] = 0.5;
        c->at[2][0] = 0.25;
        c->at[2][1] = half_root3 / 2;
    } else if (strcmp(name, "bcc") == 0) {
        c->sites = 2;
        c->at[1][0] = c->at[1][1] = c->at[1][2] = 0.5;
    } else if (strcmp(name, "fcc") == 0 || strcmp(name, "diamond") == 0) {
        c->sites = name[0] == 'd' ? 8 : 4;
        for (int i = 0; i < c->sites; i++)
            for (int k = 0; k < 3; k++)
                c->at[i][k] = fmod(diamond[i % 4][k] + (i > 3 ? 0.25 : 0), 1);
    }
    return true;
}

/* The n-th smallest distance between sites of the infinite lattice. */
static double distance_of(const struct cell *c, int n) {
    double before = 0;
    for (int found = 0; found < n; found++) {
        double next = 1e9;
        for (int code = 0; code < 2401 * c->sites * c->sites; code++) {
            int rest = code / (c->sites * c->sites);
            double square = 0;
            for (int x = 0; x < 4; x++) {
                double r = c->at[code % c->sites][x] - c->at[code / c->sites % c->sites][x];
                int cells = rest;
                for (int k = 0; k < 4; k++, cells /= 7)
                    r += (cells % 7 - 3) * c->a[k][x];
                square += r * r;
            }
            const double length = sqrt(square);
            if (length > before + 1e-6 && length < next - 1e-6)
                next = length;
        }
        before = next;
    }
    return before;
}

bool graph_oracle_lattice(struct graph_oracle *o, const char *name, const int *size,
                          const char *sides, const double *couplings, int shells, double field) {
    struct cell c;
    double distance[4] = {0, 0, 0, 0};
    int l[4] = {1, 1, 1, 1}, cells = 1;
    cell_of(name, &c);
    for (int k = 0; k < c.d; k++)
        cells *= l[k] = size[k];
    for (int i = 0; i < shells; i++)
        distance[i] = distance_of(&c, i + 1);
    if (!make(o, cells * c.sites, field))
        return false;
    /* each site's images around each other site: three sides away are all neighbours */
    for (int i = 0; i < o->n; i++)
        for (int k = 0; k < o->n; k++)
            for (int code = 0; code < 2401; code++) {
                double r[4] = {0, 0, 0, 0}, square = 0, sign = 1;
                int rest = code, a = i / c.sites, b = k / c.sites;
                bool there = true;
                for (int x = 0; x < 4; x++) {
                    r[x] += c.at[k % c.sites][x] - c.at[i % c.sites][x];
                }
                for (int x = 0; x < 4; x++, rest /= 7) {
                    const int turn = rest % 7 - 3;
                    if (x >= c.d) {
                        there = there && turn == 0;
                        continue;
                    }
                    const int cell = b % l[x] + turn * l[x] - a % l[x];
                    a /= l[x];
                    b /= l[x];
                    there = there && (turn == 0 || sides[x] != 'o');
                    if (sides[x] == 'a' && turn % 2)
                        sign = -sign;
                    for (int y = 0; y < 4; y++)
                        r[y] += cell * c.a[x][y];
                }
                for (int x = 0; x < 4; x++)
                    square += r[x] * r[x];
                for (int s = 0; s < shells && there; s++)
                    if (fabs(sqrt(square) - distance[s]) < 1e-6 && couplings[s] != 0) {
                        o->j[i * o->n + k] += sign * couplings[s];
                        o->bond[i * o->n + k] = true;
                    }
            }
    return true;
}

bool graph_oracle_long(struct graph_oracle *o, const char *name, const int *size, const char *sides,
                       double coupling, double exponent, double field) {
    struct cell c;
    int l[4] = {1, 1, 1, 1}, cells = 1;
    cell_of(name, &c);
    for (int k = 0; k < c.d; k++)
        cells *= l[k] = size[k];
    const double unit = distance_of(&c, 1);
    if (!make(o, cells * c.sites, field))
        return false;
    for (int i = 0; i < o->n; i++)
        for (int k = 0; k < o->n; k++) {
            double least = INFINITY;
            for (int code = 0; code < 625 && i != k; code++) {
                double r[4], square = 0;
                int rest = code, a = i / c.sites, b = k / c.sites;
                bool there = true;
                for (int x = 0; x < 4; x++)
                    r[x] = c.at[k % c.sites][x] - c.at[i % c.sites][x];
                for (int x = 0; x < 4; x++, rest /= 5) {
                    const int turn = rest % 5 - 2;
                    there = there && (turn == 0 || (x < c.d && sides[x] == 'p'));
                    if (x >= c.d)
                        continue;
                    for (int y = 0; y < 4; y++)
                        r[y] += (b % l[x] + turn * l[x] - a % l[x]) * c.a[x][y];
                    a /= l[x];
                    b /= l[x];
                }
                for (int x = 0; x < 4; x++)
                    square += r[x] * r[x];
                if (there)
                    least = fmin(least, sqrt(square));
            }
            o->j[i * o->n + k] = i == k ? 0 : coupling * pow(least / unit, -exponent);
            o->bond[i * o->n + k] = i != k;
        }
    return true;
}

/* ---- files ----------------------------------------------------------------------------------- */

static void couple(struct graph_oracle *o, int i, int k, double w) {
    o->j[i * o->n + k] += w;
    o->j[k * o->n + i] += w;
    o->bond[i * o->n + k] = o->bond[k * o->n + i] = true;
}

bool graph_oracle_read(struct graph_oracle *o, const char *path, char format, int n, int base,
                       double field) {
    FILE *file = fopen(path, "r");
    char line[200];
    bool header = format != 'e';
    if (!file || !make(o, n, field))
        return false;
    while (fgets(line, sizeof line, file)) {
        int i = 0, k = 0;
        double w = 1;
        if (line[0] == '#' || line[0] == 'c' || line[0] == 'n' || line[0] == '\n')
            continue;
        if (header) {
            header = false;
        } else if (format == 'e' && sscanf(line, "h %d %lf", &i, &w) == 2) {
            o->h[i - base] += w;
        } else if (sscanf(line, "%d %d %lf", &i, &k, &w) >= 2 && format == 'e') {
            couple(o, i - base, k - base, w);
        } else if (format == 'm') { /* the cut has w (1 - s s') / 2, the energy is minus that */
            couple(o, i - base, k - base, -w / 2);
            o->offset -= w / 2;
        } else if (i == k) { /* Q x, x = (1 + s) / 2 */
            o->h[i - base] -= w / 2;
            o->offset += w / 2;
        } else { /* Q x x' */
            couple(o, i - base, k - base, -w / 4);
            o->h[i - base] -= w / 4;
            o->h[k - base] -= w / 4;
            o->offset += w / 4;
        }
    }
    fclose(file);
    return true;
}

/* ---- averages -------------------------------------------------------------------------------- */

double graph_oracle_energy(const struct graph_oracle *o, const int *s) {
    double energy = o->offset;
    for (int i = 0; i < o->n; i++) {
        energy -= o->h[i] * s[i];
        for (int k = 0; k < i; k++)
            energy -= o->j[i * o->n + k] * s[i] * s[k];
    }
    return energy;
}

/* In Gray's order, one flip from state to state. */
struct graph_oracle_means graph_oracle_enumerate(const struct graph_oracle *o, double t) {
    struct graph_oracle_means m = {0};
    const int n = o->n;
    double z = 0, least = 0;
    for (int pass = 0; pass < 2; pass++) {
        int s[24], up = 0;
        for (int i = 0; i < n; i++)
            s[i] = -1;
        double energy = graph_oracle_energy(o, s);
        least = pass ? least : energy;
        for (uint32_t state = 0; state < 1u << n; state++) {
            if (state) {
                const int i = __builtin_ctz(state);
                double force = o->h[i];
                for (int k = 0; k < n; k++)
                    force += o->j[i * n + k] * s[k];
                energy += 2 * s[i] * force;
                s[i] = -s[i];
                up += s[i];
            }
            if (pass == 0) {
                least = fmin(least, energy);
                continue;
            }
            const double weight = exp(-(energy - least) / t), mag = (2.0 * up - n) / n;
            z += weight;
            m.energy += weight * energy / n;
            m.heat += weight * energy * energy / n;
            m.abs_m += weight * fabs(mag);
            m.m2 += weight * mag * mag;
            m.m4 += weight * mag * mag * mag * mag;
            m.n_lowest += energy < least + 1e-9;
        }
    }
    m.energy /= z;
    m.heat = (m.heat / z - n * m.energy * m.energy) / (t * t);
    m.free_energy = (least - t * log(z)) / n;
    m.abs_m /= z;
    m.m2 /= z;
    m.m4 /= z;
    m.lowest = least;
    return m;
}

/* ---- the chain ------------------------------------------------------------------------------- */

static int degree(const struct graph_oracle *o, int i) {
    int d = 0;
    for (int k = 0; k < o->n; k++)
        d += o->bond[i * o->n + k];
    return d;
}

/* First fit, in order of numbers or of degrees. */
static int paint(const struct graph_oracle *o, bool by_degree, int *colour) {
    const int n = o->n;
    int colours = 0;
    for (int i = 0; i < n; i++)
        colour[i] = -1;
    for (int round = 0; round < n; round++) {
        int next = -1, c = 0;
        for (int i = 0; i < n; i++)
            if (colour[i] < 0 && (next < 0 || (by_degree && degree(o, i) > degree(o, next))))
                next = i;
        for (bool free = false; !free; c += !free) {
            free = true;
            for (int k = 0; k < n; k++)
                free = free && !(o->bond[next * n + k] && colour[k] == c);
        }
        colour[next] = c;
        colours = c + 1 > colours ? c + 1 : colours;
    }
    return colours;
}

int graph_oracle_order(const struct graph_oracle *o, int *order, int *slot) {
    int *colour = malloc((size_t)o->n * sizeof(int)), *other = malloc((size_t)o->n * sizeof(int));
    int at = 0, slots = 0;
    const int plain = paint(o, false, colour), by_degree = paint(o, true, other);
    const int colours = by_degree < plain ? by_degree : plain;
    for (int c = 0; c < colours; c++) {
        for (int i = 0; i < o->n; i++)
            if ((by_degree < plain ? other : colour)[i] == c) {
                order[at++] = i;
                slot[i] = slots++;
            }
        slots = (slots + 3) / 4 * 4;
    }
    free(colour);
    free(other);
    return slots;
}

static uint32_t word(uint64_t stream, int slot, uint64_t step, uint32_t purpose) {
    const uint32_t counter[4] = {(uint32_t)slot / 4, (uint32_t)step, (uint32_t)(step >> 32),
                                 purpose << 24};
    const uint32_t key[2] = {(uint32_t)stream, (uint32_t)(stream >> 32)};
    uint32_t out[4];
    ergo_oracle_philox(counter, key, out);
    return out[slot % 4];
}

void graph_oracle_start(const struct graph_oracle *o, const int *slot, uint64_t stream, int *s) {
    for (int i = 0; i < o->n; i++)
        s[i] = word(stream, slot[i], 0, 31) >> 31 ? 1 : -1;
}

void graph_oracle_sweep(const struct graph_oracle *o, const int *order, const int *slot,
                        uint64_t stream, double t, bool heat_bath, uint64_t step, int *s) {
    for (int at = 0; at < o->n; at++) {
        const int i = order[at];
        const double u = (word(stream, slot[i], step, 30) + 0.5) / 4294967296.0;
        double force = o->h[i];
        for (int k = 0; k < o->n; k++)
            force += o->j[i * o->n + k] * s[k];
        const double cost = 2 * s[i] * force / t;
        const bool heat = heat_bath || degree(o, i) == 0;
        if (heat ? cost < log(1 / u - 1) : cost <= 1e-12 || cost < -log(u))
            s[i] = -s[i];
    }
}
