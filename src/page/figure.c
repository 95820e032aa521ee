/* What figures share: names, labels, what is drawn of the members. */
#include <math.h>

#include "page/sections.h"

void ergo_report_caption(struct ergo_text *text, const char *name, const char *aside) {
    const char *symbol = ergo_report_symbol(name);
    ergo_text_append(text, "<figure><figcaption><b>");
    ergo_html_name(text, name, false);
    ergo_text_append(text, "</b>%s%s%s", symbol ? " <i>" : "", symbol ? symbol : "",
                     symbol ? "</i>" : "");
    ergo_text_append(text, "%s", aside);
}

void ergo_report_drawing(struct ergo_text *text, const struct ergo_plot *plot, const char *name,
                         const struct ergo_text *drawing) {
    ergo_text_append(text, "</figcaption>\n");
    ergo_svg_legend(text, plot);
    ergo_text_append_bytes(text, drawing->data, drawing->length);
    ergo_report_save(text, plot, name);
    ergo_text_append(text, "</figure>\n");
}

void ergo_report_figure(struct ergo_text *text, const struct ergo_plot *plot, const char *name,
                        const char *small) {
    struct ergo_text drawing = {0};
    if (plot->n_series && ergo_svg_plot(&drawing, plot)) {
        ergo_report_caption(text, name, "");
        if (small) {
            ergo_text_append(text, "<small>");
            ergo_html_prose(text, small);
            ergo_text_append(text, "</small>");
        }
        ergo_report_drawing(text, plot, name, &drawing);
    }
    text->failed |= drawing.failed;
    ergo_text_free(&drawing);
}

void ergo_report_words(char *name) {
    for (; *name; name++)
        *name = *name == '_' ? ' ' : *name;
}

size_t ergo_report_members(const struct ergo_result *result, size_t limit, size_t *members) {
    size_t candidates = 0, count = 0, at = 0;
    /* replica 0 represents its point; without a scan all replicas are shown */
    bool all = result->n_members && result->members[0].point->n_scanned == 0;
    for (size_t m = 0; m < result->n_members; m++)
        candidates += all || result->members[m].point->replica == 0;
    size_t take = candidates < limit ? candidates : limit;
    for (size_t m = 0; m < result->n_members && count < take; m++) {
        if (!all && result->members[m].point->replica != 0)
            continue;
        size_t wanted = take > 1 ? (count * (candidates - 1) + (take - 1) / 2) / (take - 1) : 0;
        if (at++ == wanted)
            members[count++] = m;
    }
    return count;
}

void ergo_report_section(struct ergo_text *text, const char *head, const char *words,
                         struct ergo_text *figures) {
    if (figures->length) {
        ergo_text_append(text, "<h2>%s</h2>\n", head);
        if (words)
            ergo_text_append(text, "<p class=\"soft\">%s</p>\n", words);
        ergo_text_append(text, "<div class=\"grid\">\n");
        ergo_text_append_bytes(text, figures->data, figures->length);
        ergo_text_append(text, "</div>\n");
    }
    text->failed |= figures->failed;
    ergo_text_free(figures);
}

/* Replicas of the only point are drawn one by one. */
static bool are_means(const struct ergo_result *result) {
    return result->n_means > 0 && result->members[0].point->n_scanned > 0;
}

size_t ergo_report_items(const struct ergo_result *result) {
    return are_means(result) ? result->n_means : result->n_members;
}

struct ergo_report_item ergo_report_item(const struct ergo_result *result, size_t i) {
    const struct ergo_mean_result *mean = are_means(result) ? &result->means[i] : NULL;
    const struct ergo_member_result *member = &result->members[mean ? mean->first : i];
    return (struct ergo_report_item){member->point, mean ? mean->observables : member->observables};
}

double ergo_report_mean(struct ergo_report_item item, size_t o) {
    const struct ergo_observable *observable = item.observables[o].observable;
    const double mean = item.observables[o].estimate.mean;
    return observable->bound && mean > observable->bound(item.point) ? NAN : mean;
}

bool ergo_report_goes_in_factors(double *numbers, size_t n, double *zero) {
    double least_step = INFINITY, most_step = 0, least_factor = INFINITY, most_factor = 1;
    size_t first = 0, distinct = 1;
    *zero = 0;
    ergo_stats_sort(numbers, n);
    while (first < n && numbers[first] == 0)
        first++;
    if (first == n || !(numbers[first] > 0) || !isfinite(numbers[n - 1]))
        return false;
    for (size_t i = first + 1; i < n; i++) {
        if (numbers[i] == numbers[i - 1])
            continue;
        const double step = numbers[i] - numbers[i - 1], factor = numbers[i] / numbers[i - 1];
        if (distinct++ == 1 && first) /* beside the rest, as far as they are from each other */
            *zero = numbers[first] / fmax(2, factor);
        least_step = fmin(least_step, step);
        most_step = fmax(most_step, step);
        least_factor = fmin(least_factor, factor);
        most_factor = fmax(most_factor, factor);
    }
    /* the factors are more alike than the steps, and large enough together that it matters */
    if (distinct >= 3 && numbers[n - 1] >= 4 * numbers[first] &&
        log(most_factor) / log(least_factor) < most_step / least_step)
        return true;
    *zero = 0;
    return false;
}
