/* Sections of report.html. Internal to src/page. */
#ifndef ERGO_PAGE_SECTIONS_H
#define ERGO_PAGE_SECTIONS_H

#include "page/svg.h"

extern const char ergo_report_style[], ergo_report_style_drawings[], /* CSS */
    ergo_svg_file_style[]; /* of a drawing by itself, which not every program reads variables in */

/* What a reader wants of an observable: what the run is for, whether it went well, or a power of a
 * sample that others are made of. */
enum ergo_report_kind { ERGO_REPORT_RESULT, ERGO_REPORT_CHECK, ERGO_REPORT_MOMENT };
enum ergo_report_kind ergo_report_kind(const struct ergo_observable *observable);

/* Each appends a section, or nothing where there is nothing to show. */
enum ergo_status ergo_report_observables(struct ergo_context *ctx, struct ergo_text *text,
                                         const struct ergo_result *result,
                                         enum ergo_report_kind kind);
enum ergo_status ergo_report_curves(struct ergo_context *ctx, struct ergo_text *text,
                                    const struct ergo_result *result);
/* maps.c: a curve that is a square grid, as maps of a few points. */
enum ergo_status ergo_report_map(struct ergo_context *ctx, struct ergo_text *text,
                                 const struct ergo_result *result, size_t c);
/* points.c: one point at a time, chosen from a list: configuration, time series, histogram. */
enum ergo_status ergo_report_points(struct ergo_context *ctx, struct ergo_text *text,
                                    const struct ergo_result *result);

/* names.c: the sign that papers have for an observable or a curve; NULL: none. The sign or the
 * name, for an axis. */
const char *ergo_report_symbol(const char *name);
const char *ergo_report_axis_name(const char *name);
/* Of a key by its pointer: "T", "L" where all sides are the same, else words. */
void ergo_report_key_name(char name[ERGO_CONCISE], const struct ergo_result *result,
                          const char *pointer);
/* Has each point sides of one length? */
bool ergo_report_same_sides(const struct ergo_result *result);
/* "L = 8, T = 2.3": the scanned numbers of a point without number `axis` (SIZE_MAX: all). */
void ergo_report_scanned(char *label, size_t size, const struct ergo_result *result,
                         const struct ergo_point *point, size_t axis);

/* save.c: links to a figure's numbers and drawing. */
void ergo_report_save(struct ergo_text *text, const struct ergo_plot *plot, const char *name);
/* A picture, as an image in the page itself: "KIND, LABEL" for those who do not see it. */
enum ergo_status ergo_report_image(struct ergo_context *ctx, struct ergo_text *text,
                                   const struct ergo_picture *picture, const char *kind,
                                   const char *label);

/* A figure in pieces: its begin with name and sign (and `aside`, markup), and, after a few words of
 * the caller's, all the rest. */
void ergo_report_caption(struct ergo_text *text, const char *name, const char *aside);
void ergo_report_drawing(struct ergo_text *text, const struct ergo_plot *plot, const char *name,
                         const struct ergo_text *drawing);
/* figure.c: a plot with its name, a few words under it (NULL: none) and its legend; nothing
 * where nothing can be drawn. */
void ergo_report_figure(struct ergo_text *text, const struct ergo_plot *plot, const char *name,
                        const char *small);
/* figure.c: a part of the page with figures, which are freed; nothing where there are none. words:
 * a sentence below its head, HTML; NULL: none. */
void ergo_report_section(struct ergo_text *text, const char *head, const char *words,
                         struct ergo_text *figures);
/* Should these numbers have a logarithmic axis, because they grow by factors (1, 2, 4, ...)? Sorts
 * them. *zero: if 0 is one of them, the place where it is drawn; else 0. */
bool ergo_report_goes_in_factors(double *numbers, size_t n, double *zero);
/* What figures draw: the points of a scan, or means over replicas where there are several. */
struct ergo_report_item {
    const struct ergo_point *point; /* a mean's: that of its first replica */
    const struct ergo_observable_result *observables;
};
size_t ergo_report_items(const struct ergo_result *result);
struct ergo_report_item ergo_report_item(const struct ergo_result *result, size_t i);
/* Mean of observable `o`; NAN where the value is not what its name says (a correlation length
 * longer than the lattice). */
double ergo_report_mean(struct ergo_report_item item, size_t o);

/* distributions.c: autocorrelation functions and histograms. */
enum ergo_status ergo_report_distributions(struct ergo_context *ctx, struct ergo_text *text,
                                           const struct ergo_result *result);
/* The same of a single member: its histogram of what is told first. */
enum ergo_status ergo_report_histogram(struct ergo_context *ctx, struct ergo_text *text,
                                       const struct ergo_result *result, size_t member);

/* parameters.c: the values of all keys that mean something. */
void ergo_report_parameters(struct ergo_text *text, const struct ergo_result *result);

/* page.c: a page's begin (to the first heading), all of a run, and its end. */
void ergo_report_begin(struct ergo_text *text, const char *title);
enum ergo_status ergo_report_run(struct ergo_context *ctx, struct ergo_text *text,
                                 const struct ergo_result *result);
void ergo_report_end(struct ergo_text *text);
/* "3.36 billion spin updates per second". */
void ergo_report_rate(char *out, size_t size, double rate, const char *unit);

/* "T = 2.25, replica 1"; "" for a job of one point. */
void ergo_report_label(char *label, size_t size, const struct ergo_result *result,
                       const struct ergo_member_result *member);
/* Why an error is not trusted: "energy: too short"; nothing where it is. */
void ergo_report_why(struct ergo_text *text, enum ergo_trust trust,
                     const struct ergo_observable *because);
/* A name as words: "packing_fraction" to "packing fraction". */
void ergo_report_words(char *name);
/* Up to `limit` members of replica 0 spread evenly over the scan. */
size_t ergo_report_members(const struct ergo_result *result, size_t limit, size_t *members);

#endif
