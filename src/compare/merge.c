/* Results of several machines on one page: compare.json of `ergocl compare`, and the JSON of
 * `ergocl bench`. The files may be a stranger's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "base/file.h"
#include "base/utf8.h"
#include "compare/compare.h"
#include "job/json.h"
#include "page/sections.h"

/* What one device did. Numbers that nobody told are NAN, texts "". */
struct row {
    const char *file, *device, *platform, *driver, *error;
    double rate, share, energy; /* share of `limited_by`; joules for a unit of work */
    const char *limited_by;
    const struct ergo_json *digests; /* NULL: not told */
    struct row *next;
};

/* A job, or a case of bench/, and all that did it. */
struct work {
    const char *title, *unit, *key;
    struct row *rows, **end;
    struct work *next;
};

struct merged {
    struct ergo_context *ctx;
    struct ergo_arena arena;
    struct work *works, **end;
    const char *file; /* being read */
};

static const char *text_of(const struct ergo_json *object, const char *key) {
    const struct ergo_json *value = object ? ergo_json_member(object, key) : NULL;
    return value && value->kind == ERGO_JSON_STRING ? value->text : "";
}

static double number_of(const struct ergo_json *object, const char *key) {
    const struct ergo_json *value = object ? ergo_json_member(object, key) : NULL;
    double real;
    return value && value->kind == ERGO_JSON_NUMBER && ergo_json_real(value->text, &real) ? real
                                                                                          : NAN;
}

/* The array `key` of the file's object. */
static const struct ergo_json *array_of(const struct ergo_json *root, const char *key) {
    const struct ergo_json *value =
        root->kind == ERGO_JSON_OBJECT ? ergo_json_member(root, key) : NULL;
    return value && value->kind == ERGO_JSON_ARRAY ? value : NULL;
}

/* The work of this key, made if it is new; NULL: memory ran out. */
static struct work *work_of(struct merged *m, const char *title, const char *unit,
                            const char *key) {
    for (struct work *w = m->works; w; w = w->next)
        if (!strcmp(w->key, key) && !strcmp(w->unit, unit))
            return w;
    struct work *w = ergo_arena_alloc(&m->arena, 1, sizeof *w);
    if (!w)
        return NULL;
    *w = (struct work){.title = title, .unit = unit, .key = key, .end = &w->rows};
    *m->end = w;
    m->end = &w->next;
    return w;
}

static enum ergo_status add_row(struct merged *m, struct work *w, const struct row *row) {
    struct row *one = w ? ergo_arena_alloc(&m->arena, 1, sizeof *one) : NULL;
    if (!one)
        return ERGO_FAIL(m->ctx, ERGO_E_MEMORY, "no memory for the rows of %s", m->file);
    *one = *row;
    one->file = m->file;
    *w->end = one;
    w->end = &one->next;
    return ERGO_OK;
}

static enum ergo_status missing(const struct merged *m, const char *list, size_t i,
                                const char *what) {
    return ERGO_FAIL(m->ctx, ERGO_E_JOB, "%s: /%s/%zu/%s is missing or of another kind", m->file,
                     list, i, what);
}

/* compare.json: one job, a row for each device. */
static enum ergo_status add_comparison(struct merged *m, const struct ergo_json *root) {
    const struct ergo_json *job = ergo_json_member(root, "job");
    char *compact = job ? ergo_json_text(job, true) : NULL;
    const char *key = compact ? ergo_arena_copy(&m->arena, compact, strlen(compact)) : NULL;
    free(compact);
    if (!key)
        return job ? ERGO_FAIL(m->ctx, ERGO_E_MEMORY, "no memory for the job of %s", m->file)
                   : ERGO_FAIL(m->ctx, ERGO_E_JOB, "%s: /job is missing", m->file);
    const char *name = text_of(job, "name");
    struct work *w =
        work_of(m, name[0] ? name : text_of(job, "sampler"), text_of(root, "rate_unit"), key);
    enum ergo_status status = ERGO_OK;
    size_t i = 0;
    for (const struct ergo_json *d = array_of(root, "devices")->child; d && status == ERGO_OK;
         d = d->next, i++) {
        const char *device = d->kind == ERGO_JSON_OBJECT ? text_of(d, "name") : "";
        struct row row = {.device = device[0] ? device : text_of(d, "selector"),
                          .platform = text_of(d, "platform"),
                          .driver = text_of(d, "driver"),
                          .error = text_of(d, "error"),
                          .rate = number_of(d, "rate"),
                          .share = NAN,
                          .energy = number_of(d, "joules") / number_of(d, "work_of_these_joules"),
                          .limited_by = "",
                          .digests = array_of(d, "digests")};
        if (!row.digests && !row.error[0])
            status = missing(m, "devices", i, "digests");
        else
            status = add_row(m, w, &row);
    }
    return status;
}

