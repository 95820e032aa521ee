/* Sections of report.html. Internal to src/io. */
#ifndef ERGO_IO_REPORT_H
#define ERGO_IO_REPORT_H

#include "io/svg.h"

extern const char ergo_report_style[]; /* CSS */

/* A section each; nothing is appended where there is nothing to show. */
enum ergo_status ergo_report_observables(struct ergo_context *ctx, struct ergo_text *text,
                                         const struct ergo_result *result);
enum ergo_status ergo_report_curves(struct ergo_context *ctx, struct ergo_text *text,
                                    const struct ergo_result *result);
enum ergo_status ergo_report_traces(struct ergo_context *ctx, struct ergo_text *text,
                                    const struct ergo_result *result);

/* "temperature 2.25, replica 1"; "" for a job of one point. */
void ergo_report_label(char *label, size_t size, const struct ergo_result *result,
                       const struct ergo_member_result *member);
/* Up to `limit` members of replica 0 spread evenly over the scan. */
size_t ergo_report_members(const struct ergo_result *result, size_t limit, size_t *members);

#endif
