/* Frames of a trajectory in GSD, from extended XYZ. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "job/xyz.h"
#include "result/gsd.h"

enum ergo_status ergo_gsd_no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for frames of a trajectory");
}

/* A word KEY=VALUE of line 2; quotes are taken off. */
struct pair {
    const char *key, *value;
    size_t key_length, value_length;
};

static bool next_pair(const char **at, struct pair *pair) {
    const char *from = *at;
    while (*from == ' ')
        from++;
    const char *equals = from + strcspn(from, "= \n");
    if (*equals != '=')
        return false;
    const bool quoted = equals[1] == '"';
    pair->key = from;
    pair->key_length = (size_t)(equals - from);
    pair->value = equals + (quoted ? 2 : 1);
    pair->value_length = strcspn(pair->value, quoted ? "\"\n" : " \n");
    *at = pair->value + pair->value_length + (quoted && pair->value[pair->value_length] == '"');
    return true;
}

static bool is_key(const struct pair *pair, const char *key) {
    return pair->key_length == strlen(key) && memcmp(pair->key, key, pair->key_length) == 0;
}

/* Names of chunks; behind them those of the numbers of line 2. */
enum { STEP, DIMENSIONS, BOX, NUMBER, TYPES, POSITION, EMPTY, LOGS };
static const char *const names[LOGS] = {
    "configuration/step", "configuration/dimensions", "configuration/box", "particles/N",
    "particles/types",    "particles/position",       "ergocl/empty"};

/* Of frames with several types, whose line 2 has their names, types="A B", two more behind those:
 * each particle's type, or where there are none something else that is not empty. */
static const char *const type_names[2] = {"particles/typeid", "ergocl/none"};

static const char *types_of(const char *comment, size_t *length) {
    const char *types = NULL;
    return ergo_xyz_value(comment, comment + strcspn(comment, "\n"), "types", &types, length)
               ? types
               : NULL;
}

/* A number that is logged. */
static bool is_number(const struct pair *pair, double *value) {
    char *end;
    *value = strtod(pair->value, &end);
    return !is_key(pair, "step") && !is_key(pair, "diameter") && pair->value_length > 0 &&
           end == pair->value + pair->value_length;
}

static void name_chunks(struct ergo_gsd_frames *to, const char *comment) {
    const char *const first = comment;
    struct pair pair;
    double value;
    for (int i = 0; i < LOGS; i++)
        ergo_text_append_bytes(&to->names, names[i], strlen(names[i]) + 1);
    to->n_chunks = LOGS - 1;
    while (next_pair(&comment, &pair))
        if (is_number(&pair, &value)) {
            ergo_text_append_bytes(&to->names, "log/", 4);
            ergo_text_append_bytes(&to->names, pair.key, pair.key_length);
            ergo_text_append_bytes(&to->names, "", 1);
            to->n_chunks++;
        }
    size_t length;
    if (!types_of(first, &length))
        return;
    for (int i = 0; i < 2; i++)
        ergo_text_append_bytes(&to->names, type_names[i], strlen(type_names[i]) + 1);
    to->n_chunks++;
}

/* A chunk begins; its bytes are appended to the data. */
static void begin(struct ergo_gsd_frames *to, struct ergo_gsd_chunk **chunk, unsigned id,
                  unsigned type, uint64_t rows, uint64_t columns) {
    *(*chunk)++ = (struct ergo_gsd_chunk){rows, to->data.length, (uint32_t)columns, (uint16_t)id,
                                          (uint8_t)type};
}

static void append_float(struct ergo_text *text, double value) {
    const float rounded = (float)value;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    ergo_bytes_append(text, bits, 4);
}

/* Names of types, each as long as the longest and ended by zeros. */
static void append_types(struct ergo_gsd_frames *to, struct ergo_gsd_chunk **chunk,
                         const char *list, size_t length) {
    size_t longest = 0, count = 0;
    for (const char *at = list, *end = list + length; at < end; count++) {
        const size_t one = strcspn(at, " \"\n");
        longest = one > longest ? one : longest;
        at += one + 1;
    }
    begin(to, chunk, TYPES, ERGO_GSD_INT8, count, longest + 1);
    for (const char *at = list, *end = list + length; at < end;) {
        const size_t one = strcspn(at, " \"\n");
        ergo_text_append_bytes(&to->data, at, one);
        for (size_t k = one; k < longest + 1; k++)
            ergo_text_append_bytes(&to->data, "", 1);
        at += one + 1;
    }
}

/* The place of a name in the list. */
static uint32_t type_of(const char *name, const char *list, size_t length) {
    const size_t size = strlen(name);
    uint32_t place = 0;
    for (const char *at = list; at < list + length; place++) {
        const size_t one = strcspn(at, " \"\n");
        if (one == size && memcmp(at, name, one) == 0)
            return place;
        at += one + 1;
    }
    return 0;
}