/* Of ergocl bench: one device, a row for each case that was right. */
static enum ergo_status add_bench(struct merged *m, const struct ergo_json *root) {
    const struct ergo_json *device = ergo_json_member(root, "device");
    enum ergo_status status = ERGO_OK;
    size_t i = 0;
    for (const struct ergo_json *c = array_of(root, "cases")->child; c && status == ERGO_OK;
         c = c->next, i++) {
        const char *name = c->kind == ERGO_JSON_OBJECT ? text_of(c, "name") : "";
        const struct ergo_json *ok = name[0] ? ergo_json_member(c, "ok") : NULL;
        const bool right = ok && ok->kind == ERGO_JSON_BOOL && ok->boolean;
        struct row row = {.device = text_of(device, "name"),
                          .platform = text_of(device, "platform"),
                          .driver = text_of(device, "driver"),
                          .error = right ? "" : "its check failed",
                          .rate = number_of(name[0] ? ergo_json_member(c, "rate") : NULL, "median"),
                          .share = number_of(c, "share"),
                          .energy = NAN,
                          .limited_by = text_of(c, "limited_by")};
        const char *job = text_of(c, "job");
        if (!name[0])
            status = missing(m, "cases", i, "name");
        else if (isnan(row.rate) && right)
            status = missing(m, "cases", i, "rate/median");
        else
            status = add_row(m, work_of(m, name, text_of(c, "unit"), job[0] ? job : name), &row);
    }
    return status;
}

static enum ergo_status add_file(struct merged *m, const char *path) {
    char *text = NULL;
    size_t length = 0;
    struct ergo_json *root = NULL;
    enum ergo_status status =
        ergo_file_read(m->ctx, NULL, path, ERGO_JSON_BYTES_MAX, &text, &length);
    if (status == ERGO_OK)
        status = ergo_json_parse(m->ctx, path, text, length, &m->arena, &root);
    free(text);
    if (status != ERGO_OK)
        return status;
    m->file = path;
    if (array_of(root, "devices"))
        return add_comparison(m, root);
    if (array_of(root, "cases"))
        return add_bench(m, root);
    return ERGO_FAIL(
        m->ctx, ERGO_E_JOB,
        "%s: neither a compare.json (array /devices) nor results of \"ergocl bench -o\" "
        "(array /cases)",
        path);
}

static bool same_digests(const struct row *a, const struct row *b) {
    const struct ergo_json *x = a->digests->child, *y = b->digests->child;
    for (; x && y; x = x->next, y = y->next)
        if (x->kind != ERGO_JSON_STRING || y->kind != ERGO_JSON_STRING ||
            strcmp(x->text, y->text) != 0)
            return false;
    return !x && !y;
}

/* The first row with digests; the others are held against it. */
static const struct row *reference_of(const struct work *w) {
    const struct row *row = w->rows;
    while (row && !row->digests)
        row = row->next;
    return row;
}

static bool differs(const struct work *w, const struct row *row) {
    const struct row *reference = reference_of(w);
    return row->digests && !same_digests(reference, row);
}

static const char *verdict_of(const struct work *w, const struct row *row) {
    if (row->error[0])
        return "failed";
    if (!row->digests)
        return "checked";
    return row == reference_of(w) ? "reference" : differs(w, row) ? "DIFFERS" : "same bits";
}

static double best_of(const struct work *w) {
    double best = 0;
    for (const struct row *row = w->rows; row; row = row->next)
        best = fmax(best, row->rate);
    return best;
}

/* "0.35 of memory", "1.2 nJ"; "-" where nobody told. */
static void append_known(struct ergo_text *t, const struct row *row, bool energy) {
    if (energy && isfinite(row->energy))
        ergo_text_append(t, "%.3g nJ", 1e9 * row->energy);
    else if (!energy && isfinite(row->share))
        ergo_text_append(t, "%.2f of ", row->share);
    else
        ergo_text_append(t, "-");
}

