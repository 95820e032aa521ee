/* Events of an optimisation (descent.h) on a device: samples of the walkers in, another wave
 * function out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "helium/triplet.h"
#include "helium_vmc/params.h"
#include "samplers/helium_vmc/helium.h"

static struct helium_descent descent_of(const struct helium_state *s, size_t member) {
    const struct helium_optimisation *o = &s->optimisation;
    return helium_descent_view(&o->schedule, &o->which[member], o->numbers[member]);
}

enum ergo_status helium_optimisation_configure(struct helium_state *s) {
    struct helium_optimisation *o = &s->optimisation;
    const struct ergo_batch *batch = s->e.batch;
    o->schedule = helium_schedule_of(batch->points[0]);
    if (!o->schedule.all)
        return ERGO_OK;
    o->which = ergo_engine_memory(&s->e, batch->count, sizeof *o->which);
    o->numbers = ergo_engine_memory(&s->e, batch->count, sizeof *o->numbers);
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return ergo_engine_end(&s->e);
    size_t size = 0;
    for (size_t m = 0; m < batch->count; m++) {
        o->which[m] = helium_parameters_of(batch->points[m], &s->models[m]);
        size += helium_descent_size(&o->schedule, &o->which[m]);
    }
    double *numbers = ergo_engine_memory(&s->e, size, sizeof *numbers);
    for (size_t m = 0; m < batch->count && numbers; m++) {
        o->numbers[m] = numbers;
        numbers += helium_descent_size(&o->schedule, &o->which[m]);
        const struct helium_descent d = descent_of(s, m);
        helium_parameters_get(&o->which[m], &s->models[m], d.first);
        memcpy(d.now, d.first, o->which[m].count * sizeof *d.now);
    }
    return ergo_engine_end(&s->e);
}

/* The members' wave functions are those of the parameters in use. */
static void use(struct helium_state *s, size_t member) {
    const struct helium_descent d = descent_of(s, member);
    struct helium_model *model = &s->models[member];
    helium_parameters_set(&s->optimisation.which[member], d.first, d.now, model);
    helium_member_fill(s->e.batch->points[member], model, &s->members[member]);
    helium_triplet_fill(model, &s->members[member], &s->triplets[member]);
}

void helium_optimisation_reset(struct helium_state *s) {
    const struct helium_optimisation *o = &s->optimisation;
    if (!o->schedule.all)
        return;
    for (size_t m = 0; m < s->e.batch->count; m++) {
        const struct helium_descent d = descent_of(s, m);
        const size_t count = o->which[m].count;
        memset(d.now, 0, (helium_descent_size(&o->schedule, &o->which[m]) - count) * sizeof *d.now);
        memcpy(d.now, d.first, count * sizeof *d.now);
        use(s, m);
    }
    helium_write_tables(s);
}

bool helium_optimisation_may(const struct helium_state *s, size_t member, const void *numbers) {
    const struct helium_optimisation *o = &s->optimisation;
    const size_t size = helium_descent_size(&o->schedule, &o->which[member]);
    const struct helium_descent d = descent_of(s, member);
    for (size_t k = 0; k < size; k++) {
        double number;
        memcpy(&number, (const char *)numbers + k * sizeof number, sizeof number);
        if (!isfinite(number) || (k < o->which[member].count && number != d.first[k]))
            return false;
    }
    return true;
}

