#include "oracle/vector_serial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/philox_ref.h"
#include "oracle/xoshiro.h"

static const double pi = 3.14159265358979323846;

int vector_oracle_sites(const struct vector_oracle *o) {
    return o->l[0] * o->l[1] * o->l[2];
}

/* ---- the lattice ------------------------------------------------------------------------------
 */

static int site_at(const struct vector_oracle *o, int x, int y, int z) {
    x = (x + o->l[0]) % o->l[0];
    y = (y + o->l[1]) % o->l[1];
    z = (z + o->l[2]) % o->l[2];
    return x + o->l[0] * (y + o->l[1] * z);
}

/* Steps to the neighbours ahead, and their directions as unit vectors in space. */
static int bonds_of(const struct vector_oracle *o, int steps[3][3], double directions[3][3]) {
    static const int along[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, diagonal[3] = {1, 1, 0};
    memset(directions, 0, 9 * sizeof(double));
    for (int k = 0; k < 3; k++) {
        memcpy(steps[k], o->triangular && k == 2 ? diagonal : along[k], sizeof steps[k]);
        directions[k][k] = 1;
    }
    if (o->triangular) { /* at 0, 120 and 60 degrees */
        for (int k = 0; k < 3; k++) {
            const double angle = k == 0 ? 0 : k == 1 ? 2 * pi / 3 : pi / 3;
            directions[k][0] = cos(angle);
            directions[k][1] = sin(angle);
            directions[k][2] = 0;
        }
    }
    return o->triangular ? 3 : o->d;
}

/* The coupling of the bond in direction k from `site`, over j. */
static double coupling(const struct vector_oracle *o, int k, int site) {
    return o->bonds ? o->bonds[k * vector_oracle_sites(o) + site] : 1;
}

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* ---- random words ------------------------------------------------------------------------------
 */

static void words_of(const struct vector_oracle *o, uint64_t site, uint64_t step, uint32_t purpose,
                     double u[4], uint32_t words[4]) {
    const uint32_t counter[4] = {(uint32_t)site, (uint32_t)step, (uint32_t)(step >> 32),
                                 purpose << 24};
    const uint64_t own = purpose == 17 ? o->field : o->stream;
    const uint32_t key[2] = {(uint32_t)own, (uint32_t)(own >> 32)};
    ergo_oracle_philox(counter, key, words);
    for (int i = 0; i < 4; i++)
        u[i] = (words[i] + 0.5) / 4294967296.0;
}

static void on_circle(double angle, double spin[3]) {
    spin[0] = cos(angle);
    spin[1] = sin(angle);
    spin[2] = 0;
}

/* Height from the first number, angle around from the second. */
static void on_sphere(double height, double around, double spin[3]) {
    const double z = 2 * height - 1, r = sqrt(1 - z * z);
    spin[0] = r * cos(2 * pi * around);
    spin[1] = r * sin(2 * pi * around);
    spin[2] = z;
}

/* Ratio of uniforms; rounded to 2^-24. */
static double normal(const struct vector_oracle *o, int site, int component) {
    for (uint32_t attempt = 0;; attempt++) {
        const uint32_t counter[4] = {(uint32_t)site, 1 + (uint32_t)component, 0,
                                     17u << 24 | 32 * attempt};
        const uint32_t key[2] = {(uint32_t)o->field, (uint32_t)(o->field >> 32)};
        uint32_t w[4];
        ergo_oracle_philox(counter, key, w);
        const double u = (w[0] + (w[1] + 0.5) / 4294967296.0) / 4294967296.0;
        const double v = (w[2] + (w[3] + 0.5) / 4294967296.0) / 4294967296.0;
        const double x = sqrt(2 / exp(1)) * (2 * v - 1) / u;
        if (fabs(x) < 8 && u <= exp(-x * x / 4))
            return floor(x * 16777216 + 0.5) / 16777216;
    }
}

/* The random field at a site, over its strength. */
static void random_direction(const struct vector_oracle *o, int site, double n[3]) {
    double u[4];
    uint32_t words[4];
    const int components = o->space ? 3 : 2;
    n[2] = 0;
    for (int c = 0; c < components && (o->given || o->normal); c++)
        n[c] = o->given ? o->given[site * components + c] : normal(o, site, c);
    if (o->given || o->normal)
        return;
    words_of(o, (uint64_t)site, 0, 17, u, words);
    if (o->space)
        on_sphere(u[0], u[1], n);
    else
        on_circle(2 * pi * u[0], n);
}

/* J times the neighbours' sum, plus the field. */
static void local_field(const struct vector_oracle *o, double (*spins)[3], int site, double h[3]) {
    const int x = site % o->l[0], y = site / o->l[0] % o->l[1], z = site / o->l[0] / o->l[1];
    int steps[3][3];
    double directions[3][3], direction[3];
    const int n = bonds_of(o, steps, directions);
    h[0] = h[1] = h[2] = 0;
    for (int k = 0; k < n; k++)
        for (int sign = -1; sign < 2; sign += 2) {
            const int there =
                site_at(o, x + sign * steps[k][0], y + sign * steps[k][1], z + sign * steps[k][2]);
            for (int c = 0; c < 3; c++)
                h[c] += o->j * coupling(o, k, sign > 0 ? site : there) * spins[there][c];
        }
    h[o->space ? 2 : 0] += o->b;
    random_direction(o, site, direction);
    for (int c = 0; c < 3; c++)
        h[c] += o->random * direction[c];
}

/* ---- the chain --------------------------------------------------------------------------------
 */

void vector_oracle_start(const struct vector_oracle *o, double (*spins)[3]) {
    double u[4];
    uint32_t words[4];
    for (int i = 0; i < vector_oracle_sites(o); i++) {
        words_of(o, (uint64_t)i, 0, 16, u, words);
        if (o->space)
            on_sphere(u[0], u[1], spins[i]);
        else
            on_circle(2 * pi * (o->q ? floor(u[0] * o->q) / o->q : u[0]), spins[i]);
    }
}

static double energy_of(const struct vector_oracle *o, const double spin[3], const double h[3]) {
    return -dot(spin, h) - o->anisotropy * spin[2] * spin[2];
}

/* A spin drawn around h with weight exp(s.h / T): its cosine by inversion, the angle from the
 * second number in a frame whose first axis is that of Duff et al. (2017). */
static void heat_bath(const struct vector_oracle *o, const double h[3], const double u[4],
                      double spin[3]) {
    const double length = sqrt(dot(h, h)), k = length / o->t;
    const double n[3] = {h[0] / length, h[1] / length, h[2] / length};
    const double c = 1 + log(u[0] + (1 - u[0]) * exp(-2 * k)) / k, r = sqrt(1 - c * c);
    const double sign = n[2] < 0 ? -1 : 1, a = -1 / (sign + n[2]), b = n[0] * n[1] * a;
    const double e1[3] = {1 + sign * n[0] * n[0] * a, sign * b, -sign * n[0]};
    const double e2[3] = {b, sign + n[1] * n[1] * a, -n[1]};
    for (int i = 0; i < 3; i++)
        spin[i] = c * n[i] + r * cos(2 * pi * u[1]) * e1[i] + r * sin(2 * pi * u[1]) * e2[i];
}

/* The proposal of Metropolis. */
static void propose(const struct vector_oracle *o, const double old[3], const double u[4],
                    const uint32_t words[4], double new[3]) {
    if (o->space) {
        on_sphere(u[0], u[1], new);
        double length = 0;
        for (int c = 0; c < 3; c++) {
            new[c] = old[c] + o->step *new[c];
            length += new[c] * new[c];
        }
        for (int c = 0; c < 3; c++)
            new[c] /= sqrt(length);
        return;
    }
    const double angle = atan2(old[1], old[0]);
    if (!o->q) {
        on_circle(angle + pi * o->step * (2 * u[0] - 1), new);
        return;
    }
    const int reach = o->step * o->q / 2 < 1 ? 1 : (int)(o->step * o->q / 2);
    const int by = (int)(((uint64_t)words[0] * (uint64_t)(2 * reach + 1)) >> 32) - reach;
    on_circle(2 * pi * (floor(angle * o->q / (2 * pi) + 0.5) + by) / o->q, new);
}

static void reflect(double spin[3], const double h[3]) {
    const double scale = 2 * dot(spin, h) / dot(h, h);
    for (int c = 0; c < 3; c++)
        spin[c] = scale * h[c] - spin[c];
}

double vector_oracle_sweep(const struct vector_oracle *o, uint64_t step, double (*spins)[3]) {
    const int colours = o->triangular ? 3 : 2, n = vector_oracle_sites(o);
    double nearest = INFINITY, u[4], h[3], new[3];
    uint32_t words[4];
    for (int pass = 0; pass < colours * (1 + o->relax); pass++)
        for (int i = 0; i < n; i++) {
            const int x = i % o->l[0], y = i / o->l[0] % o->l[1], z = i / o->l[0] / o->l[1];
            if ((x + y + z) % colours != pass % colours)
                continue;
            local_field(o, spins, i, h);
            words_of(o, (uint64_t)i, step, 15, u, words);
            if (pass >= colours) {
                reflect(spins[i], h);
            } else if (o->heat_bath) {
                heat_bath(o, h, u, spins[i]);
            } else {
                propose(o, spins[i], u, words, new);
                const double cost = (energy_of(o, new, h) - energy_of(o, spins[i], h)) / o->t;
                const double limit = -log(u[o->space ? 2 : 1]);
                nearest = fmin(nearest, fabs(cost - limit));
                if (cost <= limit)
                    memcpy(spins[i], new, sizeof new);
            }
        }
    return nearest;
}

/* ---- measurements ---------------------------------------------------------------------------- */

/* By the shorter way; half a turn, which only clock models make, counts as negative. */
static double turn(const double a[3], const double b[3]) {
    const double by = atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]);
    return by > pi - 1e-9 ? -pi : by;
}