static void append_table(struct ergo_text *t, const struct merged *m) {
    for (const struct work *w = m->works; w; w = w->next) {
        const double best = best_of(w);
        ergo_text_append(t, "%s%s, rates in %s\n", w == m->works ? "" : "\n", w->title, w->unit);
        for (const struct row *row = w->rows; row; row = row->next) {
            ergo_text_append(t, "  %-10s  %10.4g  %5.3g  ", verdict_of(w, row), row->rate,
                             row->rate / best);
            append_known(t, row, false);
            ergo_text_append(t, "%s  ", isfinite(row->share) ? row->limited_by : "");
            append_known(t, row, true);
            ergo_text_append(t, "  %s (%s %s), %s%s%s\n", row->device, row->platform, row->driver,
                             row->file, row->error[0] ? ": " : "", row->error);
        }
    }
}

static void append_cell(struct ergo_text *t, const char *a, const char *b) {
    ergo_text_append(t, "<td>");
    ergo_html_escape(t, a);
    if (b[0]) {
        ergo_text_append(t, "<small>");
        ergo_html_escape(t, b);
        ergo_text_append(t, "</small>");
    }
    ergo_text_append(t, "</td>");
}

static void append_page(struct ergo_text *t, const struct merged *m, bool agree) {
    ergo_report_begin(t, "ergocl on several machines");
    ergo_text_append(t,
                     "<h1>ergocl on several machines<span class=\"pill %s\">%s</span></h1>\n"
                     "<p class=\"soft\">Of each job or case of bench/: bits, rate, rate over the "
                     "best, share of what limits the device, energy for a unit of work where the "
                     "device tells it.</p>\n",
                     agree ? "done" : "stopped", agree ? "nothing differs" : "no agreement");
    for (const struct work *w = m->works; w; w = w->next) {
        const double best = best_of(w);
        ergo_text_append(t, "<h2>");
        ergo_html_escape(t, w->title);
        ergo_text_append(t, "</h2>\n<div class=\"scroll\"><table class=\"runs\"><thead><tr>"
                            "<th>device</th><th>states</th><th>");
        ergo_html_escape(t, w->unit);
        ergo_text_append(t, "</th><th>of the best</th><th>share of its limit</th><th>energy</th>"
                            "<th>driver</th><th>file</th></tr></thead><tbody>\n");
        for (const struct row *row = w->rows; row; row = row->next) {
            ergo_text_append(t, "<tr>");
            append_cell(t, row->device, row->platform);
            append_cell(t, verdict_of(w, row), row->error);
            if (isfinite(row->rate))
                ergo_text_append(t, "<td>%.4g</td><td>%.3g</td>", row->rate, row->rate / best);
            else
                ergo_text_append(t, "<td>-</td><td>-</td>");
            ergo_text_append(t, "<td>");
            append_known(t, row, false);
            ergo_html_escape(t, isfinite(row->share) ? row->limited_by : "");
            ergo_text_append(t, "</td><td>");
            append_known(t, row, true);
            ergo_text_append(t, "</td>");
            append_cell(t, row->driver, "");
            append_cell(t, row->file, "");
            ergo_text_append(t, "</tr>\n");
        }
        ergo_text_append(t, "</tbody></table></div>\n");
    }
    ergo_report_end(t);
}

enum ergo_status ergo_compare_merge(struct ergo_context *ctx, const char *const *files,
                                    size_t n_files, const char *page, bool overwrite, bool *agree,
                                    char **table) {
    ERGO_CLEAR(table);
    ERGO_CLEAR(agree);
    ERGO_ENTRY(ctx, files, page, agree, table);
    struct merged m = {.ctx = ctx, .end = &m.works};
    struct ergo_text shown = {0}, html = {0};
    enum ergo_status status = ergo_entry_texts(ctx, "ergo_compare_merge", "files", files, n_files);
    if (status == ERGO_OK)
        status = ergo_file_may_write(ctx, page, overwrite);
    for (size_t i = 0; i < n_files && status == ERGO_OK; i++)
        status = add_file(&m, files[i]);
    if (status == ERGO_OK) {
        *agree = true;
        for (const struct work *w = m.works; w; w = w->next)
            for (const struct row *row = w->rows; row; row = row->next)
                *agree &= !row->error[0] && !differs(w, row);
        append_table(&shown, &m);
        append_page(&html, &m, *agree);
        status = html.failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %s", page)
                             : ergo_file_write(ctx, NULL, page, html.data, html.length);
    }
    if (status == ERGO_OK) {
        *table = ergo_utf8_take_shown(&shown);
        if (!*table)
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a table");
    }
    ergo_text_free(&shown);
    ergo_text_free(&html);
    ergo_arena_free(&m.arena);
    return status;
}
