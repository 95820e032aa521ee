/* report.html: one page that opens anywhere, without network or scripts. */
#include "page/sections.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/entry.h"
#include "page/pictures.h"
#include "job/json.h"

enum { TABLE_ROWS_MAX = 200 };

/* A name and its value in a list of facts; nothing when value is empty. `class` is an attribute, or
 * "". */
static void ergo_report_fact(struct ergo_text *text, const char *name, const char *value,
                             const char *class) {
    if (!value || !*value)
        return;
    ergo_text_append(text, "<div%s><dt>%s</dt><dd>", class, name);
    ergo_html_escape(text, value);
    ergo_text_append(text, "</dd></div>\n");
}

/* 1.2e7 is shown as "12 million": rates are compared by prefix. */
void ergo_report_rate(char *out, size_t size, double rate, const char *unit) {
    static const char *const words[] = {"", " thousand", " million", " billion", " trillion"};
    int k = 0;
    while (k < 4 && rate >= 1000 && isfinite(rate)) {
        rate /= 1000;
        k++;
    }
    snprintf(out, size, "%.3g%s %s", rate, words[k], unit);
}

void ergo_report_begin(struct ergo_text *text, const char *title) {
    /* The policy forbids scripts and everything from a network; the page needs neither. */
    ergo_text_append(text, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                           "'none'; style-src 'unsafe-inline'; img-src data:\">\n"
                           "<meta name=\"viewport\" content=\"width=device-width, "
                           "initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n<title>");
    ergo_html_escape(text, title);
    ergo_text_append(text, "</title>\n<style>");
    ergo_text_append(text, "%s%s", ergo_report_style, ergo_report_style_drawings);
    ergo_text_append(text, "</style></head>\n<body><main>\n");
}

void ergo_report_end(struct ergo_text *text) {
    ergo_text_append(text, "</main></body></html>\n");
}

static void append_warnings(struct ergo_text *text, const struct ergo_result *result) {
    if (!result->n_warnings)
        return;
    ergo_text_append(text, "<div class=\"warn\"><b>Warnings</b><ul>\n");
    for (size_t w = 0; w < result->n_warnings; w++) {
        ergo_text_append(text, "<li>");
        ergo_html_escape(text, result->warnings[w]);
        ergo_text_append(text, "</li>\n");
    }
    ergo_text_append(text, "</ul></div>\n");
}

static void append_head(struct ergo_text *text, const struct ergo_result *result) {
    const struct ergo_sampler *sampler = result->job->sampler;
    const struct ergo_value *seed =
        result->n_members ? ergo_format_value(result->members[0].point, "/seed") : NULL;
    char value[320], day[32], hour[32], figure[ERGO_CONCISE];
    struct ergo_merit merit;
    uint64_t steps = 0;
    uint32_t replicas = 0;
    for (size_t m = 0; m < result->n_members; m++) {
        steps = result->members[m].steps > steps ? result->members[m].steps : steps;
        replicas = result->members[m].point->replica + 1 > replicas
                       ? result->members[m].point->replica + 1
                       : replicas;
    }
    ergo_text_append(text, "<h1>");
    ergo_html_escape(text, result->job->name);
    ergo_text_append(text, "<span class=\"pill %s\">",
                     strcmp(result->status, "complete") == 0 ? "done" : "stopped");
    ergo_html_escape(text, result->status);
    ergo_text_append(text, "</span></h1>\n<p class=\"soft\">");
    ergo_html_escape(text, sampler->summary);
    ergo_text_append(text, "</p>\n<dl>\n");
    ergo_report_fact(text, "Sampler", sampler->name, "");
    if (seed) {
        snprintf(value, sizeof value, "%" PRIu64, seed->seed);
        ergo_report_fact(text, "Seed", value, "");
    }
    if (replicas > 1)
        snprintf(value, sizeof value, "%zu (%" PRIu32 " replicas)", result->n_members, replicas);
    else
        snprintf(value, sizeof value, "%zu", result->n_members);
    ergo_report_fact(text, "Points", value, "");
    snprintf(value, sizeof value, "%" PRIu64 " %ss", steps, sampler->step_name);
    ergo_report_fact(text, "Length", value, "");
    if (result->rate > 0 && isfinite(result->rate)) { /* of runs that stopped only they knew it */
        ergo_report_rate(value, sizeof value, result->rate, sampler->rate_unit);
        ergo_report_fact(text, "Speed", value, "");
    }
    if (ergo_format_merit(result, &merit)) {
        snprintf(value, sizeof value, "%s%s independent samples of %s per second",
                 ergo_format_concise(figure, merit.independent, merit.independent_error),
                 merit.too_short ? "(?)" : "", merit.observable->name);
        ergo_report_fact(text, "Decorrelation", value, "");
    }
    snprintf(value, sizeof value, result->seconds < 100 ? "%.3g s" : "%.0f s", result->seconds);
    ergo_report_fact(text, "Sampling time", isfinite(result->seconds) ? value : "", "");
    if (sscanf(result->started, "%31[0-9-]T%31[0-9:]Z", day, hour) == 2) {
        snprintf(value, sizeof value, "%s %s UTC", day, hour);
        ergo_report_fact(text, "Started", value, "");
    }
    ergo_report_fact(text, "Program", "ergocl " ERGO_VERSION, "");
    snprintf(value, sizeof value, "%s%s%s", result->device.name, *result->device.driver ? ", " : "",
             result->device.driver);
    ergo_report_fact(text, "Device", value, " class=\"wide\"");
    ergo_text_append(text, "</dl>\n");
    if (result->comparison) {
        ergo_text_append(text, "<p>");
        ergo_html_escape(text, result->comparison);
        ergo_text_append(text, "</p>\n");
    }
}