static bool is_vortex(const struct vector_oracle *o, double (*spins)[3], int x, int y) {
    const int at[4] = {site_at(o, x, y, 0), site_at(o, x + 1, y, 0), site_at(o, x + 1, y + 1, 0),
                       site_at(o, x, y + 1, 0)};
    double sum = 0;
    for (int k = 0; k < 4; k++)
        sum += turn(spins[at[k]], spins[at[(k + 1) % 4]]);
    return fabs(sum) > pi;
}

/* Sines of the turns around a triangle of sites. */
static double chirality_of(double (*spins)[3], int a, int b, int c) {
    return sin(turn(spins[a], spins[b])) + sin(turn(spins[b], spins[c])) +
           sin(turn(spins[c], spins[a]));
}

double vector_oracle_structure(const struct vector_oracle *o, double (*spins)[3],
                               const double k[3]) {
    const int n = vector_oracle_sites(o);
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        double re = 0, im = 0;
        for (int i = 0; i < n; i++) {
            const int x = i % o->l[0], y = i / o->l[0] % o->l[1], z = i / o->l[0] / o->l[1];
            const double phase = 2 * pi * (k[0] * x + k[1] * y + k[2] * z);
            re += spins[i][c] * cos(phase);
            im += spins[i][c] * sin(phase);
        }
        sum += (re * re + im * im) / n;
    }
    return sum;
}

