/* One point at a time, chosen from a list by style sheets alone: its configuration, its time series
 * and its histogram. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "page/pictures.h"
#include "page/sections.h"

/* More points than these would make a page too large for its reader; as would more bytes of
 * pictures. */
enum { POINTS_MAX = 100, PICTURES_MOST = 6 << 20 };

/* The observable of the same name has the shorter unit; a column's may explain itself at length. */
static const char *trace_unit(const struct ergo_model *model) {
    for (size_t o = 0; o < model->n_observables; o++)
        if (strcmp(model->observables[o].name, model->columns[0].name) == 0)
            return model->observables[o].unit;
    return model->columns[0].unit;
}

static enum ergo_status append_trace(struct ergo_context *ctx, struct ergo_text *text,
                                     const struct ergo_result *result, size_t m) {
    const struct ergo_member_result *member = &result->members[m];
    const struct ergo_model *model = result->job->model;
    size_t n = member->n_samples;
    char label[96], alt[160];
    double sum = 0;
    double *steps = malloc((n + 1) * sizeof *steps);
    if (!steps)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "making report.html: out of memory");
    for (size_t i = 0; i < n; i++) {
        steps[i] = (double)(member->lead + (i + 1) * member->measure_every);
        if (i >= member->n_equilibration)
            sum += member->series[0][i];
    }
    double mean = sum / (double)(n - member->n_equilibration);
    double mean_x[2] = {steps[member->n_equilibration < n ? member->n_equilibration : n - 1],
                        steps[n - 1]};
    double mean_y[2] = {mean, mean};
    struct ergo_plot_series series[2] = {
        {.mark = ERGO_MARK_TRACE, .color = 0, .n = n, .x = steps, .y = member->series[0]},
        {.mark = ERGO_MARK_LINE, .color = ERGO_INK, .n = 2, .x = mean_x, .y = mean_y},
    };
    struct ergo_plot plot = {.x_name = result->job->sampler->step_name,
                             .x_unit = "",
                             .alt = alt,
                             .y_name = model->columns[0].name,
                             .y_unit = trace_unit(model),
                             .height = 150,
                             .shade = NAN,
                             .shade_label = "equilibration",
                             .n_series = n > member->n_equilibration ? 2 : 1,
                             .series = series};
    if (member->n_equilibration)
        plot.shade = (double)(member->lead + member->n_equilibration * member->measure_every);
    ergo_report_label(label, sizeof label, result, member);
    snprintf(alt, sizeof alt, "time series of %s%s%s", model->columns[0].name, *label ? ", " : "",
             label);
    ergo_report_figure(text, &plot, alt, NULL);
    free(steps);
    return ERGO_OK;
}

/* The last configuration. */
static enum ergo_status append_picture(struct ergo_context *ctx, struct ergo_text *text,
                                       const struct ergo_result *result, size_t m) {
    const struct ergo_member_result *member = &result->members[m];
    struct ergo_picture tile = {0, 0, NULL};
    char label[128];
    const struct ergo_picture *last =
        member->n_pictures ? &member->pictures[member->n_pictures - 1] : NULL;
    if (!last || !last->rgb || !last->width || !last->height)
        return ERGO_OK;
    if (!ergo_picture_tile(last, 1, 384, &tile))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "making report.html: out of memory");
    ergo_report_label(label, sizeof label, result, member);
    ergo_text_append(
        text,
        "<figure class=\"still\"><figcaption><b>configuration</b> %s %" PRIu64 "</figcaption>",
        result->job->sampler->step_name, member->picture_steps[member->n_pictures - 1]);
    const enum ergo_status status = ergo_report_image(ctx, text, &tile, "configuration", label);
    ergo_text_append(text, "</figure>\n");
    free(tile.rgb);
    return status;
}

/* Up to POINTS_MAX members, replicas too, spread evenly. */
static size_t choose(const struct ergo_result *result, size_t *members) {
    const size_t n = result->n_members, take = n < POINTS_MAX ? n : POINTS_MAX;
    for (size_t i = 0; i < take; i++)
        members[i] = take > 1 ? (i * (n - 1) + (take - 1) / 2) / (take - 1) : 0;
    return take;
}

