/* Models with a byte per spin on a device: constants, start, advance, collect. */
#include "samplers/spin_lattice/bytes.h"

#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/two_times.h"

/* ---- constants, start ------------------------------------------------------------------------ */

/* General fields and couplings of all members. */
static enum ergo_status create_terms(struct ergo_context *ctx, struct bytes_state *s) {
    const size_t length = bytes_terms_length(&s->shape), n = s->e.batch->count;
    int32_t *packed = malloc(n * length * sizeof *packed);
    enum ergo_status status =
        packed ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for general fields");
    for (size_t m = 0; m < n && status == ERGO_OK; m++) {
        const uint64_t row = s->shape.l[0];
        struct bytes_disorder d = {.of = {s->shape.first_row * row, s->shape.sites}};
        status = bytes_disorder_part(ctx, s->e.batch->points[m], s->cut, &d);
        if (status != ERGO_OK)
            break;
        s->units[m] = d.unit;
        bytes_disorder_fill(s->e.batch->points[m], &d, &s->members[m]);
        bytes_terms_pack(&s->shape, &d, packed + length * m);
        bytes_disorder_free(&d);
    }
    if (status == ERGO_OK)
        ergo_engine_constant(&s->e, BYTES_TERMS, packed);
    free(packed);
    return status;
}

/* Heat bath of potts: choices of all members. */
static enum ergo_status create_choices(struct ergo_context *ctx, struct bytes_state *s) {
    const size_t length = bytes_choices_length(&s->shape), n = s->e.batch->count;
    uint32_t *words = malloc(4 * n * length);
    if (!words)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the choices of a heat bath");
    for (size_t m = 0; m < n; m++)
        bytes_choices_fill(&s->shape, &s->members[m], words + m * length);
    ergo_engine_constant(&s->e, BYTES_CHANCES, words);
    free(words);
    return ERGO_OK;
}

enum ergo_status bytes_groups(struct ergo_context *ctx, void *state) {
    struct bytes_state *s = state;
    (void)ctx;
    struct ergo_engine *e = &s->e;
    if (s->launch.local) /* compiled for it */
        ergo_engine_need_group(e, BYTES_SWEEP, s->launch.local_group);
    for (unsigned k = 0; k < ERGO_KERNELS; k++)
        if (e->kernels[k].kernel && (k != BYTES_SWEEP || !s->launch.local))
            s->launch.group = (uint32_t)ergo_engine_group(e, k, s->launch.group);
    return ERGO_OK;
}

enum ergo_status bytes_constants(struct ergo_context *ctx, void *state) {
    struct bytes_state *s = state;
    return s->shape.general           ? create_terms(ctx, s)
           : bytes_choices(&s->shape) ? create_choices(ctx, s)
                                      : ERGO_OK;
}

static enum ergo_status prepare(struct ergo_context *ctx, void *state) {
    bytes_groups(ctx, state);
    return bytes_constants(ctx, state);
}

void bytes_begin(void *state) {
    struct bytes_state *s = state;
    const unsigned mode = lattice_start(s->e.batch->points[0]);
    const size_t blocks = (size_t)(2 * s->shape.colour / 16);
    ERGO_LAUNCH(&s->e, BYTES_START, ergo_grid_items(blocks, s->launch.group, s->e.batch->count),
                BUFFER(BYTES_SPINS), BUFFER(BYTES_MEMBERS), U32(mode), U32(s->fields));
}

/* ---- sweeps and measurements ------------------------------------------------------------------
 */

/* Lattices in local memory, one launch: for each of `samples` samples, `every` sweeps and a
 * measurement into the slot, from sample `first` on. samples 0: only `every` sweeps. */
