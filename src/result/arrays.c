/*
 * Arrays in an HDF5 file. HDF5 is serial and deflates 155 MB/s, so chunks are made here, by all
 * cores: what its filters would make, which its readers undo.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/parallel.h"
#include "result/hdf5.h"

/* Shorter arrays are stored as they are: chunks and filters would cost more than they save. A chunk
 * of 512 KiB is several rows, or a part of one. WAVE of them are in memory at a time. */
enum { LEAST = 256, CHUNK = 65536, WAVE = 256, SUM = 4 };

struct chunks {
    const struct ergo_array *array;
    size_t element;       /* bytes */
    size_t rows, columns; /* of a chunk */
    size_t across;        /* chunks in a row of them */
    size_t first;         /* of this wave */
    struct chunk {
        uint8_t *data; /* owned; NULL: nothing but fill values */
        size_t length;
        bool failed;
    } wave[WAVE];
};

/* HDF5's checksum: Fletcher's over 16-bit words, high byte first. 360 of them do not overflow. */
static uint32_t fletcher32(const uint8_t *data, size_t length) {
    uint32_t one = 0, two = 0;
    for (size_t i = 0; i < length; i += 2) {
        one += (uint32_t)data[i] << 8 | (i + 1 < length ? data[i + 1] : 0);
        two += one;
        if (i % 720 == 718 || i + 2 >= length) {
            one = (one & 0xffff) + (one >> 16);
            two = (two & 0xffff) + (two >> 16);
        }
    }
    one = (one & 0xffff) + (one >> 16);
    two = (two & 0xffff) + (two >> 16);
    return two << 16 | one;
}

/* The first bytes of all elements, then the second ones, and so on. */
static void shuffle(uint8_t *to, const uint8_t *from, size_t elements, size_t element) {
    for (size_t b = 0; b < element; b++)
        for (size_t i = 0; i < elements; i++)
            to[b * elements + i] = from[i * element + b];
}

static bool is_blank(const struct ergo_array *array, const void *data, size_t elements) {
    const double *reals = data;
    for (size_t i = 0; i < elements; i++)
        if (array->kind != ERGO_ARRAY_REAL || !isnan(reals[i]))
            return false;
    return true;
}

/* The elements of a chunk; fill values where it reaches beyond the array. */
static void gather(const struct chunks *all, size_t row, size_t column, uint8_t *to) {
    const struct ergo_array *array = all->array;
    const size_t rows = array->rows ? array->rows : 1;
    const size_t rest = array->columns - column;
    const size_t count = rest < all->columns ? rest : all->columns;
    for (size_t r = 0; r < all->rows; r++) {
        uint8_t *at = to + r * all->columns * all->element;
        const size_t have = row + r < rows ? count : 0;
        if (have)
            array->fill(array->from, row + r, column, have, at);
        memset(at + have * all->element, 0, (all->columns - have) * all->element);
        for (size_t i = have; i < all->columns && array->kind == ERGO_ARRAY_REAL; i++)
            ((double *)(void *)at)[i] = NAN;
    }
}

/* Deflate 1: a factor 4.5 on series of a lattice model, level 6 for a sixth of the speed 5.1.
 * Shuffling bytes first helps counters, but costs lattice series a quarter (3.3), whose values
 * come from a small set of doubles. (h5py 3.7, one core, 24 x 24 Ising.) */
static void make_chunk(size_t i, void *user) {
    struct chunks *all = user;
    struct chunk *chunk = &all->wave[i];
    const size_t number = all->first + i, elements = all->rows * all->columns;
    const size_t bytes = elements * all->element;
    uLongf length = compressBound((uLong)bytes);
    uint8_t *raw = malloc(2 * bytes), *data = malloc(length + SUM);
    chunk->failed = !raw || !data;
    if (!chunk->failed)
        gather(all, number / all->across * all->rows, number % all->across * all->columns, raw);
    if (chunk->failed || is_blank(all->array, raw, elements)) {
        free(data);
    } else {
        const bool counts = all->array->kind == ERGO_ARRAY_COUNT;
        if (counts)
            shuffle(raw + bytes, raw, elements, all->element);
        chunk->failed =
            compress2(data, &length, counts ? raw + bytes : raw, (uLong)bytes, 1) != Z_OK;
        const uint32_t sum = fletcher32(data, length);
        for (size_t b = 0; b < SUM; b++)
            data[length + b] = (uint8_t)(sum >> 8 * b);
        chunk->data = data;
        chunk->length = length + SUM;
    }
    free(raw);
}

