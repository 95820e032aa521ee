/* Forward walking of structures (cl/helium_dmc/trace.cl): launches. */
#include <stdio.h>

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