static void launch_local(struct bytes_state *s, size_t samples, uint64_t every, size_t first) {
    const struct bytes_launch *l = &s->launch;
    const size_t members = s->e.batch->count;
    const struct ergo_grid grid = {1, {members * l->local_group}, {l->local_group}};
    const uint64_t sweeps = every * (samples ? samples : 1);
    struct ergo_arg args[9] = {
        BUFFER(BYTES_SPINS), BUFFER(BYTES_MEMBERS), U64(s->e.step), U32(samples), U32(every),
        U32(first),          BUFFER(BYTES_COUNTS)};
    const struct ergo_arg terms = BUFFER(BYTES_TERMS), choices = BUFFER(BYTES_CHANCES),
                          drawn = BUFFER(BYTES_DRAWN);
    size_t n = 7;
    if (s->shape.general)
        args[n++] = terms;
    else if (bytes_choices(&s->shape))
        args[n++] = choices;
    if (l->ahead) {
        const uint64_t items = 2 * sweeps * bytes_fours(&s->shape);
        ERGO_LAUNCH(&s->e, BYTES_DRAW, ergo_grid_items((size_t)items, l->group, members),
                    BUFFER(BYTES_DRAWN), BUFFER(BYTES_MEMBERS), U64(s->e.step), U32(2 * sweeps));
        args[n++] = drawn;
    }
    ergo_engine_launch(&s->e, BYTES_SWEEP, grid, args, n);
    s->e.step += sweeps;
}

/* Half a sweep of some layers, of a slab or all. */
static void sweep_layers(void *state, unsigned colour, uint64_t from, uint64_t to) {
    struct bytes_state *s = state;
    const uint64_t rows = bytes_layer_rows(&s->shape), blocks = s->shape.pitch / 16;
    const size_t items = (size_t)((to - from) * rows * blocks / s->launch.strip);
    const struct ergo_grid grid = ergo_grid_items(items, s->launch.group, s->e.batch->count);
    const size_t choices = 4 * bytes_choices_length(&s->shape);
    const struct ergo_arg terms = BUFFER(BYTES_TERMS), table = LOCAL(8 * BYTES_TABLE),
                          all = LOCAL(choices), chances = BUFFER(BYTES_CHANCES);
    const struct ergo_arg range[2] = {U32(from * rows), U32(to * rows)};
    struct ergo_arg args[8] = {BUFFER(BYTES_SPINS), BUFFER(BYTES_MEMBERS), U32(colour),
                               U64(s->e.step)};
    size_t n = 4;
    args[n++] = s->shape.general ? terms : choices ? all : table;
    if (choices && !s->shape.general)
        args[n++] = chances;
    for (int k = 0; k < 2 && s->cut; k++)
        args[n++] = range[k];
    ergo_engine_launch(&s->e, BYTES_SWEEP, grid, args, n);
}

static void sweep_slab(struct bytes_state *s, uint64_t sweeps) {
    const uint32_t unit = s->shape.d > 2 ? 1 : s->launch.strip;
    for (uint64_t i = 0; i < 2 * sweeps && s->e.status == ERGO_OK; i++) {
        ergo_slab_half_sweep(&s->e, &s->slab, unit, sweep_layers, i % 2);
        s->e.step += i % 2;
    }
}

static void sweep_by_halves(struct bytes_state *s, uint64_t sweeps) {
    for (uint64_t i = 0; i < 2 * sweeps; i++) {
        sweep_layers(s, i % 2, 0, bytes_layers(&s->shape));
        s->e.step += i % 2;
    }
}

void bytes_steps(void *state, uint64_t sweeps) {
    struct bytes_state *s = state;
    if (s->cut)
        sweep_slab(s, sweeps);
    else if (!s->launch.local)
        sweep_by_halves(s, sweeps);
    for (uint64_t now; s->launch.local && sweeps && s->e.status == ERGO_OK; sweeps -= now) {
        now = ergo_engine_next(&s->e, &s->e.pace, sweeps, s->launch.launch_sweeps);
        launch_local(s, 0, now, 0);
        ergo_engine_made(&s->e, &s->e.pace, now);
    }
}

