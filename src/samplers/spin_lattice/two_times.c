/* Two-time functions from canonical states: keys, times, what is kept, curves. */
#include "samplers/spin_lattice/two_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/models.h"

/* ---- what can be said of a point ------------------------------------------------------------- */

/* Of a chain: models that have several have copies of each. */
static uint32_t samples_of(const struct ergo_point *point) {
    return of_lattice(point)->copies ? model_samples(point) : 1;
}

bool timed_may(const struct ergo_point *point) {
    return !model_has_ladder(point) && !of_lattice(point)->cluster_every.present;
}

bool timed_is(const struct ergo_point *point) {
    return point->job->model->state_tail == timed_tail && of_lattice(point)->waiting_time.present;
}

uint64_t model_origin(const struct ergo_point *point) {
    return (uint64_t)(point->parameters->equilibration + of_lattice(point)->waiting_time.integer);
}

uint64_t model_length(const struct ergo_point *point) {
    const int64_t rest = point->parameters->sweeps - of_lattice(point)->waiting_time.integer;
    return rest > 0 ? (uint64_t)rest : 0;
}

size_t model_times(uint64_t sweeps, double *times) {
    static const unsigned steps[] = {10, 12, 15, 20, 25, 30, 40, 50, 60, 80};
    size_t n = 0;
    if (times)
        times[n] = 0;
    n++;
    for (uint64_t decade = 1; decade <= sweeps; decade *= 10) {
        for (size_t i = 0; i < 10; i++) {
            const uint64_t tenths = decade * steps[i];
            if (tenths % 10 || tenths / 10 > sweeps)
                continue;
            if (times)
                times[n] = (double)tenths / 10; /* times are integers */
            n++;
        }
        if (decade > UINT64_MAX / 1000)
            break;
    }
    return n;
}

enum ergo_status model_origin_check(struct ergo_context *ctx, const struct ergo_point *point) {
    return model_length(point) > 0
               ? ERGO_OK
               : ergo_job_error(ctx, "/system/waiting_time",
                                "%lld sweeps from the end of equilibration to t = 0 are not fewer "
                                "than the run's, %lld",
                                (long long)of_lattice(point)->waiting_time.integer,
                                (long long)point->parameters->sweeps);
}

enum ergo_status timed_check(struct ergo_context *ctx, const struct ergo_point *point) {
    enum ergo_status status = ERGO_OK;
    if (!timed_is(point))
        return status;
    status = model_origin_check(ctx, point);
    if (ergo_says(point->parameters->distribute, "lattice"))
        status = ergo_job_error(ctx, "/distribute",
                                "\"lattice\": two-time functions (/system/waiting_time) are of "
                                "systems that one device has; use \"points\"");
    return status;
}

size_t timed_size(const struct ergo_point *point) {
    return timed_is(point) ? model_times(model_length(point), NULL) : 0;
}

bool timed_x(const struct ergo_point *point, double *x) {
    if (timed_is(point))
        model_times(model_length(point), x);
    return true;
}

/* ---- configurations -------------------------------------------------------------------------- */

/* What is compared: elements of one system, or bits of words of 32 systems. */
struct compared {
    struct ergo_form form; /* of the inner model's states */
    size_t bytes;          /* of what is kept of a configuration */
    size_t sites, systems, words, states;
    size_t apart; /* of words, bytes from one to the next in the array */
};

static enum ergo_status compared_of(struct ergo_context *ctx, const struct ergo_point *point,
                                    struct compared *c) {
    const enum ergo_status status = point->job->model->form(ctx, point, &c->form);
    const struct ergo_form_part *part = &c->form.parts[0];
    if (status != ERGO_OK)
        return status;
    c->sites = (size_t)lattice_sites(point);
    c->states = of_lattice(point)->q ? (size_t)of_lattice(point)->q : 2;
    c->words = part->systems ? (part->systems + 31) / 32 : 0;
    c->systems = part->systems ? part->systems : 1;
    c->bytes = c->words ? 4 * c->words * c->sites : (size_t)ergo_form_part_bytes(part);
    c->apart = c->words ? (size_t)ergo_form_part_bytes(part) / c->words : 0;
    c->form.bytes -= timed_is(point) ? c->bytes + 8 * timed_size(point) * c->systems : 0;
    return ERGO_OK;
}

