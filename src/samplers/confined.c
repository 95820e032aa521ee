#include "samplers/confined.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job/input.h"
#include "job/rows.h"
#include "samplers/particle_parameters.h"
#include "stats/fit.h"

_Static_assert(sizeof(struct ergo_walls) == ERGO_WALLS_BYTES, "no padding");

#define FILE_MOST ((size_t)64 << 20)

static const char *const walls_2d[] = {"none", "x", "y", NULL};
static const char *const walls_3d[] = {"none", "x", "y", "z", NULL};
static const char *const axes_2d[] = {"x", "y", NULL};
static const char *const axes_3d[] = {"x", "y", "z", NULL};
static const double most_energy = 1e6;      /* of a field, in k_B T */
static const double most_curvature = 0.001; /* k h^2 / 8, in k_B T: h from node to node */
static const double most_bend = 0.05;       /* of a file between nodes, in k_B T */

/* ---- keys ------------------------------------------------------------------------------------ */

bool ergo_confined_walled(const struct ergo_point *point, unsigned axis) {
    return strchr(of_particle(point)->walls, "xyz"[axis]) != NULL;
}

bool ergo_confined_has_walls(const struct ergo_point *point) {
    return strpbrk(of_particle(point)->walls, "xyz") != NULL;
}

static bool ergo_confined_has_gravity(const struct ergo_point *point) {
    return of_particle(point)->gravity.present;
}

bool ergo_confined_has_field(const struct ergo_point *point) {
    return ergo_confined_has_gravity(point) || of_particle(point)->harmonic.present ||
           of_particle(point)->field.present;
}

bool ergo_confined(const struct ergo_point *point) {
    return ergo_confined_has_walls(point) || ergo_confined_has_field(point);
}

unsigned ergo_confined_axis(const struct ergo_point *point, unsigned dimensions) {
    const struct ergo_value *axis = &of_particle(point)->axis;
    if (axis->present)
        return (unsigned)(axis->text[0] - 'x');
    for (unsigned k = dimensions; k-- > 0;)
        if (ergo_confined_walled(point, k))
            return k;
    return dimensions - 1;
}

#define CHAIN (ERGO_KEY_SHAPE | ERGO_KEY_CHAIN)
#define CONFINED_KEYS(walls_, axes_, most_)                                                        \
    {PARTICLE_KEY(walls, "/system/walls", ENUM),                                                   \
     .flags = CHAIN | ERGO_KEY_FORM | ERGO_KEY_LIST,                                               \
     .fallback = "\"none\"",                                                                       \
     .stream = "",                                                                                 \
     .choices = (walls_),                                                                          \
     .max_items = (most_),                                                                         \
     .unit = "",                                                                                   \
     .help = "Axes along which the box ends at two hard walls, [\"y\"] for example; it stays "     \
             "periodic along the others. The side of the box is then the distance of the walls' "  \
             "faces, of any length from 1.01 sigma on, and centres keep sigma / 2 from them."},    \
        {PARTICLE_KEY(axis, "/system/axis", ENUM),                                                 \
         .flags = CHAIN,                                                                           \
         .stream = "",                                                                             \
         .choices = (axes_),                                                                       \
         .unit = "",                                                                               \
         .help = "Axis of the field and of the density profile; absent: the last one with walls, " \
                 "or the last one.",                                                               \
         .acts = ergo_confined,                                                                    \
         .where = "with walls or a field"},                                                        \
        {PARTICLE_KEY(gravity, "/system/gravity", REAL),                                           \
         .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,                                                  \
         .stream = "",                                                                             \
         .min = -1e4,                                                                              \
         .max = 1e4,                                                                               \
         .unit = "k_B T / sigma",                                                                  \
         .help = "beta m g sigma = sigma / (gravitational length): beta u is that times the "      \
                 "height over the lower wall. Walls along the axis are needed."},                  \
        {PARTICLE_KEY(harmonic, "/system/harmonic", REAL),                                         \
         .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,                                                  \
         .stream = "",                                                                             \
         .min = -1e6,                                                                              \
         .max = 1e6,                                                                               \
         .unit = "k_B T / sigma^2",                                                                \
         .help = "beta k sigma^2 of a trap, beta u = k z^2 / 2, z from the middle of the box; at " \
                 "most what a table of its layers follows to 0.001 kT."},                          \
        {PARTICLE_KEY(field, "/system/field", STRING), .flags = CHAIN | ERGO_KEY_FILE,             \
         .stream = "", .unit = "",                                                                 \
         .help =                                                                                   \
             "A file with a field, added to the others: rows of a height over the lower face "     \
             "of the box in sigma and beta u, linear between rows; # begins a comment. It "        \
             "reaches all places of centres, and without walls both ends are alike. Chains "       \
             "take it at equal distances, 1/8192 to 1/4096 of the box (with walls, of the next "   \
             "multiple of 2.12 sigma), linear between: what is narrower is refused."},             \
    {                                                                                              \
        PARTICLE_KEY(profile_bins, "/run/profile_bins", INT),                                      \
            .flags = ERGO_KEY_SHAPE, .fallback = "100", .min = 1, .max = 4096, .unit = "",         \
            .help = "Bins of the density profile, all of the "                                     \
                    "same width, over all places of centres.",                                     \
            .acts = ergo_confined, .where = "with walls or a field"                                \
    }

