/* Forward walking of structures (cl/helium_dmc/trace.cl): launches, and the same on the host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helium_dmc/core.h"
#include "samplers/helium_dmc/dmc.h"

/* ---- on the device --------------------------------------------------------------------------- */

void dmc_forward_declare(struct dmc_state *s) {
    struct ergo_engine *e = &s->e;
    const struct dmc_shape *h = &s->shape;
    const uint64_t members = e->batch->count, all = h->chosen ? members * h->walkers : 0;
    const uint64_t pure = members * h->chosen * h->walker_bytes;
    ergo_engine_buffer(e, DMC_ANCESTORS, "ancestors", ERGO_BUFFER_STATE, 4 * all);
    ergo_engine_buffer(e, DMC_NEXT_ANCESTORS, "next ancestors", ERGO_BUFFER_STATE, 4 * all);
    ergo_engine_buffer(e, DMC_TAGS, "ancestors' places", ERGO_BUFFER_STATE, all * h->walker_bytes);
    ergo_engine_buffer(e, DMC_PURE_PLACES, "places of the ground state", ERGO_BUFFER_STATE, pure);
    ergo_engine_buffer(e, DMC_PURE_SAMPLE, "places for pure curves", ERGO_BUFFER_HOST, pure);
    if (!h->chosen)
        return;
    char options[40];
    snprintf(options, sizeof options, "-DHELIUM_N=%uu", h->n);
    ergo_engine_kernel(e, DMC_TRACE, "helium_dmc/trace.cl", options, "helium_dmc_trace");
    ergo_engine_kernel(e, DMC_TAG, "helium_dmc/trace.cl", options, "helium_dmc_tag");
    ergo_engine_kernel(e, DMC_HARVEST, "helium_dmc/trace.cl", options, "helium_dmc_harvest");
}

static void tag(struct dmc_state *s) {
    ERGO_LAUNCH(&s->e, DMC_TAG,
                ergo_grid_items(3 * (size_t)s->shape.n, 32, s->e.batch->count * s->shape.walkers),
                BUFFER(DMC_MIDDLE), U32(s->shape.walkers), BUFFER(DMC_TAGS), BUFFER(DMC_ANCESTORS));
}

static void harvest(struct dmc_state *s) {
    ERGO_LAUNCH(&s->e, DMC_HARVEST,
                ergo_grid_items(3 * (size_t)s->shape.n, 32, s->e.batch->count * s->shape.chosen),
                BUFFER(DMC_TAGS), BUFFER(DMC_ANCESTORS), U32(s->shape.walkers),
                U32(s->shape.chosen), BUFFER(DMC_PURE_PLACES));
}

/* Before the first window is over, its own walkers stand for their descendants. */
void dmc_forward_step(struct dmc_state *s) {
    const struct dmc_shape *h = &s->shape;
    if (!h->chosen)
        return;
    ERGO_LAUNCH(&s->e, DMC_TRACE, ergo_grid_items(dmc_own(s), 32, s->e.batch->count),
                BUFFER(DMC_PARENTS), BUFFER(DMC_ANCESTORS), WALKERS(s), BUFFER(DMC_NEXT_ANCESTORS));
    ergo_engine_swap(&s->e, DMC_ANCESTORS, DMC_NEXT_ANCESTORS);
    if (s->cut && (s->e.step == 0 || (s->e.step + 1) % h->window == 0)) {
        dmc_cut_share(s, DMC_ANCESTORS, DMC_ALL, 0, h->walkers);
        dmc_cut_share(s, DMC_MIDDLE, DMC_ALL, 0, h->walkers);
    }
    if (s->e.step == 0) {
        tag(s);
        harvest(s);
    } else if ((s->e.step + 1) % h->window == 0) {
        harvest(s);
        tag(s);
    }
}

void dmc_forward_curve(struct dmc_state *s, size_t curve) {
    const size_t bytes = s->shape.chosen * (size_t)s->shape.walker_bytes;
    for (size_t m = 0; m < s->e.batch->count && bytes; m++)
        ergo_engine_read_curve(&s->e, DMC_PURE_PLACES, m * bytes, bytes, DMC_PURE_SAMPLE, curve,
                               m * bytes);
}

/* ---- on the host ----------------------------------------------------------------------------- */