static void append_typeids(struct ergo_gsd_frames *to, struct ergo_gsd_chunk **chunk, unsigned id,
                           const struct ergo_xyz *frame, const char *list, size_t length) {
    uint32_t types[ERGO_XYZ_SPECIES + 1] = {0};
    for (size_t k = 0; k < frame->n_species && k < ERGO_XYZ_SPECIES; k++)
        types[k] = type_of(frame->names[k], list, length);
    begin(to, chunk, frame->n ? id : id + 1, ERGO_GSD_UINT32, frame->n ? frame->n : 1, 1);
    for (size_t i = 0; i < frame->n; i++)
        ergo_bytes_append(&to->data, types[frame->species[i]], 4);
    if (!frame->n)
        ergo_bytes_append(&to->data, 0, 4);
}

/* One frame, whose line 2 and first particle begin at these places; chunk: room for its chunks.
 * False: it logs not as many numbers as the first one. */
static bool append(struct ergo_gsd_frames *to, struct ergo_gsd_chunk *chunk, uint64_t step,
                   const struct ergo_xyz *frame, const char *comment, const char *particles) {
    const struct ergo_gsd_chunk *end = chunk + to->n_chunks;
    const char *type = frame->n ? particles : "A", *at; /* A: the schema's default */
    const char *line_end = comment + strcspn(comment, "\n");
    const size_t species = strcspn(type, " \n");
    double lattice[9] = {0}, value;
    struct pair pair;
    size_t length = 0, types_length = 0;
    const char *const types = types_of(comment, &types_length);
    const bool plane = ergo_xyz_value(comment, line_end, "pbc", &at, &length) && length == 5 &&
                       memcmp(at, "T T F", 5) == 0;
    ergo_xyz_lattice(comment, line_end, lattice);
    begin(to, &chunk, STEP, ERGO_GSD_UINT64, 1, 1);
    ergo_bytes_append(&to->data, step, 8);
    begin(to, &chunk, DIMENSIONS, ERGO_GSD_UINT8, 1, 1);
    ergo_bytes_append(&to->data, plane ? 2 : 3, 1);
    begin(to, &chunk, BOX, ERGO_GSD_FLOAT32, 6, 1);
    for (int a = 0; a < 6; a++)
        append_float(&to->data, a < 3 ? lattice[4 * a] : 0);
    begin(to, &chunk, NUMBER, ERGO_GSD_UINT32, 1, 1);
    ergo_bytes_append(&to->data, frame->n, 4);
    append_types(to, &chunk, types ? types : type, types ? types_length : species);
    begin(to, &chunk, frame->n ? POSITION : EMPTY, frame->n ? ERGO_GSD_FLOAT32 : ERGO_GSD_UINT8,
          frame->n ? frame->n : 1, frame->n ? 3 : 1);
    for (size_t i = 0; i < 3 * frame->n; i++)
        append_float(&to->data,
                     plane && i % 3 == 2 ? 0 : frame->positions[i] - lattice[i % 3 * 4] / 2);
    if (!frame->n)
        ergo_bytes_append(&to->data, 0, 1);
    unsigned id = LOGS;
    while (next_pair(&comment, &pair))
        if (is_number(&pair, &value)) {
            uint64_t bits;
            if (chunk == end)
                return false;
            memcpy(&bits, &value, sizeof bits);
            begin(to, &chunk, id++, ERGO_GSD_FLOAT64, 1, 1);
            ergo_bytes_append(&to->data, bits, 8);
        }
    if (types && chunk == end)
        return false;
    if (types)
        append_typeids(to, &chunk, id, frame, types, types_length);
    return chunk == end;
}

static const char *line_after(const char *at) {
    const char *end = strchr(at, '\n');
    return end ? end + 1 : at + strlen(at);
}

/* All frames of the text, which ends with a zero. */
enum ergo_status ergo_gsd_frames_read(struct ergo_context *ctx, const char *name, uint64_t step,
                                      const char *text, size_t length, struct ergo_gsd_frames *to) {
    const char *end = text + length;
    enum ergo_status status = ERGO_OK;
    while (text < end && status == ERGO_OK) {
        struct ergo_xyz frame = {0};
        const char *comment = line_after(text), *particles = line_after(comment);
        if (to->n == 0)
            name_chunks(to, comment);
        struct ergo_gsd_chunk *chunks =
            realloc(to->chunks, (to->n + 1) * to->n_chunks * sizeof *chunks);
        to->chunks = chunks ? chunks : to->chunks;
        if (!chunks)
            status = ergo_gsd_no_memory(ctx);
        else if (strncmp(text, "0\n", 2) != 0)
            status = ergo_xyz_parse(ctx, name, text, (size_t)(end - text), &frame);
        if (status == ERGO_OK &&
            !append(to, to->chunks + to->n * to->n_chunks, step, &frame, comment, particles))
            status = ERGO_FAIL(ctx, ERGO_E_INTERNAL, "frames of %s log other numbers", name);
        for (text = particles; frame.n; frame.n--)
            text = line_after(text);
        to->n++;
        ergo_xyz_free(&frame);
    }
    if (status == ERGO_OK && (to->names.failed || to->data.failed))
        status = ergo_gsd_no_memory(ctx);
    return status == ERGO_OK && to->names.length >= ERGO_GSD_NAMES
               ? ERGO_FAIL(ctx, ERGO_E_INTERNAL, "%zu bytes of names in %s", to->names.length, name)
               : status;
}