const struct ergo_key ergo_confined_keys_2d[ERGO_CONFINED_KEYS] = {
    CONFINED_KEYS(walls_2d, axes_2d, 2)};
const struct ergo_key ergo_confined_keys_3d[ERGO_CONFINED_KEYS] = {
    CONFINED_KEYS(walls_3d, axes_3d, 3)};

/* ---- walls ----------------------------------------------------------------------------------- */

double ergo_confined_board(double wall) {
    return 2.12 * ceil(wall / 2.12);
}

/* Places along the axis. */
static uint64_t length_of(const struct ergo_walls *w) {
    return w->high[w->axis] - w->low[w->axis] + 1;
}

struct ergo_confinement ergo_confined_of(const struct ergo_point *point, unsigned dimensions,
                                         const double *box, const uint64_t *side,
                                         const double *sigma, uint64_t n) {
    struct ergo_confinement c = {.is = ergo_confined(point), .n = n, .area = 1};
    struct ergo_walls *w = &c.walls;
    if (!c.is)
        return c;
    c.field = ergo_confined_has_field(point);
    w->axis = ergo_confined_axis(point, dimensions);
    c.sigma = sigma[w->axis];
    c.side = side[w->axis];
    c.length = box[w->axis];
    w->range = (uint64_t)fmax(1.0, floor(of_particle(point)->contact_range * c.sigma));
    for (unsigned k = 0; k < 3; k++) {
        w->high[k] = k < dimensions ? side[k] - 1 : UINT64_MAX;
        if (k < dimensions && k != w->axis)
            c.area *= box[k];
        if (k >= dimensions || !ergo_confined_walled(point, k))
            continue;
        const uint64_t apart = (uint64_t)floor(box[k] * sigma[k] + 0.5);
        w->low[k] = (uint64_t)floor(0.5 * sigma[k]) + 1;
        w->high[k] = (apart < side[k] ? apart : side[k]) - w->low[k];
    }
    if (w->low[w->axis] && w->range > length_of(w) && w->high[w->axis] >= w->low[w->axis])
        w->range = length_of(w);
    while ((c.side - 1) >> w->shift > ERGO_FIELD_NODES - 2)
        w->shift++;
    return c;
}

bool ergo_confined_free(const struct ergo_confinement *c, unsigned dimensions,
                        const uint64_t *place) {
    for (unsigned k = 0; k < dimensions; k++)
        if (place[k] < c->walls.low[k] || place[k] > c->walls.high[k])
            return false;
    return true;
}

/* ---- fields ---------------------------------------------------------------------------------- */

struct table {
    double *z, *u;
    size_t n;
};

/* Linear between rows, and beyond the outer ones as between the last two. */
static double table_at(const struct table *t, double z) {
    size_t low = 0, high = t->n - 1;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (t->z[middle] <= z)
            low = middle;
        else
            high = middle;
    }
    return t->u[low] + (t->u[high] - t->u[low]) / (t->z[high] - t->z[low]) * (z - t->z[low]);
}