void helium_optimisation_use(struct helium_state *s, size_t member) {
    use(s, member);
    if (member + 1 == s->e.batch->count) /* members are loaded in order */
        helium_write_tables(s);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* What the device has of all walkers, and memory for one member's. */
struct samples {
    const struct helium_state *s;
    int32_t *places;
    struct helium_sums *sums;
    struct helium_walker *walkers;
    double *slopes, *energies; /* of a member */
    size_t member;
    uint32_t *chosen; /* walkers whose sums are right */
};

static void slopes_of(size_t begin, size_t end, void *user) {
    const struct samples *x = user;
    const struct helium_state *s = x->s;
    const struct helium_parameters *which = &s->optimisation.which[x->member];
    for (size_t k = begin; k < end; k++) {
        const size_t walker = x->member * s->shape.walkers + x->chosen[k];
        helium_slopes(which, &s->models[x->member], x->places + 3 * walker * s->shape.n,
                      x->slopes + k * which->count);
    }
}

static bool update(struct helium_state *s, struct samples *x, uint64_t k) {
    const struct helium_shape *h = &s->shape;
    const struct ergo_point *point = s->e.batch->points[x->member];
    const struct helium_descent d = descent_of(s, x->member);
    uint32_t count = 0;
    for (uint32_t w = 0; w < h->walkers; w++) {
        const struct helium_sums *sums = &x->sums[x->member * h->walkers + w];
        const struct helium_energies e = helium_energies_of(&s->models[x->member], sums);
        if ((uint64_t)sums->accepted >> HELIUM_BEYOND)
            continue; /* one walker in a wall is no reason to end the run */
        x->energies[count] = e.potential + e.laplacian - e.gradient;
        x->chosen[count++] = w;
    }
    if (2 * count < h->walkers) {
        if (s->e.status == ERGO_OK)
            s->e.status = ergo_job_error(
                s->e.ctx, "/run/optimise",
                "all: at macroupdate %llu energies of %u of %u walkers are beyond what the sums "
                "can hold: no step could be found from the others. Use a larger /system/b, a "
                "smaller /run/optimise_rate, or a longer /system/start_steps",
                (unsigned long long)s->e.step, h->walkers - count, h->walkers);
        return false;
    }
    ergo_parallel_ranges(count, 8, slopes_of, x);
    return helium_descend(&s->optimisation.schedule, &s->optimisation.which[x->member], &d, h->n,
                          of_vmc(point)->optimise_rate, k, x->slopes, x->energies, count);
}

/* What the job could not have begun with (check_core) it may not end with either. */
static void check_end(struct helium_state *s, size_t member) {
    const struct helium_model *model = &s->models[member];
    double u[3];
    helium_model_u(model, model->core, u);
    if (s->optimisation.which[member].b && fabs(u[0]) < 10 && s->e.status == ERGO_OK)
        s->e.status = ergo_job_error(
            s->e.ctx, "/run/optimise",
            "all: ended at a b of %.4g A, which lets pairs come closer than %.3g A, where V and u "
            "keep their values. Use a smaller /run/optimise_rate, more /system/walkers, or another "
            "/system/b",
            model->b, model->core);
}

/* The new functions have other ln psi. */
static void begin_anew(struct helium_state *s, struct samples *x, size_t all) {
    helium_write_tables(s);
    helium_energy(s, HELIUM_EVENT_SUMS, 0, true);
    ergo_engine_read(&s->e, HELIUM_EVENT_SUMS, 0, all * sizeof *x->sums, x->sums);
    ergo_engine_read(&s->e, HELIUM_WALKERS, 0, all * sizeof *x->walkers, x->walkers);
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return;
    for (size_t i = 0; i < all; i++)
        x->walkers[i].ln_psi = x->sums[i].ln_psi / 2;
    ergo_engine_write(&s->e, HELIUM_WALKERS, 0, all * sizeof *x->walkers, x->walkers);
    s->rebuild = true;
}

void helium_optimise(struct helium_state *s) {
    const size_t all = s->e.batch->count * s->shape.walkers;
    const uint64_t k = helium_event_at(&s->optimisation.schedule, s->e.step);
    struct samples x = {.s = s};
    bool changed = false;
    if (!k)
        return;
    x.places = malloc(all * (size_t)s->shape.walker_bytes);
    x.sums = malloc(all * sizeof *x.sums);
    x.walkers = malloc(all * sizeof *x.walkers);
    x.energies = malloc(s->shape.walkers * sizeof *x.energies);
    x.slopes = malloc(s->shape.walkers * HELIUM_MOST_PARAMETERS * sizeof *x.slopes);
    x.chosen = malloc(s->shape.walkers * sizeof *x.chosen);
    if (x.places && x.sums && x.walkers && x.energies && x.slopes && x.chosen) {
        helium_energy(s, HELIUM_EVENT_SUMS, 0, false);
        ergo_engine_read(&s->e, HELIUM_EVENT_SUMS, 0, all * sizeof *x.sums, x.sums);
        ergo_engine_read(&s->e, HELIUM_POSITIONS, 0, all * (size_t)s->shape.walker_bytes, x.places);
        for (size_t m = 0; m < s->e.batch->count && ergo_engine_end(&s->e) == ERGO_OK; m++) {
            x.member = m;
            if (update(s, &x, k)) {
                changed = true;
                use(s, m);
                if (k == s->optimisation.schedule.quarter + s->optimisation.schedule.updates)
                    check_end(s, m);
            }
        }
        if (changed)
            begin_anew(s, &x, all);
    } else {
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory to optimise with %zu walkers", all);
    }
    free(x.places);
    free(x.sums);
    free(x.walkers);
    free(x.energies);
    free(x.slopes);
    free(x.chosen);
}

/* ---- curves ---------------------------------------------------------------------------------- */

enum { POINTS = 500 }; /* of u */

size_t helium_optimisation_size(const struct ergo_point *point, size_t curve) {
    const struct helium_schedule s = helium_schedule_of(point);
    if (!s.all)
        return 0;
    return curve == HELIUM_OPTIMISATION ? (size_t)(s.quarter + s.updates)
           : curve == HELIUM_OPTIMISED  ? POINTS
                                        : HELIUM_NUMBERS;
}

void helium_optimisation_x(const struct ergo_point *point, size_t curve, double *x) {
    const struct helium_schedule s = helium_schedule_of(point);
    struct helium_model model;
    helium_model_box(point, &model);
    const size_t size = helium_optimisation_size(point, curve);
    for (size_t k = 0; k < size; k++)
        x[k] = curve == HELIUM_OPTIMISATION ? (double)k - (double)s.quarter + 1
               : curve == HELIUM_OPTIMISED  ? model.half * (double)(k + 1) / POINTS
                                            : (double)k;
}

void helium_optimisation_curve(const struct helium_state *s, size_t member, size_t curve,
                               double *y) {
    const struct helium_model *m = &s->models[member];
    const struct helium_schedule *schedule = &s->optimisation.schedule;
    const struct helium_descent d = descent_of(s, member);
    if (curve == HELIUM_OPTIMISATION) {
        memcpy(y, d.energy, (size_t)(schedule->quarter + schedule->updates) * sizeof *y);
    } else if (curve == HELIUM_OPTIMISED) {
        for (size_t k = 0; k < POINTS; k++) {
            double u[3];
            const double r = m->half * (double)(k + 1) / POINTS;
            helium_model_two_body(m, r < m->core ? m->core : r, u);
            y[k] = u[0];
        }
    } else {
        helium_descent_before(schedule, &d, s->shape.walkers, y);
        y[HELIUM_NUMBER_B] = m->b;
        y[HELIUM_NUMBER_STRENGTH] = m->triplet.strength;
        y[HELIUM_NUMBER_CENTRE] = m->triplet.centre;
        y[HELIUM_NUMBER_WIDTH] = m->triplet.width;
    }
}
