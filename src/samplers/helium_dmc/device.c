/* Tables on the device, and starting configurations. */
#include "samplers/helium_dmc/dmc.h"

_Static_assert(sizeof(struct helium_dmc) == HELIUM_DMC_BYTES, "no padding");

enum ergo_status dmc_prepare(struct ergo_context *ctx, void *state) {
    struct dmc_state *s = state;
    struct ergo_engine *e = &s->e;
    const unsigned binades = s->launch.binades;
    const size_t pieces = (size_t)binades << HELIUM_U_PIECES;
    (void)ctx;
    if (s->shape.points)
        helium_write_table(e, DMC_U_TABLES, s->models, dmc_model_shared, binades, pieces,
                           helium_table_u);
    helium_write_table(e, DMC_E_TABLES, s->models, dmc_model_shared, binades,
                       2 * (size_t)helium_energy_pieces(binades), helium_table_energy);
    helium_write_random(e, DMC_RANDOM);
    ergo_engine_constant(e, DMC_SITES, s->sites);
    if (s->launch.triplet) {
        ergo_engine_constant(e, DMC_TRIPLETS, s->triplets);
        helium_write_table(e, DMC_T_TABLES, s->models, dmc_model_shared, binades, 2 * pieces,
                           helium_table_triplet);
    }
    return ergo_engine_end(e);
}

void dmc_release(void *state) {
    struct dmc_state *s = state;
    for (size_t i = 0; s->models && i < s->e.batch->count; i++)
        if (!dmc_model_shared(s->e.batch, i))
            helium_model_free(&s->models[i]);
}

const struct ergo_engine_model dmc_engine = {DMC_ENGINE, .configure = dmc_configure,
                                             .release = dmc_release};

/* ---- start ------------------------------------------------------------------------------------
 */

enum ergo_status dmc_init(struct ergo_context *ctx, void *opaque) {
    struct dmc_state *s = opaque;
    const unsigned rows[] = {DMC_POSITIONS, DMC_MEMBERS, DMC_START};
    s->e.step = 0;
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_fill(&s->e, DMC_PARENTS, 0);
    ergo_engine_fill(&s->e, DMC_RECORDS, 0);
    ergo_engine_fill(&s->e, DMC_GROWN, 0);
    for (unsigned k = DMC_ANCESTORS; k <= DMC_PURE_PLACES && s->shape.chosen; k++)
        ergo_engine_fill(&s->e, k, 0);
    ergo_engine_note(&s->e, helium_start_write(ctx, &s->e, rows, s->models, s->members,
                                               s->shape.sites, s->shape.walkers));
    return ergo_engine_end(&s->e);
}
