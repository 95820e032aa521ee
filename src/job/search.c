/* `ergocl help --search`: whatever has a name or a text with these words. */
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "base/utf8.h"
#include "job/build.h"

/* Something that was found: where its text is the same, with all that have it. */
struct hit {
    const char *kind, *name, *unit, *help;
    struct ergo_text owners;
    bool by_name;
};

struct hits {
    const char *words;
    struct hit *list;
    size_t n, room;
    bool failed;
};

/* Does every word stand in one of the two texts, in any case? */
static bool matches(const char *words, const char *name, const char *help, bool *by_name) {
    char word[64];
    *by_name = true;
    for (const char *at = words + strspn(words, " "); *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        if (length >= sizeof word)
            return false;
        memcpy(word, at, length);
        word[length] = '\0';
        at += length;
        const bool named = strcasestr(name, word) != NULL;
        *by_name = *by_name && named;
        if (!named && !(help && strcasestr(help, word)))
            return false;
    }
    return true;
}

static void add(struct hits *all, const char *kind, const char *name, const char *unit,
                const char *help, const struct ergo_sampler *sampler,
                const struct ergo_model *model) {
    bool by_name = false;
    struct hit *hit = NULL;
    if (!matches(all->words, name, help, &by_name))
        return;
    for (size_t i = 0; i < all->n && !hit; i++)
        if (strcmp(all->list[i].kind, kind) == 0 && strcmp(all->list[i].name, name) == 0 &&
            strcmp(all->list[i].help, help) == 0)
            hit = &all->list[i];
    if (!hit && all->n == all->room) {
        const size_t room = 2 * all->room + 64;
        struct hit *more = realloc(all->list, room * sizeof *more);
        if (!more) {
            all->failed = true;
            return;
        }
        all->list = more;
        all->room = room;
    }
    if (!hit) {
        hit = &all->list[all->n++];
        *hit = (struct hit){kind, name, unit, help, {0}, by_name};
    }
    if (sampler)
        ergo_text_append(&hit->owners, "%s%s%s%s", hit->owners.length ? ", " : "", sampler->name,
                         model && model->name ? " " : "", model && model->name ? model->name : "");
}

static const char *or_empty(const char *text) {
    return text ? text : "";
}

static void add_model(struct hits *all, const struct ergo_sampler *sampler,
                      const struct ergo_model *model) {
    const struct ergo_key *key;
    if (model->name)
        add(all, "model", model->name, "", or_empty(model->summary), sampler, NULL);
    for (size_t k = 0; (key = ergo_model_key(model, k)) != NULL; k++)
        add(all, "key", key->pointer, key->unit, or_empty(key->help), sampler, model);
    for (size_t t = 0; t < model->n_tunables; t++)
        add(all, "tunable", model->tunables[t].name, "", or_empty(model->tunables[t].help), sampler,
            model);
    for (size_t o = 0; o < model->n_observables; o++)
        if (!model->observables[o].hidden)
            add(all, "observable", model->observables[o].name, model->observables[o].unit,
                or_empty(model->observables[o].help), sampler, model);
    for (size_t c = 0; c < model->n_curves; c++)
        if (!(model->curves_hidden >> c & 1))
            add(all, "curve", model->curves[c].name, model->curves[c].unit,
                or_empty(model->curves[c].help), sampler, model);
    for (size_t c = 0; c < model->n_columns; c++)
        add(all, "column", model->columns[c].name, model->columns[c].unit,
            or_empty(model->columns[c].help), sampler, model);
}

static void put(struct ergo_text *out, const struct hits *all, bool by_name) {
    for (size_t i = 0; i < all->n; i++) {
        struct hit *hit = &all->list[i];
        if (hit->by_name != by_name)
            continue;
        ergo_text_append(out, "%s%s %s%s%s%s", out->length ? "\n" : "", hit->kind, hit->name,
                         hit->unit && *hit->unit ? " [" : "", or_empty(hit->unit),
                         hit->unit && *hit->unit ? "]" : "");
        ergo_text_append(out, "\n");
        if (hit->owners.length)
            ergo_help_filled(out, 2, hit->owners.data);
        if (*hit->help)
            ergo_help_filled(out, ERGO_HELP_INDENT, hit->help);
        out->failed |= hit->owners.failed;
    }
}

/* All that has the words. */
static void collect(struct hits *all) {
    for (size_t k = 0; k < ergo_job_n_common_keys; k++)
        add(all, "key", ergo_job_common_keys[k].pointer, ergo_job_common_keys[k].unit,
            or_empty(ergo_job_common_keys[k].help), NULL, NULL);
    for (size_t i = 0; i < ergo_n_samplers; i++) {
        add(all, "sampler", ergo_samplers[i]->name, "", or_empty(ergo_samplers[i]->summary), NULL,
            NULL);
        for (size_t m = 0; m < ergo_samplers[i]->n_models; m++)
            if (!ergo_model_repeats(ergo_samplers[i], m))
                add_model(all, ergo_samplers[i], ergo_samplers[i]->models[m]);
    }
}

static void forget(struct hits *all) {
    for (size_t i = 0; i < all->n; i++)
        ergo_text_free(&all->list[i].owners);
    free(all->list);
}

bool ergo_help_mentions(const char *words) {
    struct hits all = {.words = words};
    if (strspn(words, " ") < strlen(words))
        collect(&all);
    const bool any = all.n > 0;
    forget(&all);
    return any;
}

enum ergo_status ergo_help_search(struct ergo_context *ctx, const char *words, char **text) {
    ERGO_CLEAR(text);
    ERGO_ENTRY(ctx, words, text);
    struct hits all = {.words = words};
    struct ergo_text out = {0};
    enum ergo_status status = ERGO_OK;
    if (strspn(words, " ") == strlen(words))
        return ERGO_FAIL(ctx, ERGO_E_JOB, "a search needs a word");
    collect(&all);
    put(&out, &all, true); /* what is called so before what mentions it */
    put(&out, &all, false);
    if (all.n == 0) {
        struct ergo_text shown = {0};
        ergo_utf8_append_word(&shown, words, 64);
        status = ERGO_FAIL(ctx, ERGO_E_JOB,
                           "nothing has \"%s\" in its name or help; fewer words, or parts of them, "
                           "find more",
                           shown.data ? shown.data : "");
        ergo_text_free(&shown);
    } else if (all.failed || !(*text = ergo_text_take(&out))) {
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "memory ran out while searching");
    }
    ergo_text_free(&out);
    forget(&all);
    return status;
}
