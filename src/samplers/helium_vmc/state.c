/*
 * The canonical state of a member, little-endian: the displacement factor (uint32), then for each
 * walker ln psi (int64, 2^-21), accepted moves of the tuning window (uint32), and the positions
 * (int32, x of all atoms, then y, then z); where all parameters are optimised, the numbers of
 * descent.h (doubles); at the end, where pair functions are from files, a hash
 * of these (uint64): with others the chain would be another one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helium_vmc/params.h"
#include "samplers/helium_vmc/helium.h"

static void put32(struct ergo_text *text, uint32_t x) {
    const uint8_t b[4] = {(uint8_t)x, (uint8_t)(x >> 8), (uint8_t)(x >> 16), (uint8_t)(x >> 24)};
    ergo_text_append_bytes(text, b, 4);
}

static uint32_t get32(const uint8_t *b) {
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static size_t numbers_of(const struct helium_state *s, size_t member) {
    const struct helium_optimisation *o = &s->optimisation;
    return o->schedule.all ? helium_descent_size(&o->schedule, &o->which[member]) : 0;
}

/* Read a member's walkers and positions, each malloc'ed. */
static enum ergo_status fetch(struct ergo_context *ctx, struct helium_state *s, size_t member,
                              uint32_t count, int32_t **places, struct helium_walker **walkers,
                              uint32_t *factor) {
    const size_t first = member * s->shape.walkers;
    *places = malloc(count * (size_t)s->shape.walker_bytes);
    *walkers = malloc(count * sizeof **walkers);
    if (!*places || !*walkers)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %u walkers", count);
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, HELIUM_POSITIONS, first * s->shape.walker_bytes,
                     count * (size_t)s->shape.walker_bytes, *places);
    ergo_engine_read(&s->e, HELIUM_WALKERS, first * HELIUM_WALKER_BYTES,
                     count * (size_t)HELIUM_WALKER_BYTES, *walkers);
    ergo_engine_read(&s->e, HELIUM_FACTORS, 4 * member, 4, factor);
    return ergo_engine_end(&s->e);
}

enum ergo_status helium_save(struct ergo_context *ctx, void *opaque, size_t member,
                             struct ergo_text *text) {
    struct helium_state *s = opaque;
    int32_t *places = NULL;
    struct helium_walker *walkers = NULL;
    uint32_t factor = 0;
    enum ergo_status status = fetch(ctx, s, member, s->shape.walkers, &places, &walkers, &factor);
    if (status == ERGO_OK) {
        put32(text, factor);
        for (size_t w = 0; w < s->shape.walkers; w++) {
            put32(text, (uint32_t)(uint64_t)walkers[w].ln_psi);
            put32(text, (uint32_t)((uint64_t)walkers[w].ln_psi >> 32));
            put32(text, walkers[w].window);
            for (size_t k = 0; k < 3 * (size_t)s->shape.n; k++)
                put32(text, (uint32_t)places[w * 3 * s->shape.n + k]);
        }
        for (size_t k = 0; k < numbers_of(s, member); k++) {
            uint64_t bits;
            memcpy(&bits, &s->optimisation.numbers[member][k], sizeof bits);
            put32(text, (uint32_t)bits);
            put32(text, (uint32_t)(bits >> 32));
        }
        const uint64_t hash = helium_model_hash(&s->models[member]);
        if (hash) {
            put32(text, (uint32_t)hash);
            put32(text, (uint32_t)(hash >> 32));
        }
        if (text->failed)
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the state of member %zu", member);
    }
    free(places);
    free(walkers);
    return status;
}

/* The optimisation's numbers, from behind the walkers. */
static enum ergo_status load_numbers(struct ergo_context *ctx, struct helium_state *s,
                                     size_t member, const uint8_t *bytes) {
    const size_t count = numbers_of(s, member);
    double *numbers = malloc((count + 1) * sizeof *numbers);
    enum ergo_status status = ERGO_OK;
    if (!numbers)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load walkers");
    for (size_t k = 0; k < count; k++) {
        const uint64_t bits = get32(bytes + 8 * k) | (uint64_t)get32(bytes + 8 * k + 4) << 32;
        memcpy(&numbers[k], &bits, sizeof bits);
    }
    if (count && !helium_optimisation_take(s, member, numbers))
        status = ERGO_FAIL(ctx, ERGO_E_IO,
                           "the saved state of member %zu has parameters of a wave function that "
                           "no run of this job has: it is damaged",
                           member);
    free(numbers);
    return status;
}

