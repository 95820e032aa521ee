/*
 * Checkpoints: a head, then records one after the other, numbers little-endian.
 *
 *     head    "ERGOCKPT", version (4), number of records (4);
 *             of each record its name (32, filled up with zeros), length (8), SHA-256 (32);
 *             SHA-256 (32) of all of the head before it
 *     records in the head's order, nothing between them and nothing behind the last
 *
 * All cores take part in a record of more than 1 MiB: its SHA-256 is that of the SHA-256 of its
 * pieces of 1 MiB, one after the other.
 *
 * No byte is unchecked, and the same records are the same bytes. Whoever made the file made its
 * checksums, too: they are for damage, and what is read is not to be trusted for them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parallel.h"
#include "result/checkpoint.h"

enum { MAGIC = 8, VERSION = 4, COUNT = 4, NAME = 32, LENGTH = 8, SHA = 32 };
enum { FIXED = MAGIC + VERSION + COUNT, ENTRY = NAME + LENGTH + SHA, RECORDS_MAX = 64 };

static const char magic[MAGIC] = {'E', 'R', 'G', 'O', 'C', 'K', 'P', 'T'};
static const uint32_t version = 3;

struct record {
    char name[NAME];
    uint64_t length, offset;
    uint8_t sha[SHA];
};

struct ergo_checkpoint {
    char *path;
    int fd;
    size_t count;
    struct record records[RECORDS_MAX];
};

/* ---- blobs ----------------------------------------------------------------------------------- */

bool ergo_blobs_take(struct ergo_blobs *blobs, const char *name, void *data, size_t length) {
    _Static_assert(sizeof blobs->blobs->name == NAME, "names of blobs and of records");
    if (strlen(name) >= sizeof blobs->blobs->name || !data)
        goto fail;
    if (blobs->count == blobs->capacity) {
        size_t capacity = blobs->capacity ? 2 * blobs->capacity : 16;
        struct ergo_blob *larger = realloc(blobs->blobs, capacity * sizeof *larger);
        if (!larger)
            goto fail;
        blobs->blobs = larger;
        blobs->capacity = capacity;
    }
    struct ergo_blob *blob = &blobs->blobs[blobs->count++];
    memset(blob, 0, sizeof *blob);
    snprintf(blob->name, sizeof blob->name, "%s", name);
    blob->data = data;
    blob->length = length;
    return true;
fail:
    free(data);
    return false;
}

bool ergo_blobs_add(struct ergo_blobs *blobs, const char *name, const void *data, size_t length) {
    uint8_t *copy = malloc(length + 1);
    if (!copy)
        return false;
    if (length)
        memcpy(copy, data, length);
    copy[length] = 0; /* so that a blob of text is a C string */
    return ergo_blobs_take(blobs, name, copy, length);
}

const struct ergo_blob *ergo_blobs_find(const struct ergo_blobs *blobs, const char *name) {
    for (size_t i = 0; i < blobs->count; i++)
        if (strcmp(blobs->blobs[i].name, name) == 0)
            return &blobs->blobs[i];
    return NULL;
}

void ergo_blobs_free(struct ergo_blobs *blobs) {
    for (size_t i = 0; i < blobs->count; i++)
        free(blobs->blobs[i].data);
    free(blobs->blobs);
    memset(blobs, 0, sizeof *blobs);
}

/* ---- checksums ------------------------------------------------------------------------------- */

struct sums {
    const uint8_t *data;
    size_t length;
    uint8_t (*of)[SHA]; /* of each piece */
};

static void sum_piece(size_t i, void *user) {
    const struct sums *sums = user;
    const size_t at = i * ERGO_CHECKPOINT_PIECE, rest = sums->length - at;
    ergo_sha256(sums->data + at, rest < ERGO_CHECKPOINT_PIECE ? rest : ERGO_CHECKPOINT_PIECE,
                sums->of[i]);
}

bool ergo_checkpoint_sum(const void *data, size_t length, uint8_t sha[SHA]) {
    const size_t n = length / ERGO_CHECKPOINT_PIECE + (length % ERGO_CHECKPOINT_PIECE != 0);
    if (n < 2) {
        ergo_sha256(data, length, sha);
        return true;
    }
    struct sums sums = {data, length, malloc(n * SHA)};
    if (!sums.of)
        return false;
    ergo_parallel(n, n, sum_piece, &sums);
    ergo_sha256(sums.of, n * SHA, sha);
    free(sums.of);
    return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

static uint8_t *put_number(uint8_t *to, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> (8 * i));
    return to + bytes;
}

static uint64_t get_number(const uint8_t *from, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << (8 * i);
    return value;
}

static size_t head_size(size_t count) {
    return FIXED + count * ENTRY + SHA;
}

