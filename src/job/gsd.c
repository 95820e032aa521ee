/* Reads the first frame of a GSD file (https://gsd.readthedocs.io: file layers 1 and 2, schema
 * "hoomd").
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "job/xyz.h"

enum { HEAD = 256, ENTRY = 32, NAME = 64, UINT8 = 1, UINT32 = 3, INT8 = 5, FLOAT32 = 9 };

enum { NUMBER, BOX, DIMENSIONS, POSITION, TYPES, TYPEID, CHUNKS };
static const struct {
    const char *name;
    unsigned type;
    size_t size; /* of a number */
} chunks[CHUNKS] = {
    {"particles/N", UINT32, 4},
    {"configuration/box", FLOAT32, 4},
    {"configuration/dimensions", UINT8, 1},
    {"particles/position", FLOAT32, 4},
    {"particles/types", INT8, 1},
    {"particles/typeid", UINT32, 4},
};

struct gsd {
    const uint8_t *bytes;
    size_t length;
    const uint8_t *data[CHUNKS]; /* of frame 0; NULL: the schema's default */
    uint64_t rows[CHUNKS], columns[CHUNKS];
};

bool ergo_gsd_is(const char *bytes, size_t length) {
    return length >= HEAD &&
           ergo_bytes_get((const uint8_t *)bytes, 8) == UINT64_C(0x65DF65DF65DF65DF);
}

static bool inside(const struct gsd *g, uint64_t at, uint64_t count, uint64_t size) {
    return at <= g->length && count <= (g->length - at) / size;
}

/* The number of a name in the list. */
static uint64_t id_of(const struct gsd *g, const char *name) {
    const uint64_t at = ergo_bytes_get(g->bytes + 24, 8), room = ergo_bytes_get(g->bytes + 32, 8);
    const bool packed = ergo_bytes_get(g->bytes + 44, 4) >> 16 >= 2;
    if (!inside(g, at, room, NAME))
        return UINT64_MAX;
    const char *list = (const char *)g->bytes + at, *end = list + room * NAME;
    for (uint64_t id = 0; list < end && *list; id++) {
        const size_t size = strnlen(list, (size_t)(end - list));
        if (size == strlen(name) && memcmp(list, name, size) == 0)
            return id;
        list += packed ? size + 1 : NAME;
    }
    return UINT64_MAX;
}

/* Where the chunks of frame 0 are. False: the file is damaged. */
static bool find(struct gsd *g) {
    const uint64_t index = ergo_bytes_get(g->bytes + 8, 8),
                   entries = ergo_bytes_get(g->bytes + 16, 8);
    uint64_t ids[CHUNKS];
    if (!inside(g, index, entries, ENTRY))
        return false;
    for (size_t c = 0; c < CHUNKS; c++)
        ids[c] = id_of(g, chunks[c].name);
    for (uint64_t i = 0; i < entries; i++) {
        const uint8_t *e = g->bytes + index + i * ENTRY;
        const uint64_t rows = ergo_bytes_get(e + 8, 8), at = ergo_bytes_get(e + 16, 8);
        const uint64_t columns = ergo_bytes_get(e + 24, 4);
        if (!at || ergo_bytes_get(e, 8) != 0)
            break; /* entries are in the order of frames */
        for (size_t c = 0; c < CHUNKS; c++)
            if (ergo_bytes_get(e + 28, 2) == ids[c]) {
                if (e[30] != chunks[c].type || !columns ||
                    !inside(g, at, rows, columns * chunks[c].size))
                    return false;
                g->data[c] = g->bytes + at;
                g->rows[c] = rows;
                g->columns[c] = columns;
            }
    }
    return true;
}

static double real_at(const struct gsd *g, size_t chunk, size_t i) {
    const uint32_t bits = (uint32_t)ergo_bytes_get(g->data[chunk] + 4 * i, 4);
    float value = 0;
    memcpy(&value, &bits, 4);
    return (double)value;
}