enum ergo_status helium_load(struct ergo_context *ctx, void *opaque, size_t member, uint64_t step,
                             const void *data, size_t length) {
    struct helium_state *s = opaque;
    const uint8_t *bytes = data;
    const size_t n = s->shape.n, count = s->shape.walkers, each = 12 + 12 * n;
    const uint64_t hash = helium_model_hash(&s->models[member]);
    const size_t expected = 4 + count * each + 8 * numbers_of(s, member) + (hash ? 8 : 0);
    if (length != expected)
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has %zu bytes; %zu walkers of %zu atoms "
                         "have %zu",
                         member, length, count, n, expected);
    if (hash && (get32(bytes + length - 8) != (uint32_t)hash ||
                 get32(bytes + length - 4) != (uint32_t)(hash >> 32)))
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the files that /system names are not those "
                         "that the run began with: put them back, or begin a new run");
    uint32_t factor = get32(bytes);
    if (factor < 64 || factor > 1048576)
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has a displacement factor of %u, which no "
                         "run has: it is damaged",
                         member, factor);
    int32_t *places = malloc(count * 12 * n);
    struct helium_walker *walkers = calloc(count, sizeof *walkers);
    enum ergo_status status =
        places && walkers ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load walkers");
    for (size_t w = 0; w < count && status == ERGO_OK; w++) {
        const uint8_t *from = bytes + 4 + w * each;
        walkers[w].ln_psi = (int64_t)((uint64_t)get32(from) | (uint64_t)get32(from + 4) << 32);
        walkers[w].window = get32(from + 8);
        for (size_t k = 0; k < 3 * n; k++)
            places[w * 3 * n + k] = (int32_t)get32(from + 12 + 4 * k);
        if (!helium_places_fit(&s->models[member], places + w * 3 * n))
            status = ERGO_FAIL(ctx, ERGO_E_IO,
                               "the saved state of member %zu has an atom out of the plane: it is "
                               "damaged",
                               member);
    }
    if (status == ERGO_OK) {
        ergo_engine_begin(&s->e, ctx);
        ergo_engine_write(&s->e, HELIUM_POSITIONS, member * count * s->shape.walker_bytes,
                          count * s->shape.walker_bytes, places);
        ergo_engine_write(&s->e, HELIUM_WALKERS, member * count * HELIUM_WALKER_BYTES,
                          count * HELIUM_WALKER_BYTES, walkers);
        ergo_engine_write(&s->e, HELIUM_FACTORS, 4 * member, 4, &factor);
        status = load_numbers(ctx, s, member, bytes + 4 + count * each);
        if (status == ERGO_OK)
            status = ergo_engine_end(&s->e);
    }
    s->e.step = step;
    s->rebuild = true;
    free(places);
    free(walkers);
    return status;
}

/* Positions: ln psi is the job's wave function's, and the displacement as it says. */
enum ergo_status helium_carry(struct ergo_context *ctx, void *opaque, size_t member,
                              const void *data, size_t length) {
    struct helium_state *s = opaque;
    const uint8_t *bytes = data;
    const size_t n = s->shape.n, count = s->shape.walkers, each = 12 + 12 * n;
    if (length < 4 + count * each) /* behind them, what is this run's own */
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has %zu bytes; %zu walkers of %zu atoms "
                         "have %zu",
                         member, length, count, n, 4 + count * each);
    int32_t *places = malloc(count * 12 * n);
    if (!places)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load walkers");
    for (size_t w = 0; w < count; w++)
        for (size_t k = 0; k < 3 * n; k++)
            places[w * 3 * n + k] = (int32_t)get32(bytes + 16 + w * each + 4 * k);
    ergo_engine_begin(&s->e, ctx);
    if (member == 0)
        helium_optimisation_reset(s);
    ergo_engine_write(&s->e, HELIUM_POSITIONS, member * count * s->shape.walker_bytes,
                      count * s->shape.walker_bytes, places);
    free(places);
    const enum ergo_status status = ergo_engine_end(&s->e);
    return status == ERGO_OK && member + 1 == s->e.batch->count ? helium_begin_walkers(ctx, s)
                                                                : status;
}

/* Frames of the first walkers, lengths in A. */
enum ergo_status helium_frame(struct ergo_context *ctx, void *opaque, size_t member,
                              struct ergo_text *text) {
    struct helium_state *s = opaque;
    const uint32_t wish =
        (uint32_t)ergo_point_int(s->e.batch->points[member], "/run/frame_walkers");
    const uint32_t count = wish < s->shape.walkers ? wish : s->shape.walkers;
    int32_t *places = NULL;
    struct helium_walker *walkers = NULL;
    uint32_t factor = 0;
    enum ergo_status status = fetch(ctx, s, member, count, &places, &walkers, &factor);
    for (size_t w = 0; w < count && status == ERGO_OK; w++) {
        char more[100];
        snprintf(more, sizeof more, "macroupdate=%" PRIu64 " walker=%zu ln_psi=%.6f", s->e.step, w,
                 (double)walkers[w].ln_psi / (double)(1 << HELIUM_U_BITS));
        helium_frame_append(text, &s->models[member], more, places + w * 3 * s->shape.n);
    }
    free(places);
    free(walkers);
    return status;
}