void bytes_measure(void *state, size_t sample) {
    struct bytes_state *s = state;
    const struct ergo_grid grid =
        ergo_grid_groups(s->launch.measure_groups, s->launch.group, s->e.batch->count);
    const struct ergo_arg args[] = {BUFFER(BYTES_SPINS),
                                    BUFFER(BYTES_MEMBERS),
                                    BUFFER(BYTES_COUNTS),
                                    U32(sample),
                                    LOCAL(s->shape.counts * sizeof(cl_uint)),
                                    U32(s->launch.from),
                                    U32(s->launch.to)};
    ergo_engine_launch(&s->e, BYTES_MEASURE, grid, args, s->cut ? 7 : 5);
    const struct ergo_arg general[] = {
        BUFFER(BYTES_SPINS), BUFFER(BYTES_MEMBERS),      BUFFER(BYTES_COUNTS), U32(sample),
        BUFFER(BYTES_TERMS), LOCAL(2 * sizeof(cl_uint)), U32(s->launch.from),  U32(s->launch.to)};
    if (s->shape.general)
        ergo_engine_launch(&s->e, BYTES_ENERGY, grid, general, s->cut ? 8 : 6);
}

void bytes_measure_curves(void *state, size_t curve) {
    struct bytes_state *s = state;
    const struct bytes_launch *l = &s->launch;
    const uint32_t pairs = s->shape.d * l->reach;
    const size_t members = s->e.batch->count;
    const struct ergo_arg args[] = {
        BUFFER(BYTES_SPINS),  BUFFER(BYTES_CURVE_COUNTS), U32(curve),   U32(l->reach),
        U32(l->curve_length), LOCAL(sizeof(cl_uint)),     U32(l->from), U32(l->to)};
    if (s->cut)
        ergo_slab_need(&s->e, &s->slab, l->reach);
    if (pairs)
        ergo_engine_launch(&s->e, BYTES_CORRELATE,
                           ergo_grid_groups(l->measure_groups, l->group, members * pairs), args,
                           s->cut ? 8 : 6);
    if (l->planes)
        ERGO_LAUNCH(&s->e, BYTES_PLANES, ergo_grid_groups(l->planes, l->group, members),
                    BUFFER(BYTES_SPINS), BUFFER(BYTES_MEMBERS), BUFFER(BYTES_CURVE_COUNTS),
                    U32(curve), U32(pairs), U32(l->curve_length), LOCAL(s->shape.q * 4));
}

/* Number of samples, from `first` on, that one launch makes. It ends with a sample that carries
 * curves. 0: no launch makes a sample. */
static size_t samples_at_once(struct bytes_state *s, size_t first, size_t count, uint64_t every) {
    size_t n = count - first;
    if (s->e.curve_interval && ergo_engine_until_curve(&s->e, first) < n)
        n = ergo_engine_until_curve(&s->e, first) + 1;
    return (size_t)(ergo_engine_next(&s->e, &s->e.pace, n * every, s->launch.launch_sweeps) /
                    every);
}

void bytes_block(void *state, size_t count, uint64_t every) {
    struct bytes_state *s = state;
    size_t curve = 0;
    if (!s->launch.local) {
        ergo_engine_block(state, count, every);
        return;
    }
    for (size_t i = 0, now = 0; i < count && s->e.status == ERGO_OK; i += now) {
        now = samples_at_once(s, i, count, every);
        if (now) {
            launch_local(s, now, every, i);
            ergo_engine_made(&s->e, &s->e.pace, now * every);
        } else {
            bytes_steps(s, every);
            bytes_measure(s, i);
            now = 1;
        }
        if (ergo_engine_curve_due(&s->e, i + now - 1))
            bytes_measure_curves(s, curve++);
    }
}