/* Names of types; without a list one, "A". */
static void name_types(const struct gsd *g, struct ergo_xyz *frame) {
    const uint64_t types = g->data[TYPES] ? g->rows[TYPES] : 1;
    frame->n_species = types > ERGO_XYZ_SPECIES ? ERGO_XYZ_SPECIES + 1 : (size_t)types;
    for (size_t t = 0; t < frame->n_species && t < ERGO_XYZ_SPECIES; t++)
        snprintf(frame->names[t], ERGO_XYZ_NAME, "%.*s",
                 g->data[TYPES] ? (int)fmin((double)g->columns[TYPES], ERGO_XYZ_NAME) : 1,
                 g->data[TYPES] ? (const char *)g->data[TYPES] + t * g->columns[TYPES] : "A");
}

static enum ergo_status read_places(struct ergo_context *ctx, const char *name, const struct gsd *g,
                                    struct ergo_xyz *frame) {
    const bool plane = g->data[DIMENSIONS] && g->rows[DIMENSIONS] && *g->data[DIMENSIONS] == 2;
    frame->positions = malloc(frame->n * 3 * sizeof *frame->positions);
    frame->species = calloc(frame->n, 1);
    if (!frame->positions || !frame->species)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the %zu particles of %s", frame->n,
                         name);
    for (size_t i = 0; i < 3 * frame->n; i++) {
        frame->positions[i] =
            plane && i % 3 == 2 ? 0 : real_at(g, POSITION, i) + frame->lattice[4 * (i % 3)] / 2;
        if (!isfinite(frame->positions[i]))
            return ERGO_FAIL(ctx, ERGO_E_IO, "%s: particle %zu has a place that is no number", name,
                             i / 3 + 1);
    }
    for (size_t i = 0; i < frame->n && g->data[TYPEID]; i++) {
        const uint64_t type = ergo_bytes_get(g->data[TYPEID] + 4 * i, 4);
        if (type >= frame->n_species)
            return ERGO_FAIL(ctx, ERGO_E_IO, "%s: particle %zu has no type", name, i + 1);
        frame->species[i] = type < ERGO_XYZ_SPECIES ? (uint8_t)type : 0;
    }
    return ERGO_OK;
}

enum ergo_status ergo_gsd_parse(struct ergo_context *ctx, const char *name, const char *bytes,
                                size_t length, struct ergo_xyz *frame) {
    struct gsd g = {.bytes = (const uint8_t *)bytes, .length = length};
    if (!find(&g) || !g.data[NUMBER] || !g.rows[NUMBER] || !g.data[BOX] ||
        g.rows[BOX] * g.columns[BOX] != 6)
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "%s: no first frame of a GSD file of schema hoomd with particles/N and "
                         "configuration/box",
                         name);
    frame->n = (size_t)ergo_bytes_get(g.data[NUMBER], 4);
    if (!frame->n || !g.data[POSITION] || g.rows[POSITION] != frame->n ||
        g.columns[POSITION] != 3 ||
        (g.data[TYPEID] && (g.rows[TYPEID] != frame->n || g.columns[TYPEID] != 1)))
        return ERGO_FAIL(ctx, ERGO_E_IO, "%s: the first frame has no places of its %zu particles",
                         name, frame->n);
    frame->has_lattice = true;
    for (size_t k = 0; k < 3; k++) {
        frame->lattice[4 * k] = real_at(&g, BOX, k);
        frame->rounding = fmax(frame->rounding, frame->lattice[4 * k] * 0x1p-25);
        if (real_at(&g, BOX, 3 + k) != 0 || !isfinite(frame->lattice[4 * k]))
            return ERGO_FAIL(ctx, ERGO_E_IO,
                             "%s: a box with tilt factors; a box with right angles is expected",
                             name);
    }
    name_types(&g, frame);
    return read_places(ctx, name, &g, frame);
}
