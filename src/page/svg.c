#include "page/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "page/axis.h"
#include "page/sections.h"

/* In the units of the drawing, which a page shows at 0.8 to 1 times as many CSS pixels. */
static const double plot_width = 400, margin_right = 18, margin_top = 8, margin_bottom = 46,
                    usual_height = 220, residual_gap = 10, residual_height = 62;

static void widen(double *min, double *max, double value) {
    if (!isfinite(value))
        return;
    *min = fmin(*min, value);
    *max = fmax(*max, value);
}

/* Ranges of everything shown; false if nothing is. */
static bool find_ranges(const struct ergo_plot *plot, struct ergo_axis *x, struct ergo_axis *y) {
    double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
    for (size_t s = 0; s < plot->n_series; s++) {
        const struct ergo_plot_series *series = &plot->series[s];
        for (size_t i = 0; i < series->n; i++) {
            double vx = ergo_axis_shown(x->log, series->x[i]),
                   vy = ergo_axis_shown(y->log, series->y[i]);
            if (isnan(vx) || isnan(vy))
                continue;
            widen(&x0, &x1, vx);
            widen(&y0, &y1, vy);
            if (!series->error || !isfinite(series->error[i]))
                continue;
            widen(&y0, &y1, ergo_axis_shown(y->log, series->y[i] + series->error[i]));
            /* on a log axis an error as large as its value would reach to minus infinity */
            double low = series->y[i] - series->error[i];
            widen(&y0, &y1, ergo_axis_shown(y->log, y->log ? fmax(low, series->y[i] / 3) : low));
        }
    }
    if (!(x0 <= x1 && y0 <= y1))
        return false;
    bool traces = plot->n_series && plot->series[0].mark == ERGO_MARK_TRACE;
    double px = x1 > x0 ? (traces ? 0 : 0.035 * (x1 - x0)) : fmax(0.5, 1e-9 * fabs(x0));
    double py = y1 > y0 ? 0.06 * (y1 - y0) : fmax(0.05 * fabs(y0), 1e-3);
    /* A range of rounding errors is no range. */
    if (x1 > x0 && x1 - x0 < 1e-12 * fmax(fabs(x0), fabs(x1)))
        px = 1e-9 * fmax(fabs(x0), fabs(x1));
    if (y1 > y0 && y1 - y0 < 1e-12 * fmax(fabs(y0), fabs(y1)))
        py = fmax(0.05 * fabs(y0), 1e-3);
    x->min = x0 - px;
    x->max = x1 + px;
    y->min = y0 - py;
    y->max = y1 + py;
    return true;
}

