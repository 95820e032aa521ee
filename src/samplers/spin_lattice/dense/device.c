/* Fully connected spin glasses on a device: constants, start, the table of operations. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "samplers/spin_lattice/dense/dense.h"
#include "samplers/spin_lattice/models.h"

/* ---- couplings ------------------------------------------------------------------------------- */

struct drawing {
    const struct dense_state *s;
    int16_t *couplings;
    atomic_bool failed;
};

static void draw_pile(size_t pile, void *user) {
    struct drawing *d = user;
    const struct dense_shape *h = &d->s->shape;
    const size_t padded = dense_padded(d->s);
    const struct ergo_point *point = d->s->e.batch->points[pile / h->samples];
    uint32_t key[2];
    dense_key(point, point->job->model->name, point->replica, key);
    if (!dense_couplings(key, h, (uint32_t)(pile % h->samples), padded,
                         d->couplings + pile * h->n * padded))
        d->failed = true;
}

/* The same couplings without padding, whatever the launch. */
static bool hash_member(struct dense_state *s, size_t m, const int16_t *couplings) {
    const struct dense_shape *h = &s->shape;
    const size_t n = h->n, padded = dense_padded(s);
    int16_t *plain = malloc(n * n * sizeof *plain);
    uint64_t *each = malloc(h->samples * sizeof *each);
    for (size_t k = 0; k < h->samples && plain && each; k++) {
        const int16_t *from = couplings + (m * h->samples + k) * n * padded;
        for (size_t i = 0; i < n; i++)
            memcpy(plain + i * n, from + i * padded, n * sizeof *plain);
        each[k] = ergo_hash64(plain, n * n * sizeof *plain);
    }
    if (plain && each)
        s->hashes[m] = ergo_hash64(each, h->samples * sizeof *each);
    free(plain);
    free(each);
    return plain && each;
}

static void write_couplings(struct ergo_context *ctx, struct dense_state *s) {
    struct drawing d = {.s = s, .couplings = malloc(s->e.buffers[DENSE_COUPLINGS].bytes)};
    if (d.couplings)
        ergo_parallel(dense_piles(s), SIZE_MAX, draw_pile, &d);
    bool made = d.couplings && !d.failed;
    for (size_t m = 0; m < s->e.batch->count && made; m++)
        made = hash_member(s, m, d.couplings);
    if (made)
        ergo_engine_constant(&s->e, DENSE_COUPLINGS, d.couplings);
    else
        ergo_engine_note(&s->e, ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for couplings"));
    free(d.couplings);
}

/* ---- constants ------------------------------------------------------------------------------- */

void dense_write_ladders(struct dense_state *s) {
    const size_t members = s->e.batch->count, rungs = s->shape.rungs;
    float *scales = malloc(members * rungs * sizeof *scales);
    float *slopes = malloc(members * rungs * sizeof *slopes);
    for (size_t m = 0; m < members && scales && slopes; m++)
        dense_tables(&s->shape, s->ladders + m * rungs, scales + m * rungs, slopes + m * rungs);
    if (scales && slopes) {
        ergo_engine_constant(&s->e, DENSE_SCALES, scales);
        ergo_engine_constant(&s->e, DENSE_SLOPES, slopes);
    } else {
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for temperatures of %zu members",
                         members);
    }
    free(scales);
    free(slopes);
}

static enum ergo_status prepare(struct ergo_context *ctx, void *state) {
    struct dense_state *s = state;
    const struct ergo_batch *batch = s->e.batch;
    const size_t members = batch->count;
    uint32_t *keys = malloc(8 * members);
    int32_t *external = malloc(members * sizeof *external);
    s->hashes = ergo_engine_memory(&s->e, members, sizeof *s->hashes);
    s->ladders = ergo_engine_memory(&s->e, members * s->shape.rungs, sizeof *s->ladders);
    s->places =
        ergo_engine_memory(&s->e, (size_t)s->shape.samples * s->shape.slots, sizeof *s->places);
    if (!keys || !external)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for the parameters of %zu members",
                         members);
    for (size_t m = 0; m < members && s->e.status == ERGO_OK; m++) {
        keys[2 * m] = (uint32_t)batch->points[m]->stream;
        keys[2 * m + 1] = (uint32_t)(batch->points[m]->stream >> 32);
        external[m] = dense_external(batch->points[m], &s->shape);
    }
    if (s->e.status == ERGO_OK) {
        ergo_feedback_begin(batch, s->ladders);
        dense_write_ladders(s);
        ergo_engine_constant(&s->e, DENSE_KEYS, keys);
        ergo_engine_constant(&s->e, DENSE_EXTERNAL, external);
        write_couplings(ctx, s);
    }
    for (unsigned k = DENSE_FIELDS_OF; k <= DENSE_MEASURE; k++)
        if (k != DENSE_SWAP)
            ergo_engine_need_group(&s->e, k, s->group);
    free(keys);
    free(external);
    return ergo_engine_end(&s->e);
}

/* ---- start ----------------------------------------------------------------------------------- */

/* Who is at the hot end has been there. */
void dense_clear(struct dense_state *s) {
    const struct dense_shape *h = &s->shape;
    const size_t chains = dense_chains(s);
    ergo_engine_fill(&s->e, DENSE_FLIPS, 0);
    if (h->rungs < 2)
        return;
    uint32_t *came = calloc(chains, sizeof *came);
    if (!came) {
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for walkers");
        return;
    }
    for (size_t chain = 0; chain < chains; chain++)
        came[chain] = chain % h->slots + h->copies >= h->slots;
    ergo_engine_write(&s->e, DENSE_CAME, 0, 4 * chains, came);
    ergo_engine_fill(&s->e, DENSE_ACCEPTED, 0);
    ergo_engine_fill(&s->e, DENSE_TRIPS, 0);
    free(came);
}

static void start(void *state) {
    struct dense_state *s = state;
    if (s->feedback.automatic) {
        ergo_feedback_begin(s->e.batch, s->ladders);
        dense_write_ladders(s);
    }
    dense_clear(s);
    ERGO_LAUNCH(&s->e, DENSE_START, ergo_grid_items(dense_padded(s), 8, dense_chains(s)),
                BUFFER(DENSE_SPINS), BUFFER(DENSE_PLACES), BUFFER(DENSE_KEYS),
                U32(lattice_start(s->e.batch->points[0])), U32(s->shape.samples));
    dense_launch_fields(s, 0, dense_chains(s));
}

static const struct ergo_engine_model model = {
    .sampler = "spin-lattice",
    .smaller = "fewer spins, samples or temperatures",
    .state_bytes = sizeof(struct dense_state),
    .fields = &dense_fields,
    .configure = dense_configure,
    .prepare = prepare,
    .start = start,
    .steps = dense_steps,
    .measure = dense_measure,
    .convert = dense_convert,
};

const struct ergo_sampler_ops dense_ops = {
    .engine = &model,
    .init = ergo_engine_init,
    .end_curves = dense_end_curves,
    .save = ergo_fields_save,
    .load = ergo_fields_load,
    .carry = ergo_fields_carry,
};
