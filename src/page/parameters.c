/* The section of report.html with the values of the job's keys, given or defaulted. */
#include "page/sections.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct ergo_scanned *scanned_below(const struct ergo_point *point,
                                                const char *pointer) {
    const size_t length = strlen(pointer);
    for (size_t i = 0; i < point->n_scanned; i++)
        if (strncmp(point->scanned[i].pointer, pointer, length) == 0 &&
            (point->scanned[i].pointer[length] == '\0' || point->scanned[i].pointer[length] == '/'))
            return &point->scanned[i];
    return NULL;
}

static void append_list(struct ergo_text *text, const struct ergo_value *value, bool whole) {
    char buffer[ERGO_CONCISE];
    for (int i = 0; i < value->items; i++) {
        ergo_text_append(text, i ? ", " : "");
        if (whole)
            ergo_text_append(text, "%" PRId64, value->size[i]);
        else
            ergo_text_append(text, "%s", ergo_format_short(buffer, value->reals[i], 12));
    }
}

static void append_value(struct ergo_text *text, const struct ergo_key *key,
                         const struct ergo_value *value) {
    char buffer[ERGO_CONCISE];
    switch (ergo_value_type(key, value)) {
    case ERGO_KEY_REAL:
    case ERGO_KEY_TIME:
        ergo_text_append(text, "%s", ergo_format_short(buffer, value->real, 15));
        break;
    case ERGO_KEY_INT:
        ergo_text_append(text, "%" PRId64, value->integer);
        break;
    case ERGO_KEY_SEED:
        ergo_text_append(text, "%" PRIu64, value->seed);
        break;
    case ERGO_KEY_BOOL:
        ergo_text_append(text, value->boolean ? "true" : "false");
        break;
    case ERGO_KEY_SIZE:
    case ERGO_KEY_REALS:
        append_list(text, value, key->type == ERGO_KEY_SIZE);
        break;
    default:
        ergo_html_escape(text, value->text ? value->text : "");
    }
}

/* "2.1 … 2.4, 31 points": how far the points spread along one scanned coordinate. */
static void append_range(struct ergo_text *text, const struct ergo_result *result,
                         const struct ergo_scanned *scanned) {
    const size_t at = (size_t)(scanned - result->members[0].point->scanned);
    char low[ERGO_CONCISE], high[ERGO_CONCISE];
    double least = INFINITY, most = -INFINITY;
    for (size_t m = 0; m < result->n_members; m++) {
        const double v = result->members[m].point->scanned[at].value;
        least = fmin(least, v);
        most = fmax(most, v);
    }
    ergo_text_append(text, "%s … %s <small>scanned</small>", ergo_format_short(low, least, 12),
                     ergo_format_short(high, most, 12));
}

void ergo_report_parameters(struct ergo_text *text, const struct ergo_result *result) {
    const struct ergo_job *job = result->job;
    if (!result->n_members)
        return;
    const struct ergo_point *point = result->members[0].point;
    ergo_text_append(text, "<h2>Parameters</h2>\n<details><summary>The keys of the job, given or "
                           "by default</summary>\n<div class=\"scroll\"><table class=\"keys\">"
                           "<thead><tr><th>key</th><th>value</th><th>meaning</th></tr></thead>"
                           "<tbody>\n");
    for (size_t k = 0; k < job->n_keys; k++) {
        const struct ergo_key *key = job->keys[k];
        const struct ergo_value *value = &point->values[k];
        const struct ergo_scanned *scanned = scanned_below(point, key->pointer);
        if (!value->present && !scanned)
            continue;
        ergo_text_append(text, "<tr><td>");
        ergo_html_escape(text, key->pointer);
        ergo_text_append(text, "</td><td>");
        if (scanned)
            append_range(text, result, scanned);
        else
            append_value(text, key, value);
        if (key->unit && *key->unit) {
            ergo_text_append(text, " ");
            ergo_html_name(text, key->unit, false);
        }
        if (!value->given && !scanned)
            ergo_text_append(text, " <small>default</small>");
        ergo_text_append(text, "</td><td>");
        ergo_html_escape(text, key->help ? key->help : "");
        ergo_text_append(text, "</td></tr>\n");
    }
    ergo_text_append(text, "</tbody></table></div></details>\n");
}