bool ergo_blobs_sum(struct ergo_blobs *blobs) {
    for (size_t i = 0; i < blobs->count; i++) {
        struct ergo_blob *b = &blobs->blobs[i];
        b->summed = b->summed || ergo_checkpoint_sum(b->data, b->length, b->sha);
        if (!b->summed)
            return false;
    }
    return true;
}

static void make_head(uint8_t *head, const struct ergo_blobs *blobs) {
    memcpy(head, magic, MAGIC);
    uint8_t *at = put_number(head + MAGIC, version, VERSION);
    at = put_number(at, blobs->count, COUNT);
    for (size_t i = 0; i < blobs->count; i++) {
        const struct ergo_blob *blob = &blobs->blobs[i];
        memset(at, 0, NAME);
        memcpy(at, blob->name, strlen(blob->name));
        at = put_number(at + NAME, blob->length, LENGTH);
        memcpy(at, blob->sha, SHA);
        at += SHA;
    }
    ergo_sha256(head, (size_t)(at - head), at);
}

enum ergo_status ergo_checkpoint_write(struct ergo_context *ctx, const struct ergo_folder *in,
                                       const char *name, struct ergo_blobs *blobs) {
    struct ergo_piece pieces[RECORDS_MAX + 1];
    uint8_t head[FIXED + RECORDS_MAX * ENTRY + SHA];
    if (blobs->count > RECORDS_MAX)
        return ERGO_FAIL(ctx, ERGO_E_INTERNAL, "cannot make the checkpoint %s: %zu records", name,
                         blobs->count);
    for (size_t i = 0; i < blobs->count; i++) {
        const struct ergo_blob *blob = &blobs->blobs[i];
        if (ergo_blobs_find(blobs, blob->name) != blob)
            return ERGO_FAIL(ctx, ERGO_E_INTERNAL,
                             "cannot make the checkpoint %s: two records '%s'", name, blob->name);
        pieces[i + 1] = (struct ergo_piece){blob->data, blob->length};
    }
    if (!ergo_blobs_sum(blobs))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the checkpoint %s", name);
    make_head(head, blobs);
    pieces[0] = (struct ergo_piece){head, head_size(blobs->count)};
    return ergo_file_write_pieces(ctx, in, name, pieces, blobs->count + 1);
}

/* ---- reading --------------------------------------------------------------------------------- */

static enum ergo_status refuse(struct ergo_context *ctx, const char *path, const char *reason) {
    return ERGO_FAIL(ctx, ERGO_E_IO, "cannot read the checkpoint %s: %s", path, reason);
}

/* NULL, or why not. */
static const char *read_at(int fd, void *to, size_t length, uint64_t offset) {
    return ergo_file_read_at(fd, offset, to, length) ? NULL
           : errno                                   ? strerror(errno)
                                                     : "it was cut short meanwhile";
}

static bool is_listed(const char *name, const char *const *names) {
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static const struct record *find(const struct ergo_checkpoint *checkpoint, const char *name) {
    for (size_t i = 0; i < checkpoint->count; i++)
        if (strcmp(checkpoint->records[i].name, name) == 0)
            return &checkpoint->records[i];
    return NULL;
}

/* Takes the entries of a head whose checksum is right; `size`: of the file. */
static const char *take_entries(struct ergo_checkpoint *checkpoint, const uint8_t *head,
                                size_t count, uint64_t size, const char *const *names,
                                char reason[128]) {
    uint64_t end = head_size(count);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *entry = head + FIXED + i * ENTRY;
        struct record *record = &checkpoint->records[i];
        memcpy(record->name, entry, NAME);
        const size_t length = strnlen(record->name, NAME);
        for (size_t k = length; k < NAME; k++)
            if (record->name[k])
                return "its head is damaged (a name)";
        if (length == 0 || length == NAME || (names && !is_listed(record->name, names))) {
            snprintf(reason, 128,
                     "it has a record '%.31s', which no checkpoint of this version has",
                     record->name);
            return reason;
        }
        if (find(checkpoint, record->name)) {
            snprintf(reason, 128, "it has two records '%s'", record->name);
            return reason;
        }
        record->length = get_number(entry + NAME, LENGTH);
        record->offset = end;
        memcpy(record->sha, entry + NAME + LENGTH, SHA);
        end = record->length > UINT64_MAX - end ? UINT64_MAX : end + record->length;
        checkpoint->count++;
    }
    if (end == size)
        return NULL;
    snprintf(reason, 128, "it %s: its head announces %llu bytes, it has %llu",
             end > size ? "was cut short" : "is too long", (unsigned long long)end,
             (unsigned long long)size);
    return reason;
}

