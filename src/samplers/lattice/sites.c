/* See sites.h. */
#include "samplers/lattice/sites.h"

#include <stdio.h>
#include <string.h>

#include "engine/fields.h"
#include "engine/shares.h"
#include "samplers/lattice/moments.h"
#include "samplers/lattice/parameters.h"

/* ---- what a job says ------------------------------------------------------------------------- */

uint64_t lattice_sides(const struct ergo_point *point, uint32_t sides[3]) {
    const struct ergo_value *size = &of_lattice(point)->size;
    uint64_t sites = 1;
    for (int k = 0; k < 3; k++) {
        sides[k] = k < size->items ? (uint32_t)size->size[k] : 1;
        sites *= sides[k];
    }
    return sites;
}

unsigned lattice_start(const struct ergo_point *point) {
    return ergo_says(of_lattice(point)->start, "random") ? 2
           : ergo_says(of_lattice(point)->start, "up")   ? 1
                                                         : 0;
}

uint32_t lattice_chance(double p) {
    const double scaled = p * 0x1p32 + 0.5;
    return scaled >= 0xffffffff ? 0xffffffffu : (uint32_t)scaled;
}

enum ergo_status lattice_check_size(struct ergo_context *ctx, const struct ergo_point *point,
                                    double most) {
    enum ergo_status status = ERGO_OK;
    const struct ergo_value *size = &of_lattice(point)->size;
    for (int i = 0; i < size->items; i++)
        if (size->size[i] % 2)
            status = ergo_job_error(ctx, "/system/size",
                                    "a side of %lld is odd; the update by colours needs even "
                                    "sides",
                                    (long long)size->size[i]);
    if (lattice_sites(point) > most)
        status = ergo_job_error(ctx, "/system/size", "more than 2^%.0f sites", log2(most));
    if (ergo_says(point->parameters->distribute, "lattice") && size->items == 1)
        status = ergo_job_error(
            ctx, "/distribute",
            "\"lattice\": a chain of spins cannot be cut over ranks; use \"points\"");
    const enum ergo_status shares = ergo_shares_check(ctx, point);
    return shares != ERGO_OK ? shares : status;
}

/* ---- what people see ------------------------------------------------------------------------- */

static unsigned state_at(const struct ergo_view *v, size_t x, size_t row) {
    return ((const uint8_t *)v->sites)[x + v->size[0] * row];
}

void lattice_look(const uint32_t sides[3], unsigned states, bool up, struct ergo_view *view) {
    *view = (struct ergo_view){.size = {sides[0], sides[1], sides[2]},
                               .state = state_at,
                               .name = up ? "up" : "state",
                               .states = states,
                               .colours = {{31, 58, 95},
                                           {245, 222, 179},
                                           {178, 58, 72},
                                           {84, 130, 53},
                                           {120, 94, 160},
                                           {230, 159, 0},
                                           {86, 180, 233},
                                           {60, 60, 60}}};
    if (up)
        memcpy(view->colours, (uint8_t[2][3]){{245, 222, 179}, {31, 58, 95}}, 6);
    for (unsigned i = 0; i < states && states > 8; i++) {
        /* a wheel of hues would need care; shades tell clusters apart too */
        view->colours[i][0] = (uint8_t)(i * 67u);
        view->colours[i][1] = (uint8_t)(i * 29u + 40);
        view->colours[i][2] = (uint8_t)(i * 101u + 90);
    }
}

/* ---- models with rules ----------------------------------------------------------------------- */

enum { SPINS, MEMBERS, SUMS };
enum { START, SWEEP, MEASURE };

struct shape {
    const struct lattice_rule *rule;
    uint32_t d, l[3];
    uint64_t sites;
};

struct sites {
    struct ergo_engine e;
    struct shape shape;
};

static struct shape shape_of(const struct ergo_point *point) {
    struct shape s = {.rule = point->job->model->rule,
                      .d = (uint32_t)of_lattice(point)->size.items};
    s.sites = lattice_sides(point, s.l);
    return s;
}

static void spins(const void *shape, struct ergo_extent *x) {
    const struct shape *s = shape;
    ergo_extent_lattice(x, (const uint64_t[]){s->l[0], s->l[1], s->l[2]}, s->d, 1);
    x->below = s->rule->states;
    x->help = "state of a site, from 0 on";
}

static void look(const void *state, struct ergo_view *view) {
    const struct shape *s = &((const struct sites *)state)->shape;
    lattice_look(s->l, s->rule->states, s->rule->states == 2, view);
}