static enum ergo_status append_pictures(struct ergo_context *ctx, struct ergo_text *text,
                                        const struct ergo_result *result) {
    enum ergo_status status = ERGO_OK;
    size_t members[ERGO_SHEET_MAX];
    char label[128];
    size_t count = ergo_picture_members(result, ERGO_SHEET_MAX, members);
    if (!count)
        return ERGO_OK;
    ergo_text_append(text, "<h2>Last configurations</h2>\n<div class=\"images%s\">\n",
                     count <= 3 ? " few" : "");
    for (size_t i = 0; i < count && status == ERGO_OK; i++) {
        const struct ergo_member_result *member = &result->members[members[i]];
        struct ergo_picture tile = {0, 0, NULL};
        if (!ergo_picture_tile(&member->pictures[member->n_pictures - 1], 1, 384, &tile))
            return ERGO_FAIL(ctx, ERGO_E_MEMORY, "making report.html: out of memory");
        ergo_report_label(label, sizeof label, result, member);
        ergo_text_append(text, "<figure>");
        status = ergo_report_image(ctx, text, &tile, "configuration", label);
        ergo_text_append(text, "<figcaption>");
        ergo_html_escape(text, label);
        ergo_text_append(text, "<small>%s %" PRIu64 "</small></figcaption></figure>\n",
                         result->job->sampler->step_name,
                         member->picture_steps[member->n_pictures - 1]);
        free(tile.rgb);
    }
    ergo_text_append(text, "</div>\n");
    return status;
}

static void append_table_head(struct ergo_text *text, const struct ergo_result *result,
                              bool replicas) {
    const struct ergo_model *model = result->job->model;
    const struct ergo_point *point = result->members[0].point;
    char name[ERGO_CONCISE];
    ergo_text_append(text, "<thead><tr>");
    for (size_t i = 0; i < point->n_scanned; i++) {
        const struct ergo_key *key = ergo_format_key(result->job, point->scanned[i].pointer);
        ergo_text_append(text, "<th>");
        ergo_html_name(text, ergo_format_pointer(name, point->scanned[i].pointer), false);
        ergo_text_append(text, "<small>");
        ergo_html_name(text, key ? key->unit : "", false);
        ergo_text_append(text, "</small></th>");
    }
    if (replicas)
        ergo_text_append(text, "<th>replica</th>");
    for (size_t o = 0; o < model->n_observables; o++) {
        if (!ergo_observable_shown(&model->observables[o], point))
            continue;
        ergo_text_append(text, "<th>");
        ergo_html_name(text, model->observables[o].name, false);
        ergo_text_append(text, "<small>");
        ergo_html_name(text, model->observables[o].unit, false);
        ergo_text_append(text, "</small></th>");
    }
    ergo_text_append(text, "</tr></thead>\n");
}

/* The reason for a missing error, in a few words; the warnings say more. NULL: none. */
static const char *reason(enum ergo_trust trust) {
    static const char *const reasons[ERGO_TRUSTS] = {
        [ERGO_TRUST_SHORT] = "too short",          [ERGO_TRUST_DRIFT] = "drifts",
        [ERGO_TRUST_CONSTANT] = "never changed",   [ERGO_TRUST_FEW] = "too few samples",
        [ERGO_TRUST_SLOW] = "slow by its physics", [ERGO_TRUST_REPLICAS] = "replicas disagree",
    };
    return reasons[trust];
}

