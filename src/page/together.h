/* One page of several runs. Internal to src/report. */
#ifndef ERGO_REPORT_REPORT_H
#define ERGO_REPORT_REPORT_H

#include "page/page.h"

/* Figures of all runs of a sampler that has several: observables against the number in which the
 * runs differ most. */
enum ergo_status ergo_report_together(struct ergo_context *ctx, struct ergo_text *text,
                                      struct ergo_result *const *results,
                                      const char *const *directories, size_t count);

#endif