/* The list, and the rules by which it shows one point; without such rules a browser shows all. */
static void append_list(struct ergo_text *text, const struct ergo_result *result,
                        const size_t *members, size_t count) {
    char label[128];
    ergo_text_append(text, "<style>@supports selector(:has(a)){.point{display:none}");
    for (size_t i = 1; i <= count; i++)
        ergo_text_append(text, "%s.pick:has(option:nth-child(%zu):checked) .point:nth-child(%zu)",
                         i > 1 ? "," : "", i, i);
    ergo_text_append(text, "{display:grid}}</style>\n<p class=\"chooser\"><label>Point "
                           "<select autocomplete=\"off\">\n");
    for (size_t i = 0; i < count; i++) {
        ergo_report_label(label, sizeof label, result, &result->members[members[i]]);
        ergo_text_append(text, i ? "<option>" : "<option selected=\"selected\">");
        ergo_html_escape(text, label);
        ergo_text_append(text, "</option>\n");
    }
    ergo_text_append(text, "</select></label></p>\n");
}

/* A point's part of the page; its picture apart, as not all may fit. */
struct part {
    struct ergo_text text, picture;
    enum ergo_status status;
};

struct parts {
    const struct ergo_result *result;
    const size_t *members;
    struct part parts[POINTS_MAX];
};

/* By any core, with messages of its own: the page only says that memory ran out. */
static void make_part(size_t i, void *user) {
    struct parts *all = user;
    struct part *part = &all->parts[i];
    const struct ergo_result *result = all->result;
    const size_t m = all->members[i];
    const struct ergo_member_result *member = &result->members[m];
    const bool samples = result->job->model->n_columns && member->n_samples && member->series &&
                         member->series[0] && result->kept == ERGO_KEPT_FULL;
    struct ergo_context *ctx = ergo_context_create();
    part->status = ctx ? ERGO_OK : ERGO_E_MEMORY;
    if (part->status == ERGO_OK && samples)
        part->status = append_trace(ctx, &part->text, result, m);
    if (part->status == ERGO_OK && result->kept == ERGO_KEPT_FULL)
        part->status = ergo_report_histogram(ctx, &part->text, result, m);
    if (part->status == ERGO_OK)
        part->status = append_picture(ctx, &part->picture, result, m);
    ergo_context_destroy(ctx);
}

enum ergo_status ergo_report_points(struct ergo_context *ctx, struct ergo_text *text,
                                    const struct ergo_result *result) {
    size_t members[POINTS_MAX], bytes = 0;
    char label[128];
    const size_t count = choose(result, members);
    enum ergo_status status = ERGO_OK;
    struct parts *all = calloc(1, sizeof *all);
    struct ergo_text points = {0};
    bool any = false;
    if (!all)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "making report.html: out of memory");
    *all = (struct parts){.result = result, .members = members};
    ergo_parallel(count, count ? count : 1, make_part, all);
    for (size_t i = 0; i < count; i++) {
        struct part *part = &all->parts[i];
        const bool pictured = part->picture.length && bytes <= PICTURES_MOST;
        status = part->status == ERGO_OK ? status : part->status;
        ergo_report_label(label, sizeof label, result, &result->members[members[i]]);
        ergo_text_append(&points, "<div class=\"point grid\">\n");
        if (count > 1) {
            ergo_text_append(&points, "<h3>");
            ergo_html_escape(&points, label);
            ergo_text_append(&points, "</h3>\n");
        }
        ergo_text_append_bytes(&points, part->text.data, part->text.length);
        if (pictured)
            ergo_text_append_bytes(&points, part->picture.data, part->picture.length);
        bytes += part->picture.length;
        any |= part->text.length || pictured;
        points.failed |= part->text.failed || part->picture.failed;
        ergo_text_append(&points, "</div>\n");
        ergo_text_free(&part->text);
        ergo_text_free(&part->picture);
    }
    free(all);
    if (status != ERGO_OK)
        status = ERGO_FAIL(ctx, status, "making report.html: out of memory");
    if (any) {
        ergo_text_append(text, "<h2>Point by point</h2>\n<p class=\"soft\">Every sample taken; the "
                               "line is their mean, the shaded part is equilibration and not in "
                               "it.");
        if (count < result->n_members)
            ergo_text_append(text, " Of %zu points these %zu; all are in series.h5.",
                             result->n_members, count);
        if (bytes > PICTURES_MOST)
            ergo_text_append(text, " More configurations are in the folder snapshots.");
        ergo_text_append(text, "</p>\n<section class=\"pick\">\n");
        if (count > 1)
            append_list(text, result, members, count);
        ergo_text_append(text, "<div>\n");
        ergo_text_append_bytes(text, points.data, points.length);
        ergo_text_append(text, "</div></section>\n");
    }
    text->failed |= points.failed;
    ergo_text_free(&points);
    return status;
}
