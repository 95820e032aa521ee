/* ergo_report: an overview, figures of several runs of a sampler together, and then each run. */
#include "page/together.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/entry.h"
#include "result/store.h"

static void append_row(struct ergo_text *text, const struct ergo_result *result,
                       const char *directory, size_t k) {
    char speed[160] = "";
    if (result->rate > 0)
        ergo_report_rate(speed, sizeof speed, result->rate, result->job->sampler->rate_unit);
    ergo_text_append(text, "<tr><td><a href=\"#run-%zu\">", k + 1);
    ergo_html_escape(text, directory);
    ergo_text_append(text, "</a><small>");
    ergo_html_escape(text, result->job->name);
    ergo_text_append(text, "</small></td><td>");
    ergo_html_escape(text, result->job->sampler->name);
    ergo_text_append(text, "</td><td>%zu</td><td>", result->n_members);
    ergo_html_escape(text, result->status);
    ergo_text_append(text, "</td><td>");
    ergo_html_escape(text, result->device.name);
    ergo_text_append(text, "</td><td>");
    ergo_html_escape(text, speed);
    ergo_text_append(text, "</td></tr>\n");
}

static enum ergo_status append_all(struct ergo_context *ctx, struct ergo_text *text,
                                   struct ergo_result *const *results,
                                   const char *const *directories, size_t count) {
    enum ergo_status status = ERGO_OK;
    if (count == 1)
        return ergo_report_run(ctx, text, results[0]);
    ergo_text_append(text, "<h1>%zu runs</h1>\n<p class=\"soft\">", count);
    ergo_text_append(text, "Made by ergocl " ERGO_VERSION " from the runs' checkpoints.</p>\n"
                           "<div class=\"scroll\"><table class=\"runs\"><thead><tr><th>run</th>"
                           "<th>sampler</th><th>points</th><th>status</th><th>device</th>"
                           "<th>speed</th></tr></thead><tbody>\n");
    for (size_t k = 0; k < count; k++)
        append_row(text, results[k], directories[k], k);
    ergo_text_append(text, "</tbody></table></div>\n");
    status = ergo_report_together(ctx, text, results, directories, count);
    for (size_t k = 0; k < count && status == ERGO_OK; k++) {
        ergo_text_append(text, "<section class=\"run\" id=\"run-%zu\">\n", k + 1);
        status = ergo_report_run(ctx, text, results[k]);
        ergo_text_append(text, "</section>\n");
    }
    return status;
}

/* The run's own report, in its folder. */
static enum ergo_status write_own(struct ergo_context *ctx, const char *directory,
                                  const struct ergo_text *text) {
    struct ergo_folder folder;
    enum ergo_status status = ergo_folder_open(ctx, directory, &folder);
    if (status == ERGO_OK)
        status = ergo_file_write(ctx, &folder, "report.html", text->data, text->length);
    ergo_folder_close(&folder);
    return status;
}

enum ergo_status ergo_report(struct ergo_context *ctx, const char *const *directories,
                             size_t n_directories, const char *path, bool overwrite) {
    ERGO_ENTRY(ctx, directories);
    enum ergo_status status =
        ergo_entry_texts(ctx, __func__, "directories", directories, n_directories);
    if (status != ERGO_OK)
        return status;
    struct ergo_result **results = calloc(n_directories + 1, sizeof *results);
    struct ergo_text text = {0};
    char title[64];
    const bool own = !path && n_directories == 1;
    path = path ? path : "report.html";
    if (!results)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a report");
    if (!n_directories)
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "a report needs at least one run folder");
    /* look at all folders, so that one call names all that are no runs */
    for (size_t k = 0; k < n_directories; k++) {
        const enum ergo_status one = ergo_result_load(ctx, directories[k], &results[k]);
        status = status == ERGO_OK ? one : status;
    }
    if (status == ERGO_OK && !own)
        status = ergo_file_may_write(ctx, path, overwrite);
    if (status != ERGO_OK)
        goto out;
    snprintf(title, sizeof title, "%zu runs", n_directories);
    ergo_report_begin(&text, n_directories == 1 ? results[0]->job->name : title);
    status = append_all(ctx, &text, results, directories, n_directories);
    ergo_report_end(&text);
    if (status == ERGO_OK && text.failed)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a report");
    status = ergo_memory_told(ctx, status);
    if (status == ERGO_OK)
        status = own ? write_own(ctx, directories[0], &text)
                     : ergo_file_write(ctx, NULL, path, text.data, text.length);
out:
    status = ergo_memory_told(ctx, status);
    for (size_t k = 0; k < n_directories; k++)
        ergo_result_destroy(results[k]);
    free(results);
    ergo_text_free(&text);
    return status;
}
