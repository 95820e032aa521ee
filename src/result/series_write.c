/* What is written to series.h5, piece by piece: attributes, groups, arrays with their dimensions.
 */
#include "result/series.h"

void ergo_series_begin(struct ergo_series_writer *w) {
    w->string = H5Tcopy(H5T_C_S1);
    w->links = H5Pcreate(H5P_LINK_CREATE);
    w->failed = w->string < 0 || w->links < 0 || H5Tset_size(w->string, H5T_VARIABLE) < 0 ||
                H5Tset_cset(w->string, H5T_CSET_UTF8) < 0 ||
                H5Pset_create_intermediate_group(w->links, 1) < 0;
}

bool ergo_series_end(struct ergo_series_writer *w) {
    if (w->links >= 0)
        H5Pclose(w->links);
    if (w->string >= 0)
        H5Tclose(w->string);
    return w->file < 0 || H5Fclose(w->file) >= 0;
}

static void put_scalar(struct ergo_series_writer *w, hid_t object, const char *name, hid_t stored,
                       hid_t given, const void *value) {
    if (w->failed)
        return;
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t at = space < 0 ? -1 : H5Acreate2(object, name, stored, space, H5P_DEFAULT, H5P_DEFAULT);
    w->failed = at < 0 || H5Awrite(at, given, value) < 0;
    if (at >= 0)
        H5Aclose(at);
    if (space >= 0)
        H5Sclose(space);
}

void ergo_series_attribute(struct ergo_series_writer *w, hid_t object, const char *name,
                           const char *value) {
    const char *text = value ? value : "";
    put_scalar(w, object, name, w->string, w->string, &text);
}

void ergo_series_number(struct ergo_series_writer *w, hid_t object, const char *name,
                        double value) {
    put_scalar(w, object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

hid_t ergo_series_open_group(struct ergo_series_writer *w, hid_t at, const char *name) {
    if (w->failed)
        return -1;
    hid_t group = H5Gcreate2(at, name, w->links, H5P_DEFAULT, H5P_DEFAULT);
    w->failed = group < 0;
    return group;
}

void ergo_series_close_group(struct ergo_series_writer *w, hid_t group) {
    if (group >= 0 && H5Gclose(group) < 0)
        w->failed = true;
}

hid_t ergo_series_open(struct ergo_series_writer *w, hid_t at, const char *name,
                       const struct ergo_array *array, const char *unit, const char *help) {
    if (w->failed)
        return -1;
    hid_t set = ergo_array_write(at, name, w->links, array);
    w->failed = set < 0;
    if (unit)
        ergo_series_attribute(w, set, "unit", unit);
    if (help)
        ergo_series_attribute(w, set, "description", help);
    return set;
}

void ergo_series_close(struct ergo_series_writer *w, hid_t set) {
    if (set >= 0 && H5Dclose(set) < 0)
        w->failed = true;
}

void ergo_series_make_scale(struct ergo_series_writer *w, hid_t set, const char *name) {
    w->failed = w->failed || H5DSset_scale(set, name) < 0;
}

/* Names a dimension, and tells its scale; -1: none. */
static void name_dimension(struct ergo_series_writer *w, hid_t set, unsigned dimension,
                           const char *name, hid_t scale) {
    w->failed = w->failed || H5DSset_label(set, dimension, name) < 0 ||
                (scale >= 0 && H5DSattach_scale(set, scale, dimension) < 0);
}

/* The first dimension of most arrays: the points, with the parameters as scales. */
static void name_points(struct ergo_series_writer *w, hid_t set) {
    name_dimension(w, set, 0, "points", -1);
    for (size_t i = 0; i < w->n_scales; i++)
        name_dimension(w, set, 0, "points", w->scales[i]);
}

void ergo_series_dataset(struct ergo_series_writer *w, hid_t at, const char *name,
                         const struct ergo_array *array, const char *unit, const char *help,
                         const char *along, hid_t scale) {
    hid_t set = ergo_series_open(w, at, name, array, unit, help);
    if (!w->failed && (array->rows || !along))
        name_points(w, set);
    if (!w->failed && along)
        name_dimension(w, set, array->rows ? 1 : 0, along, scale);
    ergo_series_close(w, set);
}
