/* Sections of report.html. Internal to src/page. */
#ifndef ERGO_PAGE_SECTIONS_H
#define ERGO_PAGE_SECTIONS_H

#include "page/svg.h"

extern const char ergo_report_style[], ergo_report_style_drawings[]; /* CSS */

/* Each appends a section, or nothing where there is nothing to show. */
enum ergo_status ergo_report_observables(struct ergo_context *ctx, struct ergo_text *text,
                                         const struct ergo_result *result);
enum ergo_status ergo_report_curves(struct ergo_context *ctx, struct ergo_text *text,
                                    const struct ergo_result *result);
enum ergo_status ergo_report_traces(struct ergo_context *ctx, struct ergo_text *text,
                                    const struct ergo_result *result);

/* figure.c: a plot with its name, a few words under it (NULL: none) and its legend; nothing
 * where nothing can be drawn. */
void ergo_report_figure(struct ergo_text *text, const struct ergo_plot *plot, const char *name,
                        const char *small);
/* Should these numbers have a logarithmic axis, because they grow by factors (1, 2, 4, ...)? Sorts
 * them. *zero: if 0 is one of them, the place where it is drawn; else 0. */
bool ergo_report_goes_in_factors(double *numbers, size_t n, double *zero);
/* Mean of observable `o`; NAN where the value is not what its name says (a correlation length
 * longer than the lattice). */
double ergo_report_mean(const struct ergo_member_result *member, size_t o);

/* distributions.c: autocorrelation functions and histograms. */
enum ergo_status ergo_report_distributions(struct ergo_context *ctx, struct ergo_text *text,
                                           const struct ergo_result *result);
/* Number of samples after equilibration; and the samples of an observable, malloc'ed (NULL: out of
 * memory, or it is not made of single samples). */
size_t ergo_report_measured(const struct ergo_member_result *member);
double *ergo_report_series(const struct ergo_result *result,
                           const struct ergo_member_result *member, size_t o);

/* parameters.c: the values of all keys that mean something. */
void ergo_report_parameters(struct ergo_text *text, const struct ergo_result *result);

/* page.c: a page's begin (to the first heading), all of a run, and its end. */
void ergo_report_begin(struct ergo_text *text, const char *title);
enum ergo_status ergo_report_run(struct ergo_context *ctx, struct ergo_text *text,
                                 const struct ergo_result *result);
void ergo_report_end(struct ergo_text *text);
/* A name and its value in a list of facts; nothing when value is empty. `class` is an attribute, or
 * "". */
void ergo_report_fact(struct ergo_text *text, const char *name, const char *value,
                      const char *class);
/* "3.36 billion spin updates per second". */
void ergo_report_rate(char *out, size_t size, double rate, const char *unit);

/* "temperature 2.25, replica 1"; "" for a job of one point. */
void ergo_report_label(char *label, size_t size, const struct ergo_result *result,
                       const struct ergo_member_result *member);
/* A name as words: "packing_fraction" to "packing fraction". */
void ergo_report_words(char *name);
/* Up to `limit` members of replica 0 spread evenly over the scan. */
size_t ergo_report_members(const struct ergo_result *result, size_t limit, size_t *members);

#endif
