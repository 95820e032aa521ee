/* Help from the tables: a sampler, one of its models, or whatever has a name. */
#include <stdlib.h>
#include <string.h>

#include "job/build.h"

enum { WIDTH = 79 };

void ergo_help_filled(struct ergo_text *out, int indent, const char *text) {
    int column = 0;
    for (const char *p = text; *p;) {
        int word = (int)strcspn(p, " ");
        if (column && column + 1 + word > WIDTH) {
            ergo_text_append(out, "\n");
            column = 0;
        }
        ergo_text_append(out, "%*s%.*s", column ? 1 : indent, "", word, p);
        column += (column ? 1 : indent) + word;
        p += word;
        p += strspn(p, " ");
    }
    ergo_text_append(out, "\n");
}

void ergo_help_key(struct ergo_text *out, const struct ergo_key *key) {
    struct ergo_text line = {0};
    ergo_text_append(&line, "takes ");
    ergo_key_allowed(&line, key);
    if (key->flags & ERGO_KEY_REQUIRED)
        ergo_text_append(&line, "; required");
    else if (key->fallback)
        ergo_text_append(&line, "; default %s", key->fallback);
    else
        ergo_text_append(&line, "; absent by default");
    if (key->flags & ERGO_KEY_SCAN)
        ergo_text_append(&line, "; can be scanned");
    ergo_text_append(out, "  %s\n", key->pointer);
    ergo_help_filled(out, ERGO_HELP_INDENT, line.data ? line.data : "");
    line.length = 0;
    ergo_text_append(&line, "%s", key->help ? key->help : "");
    if (key->acts)
        ergo_text_append(&line, " It acts only %s.", key->where);
    ergo_help_filled(out, ERGO_HELP_INDENT, line.data ? line.data : "");
    out->failed |= line.failed;
    ergo_text_free(&line);
}

void ergo_help_named(struct ergo_text *out, const char *name, const char *unit, const char *help) {
    struct ergo_text line = {0};
    ergo_text_append(&line, "%s", help ? help : "");
    if (unit && *unit)
        ergo_text_append(&line, " [%s]", unit);
    ergo_text_append(out, "  %s\n", name);
    if (line.length)
        ergo_help_filled(out, ERGO_HELP_INDENT, line.data);
    out->failed |= line.failed;
    ergo_text_free(&line);
}

/* ---- everything of a model, one by one ------------------------------------------------------- */

enum kind { KIND_KEY, KIND_OBSERVABLE, KIND_CURVE, KIND_COLUMN, KINDS };

static const char *const headings[KINDS] = {"Keys", "Observables of the result",
                                            "Curves of the result", "Columns of the time series"};
static const char *const kinds[KINDS] = {"key", "observable", "curve", "column"};

/* What is called `name`, of one kind, or NULL for all; hidden things have no help. */
static void put_kind(struct ergo_text *out, enum kind kind, const struct ergo_model *model,
                     const struct ergo_key *const *keys, size_t n_keys, const char *name) {
    const size_t of[KINDS] = {n_keys, model->n_observables, model->n_curves, model->n_columns};
    for (size_t i = 0; i < of[kind]; i++) {
        const struct ergo_observable *o = kind == KIND_OBSERVABLE ? &model->observables[i] : NULL;
        const struct ergo_curve_info *c = kind == KIND_CURVE ? &model->curves[i] : NULL;
        const char *is = kind == KIND_KEY ? keys[i]->pointer
                         : o              ? o->name
                         : c              ? c->name
                                          : model->columns[i].name;
        const char *last = kind == KIND_KEY ? strrchr(is, '/') + 1 : is;
        if ((o && o->hidden) || (c && model->curves_hidden >> i & 1) ||
            (name && strcmp(is, name) != 0 && strcmp(last, name) != 0))
            continue;
        struct ergo_text over = {0};
        if (kind == KIND_KEY) {
            ergo_help_key(out, keys[i]);
        } else if (o) {
            ergo_help_named(out, is, o->unit, o->help);
        } else if (c) {
            ergo_text_append(&over, "%s over %s", is, c->x_label);
            ergo_help_named(out, over.data ? over.data : "", c->unit, c->help);
            out->failed |= over.failed;
        } else {
            ergo_help_named(out, is, model->columns[i].unit, model->columns[i].help);
        }
        ergo_text_free(&over);
    }
}