static size_t kept_bytes(const struct ergo_form *form, const struct ergo_point *point) {
    const struct ergo_form_part *part = &form->parts[0];
    const uint64_t words = (part->systems + UINT64_C(31)) / 32;
    return (size_t)(part->systems ? 4 * words * (uint64_t)lattice_sites(point)
                                  : ergo_form_part_bytes(part));
}

enum ergo_status timed_form(struct ergo_context *ctx, const struct ergo_point *point,
                            struct ergo_form *form) {
    (void)ctx;
    if (timed_is(point))
        form->bytes += kept_bytes(form, point) + timed_tail(point);
    return ERGO_OK;
}

size_t timed_tail(const struct ergo_point *point) {
    return 8 * timed_size(point) * samples_of(point);
}

/* From an inner state to what is kept: of word-lattices the first copy at the first temperature. */
static bool take(const struct compared *c, const void *state, uint8_t *kept) {
    uint8_t *all = malloc((size_t)ergo_form_part_bytes(&c->form.parts[0]));
    if (!all)
        return false;
    ergo_form_take(&c->form.parts[0], state, all);
    for (size_t w = 0; w < c->words; w++)
        memcpy(kept + w * 4 * c->sites, all + w * c->apart, 4 * c->sites);
    if (!c->words)
        memcpy(kept, all, c->bytes);
    free(all);
    return true;
}

/* Sites that are equal, of each system. */
static void compare(const struct compared *c, const uint8_t *a, const uint8_t *b, uint64_t *equal) {
    const bool bits = c->form.parts[0].bits > 0;
    for (size_t s = 0; s < c->systems; s++)
        equal[s] = c->sites;
    for (size_t i = 0; i < c->words * c->sites; i++) {
        uint32_t one, other;
        memcpy(&one, a + 4 * i, 4);
        memcpy(&other, b + 4 * i, 4);
        for (uint32_t x = one ^ other; x; x &= x - 1)
            equal[i / c->sites * 32 + (size_t)__builtin_ctz(x)]--;
    }
    for (size_t i = 0; i < c->bytes && !c->words; i++)
        equal[0] -= bits ? (uint64_t)__builtin_popcount(a[i] ^ b[i]) : a[i] != b[i];
}

/* ---- beside a batch on a device -------------------------------------------------------------- */

struct timed {
    struct ergo_engine_watch watch;
    const struct ergo_sampler_ops *inner;
    struct compared compared;
    size_t n; /* times */
    double *times;
    uint8_t *kept;   /* [member][bytes] */
    uint64_t *equal; /* [member][time][system] */
    uint8_t *now;
};

static const struct ergo_sampler_ops *inner_of(const void *state) {
    return ((const struct ergo_engine *)state)->model->watched;
}

static struct timed *timed_of(const void *state) {
    return (struct timed *)(void *)((const struct ergo_engine *)state)->watch;
}

static uint64_t next(const struct ergo_engine_watch *watch, uint64_t step) {
    const struct timed *t = (const struct timed *)(const void *)watch;
    for (size_t k = 0; k < t->n; k++)
        if (watch->first + (uint64_t)t->times[k] > step)
            return watch->first + (uint64_t)t->times[k];
    return UINT64_MAX;
}

static void event(struct ergo_engine *e) {
    struct timed *t = timed_of(e);
    const struct compared *c = &t->compared;
    const unsigned slot = e->slot;
    for (size_t m = 0; m < e->batch->count && e->status == ERGO_OK; m++) {
        struct ergo_text text = {0};
        uint8_t *kept = t->kept + m * c->bytes;
        enum ergo_status status = t->inner->save(e->ctx, e, m, &text);
        if (status == ERGO_OK && (text.failed || !take(c, text.data, t->now)))
            status = ERGO_FAIL(e->ctx, ERGO_E_MEMORY, "no memory for a configuration");
        if (status == ERGO_OK && e->step == t->watch.first)
            memcpy(kept, t->now, c->bytes);
        for (size_t k = 0; k < t->n && status == ERGO_OK; k++)
            if (t->watch.first + (uint64_t)t->times[k] == e->step)
                compare(c, kept, t->now, t->equal + (m * t->n + k) * c->systems);
        ergo_text_free(&text);
        e->status = status;
    }
    e->slot = slot;
}

