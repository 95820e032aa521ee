/* What of a figure can be saved: its numbers as CSV and its drawing as SVG, in the page itself. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "page/page.h"
#include "page/sections.h"

static void append_base64(struct ergo_text *text, const void *data, size_t length) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *bytes = data;
    char line[4 * 256];
    size_t used = 0;
    for (size_t i = 0; i < length; i += 3) {
        const size_t rest = length - i;
        const uint32_t b = (uint32_t)bytes[i] << 16 | (rest > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                           (rest > 2 ? bytes[i + 2] : 0);
        line[used++] = digits[b >> 18];
        line[used++] = digits[b >> 12 & 63];
        line[used++] = rest > 1 ? digits[b >> 6 & 63] : '=';
        line[used++] = rest > 2 ? digits[b & 63] : '=';
        if (used == sizeof line || rest <= 3) {
            ergo_text_append_bytes(text, line, used);
            used = 0;
        }
    }
}

enum ergo_status ergo_report_image(struct ergo_context *ctx, struct ergo_text *text,
                                   const struct ergo_picture *picture, const char *kind,
                                   const char *label) {
    struct ergo_text png = {0};
    const enum ergo_status status = ergo_png_encode(ctx, picture, &png);
    if (status == ERGO_OK) {
        ergo_text_append(text, "<img width=\"%u\" height=\"%u\" alt=\"%s, ", picture->width,
                         picture->height, kind);
        ergo_html_escape(text, label);
        ergo_text_append(text, "\" src=\"data:image/png;base64,");
        append_base64(text, png.data, png.length);
        ergo_text_append(text, "\">");
    }
    ergo_text_free(&png);
    return status;
}

static void append_head(struct ergo_text *csv, const char *name, const char *unit) {
    char head[512];
    snprintf(head, sizeof head, "%s%s%s%s", name, unit && *unit ? " (" : "", unit ? unit : "",
             unit && *unit ? ")" : "");
    ergo_text_append(csv, ",");
    ergo_text_append_cell(csv, head);
}

/* Of a trace what is drawn: the lowest and the highest of each piece of a long one. */
static void append_series(struct ergo_text *csv, const struct ergo_plot *plot,
                          const struct ergo_plot_series *series, const char *label) {
    enum { MOST = 1000, PIECES = 350 };
    const bool pieces = series->mark == ERGO_MARK_TRACE && series->n > MOST;
    for (size_t p = 0; p < PIECES && pieces; p++) {
        const size_t first = p * series->n / PIECES, end = (p + 1) * series->n / PIECES;
        double low = INFINITY, high = -INFINITY;
        for (size_t i = first; i < end; i++) {
            low = fmin(low, series->y[i]);
            high = fmax(high, series->y[i]);
        }
        for (int k = 0; k < 2; k++) {
            ergo_text_append_cell(csv, k ? "highest" : "lowest");
            ergo_text_append_cell_number(csv, series->x[first]);
            ergo_text_append_cell_number(csv, k ? high : low);
            ergo_text_append(csv, ",\n");
        }
    }
    for (size_t i = 0; i < series->n && !pieces; i++) {
        ergo_text_append_cell(csv, label);
        ergo_text_append_cell_number(
            csv, plot->x_zero > 0 && !(series->x[i] > plot->x_zero) ? 0 : series->x[i]);
        ergo_text_append_cell_number(csv, series->y[i]);
        ergo_text_append_cell_number(csv, series->error ? series->error[i] : NAN);
        ergo_text_append(csv, "\n");
    }
}

static void append_link(struct ergo_text *text, const char *name, const char *kind,
                        const char *type, const struct ergo_text *file) {
    ergo_text_append(text, "<a download=\"");
    for (const char *c = name; *c; c++) /* a name of a file anywhere */
        ergo_text_append(text,
                         (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                                 (*c >= '0' && *c <= '9') || (unsigned char)*c >= 0x80
                             ? "%c"
                             : "-",
                         *c);
    ergo_text_append(text, ".%s\" href=\"data:%s;base64,", kind, type);
    append_base64(text, file->data, file->length);
    ergo_text_append(text, "\">%s</a>", strcmp(kind, "csv") == 0 ? "CSV" : "SVG");
    text->failed |= file->failed;
}

void ergo_report_save(struct ergo_text *text, const struct ergo_plot *plot, const char *name) {
    struct ergo_text csv = {0}, svg = {0};
    ergo_text_append(&csv, "series");
    append_head(&csv, plot->x_hidden ? "x" : plot->x_name, plot->x_hidden ? "" : plot->x_unit);
    append_head(&csv, plot->y_name, plot->y_unit);
    ergo_text_append(&csv, ",error\n");
    for (size_t s = 0; s < plot->n_series; s++) {
        const struct ergo_plot_series *series = &plot->series[s];
        const bool theory = series->mark == ERGO_MARK_LINE || series->mark == ERGO_MARK_TICK;
        append_series(&csv, plot, series, series->label ? series->label : theory ? "line" : "");
    }
    ergo_svg_file(&svg, plot, name);
    ergo_text_append(text, "<p class=\"save\">");
    append_link(text, name, "csv", "text/csv", &csv);
    ergo_text_append(text, " ");
    append_link(text, name, "svg", "image/svg+xml", &svg);
    ergo_text_append(text, "</p>\n");
    ergo_text_free(&csv);
    ergo_text_free(&svg);
}
