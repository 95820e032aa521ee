/* Helium on a device: tables and starting configurations. */
#include <stdlib.h>

#include "helium/triplet.h"
#include "helium_vmc/params.h"
#include "samplers/helium_vmc/helium.h"

_Static_assert(sizeof(struct helium_member) == HELIUM_MEMBER_BYTES, "no padding");
_Static_assert(sizeof(struct helium_walker) == HELIUM_WALKER_BYTES, "no padding");
_Static_assert(sizeof(struct helium_sums) == HELIUM_SUMS_BYTES, "no padding");
_Static_assert(sizeof(struct helium_cubic_host) == 16, "a float4");
_Static_assert(sizeof(struct helium_triplet) == HELIUM_TRIPLET_BYTES, "no padding");

void helium_write_tables(struct helium_state *s) {
    struct ergo_engine *e = &s->e;
    const unsigned binades = s->launch.binades;
    const size_t pieces = (size_t)binades << HELIUM_U_PIECES;
    helium_write_table(e, HELIUM_U_TABLES, s->models, helium_model_shared, binades, pieces,
                       helium_table_u);
    helium_write_table(e, HELIUM_E_TABLES, s->models, helium_model_shared, binades,
                       2 * (size_t)helium_energy_pieces(binades), helium_table_energy);
    ergo_engine_constant(e, HELIUM_MEMBERS, s->members);
    if (!s->launch.triplet)
        return;
    ergo_engine_constant(e, HELIUM_TRIPLETS, s->triplets);
    helium_write_table(e, HELIUM_T_TABLES, s->models, helium_model_shared, binades, 2 * pieces,
                       helium_table_triplet);
}

static enum ergo_status prepare(struct ergo_context *ctx, void *state) {
    struct helium_state *s = state;
    (void)ctx;
    helium_write_random(&s->e, HELIUM_RANDOM);
    ergo_engine_constant(&s->e, HELIUM_SITES, s->sites);
    helium_write_tables(s);
    return ergo_engine_end(&s->e);
}

static void release(void *state) {
    struct helium_state *s = state;
    for (size_t i = 0; s->models && i < s->e.batch->count; i++)
        if (!helium_model_shared(s->e.batch, i))
            helium_model_free(&s->models[i]);
}

const struct ergo_engine_model helium_engine = {
    .sampler = "helium-vmc",
    .smaller = "fewer walkers or atoms",
    .state_bytes = sizeof(struct helium_state),
    .fields = &helium_fields,
    .configure = helium_configure,
    .prepare = prepare,
    ERGO_ENGINE_ROWS(helium),
    .release = release,
};

/* ---- start ------------------------------------------------------------------------------------
 */

void helium_ln_psi(struct helium_state *s, struct helium_sums *sums) {
    const size_t all = s->e.batch->count * s->shape.walkers;
    helium_energy(s, HELIUM_SUMS, 0, true);
    ergo_engine_read(&s->e, HELIUM_SUMS, 0, all * sizeof *sums, sums);
}

/* Compute ln psi, which moves then update, and set the displacement that the job gives. */
enum ergo_status helium_begin_walkers(struct ergo_context *ctx, struct helium_state *s) {
    const size_t members = s->e.batch->count, all = members * s->shape.walkers;
    struct helium_walker *walkers = calloc(all, sizeof *walkers);
    struct helium_sums *sums = malloc(all * sizeof *sums);
    uint32_t *factors = malloc(members * sizeof *factors);
    const bool memory = walkers && sums && factors;
    if (memory) {
        helium_ln_psi(s, sums);
        for (size_t i = 0; i < all && ergo_engine_end(&s->e) == ERGO_OK; i++)
            walkers[i].ln_psi = sums[i].ln_psi / 2;
        for (size_t m = 0; m < members; m++)
            factors[m] = HELIUM_FACTOR_ONE;
        ergo_engine_write(&s->e, HELIUM_WALKERS, 0, all * sizeof *walkers, walkers);
        ergo_engine_write(&s->e, HELIUM_FACTORS, 0, members * sizeof *factors, factors);
    }
    free(walkers);
    free(sums);
    free(factors);
    return memory ? ergo_engine_end(&s->e)
                  : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu walkers", all);
}

enum ergo_status helium_init(struct ergo_context *ctx, void *opaque) {
    struct helium_state *s = opaque;
    const unsigned rows[] = {HELIUM_POSITIONS, HELIUM_MEMBERS, HELIUM_START};
    s->e.step = 0;
    s->rebuild = true;
    s->unproven = false;
    ergo_engine_begin(&s->e, ctx);
    helium_optimisation_reset(s);
    const enum ergo_status status = helium_start_write(ctx, &s->e, rows, s->models, s->members,
                                                       s->shape.sites, s->shape.walkers);
    return status == ERGO_OK ? helium_begin_walkers(ctx, s) : status;
}
