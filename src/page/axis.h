/* An axis of a plot: its range, its ticks, and where a value is on it. */
#ifndef ERGO_PAGE_AXIS_H
#define ERGO_PAGE_AXIS_H

#include <stdbool.h>
#include <stddef.h>

enum { ERGO_AXIS_TICKS = 24, ERGO_AXIS_LABEL = 24 };

struct ergo_axis {
    double min, max; /* of the values shown; log10 of them when log */
    double at0, at1; /* where min and max are in the drawing */
    bool log, integer;
    double zero;  /* log: what is drawn for 0; 0: nothing */
    int exponent; /* labels are values / 10^exponent */
    int n_ticks, n_minor;
    double ticks[ERGO_AXIS_TICKS], minor[4 * ERGO_AXIS_TICKS];
    char labels[ERGO_AXIS_TICKS][ERGO_AXIS_LABEL];
};

/* Where on the drawing, or just outside of it: a number in any case, as an attribute has to be. */
double ergo_axis_place(const struct ergo_axis *axis, double value);
/* The value, or its logarithm. */
double ergo_axis_shown(bool is_log, double value);
/* Ticks and their labels; of a linear axis `wanted`, roughly. */
void ergo_axis_make_ticks(struct ergo_axis *axis, int wanted);
void ergo_axis_add_tick(struct ergo_axis *axis, double value, const char *label);
/* n in raised digits behind a text in `out`. */
void ergo_axis_append_superscript(char *out, size_t size, int n);

#endif