/* The model's own keys, without the common ones and the one that chose it. NULL: no memory, which
 * fails the page. */
static const struct ergo_key **own_keys(struct ergo_text *out, const struct ergo_sampler *sampler,
                                        const struct ergo_model *model, struct ergo_arena *arena,
                                        size_t *n_keys) {
    const struct ergo_key **keys = ergo_keys_of(sampler, model, arena, n_keys);
    out->failed |= !keys;
    const size_t others = ergo_job_n_common_keys + (sampler->model_key != NULL);
    *n_keys = keys ? *n_keys - others : 0;
    return keys ? keys + others : NULL;
}

/* The key that chooses a model, with their names. */
static const struct ergo_key *model_key(struct ergo_text *out, const struct ergo_sampler *sampler,
                                        struct ergo_arena *arena) {
    size_t n_keys = 0;
    const struct ergo_key **keys = ergo_keys_of(sampler, NULL, arena, &n_keys);
    out->failed |= !keys;
    return keys ? keys[n_keys - 1] : NULL;
}

/* The keys for other values of which samples can be weighted. */
static void put_weighted(struct ergo_text *out, const struct ergo_model *model) {
    struct ergo_text list = {0};
    for (size_t c = 0; c < model->n_conjugates; c++) {
        for (size_t k = 0; k < 5 && model->conjugates[c].keys[k]; k++) {
            const char *key = model->conjugates[c].keys[k];
            bool told = false;
            for (size_t b = 0; b < c; b++)
                for (size_t j = 0; j < 5 && model->conjugates[b].keys[j]; j++)
                    told |= strcmp(model->conjugates[b].keys[j], key) == 0;
            if (told)
                continue;
            ergo_text_append(&list, "%s%s",
                             list.length ? ", "
                                         : "\nSamples can be weighted for other values "
                                           "(`ergocl analyse`) of ",
                             key);
        }
    }
    if (list.length)
        ergo_help_filled(out, 0, list.data);
    out->failed |= list.failed;
    ergo_text_free(&list);
}

static void put_tables(struct ergo_text *out, const struct ergo_sampler *sampler,
                       const struct ergo_model *model, struct ergo_arena *arena) {
    size_t n_keys = 0;
    const struct ergo_key **keys = own_keys(out, sampler, model, arena, &n_keys);
    for (enum kind kind = KIND_KEY; keys && kind < KINDS; kind++) {
        if (kind == KIND_CURVE && !model->n_curves)
            continue;
        ergo_text_append(out, "\n%s%s\n\n", headings[kind],
                         kind == KIND_KEY ? " (`ergocl help job` has those of all samplers)" : "");
        put_kind(out, kind, model, keys, n_keys, NULL);
    }
    put_weighted(out, model);
}

static void put_head(struct ergo_text *out, const struct ergo_sampler *sampler) {
    if (sampler->citation && *sampler->citation)
        ergo_help_filled(out, 0, sampler->citation);
    ergo_text_append(out, "\nA step (\"run\" counts them) is one %s. The rate is in %s.\n",
                     sampler->step_name, sampler->rate_unit);
}

void ergo_help_model(struct ergo_text *out, const struct ergo_sampler *sampler,
                     const struct ergo_model *model, struct ergo_arena *arena) {
    struct ergo_text head = {0};
    ergo_text_append(&head, "%s: %s", model->name, model->summary ? model->summary : "");
    ergo_help_filled(out, 0, head.data ? head.data : "");
    ergo_text_append(out, "\nA model of %s: \"%s\": \"%s\".\n", sampler->name,
                     strrchr(sampler->model_key->pointer, '/') + 1, model->name);
    put_head(out, sampler);
    put_tables(out, sampler, model, arena);
    out->failed |= head.failed;
    ergo_text_free(&head);
}

static bool has_key(const struct ergo_model *model, const char *pointer) {
    const struct ergo_key *key;
    for (size_t k = 0; (key = ergo_model_key(model, k)) != NULL; k++)
        if (strcmp(key->pointer, pointer) == 0)
            return true;
    return false;
}