static enum ergo_status read_table(struct ergo_context *ctx, const struct ergo_point *point,
                                   struct table *t) {
    static const char *const what[2] = {"a height in sigma and beta u", "height"};
    char *text = NULL;
    size_t length = 0;
    enum ergo_status status =
        ergo_input_read(ctx, point, "/system/field", FILE_MOST, &text, &length);
    if (status == ERGO_OK) {
        const size_t most = ergo_rows_most(text, length);
        t->z = malloc(most * sizeof *t->z);
        t->u = malloc(most * sizeof *t->u);
        status = t->z && t->u ? ergo_rows_parse(ctx, of_particle(point)->field.text, text, length,
                                                what, -INFINITY, t->z, t->u, &t->n)
                              : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a field");
    }
    free(text);
    return ergo_error_at(ctx, status, "/system/field");
}

/* Does the file reach all places of centres? A unit is the rounding of sides. */
static enum ergo_status check_table(struct ergo_context *ctx, const struct table *t,
                                    const struct ergo_confinement *c, bool walled) {
    const struct ergo_walls *w = &c->walls;
    const double first = (double)w->low[w->axis] / c->sigma;
    const double last = walled ? (double)w->high[w->axis] / c->sigma : c->length;
    if (t->n < 2)
        return ergo_job_error(ctx, "/system/field",
                              "the file has %zu rows; two and more are needed", t->n);
    if (t->z[0] > first + 1e-5 || t->z[t->n - 1] < last - 1e-5)
        return ergo_job_error(ctx, "/system/field",
                              "the file reaches from %.9g to %.9g sigma; centres are at %.9g to "
                              "%.9g sigma",
                              t->z[0], t->z[t->n - 1], first, last);
    if (!walled && fabs(table_at(t, first) - table_at(t, last)) > 1e-6)
        return ergo_job_error(ctx, "/system/field",
                              "beta u is %.9g at one end of the box and %.9g at the other, which "
                              "are one place without walls along the axis",
                              table_at(t, first), table_at(t, last));
    return ERGO_OK;
}

/* Chains know the file at nodes alone. Between them it bends at rows, where it may be off by
 * most_bend, and by a tenth of the height over the lowest energy, where particles are few. */
static enum ergo_status check_rows(struct ergo_context *ctx, const struct table *t,
                                   const struct ergo_confinement *c, double width) {
    const struct ergo_walls *w = &c->walls;
    const double first = (double)w->low[w->axis] / c->sigma;
    const double last = (double)w->high[w->axis] / c->sigma;
    double least = fmin(table_at(t, first), table_at(t, last));
    for (size_t i = 0; i < t->n; i++)
        least = t->z[i] > first && t->z[i] < last ? fmin(least, t->u[i]) : least;
    for (size_t i = 0; i < t->n; i++) {
        const double z = fmin(fmax(t->z[i], first), last), node = floor(z / width);
        const double low = table_at(t, node * width), high = table_at(t, (node + 1) * width);
        const double u = table_at(t, z), taken = low + (high - low) * (z / width - node);
        if (fabs(u - taken) > most_bend + 0.1 * (fmin(u, taken) - least))
            return ergo_job_error(ctx, "/system/field",
                                  "beta u is %.6g at %.9g sigma, and would be taken for %.6g: in a "
                                  "box of that length fields are linear over %.4g sigma. Use a "
                                  "less steep or a wider one, or a shorter box",
                                  u, z, taken, width);
    }
    return ERGO_OK;
}

static enum ergo_status check_energies(struct ergo_context *ctx, const struct ergo_confinement *c,
                                       const double *u, size_t count) {
    double most = 0, step = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(u[i]));
        step = i ? fmax(step, fabs(u[i] - u[i - 1])) : 0;
    }
    const double energy = fmin(most_energy, 0x1p42 / (double)c->n);
    if (!(most <= energy))
        return ergo_job_error(ctx, "/system",
                              "the field reaches %.4g k_B T in this box; with as many particles "
                              "%.4g at most are possible",
                              most, energy);
    const double width = ldexp(1, (int)c->walls.shift);
    if (ldexp(step, ERGO_FIELD_BITS) * width >= 0x1p62)
        return ergo_job_error(ctx, "/system", "the field changes by %.4g k_B T within %.4g sigma",
                              step, width / c->sigma);
    return ERGO_OK;
}

