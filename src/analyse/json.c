/* An analysis for programs: JSON and CSV. */
#include <stdio.h>
#include <stdlib.h>

#include "analyse/analyse.h"
#include "base/entry.h"
#include "base/json_out.h"
#include "result/format.h"

#define VALUED(value, error) (&(struct ergo_valued){value, error})

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_valued(struct ergo_json_out *out, const char *name, const struct ergo_valued *v) {
    ergo_out_object(out, name);
    ergo_out_number(out, "mean", v->value);
    ergo_out_number(out, "error", v->error);
    ergo_out_close(out, 1);
}

static void put_values(struct ergo_json_out *out, const struct ergo_analysis *a,
                       const struct ergo_valued *values) {
    ergo_out_object(out, "observables");
    for (size_t o = 0; o < a->n_observables; o++)
        put_valued(out, a->model->observables[a->observables[o]].name, &values[o]);
    ergo_out_close(out, 1);
}

static void put_count(struct ergo_json_out *out, const char *name, size_t n) {
    ergo_out_raw(out, name, "%zu", n);
}

static void put_systems(struct ergo_json_out *out, const struct ergo_analysis *a) {
    ergo_out_array(out, "systems");
    for (size_t s = 0; s < a->n_systems; s++) {
        const struct ergo_system *system = &a->systems[s];
        ergo_out_object(out, NULL);
        ergo_out_text(out, "name", system->label);
        ergo_out_number(out, "L", system->side);
        put_count(out, "points", system->n_states);
        put_count(out, "chains", system->n_chains);
        ergo_out_array(out, "overlaps");
        for (size_t p = 0; p < system->n_parts; p++) {
            const struct ergo_part *part = system->parts[p];
            ergo_out_object(out, NULL);
            put_count(out, "points", part->n_states);
            put_count(out, "samples", part->n_samples);
            put_count(out, "blocks", part->n_blocks);
            ergo_out_number(out, "from", part->low);
            ergo_out_number(out, "to", part->high);
            ergo_out_array(out, "inside");
            for (size_t r = 0; r < part->n_ranges; r++)
                ergo_out_numbers(out, NULL, &part->ranges[r].low, 2);
            ergo_out_close(out, 1);
            ergo_out_close(out, 1);
        }
        ergo_out_close(out, 2);
    }
    ergo_out_close(out, 1);
}

static void put_pooled(struct ergo_json_out *out, const struct ergo_analysis *a) {
    ergo_out_array(out, "pooled");
    for (size_t i = 0; i < a->n_pooled; i++) {
        const struct ergo_pooled *p = &a->pooled[i];
        const struct ergo_state *state = &a->systems[p->system].states[p->state];
        ergo_out_object(out, NULL);
        put_count(out, "system", p->system);
        ergo_out_number(out, "at", state->x);
        ergo_out_text(out, "observable", a->model->observables[p->observable].name);
        ergo_out_number(out, "mean", p->mean);
        ergo_out_number(out, "error", p->error);
        ergo_out_number(out, "chi2", p->chi2);
        ergo_out_raw(out, "dof", "%zu", p->samples ? 0 : p->n - 1);
        ergo_out_number(out, "p", p->tail);
        if (p->samples)
            put_count(out, "samples", p->samples);
        if (p->why_not)
            ergo_out_text(out, "why_not", p->why_not);
        ergo_out_array(out, "chains");
        for (size_t c = 0; c < p->n; c++) {
            const struct ergo_chain *chain = &a->systems[p->system].chains[state->first + c];
            const struct ergo_observable_result *r = &chain->member->observables[p->observable];
            ergo_out_object(out, NULL);
            ergo_out_text(out, "run", a->names[chain->run]);
            ergo_out_raw(out, "replica", "%u", (unsigned)chain->member->point->replica);
            ergo_out_number(out, "weight", p->weights[c]);
            ergo_out_number(out, "mean", r->estimate.mean);
            ergo_out_number(out, "error", r->estimate.error);
            ergo_out_close(out, 1);
        }
        ergo_out_close(out, 2);
    }
    ergo_out_close(out, 1);
}