void vector_oracle_measure(const struct vector_oracle *o, double (*spins)[3],
                           struct vector_oracle_sample *s) {
    const int n = vector_oracle_sites(o);
    int steps[3][3];
    double directions[3][3], direction[3],
        current[3][3] = {{0}}; /* [axis of the bond][of the spin] */
    const int bonds = bonds_of(o, steps, directions);
    memset(s, 0, sizeof *s);
    for (int i = 0; i < n; i++) {
        const int x = i % o->l[0], y = i / o->l[0] % o->l[1], z = i / o->l[0] / o->l[1];
        const double *a = spins[i];
        for (int c = 0; c < 3; c++)
            s->m[c] += a[c] / n;
        s->z2 += a[2] * a[2] / n;
        if (!o->space && o->d == 2 && !o->triangular)
            s->vortices += (double)is_vortex(o, spins, x, y) / n;
        if (!o->space && o->triangular) {
            const int right = site_at(o, x + 1, y, 0), across = site_at(o, x + 1, y + 1, 0);
            s->chirality += (chirality_of(spins, i, right, across) -
                             chirality_of(spins, i, across, site_at(o, x, y + 1, 0))) /
                            (3 * sqrt(3) * n);
        }
        random_direction(o, i, direction);
        s->along += dot(a, direction) / n;
        for (int k = 0; k < bonds; k++) {
            const double *b = spins[site_at(o, x + steps[k][0], y + steps[k][1], z + steps[k][2])];
            const double cross[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                                     a[0] * b[1] - a[1] * b[0]};
            const double j = coupling(o, k, i);
            s->alignment += j * dot(a, b) / n;
            for (int axis = 0; axis < 3; axis++)
                for (int c = 0; c < 3; c++)
                    current[axis][c] += j * directions[k][axis] * cross[c];
        }
    }
    for (int axis = 0; axis < 3; axis++)
        s->current2 += dot(current[axis], current[axis]) / n;
    s->energy = -o->j * s->alignment - o->b * s->m[o->space ? 2 : 0] - o->anisotropy * s->z2 -
                o->random * s->along;
    double k[3] = {0, 0, 0};
    k[o->d - 1] = 1.0 / o->l[o->d - 1];
    s->structure = vector_oracle_structure(o, spins, k);
}