enum ergo_status ergo_confined_nodes(struct ergo_context *ctx, const struct ergo_point *point,
                                     const struct ergo_confinement *c, int64_t *nodes) {
    const struct ergo_walls *w = &c->walls;
    const struct ergo_value *gravity = &of_particle(point)->gravity;
    const struct ergo_value *harmonic = &of_particle(point)->harmonic;
    const bool walled = ergo_confined_walled(point, w->axis),
               file = of_particle(point)->field.present;
    const double width = ldexp(1, (int)w->shift) / c->sigma;
    /* nodes beyond the last place are not used */
    const size_t count = (size_t)(w->high[w->axis] >> w->shift) + 2;
    struct table table = {0};
    double *u = calloc(count, sizeof *u);
    enum ergo_status status = u ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a field");
    if (status == ERGO_OK && gravity->present && gravity->real != 0 && !walled)
        status = ergo_job_error(ctx, "/system/gravity",
                                "found %g without walls along %c: particles would fall through "
                                "the periodic box; add /system/walls",
                                gravity->real, (int)"xyz"[w->axis]);
    if (status == ERGO_OK && harmonic->present &&
        fabs(harmonic->real) * width * width / 8 > most_curvature)
        status = ergo_job_error(ctx, "/system/harmonic",
                                "found %g; in a box of that length at most %.4g", harmonic->real,
                                8 * most_curvature / (width * width));
    if (status == ERGO_OK && file)
        status = read_table(ctx, point, &table);
    if (status == ERGO_OK && file)
        status = check_table(ctx, &table, c, walled);
    if (status == ERGO_OK && file && !point->job->again)
        status = check_rows(ctx, &table, c, width);
    for (size_t i = 0; i < count && status == ERGO_OK; i++) {
        const double z = (double)i * width, from = z - 0.5 * c->length;
        u[i] = (gravity->present ? gravity->real * z : 0) +
               (harmonic->present ? 0.5 * harmonic->real * from * from : 0) +
               (file ? table_at(&table, z) : 0);
    }
    if (status == ERGO_OK)
        status = check_energies(ctx, c, u, count);
    if (status == ERGO_OK && nodes) {
        memset(nodes, 0, ERGO_FIELD_NODES * sizeof *nodes);
        for (size_t i = 0; i < count; i++)
            nodes[i] = (int64_t)floor(ldexp(u[i], ERGO_FIELD_BITS) + 0.5);
    }
    free(u);
    free(table.z);
    free(table.u);
    return status;
}

enum ergo_status ergo_confined_check(struct ergo_context *ctx, const struct ergo_point *point,
                                     unsigned dimensions, const struct ergo_confinement *c) {
    const struct ergo_walls *w = &c->walls;
    const char *walls = of_particle(point)->walls;
    for (const char *at = walls; *at; at++)
        if (*at == ',' && (strstr(walls, "none") || strchr(at, at[-1])))
            return ergo_job_error(ctx, "/system/walls",
                                  "found %s; allowed: each axis once, or \"none\" alone", walls);
    if (!c->is)
        return ERGO_OK;
    for (unsigned k = 0; k < dimensions; k++)
        if (w->low[k] && w->high[k] < w->low[k] + w->low[k] / 50)
            return ergo_job_error(ctx, "/system/walls",
                                  "walls along %c are less than 1.01 sigma apart", (int)"xyz"[k]);
    /* walls are rounded to whole units */
    if (w->low[w->axis] && of_particle(point)->contact_range * c->sigma > (double)length_of(w) + 4)
        return ergo_job_error(ctx, "/run/contact_range",
                              "wider than the %.4g sigma that centres have between the walls",
                              (double)length_of(w) / c->sigma);
    return c->field ? ergo_confined_nodes(ctx, point, c, NULL) : ERGO_OK;
}

void ergo_confined_declare(struct ergo_engine *e, unsigned walls, unsigned fields,
                           const struct ergo_confinement *first) {
    const uint64_t members = e->batch->count;
    ergo_engine_buffer(e, walls, "walls", ERGO_BUFFER_CONSTANT,
                       first->is ? members * sizeof first->walls : 0);
    ergo_engine_buffer(e, fields, "fields", ERGO_BUFFER_CONSTANT,
                       first->field ? 8 * members * ERGO_FIELD_NODES : 0);
}

