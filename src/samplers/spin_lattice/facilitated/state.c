/*
 * Facilitated dynamics: the canonical state, curves, pictures.
 *
 * Canonical state of a member: for each word-lattice three lattices (spins, spins at t = 0, flipped
 * since t = 0), each site by site, one bit per realisation: 4 bytes a site (method exact, little-
 * endian) or 8 sites a byte (serial; unused bits of the last byte zero); then for each time of the
 * curves and each word-lattice the four counts, 8 bytes each, zero where the time is yet to come;
 * with /run/chi4 after these the sums of squares (lanes.c).
 */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "samplers/spin_lattice/facilitated/facilitated.h"
#include "samplers/spin_lattice/models.h"

static size_t lattice_bytes(const struct fac_shape *s) {
    return s->lanes == 32 ? 4 * s->sites : ergo_bits_bytes(s->sites);
}

/* A longer run has the times of a shorter one, and more behind them. */
size_t fac_state_tail(const struct ergo_point *point) {
    return fac_shape_of(point).words * 8 * fac_numbers(point) *
           model_times(model_length(point), NULL);
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* Of each of these lattices a word a site on the device. */
static void lattice(const void *state, struct ergo_extent *x) {
    const struct fac_shape *s = &((const struct fac_state *)state)->shape;
    x->pieces = s->words;
    x->bytes = lattice_bytes(s);
    x->raw = 4 * s->sites;
    x->element = s->lanes == 32 ? 4 : 1;
    x->bits = s->lanes == 32 ? 0 : s->sites;
}

static void spins(const void *state, struct ergo_extent *x) {
    const struct fac_shape *s = &((const struct fac_state *)state)->shape;
    const uint64_t sides[] = {s->sites / s->lx / s->ly, s->ly, s->lx};
    const bool words = s->lanes == 32;
    lattice(state, x);
    x->axes = !words      ? "realisation site"
              : s->d == 1 ? "word x"
              : s->d == 2 ? "word y x"
                          : "word z y x";
    x->help =
        words ? "1 up, 0 down, of realisations 32 word to 32 word + 31" : "1 up, 0 down; x fastest";
    x->systems = words ? s->words * s->lanes : 0;
    ergo_extent_shape(x, (const uint64_t[]){s->words}, 1);
    if (words)
        ergo_extent_shape(x, sides + 3 - s->d, s->d);
    else
        ergo_extent_shape(x, (const uint64_t[]){lattice_bytes(s)}, 1);
}

static void take(const struct ergo_field_row *r) {
    const uint32_t *words = r->raw;
    if (!r->x->bits)
        memcpy(r->bytes, words, r->x->bytes);
    for (size_t i = 0; i < r->x->bits; i++)
        r->bytes[i / 8] = (uint8_t)((i % 8 ? r->bytes[i / 8] : 0) | (words[i] & 1) << (i % 8));
}

static void put(const struct ergo_field_row *r) {
    uint32_t *words = r->raw;
    if (!r->x->bits)
        memcpy(words, r->bytes, r->x->bytes);
    for (size_t i = 0; i < r->x->bits; i++)
        words[i] = ergo_bits_get(r->bytes, i);
}

/* After t = 0, spins that differ from the reference must have flipped. */
static bool flipped_valid(const struct ergo_field_row *r) {
    const struct fac_state *s = r->state;
    const uint8_t *now = ergo_field_beside(r, FAC_SPINS), *first = ergo_field_beside(r, FAC_FIRST);
    bool good = true;
    for (size_t i = 0; i < r->x->bytes && r->step >= s->origin; i++)
        good = good && !((now[i] ^ first[i]) & ~r->bytes[i]);
    return good;
}

/* A row for each time and word-lattice. */
static void records(const void *state, struct ergo_extent *x) {
    const struct fac_state *s = state;
    ergo_extent_numbers(x, FAC_COUNTS + (s->each ? FAC_SQUARES : 0), 8);
    x->rows = s->n_times * s->shape.words;
}

static void take_record(const struct ergo_field_row *r) {
    const struct fac_state *s = r->state;
    const size_t t = r->row / s->shape.words, w = r->row % s->shape.words;
    for (unsigned c = 0; c < r->x->bytes / 8; c++) {
        const uint64_t n = c < FAC_COUNTS ? fac_record(s, t, r->member, w, c)
                                          : fac_square(s, t, r->member, w, c - FAC_COUNTS);
        memcpy(r->bytes + 8 * c, &n, sizeof n);
    }
}

static void put_record(const struct ergo_field_row *r) {
    struct fac_state *s = r->state;
    const size_t words = s->shape.words, t = r->row / words, w = r->row % words;
    const size_t at = r->member * words + w, counts = s->launch.parts * FAC_COUNTS;
    memcpy(s->loaded + (t * fac_lattices(s) + at) * FAC_COUNTS, r->bytes, 8 * FAC_COUNTS);
    if (s->each)
        fac_lanes_load(s, t, r->member, w, r->bytes + 8 * FAC_COUNTS);
    memset(s->recorded + t * s->launch.counts_length + at * counts, 0,
           counts * sizeof *s->recorded);
}

static void saving(void *state, size_t member) {
    (void)member;
    ergo_engine_finish(state); /* reads of counts may be in the queue */
}

static const struct ergo_field field[] = {
    {FAC_SPINS, "spins", .extent = spins, .take = take, .put = put},
    {FAC_FIRST, "spins at t = 0", .extent = lattice, .take = take, .put = put, .beside = true},
    {FAC_FLIPPED, "flips", .extent = lattice, .take = take, .put = put, .valid = flipped_valid,
     .beside = true},
    {ERGO_ON_HOST, "counts", .extent = records, .take = take_record, .put = put_record,
     .own = true},
};
const struct ergo_fields fac_fields = {
    .field = field, .n = sizeof field / sizeof *field, .saving = saving};

enum ergo_status fac_form(struct ergo_context *ctx, const struct ergo_point *point,
                          struct ergo_form *form) {
    const struct fac_state s = {.shape = fac_shape_of(point)};
    (void)ctx;
    ergo_fields_form(&fac_fields, &s, form);
    return ERGO_OK;
}

/* Spins; t = 0 is yet to come, or is now. Of a run of another length, too. */
enum ergo_status fac_carry(struct ergo_context *ctx, void *opaque, size_t member, const void *bytes,
                           size_t length) {
    struct fac_state *s = opaque;
    const enum ergo_status status = ergo_fields_carry(ctx, s, member, bytes, length);
    if (status != ERGO_OK)
        return status;
    if (member + 1 == s->e.batch->count)
        fac_event(s);
    ergo_engine_finish(&s->e);
    return ergo_engine_end(&s->e);
}

/* ---- spins that can never flip --------------------------------------------------------------- */

static uint32_t lanes_of(const struct fac_shape *s) {
    return s->lanes == 32 ? 0xffffffffu : (1u << s->lanes) - 1;
}

/* at_least[k]: the realisations in which at least k neighbours of n in `directions` are up (1
 * north, 2 east, 4 south, 8 west, 16 above, 32 below). */
static void count_up(const uint32_t n[6], unsigned directions, uint32_t at_least[8]) {
    memset(at_least, 0, 8 * sizeof *at_least);
    at_least[0] = 0xffffffffu;
    for (unsigned d = 0; d < 6; d++)
        if (directions >> d & 1)
            for (unsigned k = 6; k > 0; k--)
                at_least[k] |= at_least[k - 1] & n[d];
}

/* Spins of a site's neighbours: north, east, south, west, above, below. */
static void neighbours(const struct fac_shape *shape, const uint32_t *spins, size_t site,
                       uint32_t n[6]) {
    const size_t lx = shape->lx, ly = shape->ly, layer = lx * ly, sites = shape->sites;
    const size_t x = site % lx, y = site / lx % ly, first = site - x, corner = site - x - lx * y;
    n[0] = spins[corner + x + lx * (y == 0 ? ly - 1 : y - 1)];
    n[1] = spins[(x + 1 == lx ? 0 : x + 1) + first];
    n[2] = spins[corner + x + lx * (y + 1 == ly ? 0 : y + 1)];
    n[3] = spins[(x == 0 ? lx - 1 : x - 1) + first];
    n[4] = spins[(site + sites - layer) % sites];
    n[5] = spins[(site + layer) % sites];
}

/* The realisations of `raised` in which the constraint of a site is met. */
static uint32_t may_flip(const struct fac_shape *shape, const uint32_t *raised, size_t site) {
    uint32_t n[6], at_least[8];
    neighbours(shape, raised, site, n);
    count_up(n, shape->directions, at_least);
    return at_least[shape->needed];
}

void fac_closure(const struct fac_shape *shape, const uint32_t *spins, uint32_t *raised,
                 uint32_t *frozen) {
    const size_t lx = shape->lx, sites = shape->sites, rows = sites / lx;
    const uint32_t lanes = lanes_of(shape);
    memcpy(raised, spins, sites * sizeof *raised);
    /* passes begin at the north-east and at the south-west in turn, so that changes spread far
     * in one pass */
    for (uint32_t changed = 1, forth = 1; changed; forth = !forth) {
        changed = 0;
        for (size_t k = 0; k < sites; k++) {
            const size_t y = forth ? k / lx : rows - 1 - k / lx;
            const size_t x = forth ? lx - 1 - k % lx : k % lx, at = x + lx * y;
            const uint32_t now = raised[at] | (may_flip(shape, raised, at) & lanes);
            changed |= now ^ raised[at];
            raised[at] = now;
        }
    }
    for (size_t at = 0; at < sites; at++)
        frozen[at] = ~may_flip(shape, raised, at) & lanes;
}

/* ---- curves ---------------------------------------------------------------------------------- */

/* Sums over groups of realisations (word-lattices) of a group's mean spins. */
struct spins_at {
    double groups, first, now, same; /* number of groups; sums of s(0), s(t), s(0) s(t) */
};

static struct spins_at spins_at(const struct fac_state *s, size_t time, size_t member,
                                size_t word) {
    const double spins = (double)s->shape.sites * s->shape.lanes;
    return (struct spins_at){1, 2 * (double)fac_record(s, 0, member, word, 0) / spins - 1,
                             2 * (double)fac_record(s, time, member, word, 0) / spins - 1,
                             2 * (double)fac_record(s, time, member, word, 1) / spins - 1};
}

static struct spins_at all_spins_at(const struct fac_state *s, size_t time, size_t member) {
    struct spins_at sum = {0, 0, 0, 0};
    for (size_t w = 0; w < s->shape.words; w++) {
        const struct spins_at a = spins_at(s, time, member, w);
        sum.groups++, sum.first += a.first, sum.now += a.now, sum.same += a.same;
    }
    return sum;
}

static struct spins_at without(struct spins_at all, struct spins_at a) {
    return (struct spins_at){all.groups - 1, all.first - a.first, all.now - a.now,
                             all.same - a.same};
}

/* phi = (<s(0) s(t)> - <s(0)> <s(t)>) / (1 - <s(0)>^2). */
static double connected(struct spins_at a) {
    const double first = a.first / a.groups, now = a.now / a.groups;
    return (a.same / a.groups - first * now) / (1 - first * first);
}

/*
 * phi of one group, such that the mean over groups has no bias and their spread gives the error.
 * Products of means over W groups have a bias of order 1/W. So each group gets its jackknife
 * pseudovalue, W phi(all) - (W - 1) phi(all others), whose mean is unbiased (in the numerator
 * exactly). With only one group (32 realisations, or one of method serial) the bias is of order
 * 1/32 or 1, times 1/N of the lattice, unless the means are known.
 */
static double group_phi(const struct ergo_point *point, struct spins_at all, struct spins_at own) {
    if (all.groups > 1)
        return all.groups * connected(all) - (all.groups - 1) * connected(without(all, own));
    if (fac_is_stationary(point))
        own.first = own.now = 2 * fac_physics_of(point).c - 1;
    return connected(own);
}

/* Is phi defined for this member? If all spins are alike at t = 0, 1 - <s(0)>^2 is 0. If they
 * are alike without one of the groups, phi has no jackknife error. */
static bool is_defined(const struct fac_state *s, size_t member) {
    const uint64_t words = s->shape.words, spins = s->shape.sites * s->shape.lanes;
    uint64_t all = 0;
    for (size_t w = 0; w < words; w++)
        all += fac_record(s, 0, member, w, 0);
    bool defined = all > 0 && all < words * spins && fac_has_phi(s->e.batch->points[member]);
    for (size_t w = 0; w < words && words > 1 && defined; w++) {
        const uint64_t others = all - fac_record(s, 0, member, w, 0);
        defined = others > 0 && others < (words - 1) * spins;
    }
    return defined;
}

/* One sample per word-lattice, the mean of its realisations. Realisations of a word share the
 * sequence of sites, so only word-lattices are independent. */
enum ergo_status fac_end_curves(struct ergo_context *ctx, void *opaque, size_t member,
                                struct ergo_curve *curves) {
    struct fac_state *s = opaque;
    const size_t sites = s->shape.sites, words = s->shape.words, n = s->n_times;
    const double spins = (double)sites * s->shape.lanes;
    double *values = malloc(4 * n * sizeof *values);
    struct spins_at *all = malloc(n * sizeof *all);
    uint32_t *lattice = malloc(3 * 4 * sites);
    enum ergo_status status =
        values && all && lattice ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for curves");
    if (status != ERGO_OK)
        goto out;
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_finish(&s->e); /* reads of counts may be in the queue */
    status = ergo_engine_end(&s->e);
    const bool defined = status == ERGO_OK && is_defined(s, member);
    if (status == ERGO_OK && !fac_lanes_curves(s, member, curves))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for curves");
    for (size_t t = 0; t < n && defined; t++)
        all[t] = all_spins_at(s, t, member);
    for (size_t w = 0; w < words && status == ERGO_OK; w++) {
        double *phi = values, *same = phi + n, *persistence = same + n, *up = persistence + n;
        for (size_t t = 0; t < n; t++) {
            const struct spins_at own = spins_at(s, t, member, w);
            phi[t] = defined ? group_phi(s->e.batch->points[member], all[t], own) : 0;
            same[t] = own.same;
            persistence[t] = (double)fac_record(s, t, member, w, 2) / spins;
            up[t] = (double)fac_record(s, t, member, w, 0) / spins;
        }
        if (defined)
            ergo_curve_add(&curves[CURVE_PHI], phi);
        ergo_curve_add(&curves[CURVE_AUTOCORRELATION], same);
        ergo_curve_add(&curves[CURVE_PERSISTENCE], persistence);
        ergo_curve_add(&curves[CURVE_UP_DENSITY], up);
        ergo_engine_read(&s->e, FAC_FIRST, (member * words + w) * 4 * sites, 4 * sites, lattice);
        status = ergo_engine_end(&s->e);
        if (status != ERGO_OK)
            break;
        uint64_t count = 0;
        fac_closure(&s->shape, lattice, lattice + sites, lattice + 2 * sites);
        for (size_t i = 0; i < sites; i++)
            count += (uint64_t)__builtin_popcount(lattice[2 * sites + i]);
        const double frozen = (double)count / spins;
        ergo_curve_add(&curves[CURVE_FROZEN], &frozen);
    }
out:
    free(values);
    free(all);
    free(lattice);
    return status;
}

/* ---- for people ------------------------------------------------------------------------------ */

/* Is the first realisation's spin up, and has it flipped since t = 0? */
static unsigned kind_at(const struct ergo_view *v, size_t x, size_t y) {
    const uint32_t *at = (const uint32_t *)v->sites + x + v->size[0] * y;
    return (at[0] & 1) | (at[v->size[0] * v->size[1] * v->size[2]] & 1) << 1;
}

/* Up and down, pale where nothing has flipped. Pixels of large lattices are single sites: means
 * would hide the frozen ones. */
enum ergo_status fac_view(struct ergo_context *ctx, void *opaque, size_t member,
                          struct ergo_view *view) {
    struct fac_state *s = opaque;
    const size_t bytes = 4 * s->shape.sites, at = member * s->shape.words * bytes;
    uint32_t *words = malloc(2 * bytes);
    *view = (struct ergo_view){
        .size = {s->shape.lx, s->shape.ly, s->shape.sites / s->shape.lx / s->shape.ly},
        .sites = words,
        .state = kind_at,
        .name = "up",
        .states = 2,
        .colours = {{245, 222, 179}, {140, 160, 190}, {214, 160, 90}, {31, 58, 95}}};
    if (!words)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to read back a lattice");
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, FAC_SPINS, at, bytes, words);
    ergo_engine_read(&s->e, FAC_FLIPPED, at, bytes, words + s->shape.sites);
    return ergo_engine_end(&s->e);
}
