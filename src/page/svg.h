/* Plots as inline SVG, styled by the classes of style.c. Internal to src/page. */
#ifndef ERGO_PAGE_SVG_H
#define ERGO_PAGE_SVG_H

#include "result/format.h"

enum ergo_mark {
    ERGO_MARK_POINTS,  /* markers with error bars */
    ERGO_MARK_LINE,    /* thin line: theory */
    ERGO_MARK_TICK,    /* short horizontal bars: theory at single points */
    ERGO_MARK_CURVE,   /* coloured line with its error as a band */
    ERGO_MARK_OUTLINE, /* coloured line without markers: a histogram */
    ERGO_MARK_TRACE,   /* fine coloured line: a time series; long ones are thinned to their envelope
                        */
};

enum { ERGO_INK = 8 }; /* the colour of text */

struct ergo_plot_series {
    enum ergo_mark mark;
    unsigned color;    /* 0..7 */
    const char *label; /* legend; NULL: not in the legend */
    size_t n;
    const double *x, *y;
    const double *error; /* NULL: none */
    const double *z;     /* NULL: none; any: a residual panel below */
    bool guide;          /* POINTS: with a line from point to point, for the eye */
};

struct ergo_plot {
    const char *alt; /* what it shows, for screen readers */
    const char *x_name, *x_unit, *y_name, *y_unit;
    bool x_log, y_log;
    bool x_integer; /* no ticks between whole numbers */
    bool x_hidden;  /* no x axis: a single point */
    double x_zero;  /* x_log: where what stands for 0 is drawn, behind a break; 0: nothing does */
    double shade;   /* x up to which the plot is shaded; NAN: none */
    const char *shade_label;
    double height; /* of the main panel; 0: the usual */
    bool still;    /* without the numbers that a pointer brings up */
    size_t n_series;
    const struct ergo_plot_series *series;
};

/* Nothing is appended (false) when there is no finite point to show. */
bool ergo_svg_plot(struct ergo_text *text, const struct ergo_plot *plot);

/* The same as a file that stands by itself, with its legend, on white paper. */
void ergo_svg_file(struct ergo_text *text, const struct ergo_plot *plot, const char *name);

/* HTML: swatches and labels of the plot's series. */
void ergo_svg_legend(struct ergo_text *text, const struct ergo_plot *plot);

#endif
