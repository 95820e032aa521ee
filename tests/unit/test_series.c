/* Arrays of series.h5, whose chunks we make ourselves: HDF5's own filters read them back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/hdf5.h"

/* Row r of the real arrays ends at `have`, or is empty. */
struct made {
    size_t have;
    size_t blank_from; /* rows without any number */
};

static double real_at(size_t row, size_t i) {
    return (double)(row * 1000003 + i * 7919 % 65521) / 3;
}

static uint64_t count_at(size_t row, size_t i) {
    return (uint64_t)row << 40 | i * 10;
}

static void fill_real(const void *from, size_t row, size_t begin, size_t count, void *to) {
    const struct made *made = from;
    double *values = to;
    for (size_t i = 0; i < count; i++)
        values[i] =
            begin + i < made->have && row < made->blank_from ? real_at(row, begin + i) : NAN;
}

static void fill_count(const void *from, size_t row, size_t begin, size_t count, void *to) {
    uint64_t *values = to;
    (void)from;
    for (size_t i = 0; i < count; i++)
        values[i] = count_at(row, begin + i);
}

static void fill_text(const void *from, size_t row, size_t begin, size_t count, void *to) {
    (void)from;
    (void)row;
    for (size_t i = 0; i < count; i++) {
        char text[ERGO_ARRAY_TEXT + 1];
        snprintf(text, sizeof text, "%016zx", (begin + i) * 2654435761u);
        memcpy((char *)to + i * ERGO_ARRAY_TEXT, text, ERGO_ARRAY_TEXT);
    }
}

static hid_t file;

/* Reads all of a dataset, and says how many bytes it has in the file. */
static void *read_back(const char *name, hid_t type, size_t rows, size_t columns, size_t element,
                       hsize_t *stored) {
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
    hsize_t shape[2] = {0, 0};
    assert_int_equal(H5Sget_simple_extent_dims(space, shape, NULL), rows ? 2 : 1);
    assert_int_equal(shape[0], rows ? rows : columns);
    assert_true(!rows || shape[1] == columns);
    void *data = calloc((rows ? rows : 1) * columns + 1, element);
    assert_non_null(data);
    assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    *stored = H5Dget_storage_size(set);
    H5Sclose(space);
    H5Dclose(set);
    return data;
}

static void write_array(const char *name, const struct ergo_array *array) {
    hid_t set = ergo_array_write(file, name, H5P_DEFAULT, array);
    assert_true(set >= 0);
    H5Dclose(set);
}

/* Every shape that chunks are made for: short, a row of several, many rows in one, several with
 * some beyond the array, and rows that end early or have nothing. */
static void arrays_are_read_back(void **state) {
    static const struct {
        size_t rows, columns, have, blank_from;
    } all[] = {{0, 0, 0, 9},           {0, 5, 5, 9},         {0, 70001, 70001, 9},
               {3, 4, 4, 9},           {10007, 4, 4, 99999}, {5, 131073, 131073, 99},
               {33, 40001, 39999, 99}, {200, 3000, 7, 30}};
    (void)state;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        const size_t rows = all[k].rows, columns = all[k].columns;
        const struct made made = {all[k].have, all[k].blank_from};
        char name[32];
        hsize_t stored = 0;
        snprintf(name, sizeof name, "real%zu", k);
        write_array(name, &(struct ergo_array){ERGO_ARRAY_REAL, rows, columns, fill_real, &made});
        double *reals = read_back(name, H5T_NATIVE_DOUBLE, rows, columns, 8, &stored);
        for (size_t r = 0; r < (rows ? rows : 1); r++)
            for (size_t i = 0; i < columns; i++) {
                const double found = reals[r * columns + i];
                if (i < made.have && r < made.blank_from ? found != real_at(r, i) : !isnan(found))
                    fail_msg("%s[%zu, %zu] is %g", name, r, i, found);
            }
        free(reals);
        snprintf(name, sizeof name, "count%zu", k);
        write_array(name, &(struct ergo_array){ERGO_ARRAY_COUNT, rows, columns, fill_count, NULL});
        uint64_t *counts = read_back(name, H5T_NATIVE_UINT64, rows, columns, 8, &stored);
        for (size_t r = 0; r < (rows ? rows : 1); r++)
            for (size_t i = 0; i < columns; i++)
                if (counts[r * columns + i] != count_at(r, i))
                    fail_msg("%s[%zu, %zu] is %llu", name, r, i,
                             (unsigned long long)counts[r * columns + i]);
        free(counts);
        if (rows * columns > 100000) /* counters that go up have almost nothing in them */
            assert_true(stored < rows * columns * 8 / 20);
    }
}

static void nothing_takes_no_room(void **state) {
    const struct made none = {0, 0};
    hsize_t stored = 1;
    (void)state;
    write_array("none", &(struct ergo_array){ERGO_ARRAY_REAL, 10000, 100, fill_real, &none});
    double *reals = read_back("none", H5T_NATIVE_DOUBLE, 10000, 100, 8, &stored);
    for (size_t i = 0; i < 1000000; i++)
        if (!isnan(reals[i]))
            fail_msg("%zu is %g", i, reals[i]);
    assert_int_equal(stored, 0);
    free(reals);
}

static void texts_are_read_back(void **state) {
    static const size_t counts[] = {3, 10000};
    hid_t type = H5Tcopy(H5T_C_S1);
    (void)state;
    H5Tset_size(type, ERGO_ARRAY_TEXT);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    for (size_t k = 0; k < 2; k++) {
        const size_t n = counts[k];
        const char *name = k ? "texts" : "few texts";
        hsize_t stored = 0;
        write_array(name, &(struct ergo_array){ERGO_ARRAY_TEXTS, 0, n, fill_text, NULL});
        char *texts = read_back(name, type, 0, n, ERGO_ARRAY_TEXT, &stored);
        char *wanted = malloc(n * ERGO_ARRAY_TEXT);
        fill_text(NULL, 0, 0, n, wanted);
        assert_memory_equal(texts, wanted, n * ERGO_ARRAY_TEXT);
        free(wanted);
        free(texts);
    }
    H5Tclose(type);
}

/* A bit that flips in a chunk is found by HDF5's own check of our sum. */
static void damage_is_found(void **state) {
    const struct made made = {70001, 9};
    const hsize_t at[1] = {0};
    uint32_t filters = 0;
    hsize_t length = 0;
    (void)state;
    write_array("hurt", &(struct ergo_array){ERGO_ARRAY_REAL, 0, 70001, fill_real, &made});
    hid_t set = H5Dopen2(file, "hurt", H5P_DEFAULT);
    assert_true(H5Dget_chunk_storage_size(set, at, &length) >= 0);
    uint8_t *chunk = malloc(length);
    assert_true(H5Dread_chunk(set, H5P_DEFAULT, at, &filters, chunk) >= 0);
    chunk[length / 2] ^= 16;
    assert_true(H5Dwrite_chunk(set, H5P_DEFAULT, 0, at, length, chunk) >= 0);
    double *reals = malloc(70001 * sizeof *reals);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, reals) < 0);
    free(reals);
    free(chunk);
    H5Dclose(set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_read_back),
        cmocka_unit_test(nothing_takes_no_room),
        cmocka_unit_test(texts_are_read_back),
        cmocka_unit_test(damage_is_found),
    };
    file = ergo_hdf5_create(1 << 20);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
