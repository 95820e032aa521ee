#include "result/gsd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "job/xyz.h"

/* The file: a head of 256 bytes, names of chunks, the index of chunks, data. An index that is full
 * is copied to the end of the file, twice as long. Each frame has as many chunks, in the order of
 * their names, so entry i of the index is of frame i / chunks. A chunk cannot be empty: a frame
 * without particles has one that nobody reads instead of their positions. */
enum {
    HEAD = 256,
    NAMES = 1024, /* bytes, with a zero behind the last name; a multiple of 64 */
    ENTRY = 32,
    FRAMES = 256 /* of a new index */
};
static const uint64_t magic = UINT64_C(0x65DF65DF65DF65DF);
/* gsd_make_version */
static const uint32_t schema_version = 1u << 16 | 4, file_version = 2u << 16;

/* gsd_type */
enum { UINT8 = 1, UINT32 = 3, UINT64 = 4, INT8 = 5, FLOAT32 = 9, FLOAT64 = 10 };
static size_t size_of(unsigned type) {
    return type == UINT8 || type == INT8 ? 1 : type == UINT32 || type == FLOAT32 ? 4 : 8;
}

struct chunk {
    uint64_t rows, at; /* at: in the data of the frames */
    uint32_t columns;
    uint16_t id; /* of its name */
    uint8_t type;
};

/* Frames as they go into a file. */
struct frames {
    struct ergo_text names; /* of the first frame's chunks, each with its zero */
    struct ergo_text data;
    size_t n, n_chunks; /* frames, chunks of each */
    struct chunk *chunks;
};

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for frames of a trajectory");
}

/* ---- from extended XYZ ------------------------------------------------------------------------
 */

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

