#include "result/gsd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"

/* The file: a head of 256 bytes, names of chunks, the index of chunks, data. An index that is full
 * is copied to the end of the file, twice as long. Each frame has as many chunks, in the order of
 * their names, so entry i of the index is of frame i / chunks. A chunk cannot be empty: a frame
 * without particles has one that nobody reads instead of their positions. */
enum {
    HEAD = 256,
    NAMES = ERGO_GSD_NAMES,
    ENTRY = 32,
    FRAMES = 256 /* of a new index */
};
static const uint64_t magic = UINT64_C(0x65DF65DF65DF65DF);
/* gsd_make_version */
static const uint32_t schema_version = 1u << 16 | 4, file_version = 2u << 16;

static size_t size_of(unsigned type) {
    return type == ERGO_GSD_UINT8 || type == ERGO_GSD_INT8       ? 1
           : type == ERGO_GSD_UINT32 || type == ERGO_GSD_FLOAT32 ? 4
                                                                 : 8;
}

struct file {
    struct ergo_context *ctx;
    int fd;
    uint64_t size, index, entries; /* the index: where, and room for how many entries */
    size_t chunks;
    bool failed; /* errno says why */
    bool odd;    /* an entry of the index points to what cannot be a chunk */
};

static void get(struct file *f, uint64_t offset, void *data, size_t length) {
    f->failed = f->failed || !ergo_file_read_at(f->fd, offset, data, length);
}

static void put(struct file *f, uint64_t offset, const void *data, size_t length) {
    f->failed = f->failed || !ergo_file_write_at(f->fd, offset, data, length);
}

static void append_entry(struct ergo_text *text, uint64_t frame, const struct ergo_gsd_chunk *c,
                         uint64_t location) {
    ergo_bytes_append(text, frame, 8);
    ergo_bytes_append(text, c->rows, 8);
    ergo_bytes_append(text, location, 8);
    ergo_bytes_append(text, c->columns, 4);
    ergo_bytes_append(text, c->id, 2);
    ergo_bytes_append(text, c->type, 1);
    ergo_bytes_append(text, 0, 1);
}

static size_t bytes_of(const struct ergo_gsd_chunk *c) {
    return (size_t)(c->rows * c->columns) * size_of(c->type);
}

/* Where chunk k of a frame is; 0: nowhere, or where no chunk can be: the file may be anybody's. A
 * chunk is behind the names, in the file, and not in the index. */
static uint64_t location_of(struct file *f, uint64_t frame, size_t k,
                            struct ergo_gsd_chunk *chunk) {
    uint8_t e[ENTRY] = {0};
    get(f, f->index + ENTRY * (frame * f->chunks + k), e, sizeof e);
    *chunk =
        (struct ergo_gsd_chunk){ergo_bytes_get(e + 8, 8), 0, (uint32_t)ergo_bytes_get(e + 24, 4),
                                (uint16_t)ergo_bytes_get(e + 28, 2), e[30]};
    const uint64_t at = ergo_bytes_get(e + 16, 8), end = f->index + ENTRY * f->entries;
    const bool good = ergo_bytes_get(e, 8) == frame && at >= HEAD + NAMES && at < f->size &&
                      chunk->rows && chunk->columns &&
                      chunk->rows <= (f->size - at) / size_of(chunk->type) / chunk->columns &&
                      (at >= end || at + bytes_of(chunk) <= f->index);
    f->odd = f->odd || (at && !good);
    return good ? at : 0;
}