static void put_rows(struct ergo_json_out *out, const struct ergo_analysis *a) {
    ergo_out_array(out, "reweighted");
    for (size_t i = 0; i < a->n_rows; i++) {
        const struct ergo_reweighted *row = &a->rows[i];
        ergo_out_object(out, NULL);
        put_count(out, "system", row->system);
        ergo_out_object(out, "parameters");
        for (size_t w = 0; w < a->n_wanted; w++)
            ergo_out_number(out, a->wanted[w].pointer, row->at[w]);
        ergo_out_close(out, 1);
        ergo_out_number(out, "independent_samples", row->independent);
        ergo_out_bool(out, "inside", row->independent >= ERGO_ANALYSE_INDEPENDENT);
        if (row->independent >= ERGO_ANALYSE_INDEPENDENT)
            put_values(out, a, row->values);
        ergo_out_close(out, 1);
    }
    ergo_out_close(out, 1);
}

static void put_crossings(struct ergo_json_out *out, const struct ergo_analysis *a) {
    const struct ergo_extrapolation *e = &a->extrapolation;
    if (!a->n_crossings)
        return;
    ergo_out_object(out, "crossings");
    ergo_out_text(out, "of", a->crossing.name);
    ergo_out_array(out, "pairs");
    for (size_t i = 0; i < a->n_crossings; i++) {
        const struct ergo_crossing *c = &a->crossings[i];
        ergo_out_object(out, NULL);
        ergo_out_raw(out, "systems", "[%zu, %zu]", c->a, c->b);
        put_valued(out, "at", VALUED(c->x, c->x_error));
        put_valued(out, "value", VALUED(c->y, c->y_error));
        if (c->why_not)
            ergo_out_text(out, "why_not", c->why_not);
        ergo_out_close(out, 1);
    }
    ergo_out_close(out, 1);
    if (e->done) {
        ergo_out_object(out, "large_sizes");
        put_valued(out, "at", VALUED(e->x, e->x_error));
        put_valued(out, "exponent", VALUED(e->exponent, e->exponent_error));
        ergo_out_number(out, "amplitude", e->amplitude);
        ergo_out_number(out, "chi2", e->chi2);
        put_count(out, "dof", e->dof);
        ergo_out_number(out, "p", e->tail);
        put_count(out, "pairs", e->used);
        ergo_out_close(out, 1);
    }
    ergo_out_close(out, 1);
}

static void put_scaling(struct ergo_json_out *out, const struct ergo_analysis *a) {
    const struct ergo_scaling *s = &a->scaling;
    if (!a->scales)
        return;
    ergo_out_object(out, "scaling");
    ergo_out_text(out, "of", a->scaling_of.name);
    if (s->why_not) {
        ergo_out_text(out, "why_not", s->why_not);
        ergo_out_close(out, 1);
        return;
    }
    put_valued(out, "at", &s->x);
    put_valued(out, "inverse_nu", &s->inverse_nu);
    if (s->power_free)
        put_valued(out, "power", &s->power);
    ergo_out_numbers(out, "coefficients", s->coefficients, s->degree + 1);
    ergo_out_number(out, "correction", s->correction);
    ergo_out_number(out, "amplitude", s->amplitude);
    ergo_out_number(out, "chi2", s->chi2);
    put_count(out, "dof", s->dof);
    ergo_out_number(out, "p", s->tail);
    put_count(out, "points", s->n);
    ergo_out_number(out, "smallest", s->smallest);
    ergo_out_number(out, "without", s->without);
    ergo_out_number(out, "shift", s->shift);
    ergo_out_number(out, "from", s->low);
    ergo_out_number(out, "to", s->high);
    ergo_out_close(out, 1);
}

