/* Choosing and scaling pictures for people. Internal to src/page. */
#ifndef ERGO_PAGE_PICTURES_H
#define ERGO_PAGE_PICTURES_H

#include "page/page.h"
#include "result/format.h"

enum { ERGO_SHEET_MAX = 12 };

/* Up to `limit` members whose last picture has pixels, spread evenly over the scan; returns their
 * number. */
size_t ergo_picture_members(const struct ergo_result *result, size_t limit, size_t *members);
/* Scaled by a whole factor so that the longer side is >= smallest and <= largest pixels.
 * tile->rgb is malloc'ed; false: out of memory, or there are no pixels. */
bool ergo_picture_tile(const struct ergo_picture *from, unsigned smallest, unsigned largest,
                       struct ergo_picture *tile);

#endif
