/*
 * Excess adsorption: runs in a slit, a field or among atoms beside runs of the bulk fluid at the
 * same temperature and activity. What is adsorbed less what the bulk fluid would have in the height
 * (of a slit, per area) or volume that is taken for it. The errors of both are independent.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"

static const struct ergo_value *value(const struct ergo_analysis *a, const struct ergo_point *point,
                                      const char *pointer) {
    const size_t key = ergo_analysis_key(a, pointer);
    return key != SIZE_MAX && point->values[key].present ? &point->values[key] : NULL;
}

const char *ergo_analysis_confined_by(const struct ergo_analysis *a,
                                      const struct ergo_point *point) {
    static const char *const keys[] = {"/system/slit/width", "/system/field",
                                       "/system/frozen/file"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        if (value(a, point, keys[k]))
            return keys[k];
    return NULL;
}

/* Is it the same fluid in the same reservoir? */
static bool is_same(const struct ergo_analysis *a, const struct ergo_point *x,
                    const struct ergo_point *y) {
    static const char *const keys[] = {"/system/temperature",
                                       "/system/cutoff",
                                       "/system/epsilon",
                                       "/system/sigma",
                                       "/system/shifted",
                                       "/system/tail_correction",
                                       "/system/potential",
                                       "/system/repulsive_exponent",
                                       "/system/attractive_exponent"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const struct ergo_value *v = value(a, x, keys[i]), *w = value(a, y, keys[i]);
        if (!v || !w || v->real != w->real || v->boolean != w->boolean ||
            (v->text && w->text && strcmp(v->text, w->text) != 0))
            return false;
    }
    const double apart = ergo_analysis_log_activity(a, x) - ergo_analysis_log_activity(a, y);
    return fabs(apart) < 1e-9;
}

static struct ergo_valued mean_of(const struct ergo_system *system, size_t state, size_t o) {
    const struct ergo_pooled p = ergo_state_pool(system, state, o, NULL);
    return (struct ergo_valued){p.mean, p.error};
}

/* A window of a transition matrix has an activity, but not the number of particles that is its. */
static bool is_sampled(const struct ergo_analysis *a, const struct ergo_point *point) {
    const struct ergo_value *method = value(a, point, "/run/method");
    return !method || strcmp(method->text, "sample") == 0;
}

/* The state of a bulk fluid for this one. False: there is none. */
static bool find_bulk(const struct ergo_analysis *a, const struct ergo_point *point,
                      const struct ergo_system **system, size_t *state) {
    for (size_t s = 0; s < a->n_systems; s++)
        for (size_t k = 0; k < a->systems[s].n_states; k++) {
            const struct ergo_point *bulk = a->systems[s].states[k].point;
            if (ergo_analysis_confined_by(a, bulk) || !is_sampled(a, bulk) ||
                !is_same(a, point, bulk))
                continue;
            *system = &a->systems[s];
            *state = k;
            return true;
        }
    return false;
}

static void fill(const struct ergo_analysis *a, const struct ergo_system *system, size_t state,
                 const struct ergo_system *bulk, size_t of_bulk, struct ergo_excess *e) {
    const struct ergo_point *point = system->states[state].point;
    const double width = ergo_analysis_number(a, point, "/system/slit/width");
    const double other = ergo_analysis_number(a, point, "/system/slit/excess_width");
    e->per_area = !isnan(width);
    e->room = e->per_area ? (isnan(other) ? width : other)
                          : ergo_analysis_number(a, point, "/system/excess_volume");
    e->temperature = ergo_analysis_number(a, point, "/system/temperature");
    e->log_activity = ergo_analysis_log_activity(a, point);
    e->system = (size_t)(system - a->systems);
    e->loading =
        mean_of(system, state, ergo_analysis_named(a, e->per_area ? "adsorption" : "particles"));
    e->bulk = mean_of(bulk, of_bulk, ergo_analysis_named(a, "density"));
    e->excess.value = e->loading.value - e->room * e->bulk.value;
    e->excess.error = hypot(e->loading.error, e->room * e->bulk.error);
}

enum ergo_status ergo_analysis_excess(struct ergo_context *ctx, struct ergo_analysis *a) {
    size_t states = 0, alone = 0, roomless = 0, bulks = 0;
    if (ergo_analysis_named(a, "adsorption") == SIZE_MAX)
        return ERGO_OK;
    for (size_t s = 0; s < a->n_systems; s++) {
        states += a->systems[s].n_states;
        bulks += !ergo_analysis_confined_by(a, a->systems[s].states[0].point);
    }
    if (bulks == 0 || bulks == a->n_systems)
        return ERGO_OK;
    a->excesses = calloc(states, sizeof *a->excesses);
    if (!a->excesses)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for excess adsorption");
    for (size_t s = 0; s < a->n_systems; s++)
        for (size_t k = 0; k < a->systems[s].n_states; k++) {
            const struct ergo_point *point = a->systems[s].states[k].point;
            const struct ergo_system *bulk = NULL;
            size_t of_bulk = 0;
            if (!ergo_analysis_confined_by(a, point))
                continue;
            if (!value(a, point, "/system/slit/width") && !value(a, point, "/system/excess_volume"))
                roomless++;
            else if (find_bulk(a, point, &bulk, &of_bulk))
                fill(a, &a->systems[s], k, bulk, of_bulk, &a->excesses[a->n_excesses++]);
            else
                alone++;
        }
    enum ergo_status status = ERGO_OK;
    if (roomless)
        status = ergo_analysis_note(ctx, a,
                                    "%zu point%s no excess adsorption: /system/excess_volume says "
                                    "what volume the bulk fluid would fill",
                                    roomless, roomless == 1 ? " has" : "s have");
    if (alone && status == ERGO_OK)
        status = ergo_analysis_note(ctx, a,
                                    "%zu point%s no excess adsorption: no run of the bulk fluid "
                                    "with method sample and without tail_correction has the same "
                                    "temperature, activity, cutoff and potential",
                                    alone, alone == 1 ? " has" : "s have");
    return status;
}