static void put_coexistence(struct ergo_json_out *out, const struct ergo_analysis *a) {
    static const char *const sides[2] = {"below", "above"};
    if (!a->n_coexistences)
        return;
    ergo_out_array(out, "coexistence");
    for (size_t i = 0; i < a->n_coexistences; i++) {
        const struct ergo_coexistence *c = &a->coexistences[i];
        ergo_out_object(out, NULL);
        put_count(out, "system", c->system);
        if (c->why_not)
            ergo_out_text(out, "why_not", c->why_not);
        for (int p = 0; p < 2 && !c->why_not; p++) {
            ergo_out_object(out, sides[p]);
            put_valued(out, a->model->columns[a->coexisting->column].name,
                       VALUED(c->phases[p].x, c->phases[p].x_error));
            put_values(out, a, c->phases[p].values);
            ergo_out_close(out, 1);
        }
        if (!c->why_not) {
            put_valued(out, "at", VALUED(c->at, c->at_error));
            ergo_out_number(out, "split", c->split);
            ergo_out_number(out, "barrier", c->barrier);
            ergo_out_numbers(out, "histogram_x", c->bins, c->n_bins);
            ergo_out_numbers(out, "histogram", c->density, c->n_bins);
        }
        ergo_out_close(out, 1);
    }
    ergo_out_close(out, 1);
}

static void put_criticals(struct ergo_json_out *out, const struct ergo_analysis *a) {
    if (!a->n_criticals)
        return;
    ergo_out_array(out, "critical");
    for (size_t i = 0; i < a->n_criticals; i++) {
        const struct ergo_critical *c = &a->criticals[i];
        ergo_out_object(out, NULL);
        put_count(out, "system", c->system);
        ergo_out_number(out, "side", c->side);
        if (c->why_not) {
            ergo_out_text(out, "why_not", c->why_not);
        } else {
            put_valued(out, "temperature", &c->temperature);
            put_valued(out, "log_activity", &c->log_activity);
            put_valued(out, "density", &c->density);
            put_valued(out, "mixing", &c->mixing);
        }
        ergo_out_close(out, 1);
    }
    ergo_out_close(out, 1);
    if (a->critical_sizes < 2)
        return;
    ergo_out_object(out, "critical_infinite");
    put_valued(out, "temperature", &a->critical_temperature);
    put_valued(out, "density", &a->critical_density);
    ergo_out_numbers(out, "chi2", a->critical_chi2, 2);
    put_count(out, "dof", a->critical_sizes - 2);
    ergo_out_close(out, 1);
}

static void put_matrices(struct ergo_json_out *out, const struct ergo_analysis *a) {
    if (!a->n_matrices)
        return;
    ergo_out_array(out, "transition_matrix");
    for (size_t i = 0; i < a->n_matrices; i++) {
        const struct ergo_matrix *m = &a->matrices[i];
        ergo_out_object(out, NULL);
        if (*m->label)
            ergo_out_text(out, "label", m->label);
        ergo_out_number(out, "temperature", m->temperature);
        ergo_out_number(out, "log_activity", m->log_activity);
        ergo_out_number(out, "volume", m->volume);
        put_count(out, "first", m->first);
        ergo_out_numbers(out, "log_pi", m->log_pi, m->count);
        ergo_out_numbers(out, "step_error", m->step_error, m->count);
        put_count(out, "unresolved", m->unresolved);
        put_count(out, "unmoved", m->unmoved);
        if (m->why_not) {
            ergo_out_text(out, "why_not", m->why_not);
        } else {
            put_valued(out, "log_activity_coexistence", &m->log_coexistence);
            put_valued(out, "density_vapour", &m->density[0]);
            put_valued(out, "density_liquid", &m->density[1]);
            put_valued(out, "saturation_pressure", &m->pressure);
            if (m->no_pressure)
                ergo_out_text(out, "no_pressure", m->no_pressure);
            ergo_out_number(out, "barrier", m->barrier);
            ergo_out_numbers(out, "densities_missing", m->missing, 2);
        }
        ergo_out_close(out, 1);
    }
    ergo_out_close(out, 1);
}

static void put_excesses(struct ergo_json_out *out, const struct ergo_analysis *a) {
    if (!a->n_excesses)
        return;
    ergo_out_array(out, "excess_adsorption");
    for (size_t i = 0; i < a->n_excesses; i++) {
        const struct ergo_excess *e = &a->excesses[i];
        ergo_out_object(out, NULL);
        put_count(out, "system", e->system);
        ergo_out_number(out, "temperature", e->temperature);
        ergo_out_number(out, "log_activity", e->log_activity);
        ergo_out_number(out, e->per_area ? "height" : "volume", e->room);
        put_valued(out, e->per_area ? "adsorption" : "particles", &e->loading);
        put_valued(out, "bulk_density", &e->bulk);
        put_valued(out, "excess", &e->excess);
        ergo_out_close(out, 1);
    }
    ergo_out_close(out, 1);
}