static const struct ergo_field field[] = {{SPINS, "spins", .extent = spins}};
static const struct ergo_fields fields = {
    .shape = offsetof(struct sites, shape), .field = field, .n = 1, .look = look};

enum ergo_status lattice_form(struct ergo_context *ctx, const struct ergo_point *point,
                              struct ergo_form *form) {
    const struct shape s = shape_of(point);
    (void)ctx;
    ergo_fields_form(&fields, &s, form);
    return ERGO_OK;
}

const struct ergo_tunable lattice_group = {ERGO_TUNABLE_GROUP};

enum ergo_status lattice_check(struct ergo_context *ctx, const struct ergo_point *point) {
    return lattice_check_size(ctx, point, 0x1p28);
}

static enum ergo_status configure(struct ergo_context *ctx, void *state) {
    struct sites *s = state;
    struct ergo_engine *e = &s->e;
    const size_t members = e->batch->count;
    const struct shape h = s->shape = shape_of(e->batch->points[0]);
    const struct lattice_rule *rule = h.rule;
    char options[80], *of = ergo_engine_table(e, MEMBERS, "members", members, rule->member_bytes);
    (void)ctx;
    for (size_t m = 0; of && m < members; m++, of += rule->member_bytes) {
        const uint64_t key = e->batch->points[m]->stream;
        memcpy(of, (const uint32_t[]){(uint32_t)key, (uint32_t)(key >> 32)}, 8);
        rule->fill(e->batch->points[m], of);
    }
    ergo_engine_buffer(e, SPINS, "spins", ERGO_BUFFER_STATE, h.sites * members);
    ergo_engine_totals(e, SUMS, rule->sums, 0, 0);
    snprintf(options, sizeof options, "-DLX=%uu -DLY=%uu -DLZ=%uu", h.l[0], h.l[1], h.l[2]);
    for (unsigned k = START; k <= MEASURE; k++)
        ergo_engine_kernel(e, k, rule->program, options, rule->kernels[k]);
    ergo_engine_groups(e, 128, 16);
    ergo_engine_rates(e, (double)h.sites * (double)members, rule->colours, 1e10, 2e7);
    e->plan.host_bytes = 2 * h.sites;
    snprintf(e->plan.path, sizeof e->plan.path, "sites");
    snprintf(e->plan.launch, sizeof e->plan.launch,
             "a launch for each of %u colours, work-groups of %u", rule->colours, e->group);
    return ergo_engine_end(e);
}

static struct ergo_grid grid_of(const struct sites *s, uint64_t items) {
    return ergo_grid_items((size_t)items, s->e.group, s->e.batch->count);
}

static void start(void *state) {
    struct sites *s = state;
    ERGO_LAUNCH(&s->e, START, grid_of(s, s->shape.sites), BUFFER(SPINS), BUFFER(MEMBERS),
                U32(lattice_start(s->e.batch->points[0])));
}

static void steps(void *state, uint64_t sweeps) {
    struct sites *s = state;
    const uint32_t colours = s->shape.rule->colours;
    for (uint64_t i = 0; i < sweeps && s->e.status == ERGO_OK; i++, s->e.step++)
        for (uint32_t c = 0; c < colours; c++)
            ERGO_LAUNCH(&s->e, SWEEP, grid_of(s, s->shape.sites / colours), BUFFER(SPINS),
                        BUFFER(MEMBERS), U32(c), U64(s->e.step));
}

static void measure(void *state, size_t sample) {
    struct sites *s = state;
    ERGO_LAUNCH(&s->e, MEASURE, grid_of(s, s->shape.sites / s->shape.l[0]), BUFFER(SPINS),
                BUFFER(SUMS), U32(sample));
}

static void columns(const void *state, size_t member, const uint64_t *sums, double *to) {
    const struct sites *s = state;
    double per_site[ERGO_TOTALS];
    for (uint32_t k = 0; k < s->shape.rule->sums; k++)
        per_site[k] = (int32_t)sums[k] / (double)s->shape.sites;
    s->shape.rule->columns(s->e.batch->points[member], per_site, to);
}

static const struct ergo_engine_model model = {
    .sampler = "spin-lattice",
    .smaller = "a smaller lattice",
    .state_bytes = sizeof(struct sites),
    .fields = &fields,
    .configure = configure,
    .start = start,
    .steps = steps,
    .measure = measure,
    .columns = columns,
};

const struct ergo_sampler_ops lattice_ops = {.engine = &model,
                                             .init = ergo_engine_init,
                                             .save = ergo_fields_save,
                                             .load = ergo_fields_load,
                                             .view = ergo_fields_view};
