#include "engine/replay.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"

static enum ergo_status no_memory(struct ergo_context *ctx, const struct ergo_replay *r) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit of %s", r->sampler);
}

static size_t pieces_of(const struct ergo_replay *r, const struct ergo_replay_row *row) {
    return row->kind == ERGO_REPLAY_EACH ? r->members : 1;
}

static cl_mem memory_of(const struct ergo_replay_row *row, size_t piece) {
    return row->mem[row->kind == ERGO_REPLAY_EACH ? piece : 0];
}

/* Bytes of all pieces of a row. */
static size_t size_of(const struct ergo_replay *r, const struct ergo_replay_row *row) {
    return row->bytes * pieces_of(r, row);
}

static enum ergo_status read_row(struct ergo_context *ctx, const struct ergo_replay *r,
                                 const struct ergo_replay_row *row, void *to) {
    const size_t pieces = pieces_of(r, row);
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < pieces && status == ERGO_OK; i++)
        status = ergo_buffer_read(ctx, r->device, memory_of(row, i), 0, row->bytes,
                                  (unsigned char *)to + i * row->bytes);
    return status;
}

static enum ergo_status write_row(struct ergo_context *ctx, const struct ergo_replay *r,
                                  const struct ergo_replay_row *row, const void *from) {
    const size_t pieces = pieces_of(r, row);
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < pieces && status == ERGO_OK; i++)
        status = ergo_buffer_write(ctx, r->device, memory_of(row, i), 0, row->bytes,
                                   (const unsigned char *)from + i * row->bytes);
    return status;
}

static enum ergo_status wipe(struct ergo_context *ctx, const struct ergo_replay *r,
                             const struct ergo_replay_row *row, uint8_t byte) {
    const size_t pieces = pieces_of(r, row);
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < pieces && status == ERGO_OK; i++)
        status = ergo_buffer_fill(ctx, r->device, memory_of(row, i), 0, row->bytes, byte);
    return status;
}

/* The stretch goes on in a copy. False: there is no room for one. */
static bool set_apart(const struct ergo_replay *r, size_t i) {
    const struct ergo_replay_row *row = &r->rows[i];
    cl_mem copy = NULL;
    if (row->kind != ERGO_REPLAY_APART ||
        !ergo_buffer_copy(r->device, *row->mem, row->bytes, &copy))
        return false;
    r->owns[i] = *row->mem;
    *row->mem = copy;
    return true;
}

static enum ergo_status keep(struct ergo_context *ctx, struct ergo_replay *r) {
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < r->n_rows && status == ERGO_OK; i++) {
        const struct ergo_replay_row *row = &r->rows[i];
        if (row->kind == ERGO_REPLAY_NONE || set_apart(r, i))
            continue;
        if (row->kind == ERGO_REPLAY_RESULT) {
            status = wipe(ctx, r, row, 0xff);
            continue;
        }
        r->kept[i] = malloc(size_of(r, row) + 1);
        if (!r->kept[i])
            status = no_memory(ctx, r);
        else if (row->kind == ERGO_REPLAY_HOST)
            memcpy(r->kept[i], row->host, row->bytes);
        else
            status = read_row(ctx, r, row, r->kept[i]);
    }
    return status;
}

/* Restore a row and read it again. If the transfer failed silently, the run would continue from
 * another state. */
static enum ergo_status put_back(struct ergo_context *ctx, const struct ergo_replay *r,
                                 const struct ergo_replay_row *row, const void *kept) {
    enum ergo_status status = write_row(ctx, r, row, kept);
    void *found = status == ERGO_OK ? malloc(size_of(r, row) + 1) : NULL;
    if (status == ERGO_OK)
        status = found ? read_row(ctx, r, row, found) : no_memory(ctx, r);
    if (status == ERGO_OK && memcmp(found, kept, size_of(r, row)) != 0)
        status = ERGO_FAIL(
            ctx, ERGO_E_AUDIT,
            "audit of %s failed on %s (%s): %s written to the device read back differently",
            r->sampler, r->device->summary.name, r->device->summary.driver, row->what);
    free(found);
    return status;
}

/* The run's own memory again. */
static void take_back(const struct ergo_replay *r) {
    for (size_t i = 0; i < r->n_rows; i++)
        if (r->owns[i]) {
            ergo_buffer_release(r->rows[i].mem);
            *r->rows[i].mem = r->owns[i];
        }
}

static enum ergo_status restore(struct ergo_context *ctx, const struct ergo_replay *r) {
    enum ergo_status status = ERGO_OK;
    take_back(r);
    for (size_t i = 0; i < r->n_rows; i++) {
        const struct ergo_replay_row *row = &r->rows[i];
        if (row->kind == ERGO_REPLAY_HOST && r->kept[i])
            memcpy(row->host, r->kept[i], row->bytes);
        else if (row->kind == ERGO_REPLAY_RESULT && status == ERGO_OK)
            status = wipe(ctx, r, row, 0); /* zeros, as in a new buffer */
        else if (r->kept[i] && status == ERGO_OK)
            status = put_back(ctx, r, row, r->kept[i]);
    }
    return status;
}

