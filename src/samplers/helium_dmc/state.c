/*
 * The canonical state of a member, little-endian: for each walker its places (int32, x of all
 * atoms, then y, then z) and its records of the potential energy (int64, the newest first; none
 * without forward walking), as the next step will begin from them; of each step that is remembered
 * for energy_corrected, step s at s % correction_steps, the mean energy and the sum of the weights
 * (int64, uint64; zeros before step 0); with forward_structure each walker's ancestor (uint32), the
 * places of all ancestors and those of the last window; at the end, where pair functions are from
 * files, a hash of these (uint64).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "samplers/helium_dmc/dmc.h"

static const struct helium_model *model_of(const struct ergo_field_row *r) {
    return &((const struct dmc_state *)r->state)->models[r->member];
}

static const uint32_t *parents(const void *state) {
    return ((const struct dmc_state *)state)->parents;
}

static void places(const void *state, struct ergo_extent *x) {
    const struct dmc_shape *h = &((const struct dmc_state *)state)->shape;
    ergo_extent_numbers(x, 3 * (size_t)h->n, 4);
    x->pieces = h->walkers;
    x->axes = "walker axis atom";
}

static bool places_valid(const struct ergo_field_row *r) {
    return helium_places_fit(model_of(r), r->bytes);
}

static void records(const void *state, struct ergo_extent *x) {
    const struct dmc_shape *h = &((const struct dmc_state *)state)->shape;
    ergo_extent_numbers(x, h->every ? HELIUM_DMC_RECORDS : 0, 8);
    x->pieces = h->walkers;
}

/* What a run can have recorded: sums of a walker stay below 2^62 / (2 walkers). */
static bool records_valid(const struct ergo_field_row *r) {
    const int64_t most = (INT64_C(1) << 61) / ((const struct dmc_state *)r->state)->shape.walkers;
    bool good = true;
    for (size_t k = 0; k < r->x->bytes; k += 8) {
        const int64_t record = (int64_t)ergo_bytes_get(r->bytes + k, 8);
        good = good && record <= most && record >= -most;
    }
    return good;
}

static void grown(const void *state, struct ergo_extent *x) {
    ergo_extent_numbers(x, 2 * (size_t)((const struct dmc_state *)state)->shape.remember, 8);
}

/* Mean energies, and weights, which are not negative either. */
static bool grown_valid(const struct ergo_field_row *r) {
    const int64_t most = INT64_C(1) << 62;
    bool good = true;
    for (size_t k = 0; k < r->x->bytes / 8; k++) {
        const int64_t number = (int64_t)ergo_bytes_get(r->bytes + 8 * k, 8);
        good = good && number <= most && number >= (k % 2 ? 0 : -most);
    }
    return good;
}

static void ancestors(const void *state, struct ergo_extent *x) {
    const struct dmc_shape *h = &((const struct dmc_state *)state)->shape;
    ergo_extent_numbers(x, h->chosen != 0, 4);
    x->rows = h->walkers;
    x->below = h->walkers;
}

static void tags(const void *state, struct ergo_extent *x) {
    const struct dmc_shape *h = &((const struct dmc_state *)state)->shape;
    ergo_extent_numbers(x, h->chosen ? 3 * (size_t)h->n : 0, 4);
    x->rows = h->walkers;
}

static void pure(const void *state, struct ergo_extent *x) {
    const struct dmc_shape *h = &((const struct dmc_state *)state)->shape;
    ergo_extent_numbers(x, 3 * (size_t)h->n * h->chosen, 4);
}

static void hash(const void *state, struct ergo_extent *x) {
    const struct dmc_state *s = state;
    ergo_extent_numbers(x, s->models[x->member].hash != 0, 8);
}

static void *hash_of(void *state, size_t member) {
    return &((struct dmc_state *)state)->models[member].hash;
}

/* The next step begins from parents. */
static void saving(void *state, size_t member) {
    struct dmc_state *s = state;
    const size_t count = s->shape.walkers;
    ergo_engine_read(&s->e, DMC_PARENTS, member * count * 4, count * 4, s->parents);
    for (uint32_t k = 0; k < count && ergo_engine_end(&s->e) == ERGO_OK; k++)
        if ((s->parents[k] += k) >= count)
            ERGO_ENGINE_FAIL(&s->e, ERGO_E_AUDIT,
                             "audit of helium-dmc failed on %s: walker %u of member %zu continues "
                             "one that does not exist",
                             s->e.device->summary.name, k, member);
}

static void loaded(void *state, size_t member) {
    struct dmc_state *s = state;
    const size_t count = s->shape.walkers;
    memset(s->parents, 0, count * 4);
    ergo_engine_write(&s->e, DMC_PARENTS, member * count * 4, count * 4, s->parents);
}

static const struct ergo_field field[] = {
    {DMC_POSITIONS, "positions", .extent = places, .valid = places_valid, .from = parents},
    {DMC_RECORDS, "energies", .extent = records, .valid = records_valid, .from = parents,
     .beside = true},
    {DMC_GROWN, "weights", .extent = grown, .valid = grown_valid, .own = true},
    {DMC_ANCESTORS, "ancestors", .extent = ancestors, .from = parents},
    {DMC_TAGS, "ancestors' positions", .extent = tags},
    {DMC_PURE_PLACES, "positions of the last window", .extent = pure},
    {ERGO_ON_HOST, "files of /system", .extent = hash, .host = hash_of, .constant = true},
};
const struct ergo_fields dmc_fields = {
    .field = field, .n = sizeof field / sizeof *field, .saving = saving, .loaded = loaded};

enum ergo_status dmc_frame(struct ergo_context *ctx, void *opaque, size_t member,
                           struct ergo_text *text) {
    struct dmc_state *s = opaque;
    const uint32_t wish = (uint32_t)of_quantum(s->e.batch->points[member])->frame_walkers;
    const uint32_t count = wish < s->shape.walkers ? wish : s->shape.walkers;
    const size_t each = 12 * (size_t)s->shape.n + (s->shape.every ? 8 * HELIUM_DMC_RECORDS : 0);
    struct ergo_text saved = {0};
    const enum ergo_status status = ergo_fields_save(ctx, s, member, &saved);
    for (uint32_t w = 0; w < count && status == ERGO_OK; w++) {
        char more[80];
        snprintf(more, sizeof more, "time_step=%" PRIu64 " walker=%u", s->e.step, w);
        helium_frame_append(text, &s->models[member], more, (const void *)(saved.data + w * each));
    }
    ergo_text_free(&saved);
    return status;
}