static bool write_chunks(hid_t set, struct chunks *all) {
    const size_t rows = all->array->rows ? all->array->rows : 1;
    const size_t n = (rows + all->rows - 1) / all->rows * all->across;
    bool ok = true;
    for (all->first = 0; all->first < n && ok; all->first += WAVE) {
        const size_t count = n - all->first < WAVE ? n - all->first : WAVE;
        memset(all->wave, 0, sizeof all->wave);
        ergo_parallel(count, count, make_chunk, all);
        for (size_t i = 0; i < count; i++) {
            const size_t number = all->first + i;
            const hsize_t row = number / all->across * all->rows;
            const hsize_t column = number % all->across * all->columns;
            const hsize_t two[2] = {row, column}, one[1] = {column};
            struct chunk *chunk = &all->wave[i];
            ok = ok && !chunk->failed &&
                 (!chunk->data || H5Dwrite_chunk(set, H5P_DEFAULT, 0, all->array->rows ? two : one,
                                                 chunk->length, chunk->data) >= 0);
            free(chunk->data);
        }
    }
    return ok;
}

static bool write_whole(hid_t set, hid_t type, const struct chunks *all) {
    const struct ergo_array *array = all->array;
    const size_t rows = array->rows ? array->rows : 1;
    uint8_t *data = malloc(rows * array->columns * all->element + 1);
    bool ok = data != NULL;
    for (size_t r = 0; r < rows && ok; r++)
        array->fill(array->from, r, 0, array->columns, data + r * array->columns * all->element);
    ok = ok && (!array->columns || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    free(data);
    return ok;
}

static hid_t type_of(enum ergo_array_kind kind, bool stored) {
    if (kind == ERGO_ARRAY_REAL)
        return H5Tcopy(stored ? H5T_IEEE_F64LE : H5T_NATIVE_DOUBLE);
    if (kind == ERGO_ARRAY_COUNT)
        return H5Tcopy(stored ? H5T_STD_U64LE : H5T_NATIVE_UINT64);
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 &&
        (H5Tset_size(type, ERGO_ARRAY_TEXT) < 0 || H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

/* The shape of chunks: rows of 0 where there are none. */
static void choose_chunks(struct chunks *all) {
    const struct ergo_array *array = all->array;
    const size_t rows = array->rows ? array->rows : 1;
    if (rows * array->columns < LEAST)
        return;
    all->across = (array->columns + CHUNK - 1) / CHUNK;
    all->columns = (array->columns + all->across - 1) / all->across;
    all->rows = CHUNK / all->columns;
    all->rows = all->rows < 1 ? 1 : all->rows > rows ? rows : all->rows;
}

static hid_t creation_of(const struct chunks *all) {
    const struct ergo_array *array = all->array;
    const hsize_t two[2] = {all->rows, all->columns}, one[1] = {all->columns};
    const double blank = NAN;
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    if (creation < 0)
        return -1;
    /* no times of creation: the same run gives the same file */
    bool ok = H5Pset_obj_track_times(creation, 0) >= 0;
    if (array->kind == ERGO_ARRAY_REAL)
        ok = ok && H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &blank) >= 0;
    if (all->rows)
        ok = ok && H5Pset_chunk(creation, array->rows ? 2 : 1, array->rows ? two : one) >= 0 &&
             (array->kind != ERGO_ARRAY_COUNT || H5Pset_shuffle(creation) >= 0) &&
             H5Pset_deflate(creation, 1) >= 0 && H5Pset_fletcher32(creation) >= 0;
    if (ok)
        return creation;
    H5Pclose(creation);
    return -1;
}

hid_t ergo_array_write(hid_t at, const char *name, hid_t links, const struct ergo_array *array) {
    struct chunks all = {.array = array,
                         .element = array->kind == ERGO_ARRAY_TEXTS ? ERGO_ARRAY_TEXT : 8};
    const hsize_t two[2] = {array->rows, array->columns}, one[1] = {array->columns};
    choose_chunks(&all);
    hid_t space = H5Screate_simple(array->rows ? 2 : 1, array->rows ? two : one, NULL);
    hid_t stored = type_of(array->kind, true), given = type_of(array->kind, false);
    hid_t creation = creation_of(&all), set = -1;
    if (space >= 0 && stored >= 0 && given >= 0 && creation >= 0)
        set = H5Dcreate2(at, name, stored, space, links, creation, H5P_DEFAULT);
    if (set >= 0 && !(all.rows ? write_chunks(set, &all) : write_whole(set, given, &all))) {
        H5Dclose(set);
        set = -1;
    }
    if (creation >= 0)
        H5Pclose(creation);
    if (given >= 0)
        H5Tclose(given);
    if (stored >= 0)
        H5Tclose(stored);
    if (space >= 0)
        H5Sclose(space);
    return set;
}