static bool open_samples(struct ergo_replay *r) {
    /* not zeros, so that a sample that is never written is noticed */
    const size_t n = r->samples * r->members * r->n_columns;
    bool ok = (r->found.columns = malloc(n * sizeof(double) + 1)) != NULL;
    if (ok)
        memset(r->found.columns, 0xff, n * sizeof(double));
    for (size_t c = 0; c < r->n_curves && ok; c++) {
        const size_t size = r->samples * r->members * r->curve_sizes[c] * sizeof(double);
        if (!size)
            continue;
        ok = (r->found.curves[c] = malloc(size)) != NULL;
        if (ok)
            memset(r->found.curves[c], 0xff, size);
    }
    return ok;
}

static void close_replay(struct ergo_replay *r) {
    free(r->found.columns);
    for (size_t c = 0; c < ERGO_CURVES_MAX; c++)
        free(r->found.curves[c]);
    for (size_t i = 0; r->kept && i < r->n_rows; i++)
        free(r->kept[i]);
    free(r->kept);
    free(r->owns);
    memset(&r->found, 0, sizeof r->found);
    r->kept = NULL;
    r->owns = NULL;
}

/* collect refused the numbers of a sample. Is it the job's fault, or does the device give wrong
 * numbers? */
static enum ergo_status whose_fault(struct ergo_context *ctx, const struct ergo_replay *r) {
    char *said = strdup(ergo_error_message(ctx));
    if (!said)
        return ERGO_E_JOB;
    ergo_error_clear(ctx);
    enum ergo_status status = r->compare(ctx, r);
    if (status == ERGO_OK)
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "%s", said);
    free(said);
    return status;
}

enum ergo_status ergo_replay(struct ergo_context *ctx, struct ergo_replay *r) {
    memset(&r->found, 0, sizeof r->found);
    r->kept = calloc(r->n_rows + 1, sizeof *r->kept);
    r->owns = calloc(r->n_rows + 1, sizeof(cl_mem));
    const bool room = r->kept && r->owns && open_samples(r);
    enum ergo_status status = room ? keep(ctx, r) : no_memory(ctx, r);
    const bool kept = status == ERGO_OK;
    if (status == ERGO_OK && r->lead)
        status = r->advance(ctx, r->state, 0, 0, r->lead, 0);
    if (status == ERGO_OK)
        status = r->advance(ctx, r->state, 0, r->samples, r->every, r->first_sample);
    if (status == ERGO_OK)
        status = r->collect(ctx, r->state, 0, &r->found);
    if (status == ERGO_E_JOB)
        status = whose_fault(ctx, r);
    if (status == ERGO_OK && r->found.count != r->samples)
        status = ERGO_FAIL(ctx, ERGO_E_INTERNAL, "%zu samples of a replay, not %zu", r->found.count,
                           r->samples);
    if (status == ERGO_OK)
        status = r->compare(ctx, r);
    if (kept) {
        const enum ergo_status back = restore(ctx, r);
        status = status == ERGO_OK ? back : status;
    } else if (room) {
        take_back(r);
    }
    close_replay(r);
    return status;
}

enum ergo_status ergo_replay_before(struct ergo_context *ctx, const struct ergo_replay *r,
                                    size_t row, size_t offset, size_t bytes, void *to) {
    if (r->owns[row])
        return ergo_buffer_read(ctx, r->device, r->owns[row], offset, bytes, to);
    memcpy(to, (const char *)r->kept[row] + offset, bytes);
    return ERGO_OK;
}

enum ergo_status ergo_replay_differs(struct ergo_context *ctx, const struct ergo_replay *r,
                                     size_t member, const char *what) {
    const struct ergo_device_summary *d = &r->device->summary;
    return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                     "audit of %s failed on %s (%s): from the same state, after steps %llu to %llu "
                     "of member %zu, %s differ between the device and the host. The device's "
                     "compiler or hardware is wrong for these kernels: try another device%s%s",
                     r->sampler, d->name, d->driver, (unsigned long long)r->step,
                     (unsigned long long)(r->step + r->lead + r->samples * r->every) - 1, member,
                     what, r->remedy ? ", or another " : "", r->remedy ? r->remedy : "");
}

struct each {
    const struct ergo_replay *r;
    size_t begin;
    enum ergo_status (*one)(struct ergo_context *ctx, const struct ergo_replay *r, size_t member,
                            void *user);
    void *user;
    atomic_size_t failed; /* the last member that failed and one; 0: none */
};

static void do_one(size_t i, void *user) {
    struct each *each = user;
    if (each->one(NULL, each->r, each->begin + i, each->user) != ERGO_OK)
        each->failed = each->begin + i + 1;
}

