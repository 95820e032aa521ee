/* Curves that are square grids, as maps: one for each of a few points, all in one scale. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "page/pictures.h"
#include "page/sections.h"

enum { MAPS_MAX = 4, LEAST_PIXELS = 240, MOST_PIXELS = 384 };

static size_t side_of(const struct ergo_curve_result *curve) {
    return (size_t)(sqrt((double)curve->size) + 0.5);
}

/* From white at 0 to a deep blue at `top`; the first row is the lowest. rgb is malloc'ed, NULL: no
 * memory. */
static struct ergo_picture picture_of(const struct ergo_curve_result *curve, double top) {
    static const double deep[3] = {10, 40, 110};
    const size_t side = side_of(curve);
    struct ergo_picture picture = {(unsigned)side, (unsigned)side, malloc(3 * side * side + 1)};
    for (size_t i = 0; i < side * side && picture.rgb; i++) {
        const size_t at = (side - 1 - i / side) * side + i % side;
        const double part = top > 0 && curve->mean[at] > 0 ? fmin(curve->mean[at] / top, 1) : 0;
        for (size_t k = 0; k < 3; k++)
            picture.rgb[3 * i + k] = (uint8_t)(255 - part * (255 - deep[k]) + 0.5);
    }
    return picture;
}

static enum ergo_status append_map(struct ergo_context *ctx, struct ergo_text *text,
                                   const struct ergo_result *result,
                                   const struct ergo_member_result *member,
                                   const struct ergo_curve_result *curve, const char *name,
                                   double top) {
    char label[128];
    struct ergo_picture small = picture_of(curve, top), tile = {0, 0, NULL};
    enum ergo_status status = ERGO_OK;
    if (!small.rgb || !ergo_picture_tile(&small, LEAST_PIXELS, MOST_PIXELS, &tile))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "making report.html: out of memory");
    if (status == ERGO_OK) {
        ergo_report_label(label, sizeof label, result, member);
        ergo_text_append(text, "<figure>");
        status = ergo_report_image(ctx, text, &tile, name, label);
        ergo_text_append(text, "<figcaption>");
        ergo_html_escape(text, label);
        ergo_text_append(text, "%s<small>white 0, blue %.3g</small></figcaption></figure>\n",
                         curve->trust ? " (?)" : "", top);
    }
    free(tile.rgb);
    free(small.rgb);
    return status;
}

enum ergo_status ergo_report_map(struct ergo_context *ctx, struct ergo_text *text,
                                 const struct ergo_result *result, size_t c) {
    size_t members[MAPS_MAX], drawn = 0;
    const size_t count = ergo_report_members(result, MAPS_MAX, members);
    const struct ergo_curve_info *info = &result->job->model->curves[c];
    enum ergo_status status = ERGO_OK;
    double top = 0;
    for (size_t i = 0; i < count; i++) {
        const struct ergo_curve_result *curve = &result->members[members[i]].curves[c];
        for (size_t k = 0; k < curve->size; k++)
            top = isfinite(curve->mean[k]) && curve->mean[k] > top ? curve->mean[k] : top;
        drawn += curve->size > 1;
    }
    if (!drawn)
        return ERGO_OK;
    char name[128];
    snprintf(name, sizeof name, "%s", info->name);
    ergo_report_words(name);
    ergo_text_append(text, "<h2>%c%s</h2>\n<p>", name[0] - ('a' - 'A'), name + 1);
    ergo_html_prose(text, info->help);
    ergo_text_append(text, "</p>\n<div class=\"images%s\">\n", drawn <= 3 ? " few" : "");
    for (size_t i = 0; i < count && status == ERGO_OK; i++) {
        const struct ergo_member_result *member = &result->members[members[i]];
        if (member->curves[c].size > 1)
            status = append_map(ctx, text, result, member, &member->curves[c], name, top);
    }
    ergo_text_append(text, "</div>\n");
    return status;
}