/* Of a batch that is timed, once it is there. */
static enum ergo_status begin(struct ergo_context *ctx, struct ergo_engine *e) {
    const struct ergo_point *first = e->batch->points[0];
    const size_t members = e->batch->count;
    if (e->watch || !timed_is(first))
        return ERGO_OK;
    ergo_engine_begin(e, ctx);
    struct timed *t = ergo_engine_memory(e, 1, sizeof *t);
    if (!t)
        return ergo_engine_end(e);
    t->inner = inner_of(e);
    ergo_engine_note(e, compared_of(ctx, first, &t->compared));
    t->n = timed_size(first);
    t->times = ergo_engine_memory(e, t->n, sizeof *t->times);
    t->kept = ergo_engine_memory(e, members, t->compared.bytes);
    t->now = ergo_engine_memory(e, 1, t->compared.bytes);
    t->equal = ergo_engine_memory(e, members * t->n, t->compared.systems * sizeof *t->equal);
    if (ergo_engine_end(e) != ERGO_OK)
        return ergo_engine_end(e);
    timed_x(first, t->times);
    t->watch =
        (struct ergo_engine_watch){.first = model_origin(first), .next = next, .event = event};
    e->watch = &t->watch;
    return ERGO_OK;
}

static void clear(struct timed *t, size_t member) {
    const size_t counts = t->n * t->compared.systems;
    memset(t->kept + member * t->compared.bytes, 0, t->compared.bytes);
    memset(t->equal + member * counts, 0, counts * sizeof *t->equal);
}

enum ergo_status timed_init(struct ergo_context *ctx, void *state) {
    struct ergo_engine *e = state;
    const enum ergo_status status = begin(ctx, e);
    for (size_t m = 0; status == ERGO_OK && e->watch && m < e->batch->count; m++)
        clear(timed_of(e), m);
    return status == ERGO_OK ? inner_of(e)->init(ctx, e) : status;
}

/* ---- states ---------------------------------------------------------------------------------- */

enum ergo_status timed_save(struct ergo_context *ctx, void *state, size_t member,
                            struct ergo_text *text) {
    struct ergo_engine *e = state;
    const enum ergo_status status = inner_of(e)->save(ctx, e, member, text);
    const struct timed *t = timed_of(e);
    if (status != ERGO_OK || !t)
        return status;
    const size_t counts = t->n * t->compared.systems;
    ergo_text_append_bytes(text, t->kept + member * t->compared.bytes, t->compared.bytes);
    ergo_text_append_bytes(text, t->equal + member * counts, counts * sizeof *t->equal);
    return ERGO_OK;
}

enum ergo_status timed_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                            const void *bytes, size_t length) {
    struct ergo_engine *e = state;
    enum ergo_status status = begin(ctx, e);
    struct timed *t = timed_of(e);
    if (status != ERGO_OK || !t)
        return status == ERGO_OK ? inner_of(e)->load(ctx, e, member, step, bytes, length) : status;
    const struct compared *c = &t->compared;
    const size_t counts = t->n * c->systems, more = c->bytes + counts * sizeof *t->equal;
    uint64_t *equal = t->equal + member * counts;
    if (length < more)
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has %zu bytes; with a waiting time there "
                         "are %zu at its end",
                         member, length, more);
    const uint8_t *from = (const uint8_t *)bytes + (length - more);
    status = inner_of(e)->load(ctx, e, member, step, bytes, length - more);
    const bool numbers = !c->words && !c->form.parts[0].bits; /* a byte for each site */
    for (size_t i = 0; i < c->bytes && numbers && status == ERGO_OK; i++)
        if (from[i] >= c->states)
            status = ERGO_FAIL(ctx, ERGO_E_IO,
                               "the saved state of member %zu is damaged: a spin of its kept "
                               "configuration has the value %u",
                               member, (unsigned)from[i]);
    memcpy(t->kept + member * c->bytes, from, c->bytes);
    memcpy(equal, from + c->bytes, counts * sizeof *equal);
    for (size_t i = 0; i < counts && status == ERGO_OK; i++) {
        const bool past = t->watch.first + (uint64_t)t->times[i / c->systems] <= step;
        if (equal[i] > (past ? c->sites : 0))
            status = ERGO_FAIL(ctx, ERGO_E_IO,
                               "the saved state of member %zu is damaged: more equal spins than "
                               "there are, or some of a time to come",
                               member);
    }
    return status;
}