bool dmc_forward_make(const struct dmc_shape *h, struct dmc_forward *f) {
    const size_t all = h->chosen ? h->walkers : 0;
    f->ancestors = malloc(4 * all + 1);
    f->old = malloc(4 * all + 1);
    f->tags = malloc(all * (size_t)h->walker_bytes + 1);
    f->pure = malloc(h->chosen * (size_t)h->walker_bytes + 1);
    return f->ancestors && f->old && f->tags && f->pure;
}

void dmc_forward_free(struct dmc_forward *f) {
    free(f->ancestors);
    free(f->old);
    free(f->tags);
    free(f->pure);
}

void dmc_forward_read(struct dmc_state *s, size_t member, const struct dmc_forward *f) {
    const size_t count = s->shape.walkers, each = (size_t)s->shape.walker_bytes;
    const size_t pure = s->shape.chosen * each;
    if (!pure)
        return;
    ergo_engine_read(&s->e, DMC_ANCESTORS, member * count * 4, count * 4, f->ancestors);
    ergo_engine_read(&s->e, DMC_TAGS, member * count * each, count * each, f->tags);
    ergo_engine_read(&s->e, DMC_PURE_PLACES, member * pure, pure, f->pure);
}

void dmc_forward_write(struct dmc_state *s, size_t member, const struct dmc_forward *f) {
    const size_t count = s->shape.walkers, each = (size_t)s->shape.walker_bytes;
    const size_t pure = s->shape.chosen * each;
    if (!pure)
        return;
    ergo_engine_write(&s->e, DMC_ANCESTORS, member * count * 4, count * 4, f->ancestors);
    ergo_engine_write(&s->e, DMC_TAGS, member * count * each, count * each, f->tags);
    ergo_engine_write(&s->e, DMC_PURE_PLACES, member * pure, pure, f->pure);
}

void dmc_forward_kept(const struct dmc_state *s, const struct ergo_replay *r, size_t member,
                      const struct dmc_forward *f) {
    const size_t count = s->shape.walkers, each = (size_t)s->shape.walker_bytes;
    const size_t pure = s->shape.chosen * each;
    if (!pure)
        return;
    memcpy(f->ancestors, (const uint32_t *)r->kept[DMC_ANCESTORS] + member * count, 4 * count);
    memcpy(f->tags, (const char *)r->kept[DMC_TAGS] + member * count * each, count * each);
    memcpy(f->pure, (const char *)r->kept[DMC_PURE_PLACES] + member * pure, pure);
}

static void twin_harvest(const struct dmc_shape *h, const struct dmc_forward *f) {
    const size_t size = 3 * (size_t)h->n;
    for (uint32_t c = 0; c < h->chosen; c++) {
        const uint32_t walker = helium_dmc_chosen(c, h->walkers, h->chosen);
        memcpy(f->pure + c * size, f->tags + f->ancestors[walker] * size, 4 * size);
    }
}

static void twin_tag(const struct dmc_shape *h, const int32_t *middle,
                     const struct dmc_forward *f) {
    memcpy(f->tags, middle, h->walkers * (size_t)h->walker_bytes);
    for (uint32_t w = 0; w < h->walkers; w++)
        f->ancestors[w] = w;
}

void dmc_forward_twin(const struct dmc_shape *h, uint64_t step, const uint32_t *parents,
                      const int32_t *middle, const struct dmc_forward *f) {
    if (!h->chosen)
        return;
    memcpy(f->old, f->ancestors, 4 * (size_t)h->walkers);
    for (uint32_t w = 0; w < h->walkers; w++)
        f->ancestors[w] = f->old[parents[w]] < h->walkers ? f->old[parents[w]] : h->walkers - 1;
    if (step == 0) {
        twin_tag(h, middle, f);
        twin_harvest(h, f);
    } else if ((step + 1) % h->window == 0) {
        twin_harvest(h, f);
        twin_tag(h, middle, f);
    }
}

bool dmc_forward_same(const struct dmc_shape *h, const struct dmc_forward *a,
                      const struct dmc_forward *b) {
    const size_t each = (size_t)h->walker_bytes;
    return !h->chosen || (memcmp(a->ancestors, b->ancestors, 4 * (size_t)h->walkers) == 0 &&
                          memcmp(a->tags, b->tags, h->walkers * each) == 0 &&
                          memcmp(a->pure, b->pure, h->chosen * each) == 0);
}