enum ergo_status
ergo_replay_each(struct ergo_context *ctx, const struct ergo_replay *r, size_t begin, size_t end,
                 enum ergo_status (*one)(struct ergo_context *ctx, const struct ergo_replay *r,
                                         size_t member, void *user),
                 void *user) {
    struct each each = {r, begin, one, user, 0};
    ergo_parallel(end - begin, end - begin + 1, do_one, &each);
    if (!each.failed)
        return ERGO_OK;
    const enum ergo_status status = one(ctx, r, each.failed - 1, user);
    return status != ERGO_OK
               ? status
               : ERGO_FAIL(ctx, ERGO_E_AUDIT, "audit of %s failed for member %zu, and not again",
                           r->sampler, (size_t)(each.failed - 1));
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

void ergo_replay_plan(struct ergo_replay *r, int64_t measure_every, uint64_t interval,
                      uint64_t most, size_t block_samples) {
    r->every =
        least(measure_every > 0 ? (uint64_t)measure_every : 1, most / (block_samples < 2 ? 1 : 2));
    if (interval && interval < block_samples && interval < most)
        r->every = least(r->every, most / (interval + 1));
    r->samples = (size_t)least(most / r->every, block_samples);
    r->first_sample = interval ? (interval * r->samples + 1 - r->samples) % interval : 0;
}

bool ergo_replay_has_curve(const struct ergo_replay *r, uint64_t interval, size_t sample) {
    return interval && (r->first_sample + sample) % interval == 0;
}

bool ergo_replay_takes(const struct ergo_replay *r, size_t some, size_t member) {
    return (member + 1) * some / r->members != member * some / r->members;
}

bool ergo_replay_same(const double *a, const double *b, size_t n) {
    return n == 0 || memcmp(a, b, n * sizeof *a) == 0;
}

/* ---- constants ------------------------------------------------------------------------------- */

static uint64_t checksum(const void *data, size_t bytes) {
    const uint8_t *at = data;
    uint64_t sum = bytes;
    for (size_t left = bytes; left > 0;) {
        const size_t now = left < 8 ? left : 8;
        uint64_t word = 0;
        memcpy(&word, at, now);
        sum = ergo_constants_add(sum, word);
        at += now;
        left -= now;
    }
    return sum;
}

static enum ergo_status note(struct ergo_context *ctx, struct ergo_constants *c, const char *what,
                             cl_mem mem, size_t bytes, uint64_t hash) {
    size_t i = 0;
    while (i < c->n && c->rows[i].mem != mem)
        i++;
    if (i == ERGO_CONSTANTS)
        return ERGO_FAIL(ctx, ERGO_E_INTERNAL, "more than %d constants", (int)ERGO_CONSTANTS);
    c->rows[i] = (struct ergo_constant){what, mem, bytes, hash};
    c->n += i == c->n;
    return ERGO_OK;
}

enum ergo_status ergo_constant_create(struct ergo_context *ctx, struct ergo_device *device,
                                      struct ergo_constants *constants, const char *what,
                                      size_t bytes, const void *data, cl_mem *mem) {
    const enum ergo_status status = *mem ? ergo_buffer_write(ctx, device, *mem, 0, bytes, data)
                                         : ergo_buffer_create(ctx, device, what, bytes, data, mem);
    return status == ERGO_OK ? note(ctx, constants, what, *mem, bytes, checksum(data, bytes))
                             : status;
}

static enum ergo_status hash_now(struct ergo_context *ctx, struct ergo_device *device, cl_mem mem,
                                 size_t bytes, uint64_t *hash) {
    void *found = malloc(bytes + !bytes);
    const enum ergo_status status =
        found ? ergo_buffer_read(ctx, device, mem, 0, bytes, found)
              : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit of %zu bytes", bytes);
    if (status == ERGO_OK)
        *hash = checksum(found, bytes);
    free(found);
    return status;
}

enum ergo_status ergo_constant_note(struct ergo_context *ctx, struct ergo_device *device,
                                    struct ergo_constants *constants, const char *what, cl_mem mem,
                                    size_t bytes) {
    uint64_t hash = 0;
    const enum ergo_status status = hash_now(ctx, device, mem, bytes, &hash);
    return status == ERGO_OK ? note(ctx, constants, what, mem, bytes, hash) : status;
}

enum ergo_status ergo_constants_check(struct ergo_context *ctx, struct ergo_device *device,
                                      const struct ergo_constants *constants, cl_mem only,
                                      const char *sampler) {
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < constants->n && status == ERGO_OK; i++) {
        const struct ergo_constant *row = &constants->rows[i];
        uint64_t hash = 0;
        if (only && row->mem != only)
            continue;
        status = hash_now(ctx, device, row->mem, row->bytes, &hash);
        if (status == ERGO_OK && hash != row->hash)
            status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                               "audit of %s failed on %s (%s): the %s in the device's memory are "
                               "no longer what was written there",
                               sampler, device->summary.name, device->summary.driver, row->what);
    }
    return status;
}