/* ---- means ----------------------------------------------------------------------------------- */

void vector_oracle_add(const struct vector_oracle *o, const struct vector_oracle_sample *s,
                       double weight, double means[VECTOR_MEANS]) {
    const double m2 = dot(s->m, s->m);
    means[VECTOR_MEAN_ENERGY] += weight * s->energy;
    means[VECTOR_MEAN_ENERGY2] += weight * s->energy * s->energy;
    means[VECTOR_MEAN_M2] += weight * m2;
    means[VECTOR_MEAN_M4] += weight * m2 * m2;
    means[VECTOR_MEAN_ALONG] += weight * s->m[o->space ? 2 : 0];
    means[VECTOR_MEAN_ALIGNMENT] += weight * s->alignment;
    means[VECTOR_MEAN_CURRENT2] += weight * s->current2;
    means[VECTOR_MEAN_Z2] += weight * s->z2;
    means[VECTOR_MEAN_VORTICES] += weight * s->vortices;
    means[VECTOR_MEAN_STRUCTURE] += weight * s->structure;
}

static void any_spin(const struct vector_oracle *o, uint64_t generator[4], double spin[3]) {
    const double a = ergo_oracle_xoshiro_uniform(generator),
                 b = ergo_oracle_xoshiro_uniform(generator);
    if (o->space)
        on_sphere(a, b, spin);
    else
        on_circle(2 * pi * (o->q ? floor(a * o->q) / o->q : a), spin);
}

void vector_oracle_enumerate(const struct vector_oracle *o, double means[2]) {
    const int n = vector_oracle_sites(o);
    double spins[16][3], z = 0, ground = 0;
    int states[16] = {0};
    means[0] = means[1] = 0;
    for (bool more = n <= 16, first = true; more; first = false) {
        struct vector_oracle_sample s;
        for (int i = 0; i < n; i++)
            on_circle(2 * pi * states[i] / o->q, spins[i]);
        vector_oracle_measure(o, spins, &s);
        ground = first ? s.energy : ground;
        const double w = exp(-n * (s.energy - ground) / o->t);
        z += w;
        means[0] += w * s.energy;
        means[1] += w * s.m[0];
        int i = 0;
        while (i < n && ++states[i] == o->q)
            states[i++] = 0;
        more = i < n;
    }
    means[0] /= z;
    means[1] /= z;
}

void vector_oracle_run(const struct vector_oracle *o, uint64_t seed, int blocks, int sweeps,
                       double means[VECTOR_MEANS], double errors[VECTOR_MEANS]) {
    const int n = vector_oracle_sites(o);
    double(*spins)[3] = malloc((size_t)n * sizeof *spins);
    double sums[VECTOR_MEANS] = {0}, squares[VECTOR_MEANS] = {0}, h[3], new[3];
    uint64_t generator[4];
    struct vector_oracle_sample sample;
    ergo_oracle_xoshiro_seed(generator, seed);
    for (int i = 0; i < n; i++)
        any_spin(o, generator, spins[i]);
    for (int block = -1; block < blocks; block++) {
        double mean[VECTOR_MEANS] = {0};
        for (int sweep = 0; sweep < (block < 0 ? sweeps / 10 : sweeps); sweep++) {
            for (int k = 0; k < n; k++) {
                const int i = (int)(ergo_oracle_xoshiro_uniform(generator) * n);
                any_spin(o, generator, new);
                local_field(o, spins, i, h);
                const double cost = energy_of(o, new, h) - energy_of(o, spins[i], h);
                if (ergo_oracle_xoshiro_uniform(generator) < exp(-cost / o->t))
                    memcpy(spins[i], new, sizeof new);
            }
            if (block >= 0 && sweep % 2) {
                vector_oracle_measure(o, spins, &sample);
                vector_oracle_add(o, &sample, 1.0 / (sweeps / 2), mean);
            }
        }
        for (int k = 0; k < VECTOR_MEANS && block >= 0; k++) {
            sums[k] += mean[k] / blocks;
            squares[k] += mean[k] * mean[k] / blocks;
        }
    }
    for (int k = 0; k < VECTOR_MEANS; k++) {
        means[k] = sums[k];
        errors[k] = sqrt(fmax(0, squares[k] - sums[k] * sums[k]) / (blocks - 1));
    }
    free(spins);
}