/* Each key's name, and the models that have it. */
static void put_index(struct ergo_text *out, const struct ergo_sampler *sampler) {
    const struct ergo_key *key;
    ergo_text_append(out, "\nKeys, and the models that have them\n\n");
    for (size_t m = 0; m < sampler->n_models; m++)
        for (size_t k = 0; (key = ergo_model_key(sampler->models[m], k)) != NULL; k++) {
            struct ergo_text list = {0};
            bool known = false; /* told of with an earlier model */
            for (size_t i = 0; i < sampler->n_models; i++) {
                if (ergo_model_repeats(sampler, i) || !has_key(sampler->models[i], key->pointer))
                    continue;
                known = known || i < m;
                ergo_text_append(&list, "%s%s", list.length ? ", " : "", sampler->models[i]->name);
            }
            if (!known && !ergo_model_repeats(sampler, m))
                ergo_help_named(out, key->pointer, "", list.data ? list.data : "");
            out->failed |= list.failed;
            ergo_text_free(&list);
        }
}

void ergo_help_sampler(struct ergo_text *out, const struct ergo_sampler *sampler,
                       struct ergo_arena *arena) {
    ergo_text_append(out, "%s: %s\n", sampler->name, sampler->summary ? sampler->summary : "");
    put_head(out, sampler);
    if (!sampler->model_key) {
        put_tables(out, sampler, sampler->models[0], arena);
        return;
    }
    ergo_text_append(out,
                     "\nModels (`ergocl help %s MODEL` lists the keys and observables of one)\n\n",
                     sampler->name);
    for (size_t m = 0; m < sampler->n_models; m++)
        if (!ergo_model_repeats(sampler, m))
            ergo_help_named(out, sampler->models[m]->name, "", sampler->models[m]->summary);
    const struct ergo_key *key = model_key(out, sampler, arena);
    ergo_text_append(out, "\nThe key that chooses one\n\n");
    if (key)
        ergo_help_key(out, key);
    put_index(out, sampler);
}

/* ---- a name ---------------------------------------------------------------------------------- */

/* A page on a name: under each text the samplers and models that have it. */
struct entry {
    const struct ergo_sampler *sampler;
    struct ergo_text owners, text; /* owners: models, where the sampler has several */
};

struct entries {
    size_t n;
    struct entry list[64];
};

static void add_entry(struct entries *all, const struct ergo_sampler *sampler,
                      const struct ergo_model *model, struct ergo_text *text) {
    struct entry *entry = NULL;
    for (size_t i = 0; i < all->n && !entry; i++)
        if (all->list[i].sampler == sampler && text->data && all->list[i].text.data &&
            strcmp(all->list[i].text.data, text->data) == 0)
            entry = &all->list[i];
    if (!entry && all->n < sizeof all->list / sizeof all->list[0]) {
        entry = &all->list[all->n++];
        *entry = (struct entry){.sampler = sampler, .text = *text};
        *text = (struct ergo_text){0};
    } else if (entry) {
        ergo_text_append(&entry->owners, ", ");
    }
    if (entry && model && model->name)
        ergo_text_append(&entry->owners, "%s", model->name);
}

static void collect_model(struct entries *all, enum kind kind, const struct ergo_sampler *sampler,
                          const struct ergo_model *model, const char *name,
                          struct ergo_arena *arena) {
    size_t n_keys = 0;
    struct ergo_text text = {0};
    const struct ergo_key **keys = own_keys(&text, sampler, model, arena, &n_keys);
    if (keys)
        put_kind(&text, kind, model, keys, n_keys, name);
    if (text.length || text.failed)
        add_entry(all, sampler, model, &text);
    ergo_text_free(&text);
}

/* A common key, and the one that chooses a model. */
static void collect_other(struct entries *all, const struct ergo_sampler *sampler, const char *name,
                          const struct ergo_key *key) {
    struct ergo_text text = {0};
    if (strcmp(key->pointer, name) != 0 && strcmp(strrchr(key->pointer, '/') + 1, name) != 0)
        return;
    ergo_help_key(&text, key);
    add_entry(all, sampler, NULL, &text);
    ergo_text_free(&text);
}