enum ergo_status ergo_analysis_json(struct ergo_context *ctx, const struct ergo_analysis *analysis,
                                    char **text) {
    ERGO_CLEAR(text);
    ERGO_ENTRY(ctx, analysis, text);
    const struct ergo_analysis *a = analysis;
    struct ergo_json_out out = {0};
    ergo_out_object(&out, NULL);
    ergo_out_text(&out, "ergocl", ERGO_VERSION);
    ergo_out_text(&out, "sampler", a->job->sampler->name);
    ergo_out_text(&out, "model", a->model->name);
    ergo_out_text(&out, "axis", a->axis < a->job->n_keys ? a->job->keys[a->axis]->pointer : NULL);
    ergo_out_array(&out, "runs");
    for (size_t r = 0; r < a->n_runs; r++)
        ergo_out_text(&out, NULL, a->names[r]);
    ergo_out_close(&out, 1);
    put_systems(&out, a);
    put_pooled(&out, a);
    put_rows(&out, a);
    put_crossings(&out, a);
    put_scaling(&out, a);
    put_coexistence(&out, a);
    put_criticals(&out, a);
    put_matrices(&out, a);
    put_excesses(&out, a);
    ergo_out_array(&out, "notes");
    for (size_t i = 0; i < a->n_notes; i++)
        ergo_out_text(&out, NULL, a->notes[i]);
    ergo_out_close(&out, 2);
    return ergo_out_give(ctx, &out, text);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void put_word(struct ergo_text *text, const char *word) {
    ergo_text_append(text, "\"");
    for (; *word; word++)
        ergo_text_append(text, *word == '"' ? "\"\"" : "%c", *word);
    ergo_text_append(text, "\"");
}

static void put_line(struct ergo_text *text, const char *kind, const char *system, const char *key,
                     double at, const char *name, const struct ergo_valued *v) {
    ergo_text_append(text, "%s,", kind);
    put_word(text, system);
    ergo_text_append(text, ",%s", key);
    ergo_text_append_cell_number(text, at);
    ergo_text_append(text, ",");
    put_word(text, name);
    ergo_text_append_cell_number(text, v->value);
    ergo_text_append_cell_number(text, v->error);
    ergo_text_append(text, "\n");
}

static void put_csv_rows(struct ergo_text *text, const struct ergo_analysis *a) {
    for (size_t i = 0; i < a->n_rows; i++) {
        const struct ergo_reweighted *row = &a->rows[i];
        /* further keys are part of the system's name */
        struct ergo_text name = {0};
        ergo_text_append(&name, "%s", a->systems[row->system].label);
        for (size_t w = 1; w < a->n_wanted; w++)
            ergo_text_append(&name, "%s%s=%.12g", name.length ? ", " : "", a->wanted[w].pointer,
                             row->at[w]);
        for (size_t o = 0;
             o < a->n_observables && row->independent >= ERGO_ANALYSE_INDEPENDENT && name.data; o++)
            put_line(text, "reweighted", name.data, a->wanted[0].pointer, row->at[0],
                     a->model->observables[a->observables[o]].name, &row->values[o]);
        text->failed |= name.failed;
        ergo_text_free(&name);
    }
}

static void put_csv_coexistence(struct ergo_text *text, const struct ergo_analysis *a,
                                const char *axis) {
    for (size_t i = 0; i < a->n_coexistences; i++) {
        const struct ergo_coexistence *c = &a->coexistences[i];
        const char *system = a->systems[c->system].label;
        if (c->why_not)
            continue;
        put_line(text, "coexistence", system, axis, c->at, axis, VALUED(c->at, c->at_error));
        for (int p = 0; p < 2; p++) {
            const char *kind = p ? "above" : "below";
            put_line(text, kind, system, axis, c->at, a->model->columns[a->coexisting->column].name,
                     VALUED(c->phases[p].x, c->phases[p].x_error));
            for (size_t o = 0; o < a->n_observables; o++)
                put_line(text, kind, system, axis, c->at,
                         a->model->observables[a->observables[o]].name, &c->phases[p].values[o]);
        }
    }
}

static void put_csv_criticals(struct ergo_text *text, const struct ergo_analysis *a) {
    static const char *const key = "/system/temperature";
    for (size_t i = 0; i < a->n_criticals; i++) {
        const struct ergo_critical *c = &a->criticals[i];
        const char *system = a->systems[c->system].label;
        const double t = c->temperature.value;
        if (c->why_not)
            continue;
        put_line(text, "critical", system, key, t, "temperature", &c->temperature);
        put_line(text, "critical", system, key, t, "log_activity", &c->log_activity);
        put_line(text, "critical", system, key, t, "density", &c->density);
    }
    if (a->critical_sizes < 2)
        return;
    const struct ergo_valued *t = &a->critical_temperature, *d = &a->critical_density;
    put_line(text, "critical_infinite", "", key, t->value, "temperature", t);
    put_line(text, "critical_infinite", "", key, t->value, "density", d);
}

enum ergo_status ergo_analysis_csv(struct ergo_context *ctx, const struct ergo_analysis *analysis,
                                   char **text) {
    ERGO_CLEAR(text);
    ERGO_ENTRY(ctx, analysis, text);
    const struct ergo_analysis *a = analysis;
    struct ergo_text out = {0};
    const char *axis = a->axis < a->job->n_keys ? a->job->keys[a->axis]->pointer : "";
    ergo_text_append(&out, "kind,system,key,at,observable,value,error\n");
    for (size_t i = 0; i < a->n_pooled; i++) {
        const struct ergo_pooled *p = &a->pooled[i];
        const struct ergo_system *system = &a->systems[p->system];
        put_line(&out, "pooled", system->label, axis, system->states[p->state].x,
                 a->model->observables[p->observable].name, VALUED(p->mean, p->error));
    }
    put_csv_rows(&out, a);
    for (size_t i = 0; i < a->n_crossings; i++) {
        const struct ergo_crossing *c = &a->crossings[i];
        char pair[340];
        snprintf(pair, sizeof pair, "%s and %s", a->systems[c->a].label, a->systems[c->b].label);
        if (c->why_not)
            continue;
        put_line(&out, "crossing", pair, axis, c->x, axis, VALUED(c->x, c->x_error));
        put_line(&out, "crossing", pair, axis, c->x, a->crossing.name, VALUED(c->y, c->y_error));
    }
    if (a->extrapolation.done)
        put_line(&out, "large_sizes", "", axis, a->extrapolation.x, axis,
                 VALUED(a->extrapolation.x, a->extrapolation.x_error));
    if (a->scales && !a->scaling.why_not) {
        const struct ergo_scaling *s = &a->scaling;
        put_line(&out, "scaling", "", axis, s->x.value, axis, &s->x);
        put_line(&out, "scaling", "", axis, s->x.value, "inverse_nu", &s->inverse_nu);
        if (s->power_free)
            put_line(&out, "scaling", "", axis, s->x.value, "power", &s->power);
    }
    put_csv_coexistence(&out, a, axis);
    put_csv_criticals(&out, a);
    for (size_t i = 0; i < a->n_matrices; i++) {
        const struct ergo_matrix *m = &a->matrices[i];
        static const char *const key = "/system/temperature", *const kind = "saturation";
        if (m->why_not)
            continue;
        put_line(&out, kind, m->label, key, m->temperature, "log_activity", &m->log_coexistence);
        put_line(&out, kind, m->label, key, m->temperature, "density_vapour", &m->density[0]);
        put_line(&out, kind, m->label, key, m->temperature, "density_liquid", &m->density[1]);
        if (!m->no_pressure)
            put_line(&out, kind, m->label, key, m->temperature, "saturation_pressure",
                     &m->pressure);
    }
    *text = ergo_text_take(&out);
    return *text ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for CSV");
}
