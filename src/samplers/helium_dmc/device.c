/* Tables on the device, and starting configurations. */
#include <stdlib.h>
#include <string.h>

#include "samplers/helium_dmc/dmc.h"

_Static_assert(sizeof(struct helium_dmc) == HELIUM_DMC_BYTES, "no padding");

enum ergo_status dmc_prepare(struct ergo_context *ctx, void *state) {
    struct dmc_state *s = state;
    const size_t members = s->e.batch->count;
    const size_t size = 2 * (size_t)helium_energy_pieces(s->launch.binades);
    struct helium_cubic_host *tables = malloc(members * size * sizeof *tables);
    struct helium_cubic_host *random = malloc(2 * HELIUM_R_SIZE * sizeof *random);
    const size_t t_size = (size_t)2 * s->launch.binades << HELIUM_U_PIECES;
    struct helium_cubic_host *triplets = malloc(members * t_size * sizeof *triplets);
    struct helium_cubic_host *u = malloc(members * t_size / 2 * sizeof *u);
    enum ergo_status status = ERGO_OK;
    if (tables && random && triplets && u) {
        for (size_t i = 0; i < members && s->launch.triplet; i++)
            helium_table_triplet(&s->models[i], s->launch.binades, triplets + i * t_size);
        for (size_t i = 0; i < members; i++)
            if (dmc_model_shared(s->e.batch, i))
                memcpy(tables + i * size, tables + (i - 1) * size, size * sizeof *tables);
            else
                helium_table_energy(&s->models[i], s->launch.binades, tables + i * size);
        for (size_t i = 0; i < members && s->shape.points; i++)
            helium_table_u(&s->models[i], s->launch.binades, u + i * t_size / 2);
        if (s->shape.points)
            ergo_engine_constant(&s->e, DMC_U_TABLES, u);
        helium_table_random(random);
        ergo_engine_constant(&s->e, DMC_E_TABLES, tables);
        ergo_engine_constant(&s->e, DMC_RANDOM, random);
        ergo_engine_constant(&s->e, DMC_SITES, s->sites);
        if (s->launch.triplet) {
            ergo_engine_constant(&s->e, DMC_TRIPLETS, s->triplets);
            ergo_engine_constant(&s->e, DMC_T_TABLES, triplets);
        }
    } else {
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the tables of %zu members", members);
    }
    free(tables);
    free(random);
    free(triplets);
    free(u);
    return status;
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
    const uint32_t *sites = s->shape.sites, count = s->shape.walkers;
    enum ergo_status status = ERGO_OK;
    s->e.step = 0;
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_fill(&s->e, DMC_PARENTS, 0);
    ergo_engine_fill(&s->e, DMC_RECORDS, 0);
    ergo_engine_fill(&s->e, DMC_GROWN, 0);
    for (unsigned k = DMC_ANCESTORS; k <= DMC_PURE_PLACES && s->shape.chosen; k++)
        ergo_engine_fill(&s->e, k, 0);
    if (helium_start_by_host(s->e.batch->points[0]))
        status = helium_start_write(ctx, &s->e, DMC_POSITIONS, s->models, s->members, sites,
                                    s->shape.walkers);
    else
        ERGO_LAUNCH(&s->e, DMC_START,
                    ergo_grid_items((size_t)count * s->shape.n, 32, s->e.batch->count),
                    BUFFER(DMC_POSITIONS), BUFFER(DMC_MEMBERS), U32(count), U32(sites[0]),
                    U32(sites[1]), U32(sites[2]));
    return status == ERGO_OK ? ergo_engine_end(&s->e) : status;
}