void ergo_report_why(struct ergo_text *text, enum ergo_trust trust,
                     const struct ergo_observable *because) {
    if (reason(trust))
        ergo_text_append(text, "%s%s%s", because ? because->name : "", because ? ": " : "",
                         reason(trust));
}

static void append_cell(struct ergo_text *text, const struct ergo_member_result *member,
                        const struct ergo_mean_result *mean, size_t number) {
    const struct ergo_observable_result *o =
        mean ? &mean->observables[number] : &member->observables[number];
    const double z = isnan(o->z) && o->published ? o->reference_z : o->z;
    char buffer[ERGO_CONCISE];
    ergo_text_append(text, fabs(z) > 3 ? "<td class=\"far\">" : "<td>");
    ergo_html_escape(text, ergo_format_concise(buffer, o->estimate.mean, o->estimate.error));
    if (isfinite(o->exact)) {
        ergo_text_append(text, "<small>exact %s", ergo_format_short(buffer, o->exact, 8));
        if (isfinite(o->z))
            ergo_text_append(text, ", z %+.1f", o->z);
        ergo_text_append(text, "</small>");
    }
    if (isfinite(o->estimate.mean) && reason(o->trust)) {
        ergo_text_append(text, "<small>");
        ergo_report_why(text, o->trust, o->because);
        ergo_text_append(text, "</small>");
    }
    if (!mean && isfinite(o->estimate.mean) &&
        isnan(ergo_report_mean((struct ergo_report_item){member->point, member->observables},
                               number))) {
        ergo_text_append(text, "<small>");
        ergo_html_escape(text, o->observable->beyond);
        ergo_text_append(text, "</small>");
    }
    if (o->reference_error > 0 && o->published) {
        ergo_text_append(text, "<small>reference %s",
                         ergo_format_concise(buffer, o->reference, o->reference_error));
        if (isfinite(o->reference_z))
            ergo_text_append(text, ", z %+.1f", o->reference_z);
        ergo_text_append(text, "</small>");
    } else if (o->reference_error > 0) {
        ergo_text_append(text, "<small>%+.1f from the reference</small>", o->reference_z);
    }
    if (mean && mean->scatters[number].dof)
        ergo_text_append(text, "<small>χ² %s over %zu</small>",
                         ergo_format_short(buffer, mean->scatters[number].chi2, 3),
                         mean->scatters[number].dof);
    ergo_text_append(text, "</td>");
}

/* A row: a chain, or the mean over the replicas of its point. */
static void append_row(struct ergo_text *text, const struct ergo_result *result,
                       const struct ergo_member_result *member,
                       const struct ergo_mean_result *mean) {
    const struct ergo_model *model = result->job->model;
    char buffer[ERGO_CONCISE];
    ergo_text_append(text, mean ? "<tr class=\"mean\">" : "<tr>");
    for (size_t i = 0; i < member->point->n_scanned; i++)
        ergo_text_append(text, "<td>%s</td>",
                         ergo_format_short(buffer, member->point->scanned[i].value, 9));
    if (mean)
        ergo_text_append(text, "<td>mean</td>");
    else if (result->n_means)
        ergo_text_append(text, "<td>%" PRIu32 "</td>", member->point->replica);
    for (size_t o = 0; o < model->n_observables; o++)
        if (ergo_observable_shown(&model->observables[o], result->members[0].point))
            append_cell(text, member, mean, o);
    ergo_text_append(text, "</tr>\n");
}

static bool is_measured(const struct ergo_result *result) {
    for (size_t m = 0; m < result->n_members; m++)
        if (ergo_member_taken(&result->members[m]))
            return true;
    return false;
}