static const char *read_head(struct ergo_checkpoint *checkpoint, uint64_t size,
                             const char *const *names, char reason[128]) {
    uint8_t head[FIXED + RECORDS_MAX * ENTRY + SHA], sha[SHA];
    const size_t begin = size < FIXED ? (size_t)size : FIXED;
    if (size == 0)
        return "it is empty";
    const char *failed = read_at(checkpoint->fd, head, begin, 0);
    if (failed)
        return failed;
    if (memcmp(head, magic, begin < MAGIC ? begin : MAGIC) != 0)
        return "it does not begin like a checkpoint of ergocl";
    if (size < FIXED)
        return "it was cut short";
    const uint64_t found = get_number(head + MAGIC, VERSION);
    const uint64_t count = get_number(head + MAGIC + VERSION, COUNT);
    if (found != version) {
        snprintf(reason, 128, "it is of version %llu, this ergocl reads version %u",
                 (unsigned long long)found, (unsigned)version);
        return reason;
    }
    if (count > RECORDS_MAX)
        return "its head is damaged (the number of records)";
    const size_t length = head_size((size_t)count);
    if (size < length)
        return "it was cut short";
    failed = read_at(checkpoint->fd, head + FIXED, length - FIXED, FIXED);
    if (failed)
        return failed;
    ergo_sha256(head, length - SHA, sha);
    if (memcmp(sha, head + length - SHA, SHA) != 0)
        return "its head is damaged (its SHA-256 differs)";
    return take_entries(checkpoint, head, (size_t)count, size, names, reason);
}

enum ergo_status ergo_checkpoint_open(struct ergo_context *ctx, const struct ergo_folder *in,
                                      const char *name, const char *const *names,
                                      struct ergo_checkpoint **out) {
    char reason[128];
    uint64_t size = 0;
    *out = NULL;
    struct ergo_checkpoint *checkpoint = calloc(1, sizeof *checkpoint);
    if (checkpoint) {
        checkpoint->fd = -1;
        checkpoint->path = ergo_folder_path(in, name);
    }
    if (!checkpoint || !checkpoint->path) {
        ergo_checkpoint_close(checkpoint);
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "reading %s: out of memory", name);
    }
    enum ergo_status status = ergo_file_open(ctx, in, name, &checkpoint->fd, &size);
    if (status == ERGO_OK) {
        const char *damage = read_head(checkpoint, size, names, reason);
        if (damage)
            status = refuse(ctx, checkpoint->path, damage);
    }
    if (status == ERGO_OK)
        *out = checkpoint;
    else
        ergo_checkpoint_close(checkpoint);
    return status;
}

void ergo_checkpoint_close(struct ergo_checkpoint *checkpoint) {
    if (checkpoint && checkpoint->fd >= 0)
        close(checkpoint->fd);
    if (checkpoint)
        free(checkpoint->path);
    free(checkpoint);
}

bool ergo_checkpoint_has(const struct ergo_checkpoint *checkpoint, const char *name) {
    return find(checkpoint, name) != NULL;
}

const char *ergo_checkpoint_name(const struct ergo_checkpoint *checkpoint, size_t i) {
    return i < checkpoint->count ? checkpoint->records[i].name : NULL;
}

enum ergo_status ergo_checkpoint_load(struct ergo_context *ctx,
                                      const struct ergo_checkpoint *checkpoint, const char *name,
                                      uint64_t most, struct ergo_blobs *blobs) {
    const struct record *record = find(checkpoint, name);
    if (!record)
        return ERGO_OK;
    char reason[160];
    uint8_t sha[SHA];
    if (record->length > most || record->length > SIZE_MAX - 1) {
        snprintf(reason, sizeof reason, "its record '%s' has %llu bytes, at most %llu are possible",
                 record->name, (unsigned long long)record->length, (unsigned long long)most);
        return refuse(ctx, checkpoint->path, reason);
    }
    const size_t length = (size_t)record->length;
    uint8_t *data = malloc(length + 1);
    if (!data)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "reading %s: no memory for the %zu bytes of '%s'",
                         checkpoint->path, length, record->name);
    const char *failed = read_at(checkpoint->fd, data, length, record->offset);
    data[length] = 0;
    if (!failed && !ergo_checkpoint_sum(data, length, sha))
        failed = "there is no memory to check it";
    if (!failed && memcmp(sha, record->sha, SHA) != 0)
        failed = "its SHA-256 differs from that in the head";
    if (failed) {
        free(data);
        snprintf(reason, sizeof reason, "its record '%s' is damaged: %s", record->name, failed);
        return refuse(ctx, checkpoint->path, reason);
    }
    return ergo_blobs_take(blobs, record->name, data, length)
               ? ERGO_OK
               : ERGO_FAIL(ctx, ERGO_E_MEMORY, "reading %s: out of memory", checkpoint->path);
}