/* The first frame that is not there, or whose step is `step` or later. */
static uint64_t first_from(struct file *f, uint64_t step) {
    uint64_t low = 0, high = f->entries / f->chunks;
    while (low < high && !f->failed && !f->odd) {
        const uint64_t middle = low + (high - low) / 2;
        struct ergo_gsd_chunk chunk;
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
static bool has_frames(struct file *f, const struct ergo_gsd_frames *new, uint64_t first) {
    bool same = (first + new->n) * f->chunks <= f->entries;
    for (size_t i = 0; same && i < new->n; i++)
        for (size_t k = 0; k < f->chunks && same; k++) {
            const struct ergo_gsd_chunk *c = &new->chunks[i * f->chunks + k];
            struct ergo_gsd_chunk old;
            uint8_t step[8];
            const uint64_t at = location_of(f, first + i, k, &old);
            same = at && old.rows == c->rows && old.columns == c->columns && old.id == c->id &&
                   old.type == c->type;
            if (same && k == 0) {
                get(f, at, step, sizeof step);
                same = memcmp(step, new->data.data + c->at, sizeof step) == 0;
            }
        }
    return same && !f->failed;
}

/* The same bytes, unless the machine failed while they were written. */
static void write_again(struct file *f, const struct ergo_gsd_frames *new, uint64_t first) {
    for (size_t i = 0; i < new->n * f->chunks; i++) {
        struct ergo_gsd_chunk old;
        const uint64_t at = location_of(f, first + i / f->chunks, i % f->chunks, &old);
        put(f, at, new->data.data + new->chunks[i].at, bytes_of(&new->chunks[i]));
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

/* A longer index behind all that is there, in pieces, then the head that names it. */
static enum ergo_status grow(struct file *f) {
    const uint64_t longer = 2 * f->entries;
    uint8_t piece[64 * ENTRY];
    struct ergo_text head = {0};
    append_head(&head, f->size, longer);
    for (uint64_t i = 0, n; i < longer && !head.failed && !f->failed; i += n) {
        const uint64_t end = i < f->entries ? f->entries : longer;
        n = end - i < 64 ? end - i : 64;
        memset(piece, 0, sizeof piece);
        if (i < f->entries)
            get(f, f->index + ENTRY * i, piece, n * ENTRY);
        put(f, f->size + ENTRY * i, piece, n * ENTRY);
    }
    if (!head.failed) {
        f->failed = f->failed || !ergo_file_sync(f->fd);
        put(f, 0, head.data, head.length);
        f->index = f->size;
        f->size += longer * ENTRY;
        f->entries = longer;
    }
    const bool ok = !head.failed;
    ergo_text_free(&head);
    return ok ? ERGO_OK : ergo_gsd_no_memory(f->ctx);
}

/* Where new data go: behind the frame before them, which has to be whole, and the index. What a
 * kill has left there gets the same bytes again, so the file is that of a run that was never
 * killed. */
static bool find_end(struct file *f, uint64_t first) {
    uint64_t end = f->index + ENTRY * f->entries;
    for (size_t k = 0; first && k < f->chunks; k++) {
        struct ergo_gsd_chunk last;
        const uint64_t at = location_of(f, first - 1, k, &last);
        if (!at)
            return false;
        end = at + bytes_of(&last) > end ? at + bytes_of(&last) : end;
    }
    f->size = end;
    return true;
}

/* Data first, and to the disk; then their entries. */
static enum ergo_status append_frames(struct file *f, const struct ergo_gsd_frames *new,
                                      uint64_t first) {
    struct ergo_text entries = {0};
    enum ergo_status status = ERGO_OK;
    while ((first + new->n) * f->chunks > f->entries && status == ERGO_OK && !f->failed)
        status = grow(f);
    for (size_t i = 0; i < new->n * f->chunks; i++)
        append_entry(&entries, first + i / f->chunks, &new->chunks[i], f->size + new->chunks[i].at);
    if (status == ERGO_OK && entries.failed)
        status = ergo_gsd_no_memory(f->ctx);
    if (status == ERGO_OK) {
        put(f, f->size, new->data.data, new->data.length);
        f->failed = f->failed || !ergo_file_sync(f->fd);
        put(f, f->index + ENTRY * first * f->chunks, entries.data, entries.length);
    }
    ergo_text_free(&entries);
    return status;
}

static enum ergo_status create(struct ergo_context *ctx, const struct ergo_folder *folder,
                               const char *name, const struct ergo_gsd_frames *new) {
    static const uint8_t zeros[ENTRY];
    struct ergo_text file = {0};
    append_head(&file, HEAD + NAMES, FRAMES * new->n_chunks);
    ergo_text_append_bytes(&file, new->names.data, new->names.length);
    while (file.length < HEAD + NAMES && !file.failed)
        ergo_text_append_bytes(&file, "", 1);
    for (size_t i = 0; i < FRAMES * new->n_chunks; i++)
        ergo_text_append_bytes(&file, zeros, sizeof zeros);
    const enum ergo_status status =
        file.failed ? ergo_gsd_no_memory(ctx)
                    : ergo_file_write(ctx, folder, name, file.data, file.length);
    ergo_text_free(&file);
    return status;
}

/* Is it a file of such frames? */
static bool is_ours(struct file *f, const struct ergo_gsd_frames *new) {
    uint8_t head[HEAD], found[NAMES];
    f->chunks = new->n_chunks;
    get(f, 0, head, sizeof head);
    get(f, HEAD, found, sizeof found);
    if (f->failed || ergo_bytes_get(head, 8) != magic)
        return false;
    f->index = ergo_bytes_get(head + 8, 8);
    f->entries = ergo_bytes_get(head + 16, 8);
    const bool inside = f->index >= HEAD + NAMES && f->index <= f->size &&
                        f->entries >= f->chunks && f->entries <= (f->size - f->index) / ENTRY;
    return inside && ergo_bytes_get(head + 24, 8) == HEAD &&
           ergo_bytes_get(head + 44, 4) == file_version &&
           memcmp(found, new->names.data, new->names.length) == 0 && !found[new->names.length];
}

static enum ergo_status update(struct file *f, const struct ergo_folder *folder, const char *name,
                               uint64_t step, const struct ergo_gsd_frames *new) {
    enum ergo_status status = ERGO_OK;
    errno = 0;
    f->odd = !is_ours(f, new);
    const uint64_t first = first_from(f, step);
    bool good = !f->odd;
    if (good && has_frames(f, new, first)) {
        write_again(f, new, first);
    } else if (good && !f->failed && (good = find_end(f, first))) {
        forget(f, first * f->chunks);
        status = append_frames(f, new, first);
    }
    if (!good)
        return ERGO_FAIL(f->ctx, ERGO_E_IO,
                         "cannot write %s/%s: it is no trajectory of this run, or damaged; move it "
                         "away, and resume",
                         folder->path, name);
    return status == ERGO_OK && f->failed
               ? ERGO_FAIL(f->ctx, ERGO_E_IO, "cannot write %s/%s: %s", folder->path, name,
                           errno ? strerror(errno) : "it ends too early")
               : status;
}

enum ergo_status ergo_gsd_write(struct ergo_context *ctx, const struct ergo_folder *folder,
                                const char *name, uint64_t step, const char *text, size_t length) {
    struct ergo_gsd_frames new = {.n = 0};
    struct file file = {.ctx = ctx, .fd = -1};
    enum ergo_status status = ergo_gsd_frames_read(ctx, name, step, text, length, &new);
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