static void name_chunks(struct frames *to, const char *comment) {
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
static void begin(struct frames *to, struct chunk **chunk, unsigned id, unsigned type,
                  uint64_t rows, uint64_t columns) {
    *(*chunk)++ =
        (struct chunk){rows, to->data.length, (uint32_t)columns, (uint16_t)id, (uint8_t)type};
}

static void append_float(struct ergo_text *text, double value) {
    const float rounded = (float)value;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    ergo_bytes_append(text, bits, 4);
}

/* Names of types, each as long as the longest and ended by zeros. */
static void append_types(struct frames *to, struct chunk **chunk, const char *list, size_t length) {
    size_t longest = 0, count = 0;
    for (const char *at = list, *end = list + length; at < end; count++) {
        const size_t one = strcspn(at, " \"\n");
        longest = one > longest ? one : longest;
        at += one + 1;
    }
    begin(to, chunk, TYPES, INT8, count, longest + 1);
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

static void append_typeids(struct frames *to, struct chunk **chunk, unsigned id,
                           const struct ergo_xyz *frame, const char *list, size_t length) {
    uint32_t types[ERGO_XYZ_SPECIES + 1] = {0};
    for (size_t k = 0; k < frame->n_species && k < ERGO_XYZ_SPECIES; k++)
        types[k] = type_of(frame->names[k], list, length);
    begin(to, chunk, frame->n ? id : id + 1, UINT32, frame->n ? frame->n : 1, 1);
    for (size_t i = 0; i < frame->n; i++)
        ergo_bytes_append(&to->data, types[frame->species[i]], 4);
    if (!frame->n)
        ergo_bytes_append(&to->data, 0, 4);
}

/* One frame, whose line 2 and first particle begin at these places; chunk: room for its chunks.
 * False: it logs not as many numbers as the first one. */
static bool append(struct frames *to, struct chunk *chunk, uint64_t step,
                   const struct ergo_xyz *frame, const char *comment, const char *particles) {
    const struct chunk *end = chunk + to->n_chunks;
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
    begin(to, &chunk, STEP, UINT64, 1, 1);
    ergo_bytes_append(&to->data, step, 8);
    begin(to, &chunk, DIMENSIONS, UINT8, 1, 1);
    ergo_bytes_append(&to->data, plane ? 2 : 3, 1);
    begin(to, &chunk, BOX, FLOAT32, 6, 1);
    for (int a = 0; a < 6; a++)
        append_float(&to->data, a < 3 ? lattice[4 * a] : 0);
    begin(to, &chunk, NUMBER, UINT32, 1, 1);
    ergo_bytes_append(&to->data, frame->n, 4);
    append_types(to, &chunk, types ? types : type, types ? types_length : species);
    begin(to, &chunk, frame->n ? POSITION : EMPTY, frame->n ? FLOAT32 : UINT8,
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
            begin(to, &chunk, id++, FLOAT64, 1, 1);
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
static enum ergo_status read_frames(struct ergo_context *ctx, const char *name, uint64_t step,
                                    const char *text, size_t length, struct frames *to) {
    const char *end = text + length;
    enum ergo_status status = ERGO_OK;
    while (text < end && status == ERGO_OK) {
        struct ergo_xyz frame = {0};
        const char *comment = line_after(text), *particles = line_after(comment);
        if (to->n == 0)
            name_chunks(to, comment);
        struct chunk *chunks = realloc(to->chunks, (to->n + 1) * to->n_chunks * sizeof *chunks);
        to->chunks = chunks ? chunks : to->chunks;
        if (!chunks)
            status = no_memory(ctx);
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
        status = no_memory(ctx);
    return status == ERGO_OK && to->names.length >= NAMES
               ? ERGO_FAIL(ctx, ERGO_E_INTERNAL, "%zu bytes of names in %s", to->names.length, name)
               : status;
}

/* ---- the file ---------------------------------------------------------------------------------
 */

struct file {
    struct ergo_context *ctx;
    int fd;
    uint64_t size, index, entries; /* the index: where, and room for how many entries */
    size_t chunks;
    bool failed; /* errno says why */
};

static void get(struct file *f, uint64_t offset, void *data, size_t length) {
    f->failed = f->failed || !ergo_file_read_at(f->fd, offset, data, length);
}

static void put(struct file *f, uint64_t offset, const void *data, size_t length) {
    f->failed = f->failed || !ergo_file_write_at(f->fd, offset, data, length);
}

static void append_entry(struct ergo_text *text, uint64_t frame, const struct chunk *c,
                         uint64_t location) {
    ergo_bytes_append(text, frame, 8);
    ergo_bytes_append(text, c->rows, 8);
    ergo_bytes_append(text, location, 8);
    ergo_bytes_append(text, c->columns, 4);
    ergo_bytes_append(text, c->id, 2);
    ergo_bytes_append(text, c->type, 1);
    ergo_bytes_append(text, 0, 1);
}

/* Where chunk k of a frame is; 0: nowhere yet. */
static uint64_t location_of(struct file *f, uint64_t frame, size_t k, struct chunk *chunk) {
    uint8_t e[ENTRY] = {0};
    get(f, f->index + ENTRY * (frame * f->chunks + k), e, sizeof e);
    *chunk = (struct chunk){ergo_bytes_get(e + 8, 8), 0, (uint32_t)ergo_bytes_get(e + 24, 4),
                            (uint16_t)ergo_bytes_get(e + 28, 2), e[30]};
    return ergo_bytes_get(e + 16, 8);
}

/* The first frame that is not there, or whose step is `step` or later. */
static uint64_t first_from(struct file *f, uint64_t step) {
    uint64_t low = 0, high = f->entries / f->chunks;
    while (low < high && !f->failed) {
        const uint64_t middle = low + (high - low) / 2;
        struct chunk chunk;
        const uint64_t at = location_of(f, middle, 0, &chunk);
        uint8_t bytes[8] = {0};
        if (at)
            get(f, at, bytes, sizeof bytes);
        if (at && ergo_bytes_get(bytes, 8) < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Are the frames there, from number `first` on, with that step? */
static bool has_frames(struct file *f, const struct frames *new, uint64_t first) {
    bool same = (first + new->n) * f->chunks <= f->entries;
    for (size_t i = 0; same && i < new->n; i++)
        for (size_t k = 0; k < f->chunks && same; k++) {
            const struct chunk *c = &new->chunks[i * f->chunks + k];
            struct chunk old;
            uint8_t step[8];
            const uint64_t at = location_of(f, first + i, k, &old);
            same = at && old.rows == c->rows && old.columns == c->columns && old.id == c->id;
            if (same && k == 0) {
                get(f, at, step, sizeof step);
                same = memcmp(step, new->data.data + c->at, sizeof step) == 0;
            }
        }
    return same && !f->failed;
}

static size_t bytes_of(const struct chunk *c) {
    return (size_t)(c->rows * c->columns) * size_of(c->type);
}

/* The same bytes, unless the machine failed while they were written. */
static void write_again(struct file *f, const struct frames *new, uint64_t first) {
    for (size_t i = 0; i < new->n * f->chunks; i++) {
        struct chunk old;
        const uint64_t at = location_of(f, first + i / f->chunks, i % f->chunks, &old);
        put(f, at, new->data.data + new->chunks[i].at, bytes_of(&old));
    }
}

/* Zeros in the index from an entry to the end: frames are no longer there. */
static void forget(struct file *f, uint64_t entry) {
    static const uint8_t zeros[64 * ENTRY];
    uint8_t head[ENTRY];
    for (uint64_t i = entry; i < f->entries && !f->failed; i += 64) {
        const uint64_t now = f->entries - i < 64 ? f->entries - i : 64;
        get(f, f->index + ENTRY * i, head, sizeof head);
        if (!ergo_bytes_get(head + 16, 8))
            break;
        put(f, f->index + ENTRY * i, zeros, (size_t)now * ENTRY);
    }
}

static void append_head(struct ergo_text *text, uint64_t index, uint64_t entries) {
    static const char application[64] = "ergocl", schema[64] = "hoomd", reserved[80];
    ergo_bytes_append(text, magic, 8);
    ergo_bytes_append(text, index, 8);
    ergo_bytes_append(text, entries, 8);
    ergo_bytes_append(text, HEAD, 8); /* names */
    ergo_bytes_append(text, NAMES / 64, 8);
    ergo_bytes_append(text, schema_version, 4);
    ergo_bytes_append(text, file_version, 4);
    ergo_text_append_bytes(text, application, sizeof application);
    ergo_text_append_bytes(text, schema, sizeof schema);
    ergo_text_append_bytes(text, reserved, sizeof reserved);
}

/* A longer index behind all that is there, then the head that names it. */
static enum ergo_status grow(struct file *f) {
    const uint64_t longer = 2 * f->entries, bytes = ENTRY * f->entries;
    struct ergo_text head = {0};
    char *index = calloc((size_t)longer, ENTRY);
    append_head(&head, f->size, longer);
    if (index && !head.failed) {
        get(f, f->index, index, (size_t)bytes);
        put(f, f->size, index, (size_t)longer * ENTRY);
        f->failed = f->failed || !ergo_file_sync(f->fd);
        put(f, 0, head.data, head.length);
        f->index = f->size;
        f->size += longer * ENTRY;
        f->entries = longer;
    }
    const bool ok = index && !head.failed;
    free(index);
    ergo_text_free(&head);
    return ok ? ERGO_OK : no_memory(f->ctx);
}

/* Where new data go: behind the frames before them, and the index. What a kill has left there gets
 * the same bytes again, so the file is that of a run that was never killed. */
static uint64_t end_of(struct file *f, uint64_t first) {
    uint64_t end = f->index + ENTRY * f->entries;
    if (first) {
        struct chunk last;
        const uint64_t at = location_of(f, first - 1, f->chunks - 1, &last);
        end = at + bytes_of(&last) > end ? at + bytes_of(&last) : end;
    }
    return end;
}

/* Data first, and to the disk; then their entries. */
static enum ergo_status append_frames(struct file *f, const struct frames *new, uint64_t first) {
    struct ergo_text entries = {0};
    enum ergo_status status = ERGO_OK;
    f->size = end_of(f, first);
    while ((first + new->n) * f->chunks > f->entries && status == ERGO_OK && !f->failed)
        status = grow(f);
    for (size_t i = 0; i < new->n * f->chunks; i++)
        append_entry(&entries, first + i / f->chunks, &new->chunks[i], f->size + new->chunks[i].at);
    if (status == ERGO_OK && entries.failed)
        status = no_memory(f->ctx);
    if (status == ERGO_OK) {
        put(f, f->size, new->data.data, new->data.length);
        f->failed = f->failed || !ergo_file_sync(f->fd);
        put(f, f->index + ENTRY * first * f->chunks, entries.data, entries.length);
    }
    ergo_text_free(&entries);
    return status;
}

static enum ergo_status create(struct ergo_context *ctx, const struct ergo_folder *folder,
                               const char *name, const struct frames *new) {
    static const uint8_t zeros[ENTRY];
    struct ergo_text file = {0};
    append_head(&file, HEAD + NAMES, FRAMES * new->n_chunks);
    ergo_text_append_bytes(&file, new->names.data, new->names.length);
    while (file.length < HEAD + NAMES && !file.failed)
        ergo_text_append_bytes(&file, "", 1);
    for (size_t i = 0; i < FRAMES * new->n_chunks; i++)
        ergo_text_append_bytes(&file, zeros, sizeof zeros);
    const enum ergo_status status =
        file.failed ? no_memory(ctx) : ergo_file_write(ctx, folder, name, file.data, file.length);
    ergo_text_free(&file);
    return status;
}

/* Is it a file of such frames? */
static bool is_ours(struct file *f, const struct frames *new) {
    uint8_t head[HEAD], found[NAMES];
    f->chunks = new->n_chunks;
    get(f, 0, head, sizeof head);
    get(f, HEAD, found, sizeof found);
    if (f->failed || ergo_bytes_get(head, 8) != magic)
        return false;
    f->index = ergo_bytes_get(head + 8, 8);
    f->entries = ergo_bytes_get(head + 16, 8);
    const bool inside = f->index <= f->size && f->entries >= f->chunks &&
                        f->entries <= (f->size - f->index) / ENTRY;
    return inside && ergo_bytes_get(head + 24, 8) == HEAD &&
           ergo_bytes_get(head + 44, 4) == file_version &&
           memcmp(found, new->names.data, new->names.length) == 0 && !found[new->names.length];
}

static enum ergo_status update(struct file *f, const struct ergo_folder *folder, const char *name,
                               uint64_t step, const struct frames *new) {
    enum ergo_status status = ERGO_OK;
    errno = 0;
    if (!is_ours(f, new))
        return ERGO_FAIL(f->ctx, ERGO_E_IO,
                         "cannot write %s/%s: it is no trajectory of this run, or damaged; move it "
                         "away, and resume",
                         folder->path, name);
    const uint64_t first = first_from(f, step);
    if (has_frames(f, new, first)) {
        write_again(f, new, first);
    } else if (!f->failed) {
        forget(f, first * f->chunks);
        status = append_frames(f, new, first);
    }
    return status == ERGO_OK && f->failed
               ? ERGO_FAIL(f->ctx, ERGO_E_IO, "cannot write %s/%s: %s", folder->path, name,
                           errno ? strerror(errno) : "it ends too early")
               : status;
}

enum ergo_status ergo_gsd_write(struct ergo_context *ctx, const struct ergo_folder *folder,
                                const char *name, uint64_t step, const char *text, size_t length) {
    struct frames new = {.n = 0};
    struct file file = {.ctx = ctx, .fd = -1};
    enum ergo_status status = read_frames(ctx, name, step, text, length, &new);
    if (status == ERGO_OK && !ergo_folder_has(folder, name))
        status = create(ctx, folder, name, &new);
    if (status == ERGO_OK)
        status = ergo_file_update(ctx, folder, name, &file.fd, &file.size);
    if (status == ERGO_OK)
        status = update(&file, folder, name, step, &new);
    /* network file systems report a full disk here */
    if (file.fd >= 0 && close(file.fd) != 0 && status == ERGO_OK)
        status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot write %s/%s: closing it: %s", folder->path, name,
                           strerror(errno));
    ergo_text_free(&new.names);
    ergo_text_free(&new.data);
    free(new.chunks);
    return status;
}
