/* Helium on a device: tables and starting configurations. */
#include <stdlib.h>
#include <string.h>

#include "helium/triplet.h"
#include "helium_vmc/params.h"
#include "samplers/helium_vmc/helium.h"

_Static_assert(sizeof(struct helium_member) == HELIUM_MEMBER_BYTES, "no padding");
_Static_assert(sizeof(struct helium_walker) == HELIUM_WALKER_BYTES, "no padding");
_Static_assert(sizeof(struct helium_sums) == HELIUM_SUMS_BYTES, "no padding");
_Static_assert(sizeof(struct helium_cubic_host) == 16, "a float4");
_Static_assert(sizeof(struct helium_triplet) == HELIUM_TRIPLET_BYTES, "no padding");

void helium_write_tables(struct helium_state *s) {
    const size_t members = s->e.batch->count;
    const size_t u_size = (size_t)s->launch.binades << HELIUM_U_PIECES;
    const size_t e_size = 2 * (size_t)helium_energy_pieces(s->launch.binades);
    struct helium_cubic_host *u = malloc(members * u_size * sizeof *u);
    struct helium_cubic_host *e = malloc(members * e_size * sizeof *e);
    struct helium_cubic_host *t = malloc(2 * members * u_size * sizeof *t);
    if (u && e && t) {
        for (size_t i = 0; i < members; i++) {
            struct helium_cubic_host *ui = u + i * u_size, *ei = e + i * e_size;
            if (s->launch.triplet)
                helium_table_triplet(&s->models[i], s->launch.binades, t + 2 * i * u_size);
            if (helium_model_shared(s->e.batch, i)) {
                memcpy(ui, ui - u_size, u_size * sizeof *ui);
                memcpy(ei, ei - e_size, e_size * sizeof *ei);
                continue;
            }
            helium_table_u(&s->models[i], s->launch.binades, ui);
            helium_table_energy(&s->models[i], s->launch.binades, ei);
        }
        ergo_engine_constant(&s->e, HELIUM_U_TABLES, u);
        ergo_engine_constant(&s->e, HELIUM_E_TABLES, e);
        ergo_engine_constant(&s->e, HELIUM_MEMBERS, s->members);
        if (s->launch.triplet) {
            ergo_engine_constant(&s->e, HELIUM_TRIPLETS, s->triplets);
            ergo_engine_constant(&s->e, HELIUM_T_TABLES, t);
        }
    } else {
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for the tables of %zu members", members);
    }
    free(u);
    free(e);
    free(t);
}

static enum ergo_status prepare(struct ergo_context *ctx, void *state) {
    struct helium_state *s = state;
    struct helium_cubic_host *random = malloc(2 * HELIUM_R_SIZE * sizeof *random);
    if (!random)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for tables of random numbers");
    helium_table_random(random);
    ergo_engine_constant(&s->e, HELIUM_RANDOM, random);
    ergo_engine_constant(&s->e, HELIUM_SITES, s->sites);
    free(random);
    helium_write_tables(s);
    return ERGO_OK;
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
    .steps = helium_steps,
    .measure = helium_measure,
    .measure_curves = helium_measure_curves,
    .row = helium_row,
    .curve_row = helium_curve_row,
    .refuse = helium_refuse,
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
    const uint32_t *sites = s->shape.sites, count = s->shape.walkers;
    enum ergo_status status = ERGO_OK;
    s->e.step = 0;
    s->rebuild = true;
    s->unproven = false;
    ergo_engine_begin(&s->e, ctx);
    helium_optimisation_reset(s);
    if (helium_start_by_host(s->e.batch->points[0]))
        status = helium_start_write(ctx, &s->e, HELIUM_POSITIONS, s->models, s->members, sites,
                                    s->shape.walkers);
    else
        ERGO_LAUNCH(&s->e, HELIUM_START,
                    ergo_grid_items((size_t)count * s->shape.n, 32, s->e.batch->count),
                    BUFFER(HELIUM_POSITIONS), BUFFER(HELIUM_MEMBERS), U32(count), U32(sites[0]),
                    U32(sites[1]), U32(sites[2]));
    return status == ERGO_OK ? helium_begin_walkers(ctx, s) : status;
}