static void append_table(struct ergo_text *text, const struct ergo_result *result) {
    size_t next = 0;
    if (!is_measured(result)) /* the warnings say why */
        return;
    ergo_text_append(text,
                     "<h2>Values</h2>\n<p class=\"soft\">One standard error in units of the "
                     "last digits, autocorrelation included; (?): none that could be "
                     "trusted.%s</p>\n<div class=\"scroll\"><table>\n",
                     result->n_means ? " Means over the replicas of a point have the error from "
                                       "the replicas&#39; own where those agree, and χ² of their "
                                       "scatter."
                                     : "");
    append_table_head(text, result, result->n_means > 0);
    ergo_text_append(text, "<tbody>\n");
    const bool chains = !result->n_means || result->n_members <= TABLE_ROWS_MAX;
    for (size_t m = 0; m < result->n_members; m++) {
        const struct ergo_mean_result *mean = next < result->n_means ? &result->means[next] : NULL;
        if (chains && m < TABLE_ROWS_MAX)
            append_row(text, result, &result->members[m], NULL);
        if (!mean || m + 1 < mean->first + mean->replicas)
            continue;
        if (next++ < TABLE_ROWS_MAX)
            append_row(text, result, &result->members[mean->first], mean);
    }
    ergo_text_append(text, "</tbody></table></div>\n");
    const size_t shown = chains ? result->n_members : result->n_means;
    if (shown > TABLE_ROWS_MAX)
        ergo_text_append(text, "<p class=\"soft\">%zu more are in result.json.</p>\n",
                         shown - TABLE_ROWS_MAX);
    else if (!chains)
        ergo_text_append(text, "<p class=\"soft\">Each replica is in result.json.</p>\n");
}

static void append_foot(struct ergo_text *text, const struct ergo_result *result) {
    if (result->job->canonical) {
        char *job = ergo_json_pretty(result->job->canonical);
        ergo_text_append(text,
                         "<h2>Job</h2>\n<details><summary>The job as it ran: the same bits on "
                         "any device</summary><pre>");
        ergo_html_escape(text, job);
        ergo_text_append(text, "</pre></details>\n");
        text->failed |= !job;
        free(job);
    }
    ergo_text_append(text, "<footer>Numbers: result.json.%s",
                     result->kept == ERGO_KEPT_FULL     ? " Series: series.h5."
                     : result->kept == ERGO_KEPT_BLOCKS ? " Curves and averages: series.h5."
                                                        : "");
    if (result->job->sampler->citation) {
        ergo_text_append(text, " Please cite ");
        ergo_html_escape(text, result->job->sampler->citation);
    }
    ergo_text_append(text, "</footer>\n");
}

enum ergo_status ergo_report_run(struct ergo_context *ctx, struct ergo_text *text,
                                 const struct ergo_result *result) {
    append_head(text, result);
    enum ergo_status status = ERGO_OK;
    append_warnings(text, result);
    const bool alone = result->n_members == 1; /* for a single chain numbers say more than
                                                * figures */
    if (alone)
        append_table(text, result);
    if (status == ERGO_OK)
        status = ergo_report_observables(ctx, text, result, ERGO_REPORT_RESULT);
    if (status == ERGO_OK)
        status = ergo_report_curves(ctx, text, result);
    if (status == ERGO_OK)
        status = append_pictures(ctx, text, result);
    if (status == ERGO_OK)
        status = ergo_report_observables(ctx, text, result, ERGO_REPORT_CHECK);
    if (status == ERGO_OK)
        status = ergo_report_distributions(ctx, text, result);
    if (status == ERGO_OK)
        status = ergo_report_points(ctx, text, result);
    if (status == ERGO_OK)
        status = ergo_report_observables(ctx, text, result, ERGO_REPORT_MOMENT);
    if (!alone)
        append_table(text, result);
    ergo_report_parameters(text, result);
    append_foot(text, result);
    return status;
}

enum ergo_status ergo_page_write(struct ergo_context *ctx, const struct ergo_folder *folder,
                                 const struct ergo_result *result) {
    struct ergo_text text = {0};
    ergo_report_begin(&text, result->job->name);
    enum ergo_status status = ergo_report_run(ctx, &text, result);
    ergo_report_end(&text);
    if (status == ERGO_OK && text.failed)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "writing report.html: out of memory");
    if (status == ERGO_OK)
        status = ergo_file_write(ctx, folder, "report.html", text.data, text.length);
    ergo_text_free(&text);
    return status;
}

enum ergo_status ergo_result_write_page(struct ergo_context *ctx, const struct ergo_result *result,
                                        const char *directory) {
    ERGO_ENTRY(ctx, result, directory);
    struct ergo_folder folder;
    int lock = -1;
    enum ergo_status status = ergo_folder_open(ctx, directory, &folder);
    if (status == ERGO_OK)
        status = ergo_folder_lock(ctx, &folder, &lock); /* no other run has begun in it */
    if (status == ERGO_OK) {
        status = ergo_page_write(ctx, &folder, result);
        const enum ergo_status pictures = ergo_page_write_pictures(ctx, &folder, result);
        status = status == ERGO_OK ? pictures : status;
    }
    if (lock >= 0)
        close(lock);
    ergo_folder_close(&folder);
    return ergo_memory_told(ctx, status);
}