/* Curves of a row from its counts: equal pairs [axis][r - 1], then planes. */
static void curves_of(const struct bytes_state *s, const uint32_t *counts,
                      const struct ergo_row *row) {
    static const int curve[3] = {CURVE_CORRELATION_X, CURVE_CORRELATION_Y, CURVE_CORRELATION_Z};
    const size_t reach = s->launch.reach, size = reach + 1;
    const double q = s->shape.q, n = (double)s->whole.sites;
    if (s->launch.planes)
        bytes_structure(&s->whole, s->members[row->member].staggered != 0, s->wave,
                        counts + s->shape.d * reach,
                        row->curves[CURVE_STRUCTURE] + 2 * row->number);
    if (!reach)
        return;
    double *mean = row->curves[CURVE_CORRELATION] + row->number * size;
    memset(mean, 0, size * sizeof *mean);
    for (uint32_t k = 0; k < s->shape.d; k++) {
        double *axis = row->curves[curve[k]] + row->number * size;
        for (size_t r = 0; r <= reach; r++) {
            const double equal = r ? counts[k * reach + r - 1] / n : 1;
            axis[r] = (q * equal - 1) / (q - 1);
            mean[r] += axis[r] / s->shape.d;
        }
    }
}

bool bytes_curve_row(const void *state, unsigned slot, const struct ergo_row *row) {
    const struct bytes_state *s = state;
    if (!s->launch.curve_length)
        return true;
    const uint32_t *counts = ergo_engine_host(&s->e, BYTES_CURVE_COUNTS, slot, row->sample);
    curves_of(s,
              s->cut ? s->joined_curves + row->number * bytes_joined_numbers(s)
                     : counts + row->member * s->launch.curve_length,
              row);
    return true;
}

static struct ergo_ladder_term term_of(uint32_t first, uint32_t kind, double weight) {
    return (struct ergo_ladder_term){
        .first = first, .parts = 1, .kind = kind, .weight = (float)weight};
}

/* The energy as in bytes_columns: of equal neighbours, of sites in a state, of general terms. */
static uint32_t terms(const void *state, size_t member, struct ergo_ladder_term *terms) {
    const struct bytes_state *s = state;
    const struct bytes_shape *h = &s->shape;
    const struct bytes_physics *p = &s->physics[member];
    uint32_t n = 0;
    for (uint32_t k = 0; k < h->d && !h->bonds; k++)
        terms[n++] = h->kind == BYTES_BLUME_CAPEL ? term_of(k, ERGO_LADDER_INT, -p->j[k])
                     : h->kind == BYTES_ISING     ? term_of(k, ERGO_LADDER_UINT, -2 * p->j[k])
                                                  : term_of(k, ERGO_LADDER_UINT, -p->j[k]);
    if (h->general)
        terms[n++] = term_of(h->counts, ERGO_LADDER_LONG, -s->units[member]);
    if (h->kind == BYTES_BLUME_CAPEL) {
        terms[n++] = term_of(3, ERGO_LADDER_UINT, p->crystal - (h->general ? 0 : p->b));
        terms[n++] = term_of(5, ERGO_LADDER_UINT, p->crystal + (h->general ? 0 : p->b));
    } else if (h->kind == BYTES_ISING && !h->general) {
        terms[n++] = term_of(3, ERGO_LADDER_UINT, -2 * p->h);
        terms[n++] = term_of(4, ERGO_LADDER_UINT, -2 * p->b);
        terms[n++] = term_of(6, ERGO_LADDER_UINT, -2 * (p->b + p->h));
    }
    return n;
}

static const struct ergo_temper_model temper = {
    .spins = BYTES_SPINS, .counts = BYTES_COUNTS, .fill = bytes_fill, .terms = terms};

static const struct ergo_engine_model model;
/* As if there were no waiting time. */
static const struct ergo_sampler_ops untimed = {ERGO_TEMPERED(&model)};

static const struct ergo_engine_model model = {BYTES_ENGINE, .configure = bytes_configure,
                                               .prepare = prepare, .temper = &temper,
                                               .watched = &untimed};

const struct ergo_sampler_ops bytes_ops = {.engine = &model, .view = ergo_fields_view, ERGO_TIMED};
