/* What people look at: the page of a run and its pictures. */
#ifndef ERGO_PAGE_PAGE_H
#define ERGO_PAGE_PAGE_H

#include "result/result.h"

/* DIR/report.html; DIR/configurations.png and DIR/snapshots. */
enum ergo_status ergo_page_write(struct ergo_context *ctx, const struct ergo_folder *folder,
                                 const struct ergo_result *result);
enum ergo_status ergo_page_write_pictures(struct ergo_context *ctx,
                                          const struct ergo_folder *folder,
                                          const struct ergo_result *result);

/* PNG of a picture in memory (for data: URLs). */
enum ergo_status ergo_png_encode(struct ergo_context *ctx, const struct ergo_picture *picture,
                                 struct ergo_text *png);

#endif