static void collect(struct ergo_text *out, struct entries *all, enum kind kind,
                    const struct ergo_sampler *sampler, const char *name,
                    struct ergo_arena *arena) {
    const struct ergo_key *key = sampler->model_key ? model_key(out, sampler, arena) : NULL;
    if (kind == KIND_KEY && key)
        collect_other(all, sampler, name, key);
    for (size_t m = 0; m < sampler->n_models; m++)
        if (!ergo_model_repeats(sampler, m))
            collect_model(all, kind, sampler, sampler->models[m], name, arena);
}

bool ergo_help_name(struct ergo_text *out, const char *name, const struct ergo_sampler *only,
                    struct ergo_arena *arena) {
    bool found = false;
    for (enum kind kind = KIND_KEY; kind < KINDS; kind++) {
        struct entries *all = calloc(1, sizeof *all);
        if (!all) {
            out->failed = true;
            return false;
        }
        for (size_t k = 0; kind == KIND_KEY && k < ergo_job_n_common_keys; k++)
            collect_other(all, NULL, name, &ergo_job_common_keys[k]);
        for (size_t i = 0; i < ergo_n_samplers; i++)
            if (!only || ergo_samplers[i] == only)
                collect(out, all, kind, ergo_samplers[i], name, arena);
        for (size_t i = 0; i < all->n; i++) {
            struct entry *entry = &all->list[i];
            ergo_text_append(out, "%s%s of %s%s%s\n\n%s", found ? "\n" : "", kinds[kind],
                             entry->sampler ? entry->sampler->name : "all samplers",
                             entry->owners.length ? ", models " : "",
                             entry->owners.length ? entry->owners.data : "",
                             entry->text.data ? entry->text.data : "");
            found = true;
            out->failed |= entry->owners.failed || entry->text.failed;
            ergo_text_free(&entry->owners);
            ergo_text_free(&entry->text);
        }
        free(all);
    }
    return found;
}

static void put_name(const char **names, size_t n, const char *name) {
    if (names)
        names[n] = name;
}

/* Names of a model's tables that have a page, to `names`, if it is not NULL; returns how many. */
static size_t list_names(const struct ergo_model *model, const char **names) {
    const struct ergo_key *key;
    size_t n = 0;
    if (model->name)
        put_name(names, n++, model->name);
    for (size_t k = 0; (key = ergo_model_key(model, k)) != NULL; k++)
        put_name(names, n++, strrchr(key->pointer, '/') + 1);
    for (size_t t = 0; t < model->n_tunables; t++)
        put_name(names, n++, model->tunables[t].name);
    for (size_t o = 0; o < model->n_observables; o++)
        if (!model->observables[o].hidden)
            put_name(names, n++, model->observables[o].name);
    for (size_t c = 0; c < model->n_curves; c++)
        if (!(model->curves_hidden >> c & 1))
            put_name(names, n++, model->curves[c].name);
    for (size_t c = 0; c < model->n_columns; c++)
        put_name(names, n++, model->columns[c].name);
    return n;
}

const char **ergo_help_names(struct ergo_arena *arena, size_t more, size_t *n_names) {
    size_t n = 0, room = more + ergo_job_n_common_keys + ergo_n_samplers;
    for (size_t i = 0; i < ergo_n_samplers; i++)
        for (size_t m = 0; m < ergo_samplers[i]->n_models; m++)
            room += list_names(ergo_samplers[i]->models[m], NULL);
    const char **names = ergo_arena_alloc(arena, room, sizeof *names);
    if (!names)
        return NULL;
    for (size_t k = 0; k < ergo_job_n_common_keys; k++)
        names[n++] = strrchr(ergo_job_common_keys[k].pointer, '/') + 1;
    for (size_t i = 0; i < ergo_n_samplers; i++) {
        names[n++] = ergo_samplers[i]->name;
        for (size_t m = 0; m < ergo_samplers[i]->n_models; m++)
            n += list_names(ergo_samplers[i]->models[m], names + n);
    }
    *n_names = n;
    return names;
}