enum ergo_status timed_carry(struct ergo_context *ctx, void *state, size_t member,
                             const void *bytes, size_t length) {
    struct ergo_engine *e = state;
    const struct timed *t = timed_of(e);
    const struct ergo_sampler_ops *inner = inner_of(e);
    const size_t own = t && length > t->compared.form.bytes ? t->compared.form.bytes : length;
    return inner->carry ? inner->carry(ctx, e, member, bytes, own)
                        : inner->load(ctx, e, member, 0, bytes, own);
}

/* ---- curves ---------------------------------------------------------------------------------- */

/* Groups of realisations that share no random number: 1, or words of 32. */
static size_t timed_groups(const struct ergo_point *point) {
    return (samples_of(point) + 31) / 32;
}

/* <b> - <a>^2 without a group. */
static double variance(double groups, double mean, double square, double own) {
    return own / groups - (mean * mean - square) / (groups * (groups - 1));
}

bool model_chi4(size_t groups, size_t stride, const double *a, const double *b, double factor,
                double *values) {
    double mean = 0, sum = 0, square = 0, own = 0;
    double *less = malloc(2 * groups * sizeof *less), *rest = less ? less + groups : NULL;
    for (size_t g = 0; g < groups; g++)
        mean += a[g] / (double)groups;
    for (size_t g = 0; g < groups && less; g++) { /* rounding would grow with their number */
        less[g] = a[g] - mean;
        rest[g] = b[g] - mean * (2 * a[g] - mean);
        sum += less[g];
        square += less[g] * less[g];
        own += rest[g];
    }
    const double n = (double)groups, all = less ? n * variance(n, sum, square, own) : NAN;
    for (size_t g = 0; g < groups && less; g++)
        values[g * stride] =
            factor * (all - (n - 1) * variance(n - 1, sum - less[g], square - less[g] * less[g],
                                               own - rest[g]));
    free(less);
    return less != NULL;
}

enum ergo_status timed_end_curves(struct ergo_context *ctx, void *state, size_t member,
                                  struct ergo_curve *curves) {
    struct ergo_engine *e = state;
    const struct timed *t = timed_of(e);
    const struct ergo_model *model = e->batch->job->model;
    const struct ergo_sampler_ops *inner = inner_of(e);
    enum ergo_status status =
        inner->end_curves ? inner->end_curves(ctx, e, member, curves) : ERGO_OK;
    if (status != ERGO_OK || !t)
        return status;
    const struct compared *c = &t->compared;
    const size_t groups = timed_groups(e->batch->points[member]), n = t->n;
    const size_t width = (c->systems + groups - 1) / groups,
                 chi4 = ergo_temper_curve(model, "chi4_overlap");
    struct ergo_curve *mean = &curves[ergo_temper_curve(model, "autocorrelation")];
    double *rows = calloc(2 * groups, n * sizeof *rows), *a = malloc(2 * groups * sizeof *a);
    if (!rows || !a)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for two-time functions");
    for (size_t k = 0; k < n && status == ERGO_OK; k++) {
        double *b = a + groups, *fluctuations = rows + groups * n;
        const bool past = t->watch.first + (uint64_t)t->times[k] <= e->step;
        for (size_t g = 0; g < groups; g++) {
            const size_t end = (g + 1) * width < c->systems ? (g + 1) * width : c->systems;
            a[g] = b[g] = past ? 0 : NAN;
            for (size_t s = g * width; s < end; s++) {
                const double same = (double)t->equal[(member * n + k) * c->systems + s];
                const double states = (double)c->states;
                const double q = (states * same / (double)c->sites - 1) / (states - 1);
                a[g] += q / (double)(end - g * width);
                b[g] += q * q / (double)(end - g * width);
            }
            rows[g * n + k] = a[g];
        }
        if (groups > 2 && !model_chi4(groups, n, a, b, (double)c->sites, fluctuations + k))
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for two-time functions");
    }
    if (status == ERGO_OK)
        ergo_curve_add_rows(mean, rows, groups);
    if (status == ERGO_OK && chi4 < model->n_curves && curves[chi4].size)
        ergo_curve_add_rows(&curves[chi4], rows + groups * n, groups);
    free(rows);
    free(a);
    return status;
}