static void draw_mark(struct ergo_text *text, unsigned color, double x, double y, double r) {
    switch (color % 4) {
    case 0:
        ergo_text_append(text, "<circle class=\"m c%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>",
                         color, x, y, r);
        break;
    case 1:
        ergo_text_append(text,
                         "<rect class=\"m c%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                         "height=\"%.1f\"/>",
                         color, x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
        break;
    case 2:
        ergo_text_append(text, "<path class=\"m c%u\" d=\"M%.1f %.1fl%.1f %.1fh%.1fz\"/>", color, x,
                         y - 1.25 * r, 1.15 * r, 2.1 * r, -2.3 * r);
        break;
    default:
        ergo_text_append(
            text, "<path class=\"m c%u\" d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz\"/>", color,
            x, y - 1.35 * r, 1.35 * r, 1.35 * r, -1.35 * r, 1.35 * r, -1.35 * r, -1.35 * r);
    }
}

static void draw_points(struct ergo_text *text, const struct ergo_plot_series *series,
                        const struct ergo_axis *x, const struct ergo_axis *y) {
    double r = series->n > 80 ? 1.9 : series->n > 40 ? 2.4 : 3.0;
    for (size_t i = 0; i < series->n; i++) {
        if (isnan(ergo_axis_shown(x->log, series->x[i])) ||
            isnan(ergo_axis_shown(y->log, series->y[i])))
            continue;
        double px = ergo_axis_place(x, series->x[i]), py = ergo_axis_place(y, series->y[i]);
        double e = series->error && isfinite(series->error[i]) ? series->error[i] : 0;
        if (e > 0) {
            double high = ergo_axis_place(y, series->y[i] + e);
            double low =
                y->log && series->y[i] - e <= 0 ? y->at0 : ergo_axis_place(y, series->y[i] - e);
            ergo_text_append(text, "<path class=\"e c%u\" d=\"M%.1f %.1fV%.1f", series->color, px,
                             high, low);
            if (low - high > 2.5 * r) /* caps inside the marker would only blur it */
                ergo_text_append(text, "m-2.5 0h5M%.1f %.1fh5", px - 2.5, high);
            ergo_text_append(text, "\"/>");
        }
        /* open: without an error, which is not an error of 0 */
        const bool open = series->error && isnan(series->error[i]);
        ergo_text_append(text, open ? "<g class=\"u\">" : "");
        draw_mark(text, series->color, px, py, r);
        ergo_text_append(text, open ? "</g>" : "");
    }
}

static void draw_line(struct ergo_text *text, const struct ergo_plot_series *series,
                      const struct ergo_axis *x, const struct ergo_axis *y, const char *kind) {
    size_t drawn = 0; /* points since the last gap */
    ergo_text_append(text, "<path class=\"%s c%u\" d=\"", kind, series->color);
    for (size_t i = 0; i <= series->n; i++) {
        if (i == series->n || isnan(ergo_axis_shown(x->log, series->x[i])) ||
            isnan(ergo_axis_shown(y->log, series->y[i]))) {
            if (drawn == 1) /* a point alone is a dash: a path to nowhere is not seen */
                ergo_text_append(text, "m-1.5 0h3");
            drawn = 0; /* a gap, not a bridge */
            continue;
        }
        ergo_text_append(text, "%c%.1f %.1f", drawn ? 'L' : 'M', ergo_axis_place(x, series->x[i]),
                         ergo_axis_place(y, series->y[i]));
        drawn++;
    }
    ergo_text_append(text, "\"/>");
}

/* Band of one standard error around a curve, point by point there and back. */
static void draw_band(struct ergo_text *text, const struct ergo_plot_series *series,
                      const struct ergo_axis *x, const struct ergo_axis *y) {
    ergo_text_append(text, "<path class=\"a c%u\" d=\"", series->color);
    char command = 'M';
    for (size_t k = 0; k < 2 * series->n; k++) {
        size_t i = k < series->n ? k : 2 * series->n - 1 - k;
        double side = k < series->n ? 1 : -1;
        double v = series->y[i] + side * series->error[i];
        if (isnan(ergo_axis_shown(x->log, series->x[i])) || isnan(v))
            continue;
        double py = y->log && v <= 0 ? y->at0 : ergo_axis_place(y, v);
        ergo_text_append(text, "%c%.1f %.1f", command, ergo_axis_place(x, series->x[i]), py);
        command = 'L';
    }
    ergo_text_append(text, command == 'L' ? "z\"/>" : "\"/>");
}

static void draw_trace(struct ergo_text *text, const struct ergo_plot_series *series,
                       const struct ergo_axis *x, const struct ergo_axis *y) {
    enum { BINS = 350 }; /* about one per pixel */
    char command = 'M';
    if (series->n <= 2 * BINS) {
        draw_line(text, series, x, y, "t");
        return;
    }
    ergo_text_append(text, "<path class=\"t c%u\" d=\"", series->color);
    for (size_t b = 0; b < BINS; b++) {
        size_t first = b * series->n / BINS, end = (b + 1) * series->n / BINS;
        double low = INFINITY, high = -INFINITY;
        for (size_t i = first; i < end; i++)
            widen(&low, &high, series->y[i]);
        if (low > high)
            continue; /* nothing finite there */
        ergo_text_append(text, "%c%.1f %.1fV%.1f", command, ergo_axis_place(x, series->x[first]),
                         ergo_axis_place(y, low), ergo_axis_place(y, high));
        command = 'L';
    }
    ergo_text_append(text, "\"/>");
}

static void draw_series(struct ergo_text *text, const struct ergo_plot_series *series,
                        const struct ergo_axis *x, const struct ergo_axis *y) {
    switch (series->mark) {
    case ERGO_MARK_POINTS:
        if (series->guide)
            draw_line(text, series, x, y, "g");
        draw_points(text, series, x, y);
        break;
    case ERGO_MARK_LINE:
        draw_line(text, series, x, y, "l");
        break;
    case ERGO_MARK_TICK:
        for (size_t i = 0; i < series->n; i++)
            if (!isnan(ergo_axis_shown(x->log, series->x[i])) &&
                !isnan(ergo_axis_shown(y->log, series->y[i])))
                ergo_text_append(text, "<path class=\"l c%u\" d=\"M%.1f %.1fh20\"/>", series->color,
                                 ergo_axis_place(x, series->x[i]) - 10,
                                 ergo_axis_place(y, series->y[i]));
        break;
    case ERGO_MARK_CURVE:
        if (series->error)
            draw_band(text, series, x, y);
        draw_line(text, series, x, y, "k");
        if (series->n <= 24) {
            for (size_t i = 0; i < series->n; i++)
                if (!isnan(ergo_axis_shown(x->log, series->x[i])) &&
                    !isnan(ergo_axis_shown(y->log, series->y[i])))
                    draw_mark(text, series->color, ergo_axis_place(x, series->x[i]),
                              ergo_axis_place(y, series->y[i]), 2.2);
        }
        break;
    case ERGO_MARK_OUTLINE:
        draw_line(text, series, x, y, "k");
        break;
    case ERGO_MARK_TRACE:
        draw_trace(text, series, x, y);
        break;
    }
}

/* "E = -1.40(1)" appears at the top of the frame while a pointer is on the point. Of a curve or a
 * long scan some are enough: others are as near as a pixel. */
static void draw_numbers(struct ergo_text *text, const struct ergo_plot *plot,
                         const struct ergo_axis *x, const struct ergo_axis *y) {
    enum { MOST = 120 };
    char value[ERGO_CONCISE], at[ERGO_CONCISE], name[96];
    for (size_t s = 0; s < plot->n_series && !plot->still; s++) {
        const struct ergo_plot_series *series = &plot->series[s];
        const bool shown = series->mark == ERGO_MARK_POINTS || series->mark == ERGO_MARK_CURVE;
        const size_t every = series->n / MOST + 1;
        for (size_t i = 0; shown && i < series->n; i += every) {
            if (isnan(ergo_axis_shown(x->log, series->x[i])) ||
                isnan(ergo_axis_shown(y->log, series->y[i])))
                continue;
            const double px = ergo_axis_place(x, series->x[i]);
            const double vx = plot->x_zero > 0 && !(series->x[i] > plot->x_zero) ? 0 : series->x[i];
            const double py = ergo_axis_place(y, series->y[i]);
            const double error = series->error ? series->error[i] : NAN;
            ergo_text_append(text,
                             "<g class=\"h\"><circle cx=\"%.1f\" cy=\"%.1f\" r=\"6\"/>"
                             "<text x=\"%.1f\" y=\"%.1f\">",
                             px, py, x->at0 + 8, y->at1 + 16);
            if (!plot->x_hidden) { /* of "r / A" and "temperature (J)" the name */
                snprintf(name, sizeof name, "%.*s", (int)strcspn(plot->x_name, "/("), plot->x_name);

                ergo_html_name(text, name, true);
                ergo_text_append(text, "%s= %s, ",
                                 *name && name[strlen(name) - 1] == ' ' ? "" : " ",
                                 ergo_format_short(at, vx, 6));
            }
            ergo_html_name(text, plot->y_name, true);
            ergo_text_append(text, " = %s",
                             series->error ? ergo_format_concise(value, series->y[i], error)
                                           : ergo_format_short(value, series->y[i], 6));
            ergo_text_append(text, "</text></g>");
        }
    }
}

/* Frame with ticks inwards on all four sides; labels left and, if asked for, below. */
static void draw_frame(struct ergo_text *text, const struct ergo_axis *x, const struct ergo_axis *y,
                       bool x_labels) {
    double left = x->at0, right = x->at1, bottom = y->at0, top = y->at1;
    ergo_text_append(text, "<path class=\"f\" d=\"M%.1f %.1fH%.1fV%.1fH%.1fz", left, top, right,
                     bottom, left);
    for (int i = 0; i < x->n_ticks; i++)
        ergo_text_append(text, "M%.1f %.1fv-5M%.1f %.1fv5", ergo_axis_place(x, x->ticks[i]), bottom,
                         ergo_axis_place(x, x->ticks[i]), top);
    for (int i = 0; i < x->n_minor; i++)
        ergo_text_append(text, "M%.1f %.1fv-2.5M%.1f %.1fv2.5", ergo_axis_place(x, x->minor[i]),
                         bottom, ergo_axis_place(x, x->minor[i]), top);
    for (int i = 0; i < y->n_ticks; i++)
        ergo_text_append(text, "M%.1f %.1fh5M%.1f %.1fh-5", left, ergo_axis_place(y, y->ticks[i]),
                         right, ergo_axis_place(y, y->ticks[i]));
    for (int i = 0; i < y->n_minor; i++)
        ergo_text_append(text, "M%.1f %.1fh2.5M%.1f %.1fh-2.5", left,
                         ergo_axis_place(y, y->minor[i]), right, ergo_axis_place(y, y->minor[i]));
    if (x->zero > 0) /* two strokes between 0 and the numbers: the axis is broken there */
        for (int k = 0; k < 2; k++)
            ergo_text_append(text, "M%.1f %.1fl3 -9",
                             ergo_axis_place(x, 1.41 * x->zero) + 3 * k - 3, bottom + 4.5);
    ergo_text_append(text, "\"/>");
    for (int i = 0; i < y->n_ticks; i++)
        ergo_text_append(text,
                         "<text class=\"n\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">%s</text>",
                         left - 6, ergo_axis_place(y, y->ticks[i]) + 4, y->labels[i]);
    for (int i = 0; i < x->n_ticks && x_labels; i++)
        ergo_text_append(text,
                         "<text class=\"n\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">%s</text>",
                         ergo_axis_place(x, x->ticks[i]), bottom + 16, x->labels[i]);
}

/* "energy (10⁻³ J per site)" */
static void append_label(struct ergo_text *text, const char *name, const char *unit, int exponent) {
    char power[ERGO_AXIS_LABEL];
    bool has_unit = unit && *unit;
    ergo_html_name(text, name, true);
    if (exponent) {
        ergo_axis_append_superscript(power, sizeof power, exponent);
        ergo_text_append(text, " (10%s%s", power, has_unit ? " " : "");
    } else if (has_unit) {
        ergo_text_append(text, " (");
    }
    if (has_unit)
        ergo_html_name(text, unit, true);
    if (exponent || has_unit)
        ergo_text_append(text, ")");
}

/* A long label is set smaller rather than beyond its axis. */
static double label_size(const char *name, const char *unit, double room) {
    double letters = (double)(strlen(name) + strlen(unit ? unit : "") + 3);
    return fmax(8.5, fmin(13.5, room / (0.55 * letters)));
}

static double largest_z(const struct ergo_plot *plot, bool *any) {
    double largest = 0;
    *any = false;
    for (size_t s = 0; s < plot->n_series; s++) {
        for (size_t i = 0; plot->series[s].z && i < plot->series[s].n; i++) {
            if (!isfinite(plot->series[s].z[i]))
                continue;
            largest = fmax(largest, fabs(plot->series[s].z[i]));
            *any = true;
        }
    }
    return largest;
}

static void draw_residuals(struct ergo_text *text, const struct ergo_plot *plot,
                           const struct ergo_axis *x, double top, double largest) {
    struct ergo_axis z = {.at0 = top + residual_height, .at1 = top};
    z.max = fmin(fmax(3.2, largest * 1.15), 12);
    z.min = -z.max;
    double tick = z.max > 7 ? 5 : z.max > 4.2 ? 3 : 2; /* not closer than their labels are high */
    char label[ERGO_AXIS_LABEL];
    for (int k = -1; k <= 1; k++) {
        snprintf(label, sizeof label, "%g", k * tick);
        ergo_axis_add_tick(&z, k * tick, label);
    }
    ergo_text_append(text,
                     "<rect class=\"b\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>"
                     "<path class=\"z0\" d=\"M%.1f %.1fH%.1f\"/><path class=\"z1\" d=\"",
                     x->at0, ergo_axis_place(&z, 1), x->at1 - x->at0,
                     ergo_axis_place(&z, -1) - ergo_axis_place(&z, 1), x->at0,
                     ergo_axis_place(&z, 0), x->at1);
    for (int k = -2; k <= 2; k++)
        if (k)
            ergo_text_append(text, "M%.1f %.1fH%.1f", x->at0, ergo_axis_place(&z, k), x->at1);
    ergo_text_append(text, "\"/>");
    for (size_t s = 0; s < plot->n_series; s++) {
        const struct ergo_plot_series *series = &plot->series[s];
        double r = series->n > 80 ? 1.6 : 2.2;
        for (size_t i = 0; series->z && i < series->n; i++) {
            if (!isfinite(series->z[i]) || isnan(ergo_axis_shown(x->log, series->x[i])))
                continue;
            double clamped = fmax(z.min, fmin(z.max, series->z[i])); /* beyond: on the frame */
            draw_mark(text, series->color, ergo_axis_place(x, series->x[i]),
                      ergo_axis_place(&z, clamped), r);
        }
    }
    draw_frame(text, x, &z, true);
    ergo_text_append(text,
                     "<text class=\"n\" text-anchor=\"middle\" transform=\"translate(13 %.1f) "
                     "rotate(-90)\">z</text>",
                     (z.at0 + z.at1) / 2);
}

/* Room for tick labels, in digits of 6.4 units. */
static double label_width(const struct ergo_axis *axis) {
    size_t longest = 2;
    for (int i = 0; i < axis->n_ticks; i++) {
        size_t letters = 0;
        for (const char *p = axis->labels[i]; *p; p++)
            letters += (*p & 0xc0) != 0x80;
        longest = letters > longest ? letters : longest;
    }
    return 6.7 * (double)longest;
}

bool ergo_svg_plot(struct ergo_text *text, const struct ergo_plot *plot) {
    struct ergo_axis x = {.log = plot->x_log, .zero = plot->x_zero, .integer = plot->x_integer};
    struct ergo_axis y = {.log = plot->y_log};
    bool residuals;
    double z_largest = largest_z(plot, &residuals);
    if (!find_ranges(plot, &x, &y))
        return false;
    double height = plot->height > 0 ? plot->height : usual_height;
    y.at1 = margin_top;
    y.at0 = margin_top + height;
    double bottom = y.at0 + (residuals ? residual_gap + residual_height : 0);
    ergo_axis_make_ticks(&y, 5);
    x.at0 = 30 + label_width(&y);
    x.at1 = plot_width - margin_right;
    if (!plot->x_hidden)
        ergo_axis_make_ticks(&x, 6);

    ergo_text_append(text, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", plot_width,
                     bottom + (plot->x_hidden ? 8 : margin_bottom));
    ergo_html_escape(text, plot->alt);
    ergo_text_append(text, "\">");
    if (isfinite(plot->shade)) {
        double end = fmin(fmax(ergo_axis_place(&x, plot->shade), x.at0), x.at1);
        ergo_text_append(text,
                         "<rect class=\"q\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                         x.at0, y.at1, end - x.at0, height);
        if (end - x.at0 > 84 && plot->shade_label) {
            ergo_text_append(text, "<text class=\"n\" x=\"%.1f\" y=\"%.1f\">", x.at0 + 7,
                             y.at1 + 16);
            ergo_html_escape(text, plot->shade_label);
            ergo_text_append(text, "</text>");
        }
    }
    /* theory over the markers: where they agree, the line shows through the middle of them */
    for (int layer = 0; layer < 2; layer++)
        for (size_t s = 0; s < plot->n_series; s++)
            if ((plot->series[s].mark == ERGO_MARK_LINE) == (layer == 1))
                draw_series(text, &plot->series[s], &x, &y);
    draw_frame(text, &x, &y, !residuals);
    if (residuals)
        draw_residuals(text, plot, &x, y.at0 + residual_gap, z_largest);
    if (!plot->x_hidden) {
        ergo_text_append(text, "<text class=\"x\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">",
                         (x.at0 + x.at1) / 2, bottom + 38);
        append_label(text, plot->x_name, plot->x_unit, x.exponent);
        ergo_text_append(text, "</text>");
    }
    ergo_text_append(text,
                     "<text class=\"x\" style=\"font-size:%.1fpx\" text-anchor=\"middle\" "
                     "transform=\"translate(14 %.1f) rotate(-90)\">",
                     label_size(plot->y_name, plot->y_unit, height + 8), (y.at0 + y.at1) / 2);
    append_label(text, plot->y_name, plot->y_unit, y.exponent);
    ergo_text_append(text, "</text>");
    draw_numbers(text, plot, &x, &y);
    ergo_text_append(text, "</svg>\n");
    return true;
}

static bool is_theory(enum ergo_mark mark) {
    return mark == ERGO_MARK_LINE || mark == ERGO_MARK_TICK;
}

static void append_swatch_marks(struct ergo_text *text, const struct ergo_plot_series *series) {
    if (series->mark == ERGO_MARK_POINTS) {
        if (series->error)
            ergo_text_append(text, "<path class=\"e c%u\" d=\"M11 1v10\"/>", series->color);
        draw_mark(text, series->color, 11, 6, 3);
        return;
    }
    const bool theory = is_theory(series->mark); /* one swatch for the lines of all colours */
    ergo_text_append(text, "<path class=\"%c c%u\" d=\"M1 6h20\"/>", theory ? 'l' : 'k',
                     theory ? (unsigned)ERGO_INK : series->color);
}

static void append_swatch(struct ergo_text *text, const struct ergo_plot_series *series) {
    ergo_text_append(text, "<span><svg viewBox=\"0 0 22 12\" class=\"key\" aria-hidden=\"true\">");
    append_swatch_marks(text, series);
    ergo_text_append(text, "</svg>");
    ergo_html_escape(text, series->label);
    ergo_text_append(text, "</span>\n");
}

void ergo_svg_file(struct ergo_text *text, const struct ergo_plot *plot, const char *name) {
    enum { HEAD = 26, ROW = 17, EDGE = 10 };
    struct ergo_plot still = *plot;
    struct ergo_text drawing = {0}, legend = {0};
    double height = 0;
    int rows = 0;
    still.still = true;
    if (!ergo_svg_plot(&drawing, &still) || drawing.failed ||
        sscanf(drawing.data, "<svg viewBox=\"0 0 %*f %lf", &height) != 1)
        height = 0;
    for (size_t s = 0; s < plot->n_series; s++) {
        if (!plot->series[s].label)
            continue;
        ergo_text_append(&legend, "<g transform=\"translate(%d %d)\">", EDGE + 4,
                         HEAD + EDGE + ROW * rows++);
        append_swatch_marks(&legend, &plot->series[s]);
        ergo_text_append(&legend, "<text class=\"n\" x=\"28\" y=\"10\">");
        ergo_html_escape(&legend, plot->series[s].label);
        ergo_text_append(&legend, "</text></g>");
    }
    const int top = HEAD + EDGE + ROW * rows;
    ergo_text_append(text,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
                     "width=\"%.0f\" height=\"%.0f\"><style>%s</style>"
                     "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>"
                     "<text class=\"x\" x=\"%d\" y=\"%d\" font-weight=\"600\">",
                     plot_width + 2 * EDGE, top + height + EDGE, 1.5 * (plot_width + 2 * EDGE),
                     1.5 * (top + height + EDGE), ergo_svg_file_style, EDGE + 4, EDGE + 14);
    ergo_html_name(text, name, true);
    ergo_text_append(text, "</text>");
    ergo_text_append_bytes(text, legend.data, legend.length);
    if (height > 0)
        ergo_text_append(text, "<svg x=\"%d\" y=\"%d\" width=\"%.0f\" height=\"%.0f\"%s", EDGE, top,
                         plot_width, height, drawing.data + 4);
    ergo_text_append(text, "</svg>\n");
    text->failed |= drawing.failed || legend.failed;
    ergo_text_free(&drawing);
    ergo_text_free(&legend);
}

void ergo_svg_legend(struct ergo_text *text, const struct ergo_plot *plot) {
    size_t labelled = 0;
    for (size_t s = 0; s < plot->n_series; s++)
        labelled += plot->series[s].label != NULL;
    if (!labelled)
        return;
    ergo_text_append(text, "<p class=\"legend\">");
    for (int theory = 0; theory < 2; theory++) /* theory last */
        for (size_t s = 0; s < plot->n_series; s++)
            if (plot->series[s].label && is_theory(plot->series[s].mark) == (theory == 1))
                append_swatch(text, &plot->series[s]);
    ergo_text_append(text, "</p>\n");
}
