/* One page of several runs. Internal to src/page. */
#ifndef ERGO_PAGE_TOGETHER_H
#define ERGO_PAGE_TOGETHER_H

#include "page/sections.h"

/* Figures of all runs of a sampler that has several: observables against the number in which the
 * runs differ most. */
enum ergo_status ergo_report_together(struct ergo_context *ctx, struct ergo_text *text,
                                      struct ergo_result *const *results,
                                      const char *const *directories, size_t count);

#endif
