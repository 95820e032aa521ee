/* A warning about what goes one way all through a run that is too short for errors: its start is
 * far from where it goes. To run longer alone would keep the way there in the mean. */
#include "result/format.h"
#include "result/warner.h"

/* Chains in which it is so; *first: one of them. */
static size_t count(const struct ergo_result *r, size_t o,
                    const struct ergo_observable_result **first) {
    size_t n = 0;
    for (size_t i = 0; i < r->n_members; i++) {
        const struct ergo_observable_result *at = &r->members[i].observables[o];
        if (!at->one_way || !ergo_warner_shown(&r->members[i], o))
            continue;
        *first = n++ ? *first : at;
    }
    return n;
}

void ergo_warn_trends(struct ergo_warner *w) {
    const struct ergo_result *r = w->result;
    const struct ergo_observable_result *shown = NULL, *first = NULL;
    struct ergo_text names = {0}, text = {0};
    char from[ERGO_CONCISE], to[ERGO_CONCISE];
    size_t most = 0;
    for (size_t o = 0; o < w->model->n_observables; o++) {
        const size_t n = count(r, o, &first);
        if (!n || n < r->n_members / 10) /* one of many may do so by chance */
            continue;
        ergo_text_append(&names, "%s%s", names.length ? ", " : "", w->model->observables[o].name);
        shown = shown ? shown : first;
        most = n > most ? n : most;
    }
    if (!shown)
        return;
    ergo_text_append(&text, "%s", names.data ? names.data : "");
    if (r->n_members > 1)
        ergo_text_append(&text, " at %zu of %zu %s", most, r->n_members,
                         r->n_means ? "chains" : "points");
    ergo_text_append(&text,
                     " went one way all the time, %s from %s in the first fifth of what was "
                     "measured to %s in the last: the start is far from equilibrium. Equilibrate "
                     "longer, or start nearer to what comes out",
                     shown->observable->name, ergo_format_short(from, shown->first, 4),
                     ergo_format_short(to, shown->last, 4));
    text.failed |= names.failed;
    ergo_text_free(&names);
    ergo_warner_add(w, &text);
}
