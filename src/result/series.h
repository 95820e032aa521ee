/* series.h5, and configurations.h5, while they are written. Internal to src/result. */
#ifndef ERGO_RESULT_SERIES_H
#define ERGO_RESULT_SERIES_H

#include "result/hdf5.h"
#include "result/result.h"

/* After a failure `failed` is true, and all further calls do nothing. */
struct ergo_series_writer {
    hid_t scales[ERGO_SCAN_MAX + 1]; /* of the points: parameters, replica; open to the end */
    size_t n_scales;
    hid_t file;
    hid_t string; /* UTF-8 of variable length: h5py gives str */
    hid_t links;  /* property: makes missing groups */
    bool failed;
    const struct ergo_result *result;
};

/* What all files need; and away with it and the file. False: the file is not whole. */
void ergo_series_begin(struct ergo_series_writer *w);
bool ergo_series_end(struct ergo_series_writer *w);
void ergo_series_number(struct ergo_series_writer *w, hid_t object, const char *name, double value);
void ergo_series_attribute(struct ergo_series_writer *w, hid_t object, const char *name,
                           const char *value);
hid_t ergo_series_open_group(struct ergo_series_writer *w, hid_t at, const char *name);
void ergo_series_close_group(struct ergo_series_writer *w, hid_t group);
/* Writes an array, which the caller closes by ergo_series_close; `unit` and `help` may be NULL. */
hid_t ergo_series_open(struct ergo_series_writer *w, hid_t at, const char *name,
                       const struct ergo_array *array, const char *unit, const char *help);
void ergo_series_close(struct ergo_series_writer *w, hid_t set);
/* Makes an array the scale of dimensions. */
void ergo_series_make_scale(struct ergo_series_writer *w, hid_t set, const char *name);
/* An array [points], or, with `along`, [points, along] or [along] where the rows are shared; scale:
 * of `along`, -1: none. */
void ergo_series_dataset(struct ergo_series_writer *w, hid_t at, const char *name,
                         const struct ergo_array *array, const char *unit, const char *help,
                         const char *along, hid_t scale);

#endif