enum ergo_status ergo_confined_create(struct ergo_context *ctx, struct ergo_engine *e,
                                      unsigned walls, unsigned fields,
                                      const struct ergo_confinement *first, size_t stride) {
    const size_t members = e->batch->count;
    struct ergo_walls *all = calloc(members, sizeof *all);
    int64_t *nodes = first->field ? calloc(members * ERGO_FIELD_NODES, sizeof *nodes) : NULL;
    enum ergo_status status = ERGO_OK;
    if (!all || (first->field && !nodes))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for walls and fields");
    for (size_t i = 0; i < members && status == ERGO_OK; i++) {
        const struct ergo_confinement *c = (const void *)((const char *)first + i * stride);
        all[i] = c->walls;
        if (c->field)
            status = ergo_confined_nodes(ctx, e->batch->points[i], c, nodes + i * ERGO_FIELD_NODES);
    }
    if (status == ERGO_OK)
        ergo_engine_constant(e, walls, all);
    if (status == ERGO_OK && first->field)
        ergo_engine_constant(e, fields, nodes);
    free(all);
    free(nodes);
    return status;
}

/* ---- curves ---------------------------------------------------------------------------------- */

unsigned ergo_confined_counts(unsigned curve) {
    return curve == ERGO_CONFINED_WEIGHT ? ERGO_CONFINED_PROFILE : curve;
}

/* Units that a curve's bins cover. */
static uint64_t covered_by(const struct ergo_walls *w, unsigned curve) {
    return curve == ERGO_CONFINED_LOW || curve == ERGO_CONFINED_HIGH ? w->range : length_of(w);
}

size_t ergo_confined_size(const struct ergo_point *point, unsigned dimensions, unsigned curve) {
    const bool walled = ergo_confined_walled(point, ergo_confined_axis(point, dimensions));
    if (!ergo_confined(point) || !of_particle(point)->curves_every)
        return 0;
    if (curve == ERGO_CONFINED_WEIGHT && !(walled && ergo_confined_has_gravity(point)))
        return 0;
    if (curve == ERGO_CONFINED_PROFILE || curve == ERGO_CONFINED_WEIGHT)
        return (size_t)of_particle(point)->profile_bins;
    const double range = of_particle(point)->contact_range;
    const double bin = of_particle(point)->contact_bin;
    return walled ? (size_t)fmax(1.0, floor(range / bin + 0.5)) : 0;
}

/* Width of a bin in sigma. */
static double width_of(const struct ergo_confinement *c, unsigned curve, size_t bins) {
    return (double)covered_by(&c->walls, curve) / c->sigma / (double)bins;
}

/* The height of the lowest places of centres, and their distance from walls, in sigma. */
static double lowest(const struct ergo_confinement *c) {
    return (double)c->walls.low[c->walls.axis] / c->sigma;
}

void ergo_confined_x(const struct ergo_confinement *c, unsigned curve, size_t bins, double *x) {
    const double width = width_of(c, curve, bins);
    for (size_t i = 0; i < bins; i++)
        x[i] = lowest(c) + ((double)i + 0.5) * width;
}

void ergo_confined_convert(const struct ergo_point *point, const struct ergo_confinement *c,
                           unsigned curve, size_t bins, const uint32_t *counts, double *values) {
    if (curve == ERGO_CONFINED_WEIGHT) {
        const double each = of_particle(point)->gravity.real / c->area;
        uint64_t above = 0;
        for (size_t i = bins; i-- > 0; above += counts[i])
            values[i] = each * ((double)above + 0.5 * counts[i]);
        return;
    }
    const double volume = c->area * width_of(c, curve, bins);
    for (size_t i = 0; i < bins; i++)
        values[i] = counts[i] / volume;
}

double ergo_confined_contact(const struct ergo_point *point, const struct ergo_confinement *c,
                             const double *curve, size_t bins) {
    double x[4096];
    if (bins > sizeof x / sizeof x[0])
        return NAN;
    ergo_confined_x(c, ERGO_CONFINED_LOW, bins, x);
    return ergo_fit_extrapolate(x, curve, bins, (int)of_particle(point)->contact_degree, lowest(c));
}

double ergo_confined_central(const struct ergo_point *point, const double *profile, size_t bins) {
    double sum = 0, all = 0;
    (void)point;
    for (size_t i = 0; i < bins; i++) {
        /* the share of the bin in the middle fifth */
        const double a = fmax(0.4 * (double)bins, (double)i);
        const double b = fmin(0.6 * (double)bins, (double)i + 1);
        const double share = fmax(0.0, b - a);
        sum += share * profile[i];
        all += share;
    }
    return sum / all;
}

double ergo_confined_excess(const struct ergo_confinement *c, const double *profile, size_t bins) {
    return 0.5 * ((double)c->n / c->area - c->length * ergo_confined_central(NULL, profile, bins));
}
