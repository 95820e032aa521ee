/* What a member's kernels get of its model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/helium/liquid.h"

void helium_member_of(const struct ergo_point *point, const struct helium_model *model,
                      struct helium_member *member) {
    const double added = model->added ? model->added : 1;
    memset(member, 0, sizeof *member);
    member->key0 = (uint32_t)point->stream;
    member->key1 = (uint32_t)(point->stream >> 32);
    member->low = helium_model_low(model);
    helium_model_kink(model, &member->kink, &member->kink_width);
    for (int k = 0; k < HELIUM_E_KINDS; k++) {
        member->unit[k] = (float)ldexp(1, model->bits[k]);
        member->limit[k] = (float)(ldexp(1, 62 - model->bits[k]) / (model->n * added));
    }
    member->root = (float)sqrt(model->lambda);
    helium_member_sites(model, member);
    member->dimensions = (float)model->dimensions;
    member->site_kind = helium_one_table(point);
    for (int k = 0; k < 3; k++) {
        /* equal sides must give exactly 2^-31 */
        const double ratio = model->side[k] / (2 * model->half);
        member->scale[k] = (float)(ratio * 0x1p-31);
        member->length[k] = (float)(model->side[k] * 0x1p-32);
        member->step[k] = (float)(model->step[k] * 0x1p32);
    }
}

/* The sums of V and r V' contain each pair twice. Factors in brackets leave the loop over walkers:
 * it has no divisions. */
struct helium_energies helium_energies_of(const struct helium_model *model,
                                          const struct helium_sums *sums) {
    const double n = model->n;
    return (struct helium_energies){
        .potential = (double)sums->potential * (0.5 * model->unit[0] / n) + model->tail_potential,
        .virial = (double)sums->virial * (0.5 * model->unit[1] / n) + model->tail_virial,
        .laplacian = (double)sums->laplacian * (model->unit[2] / n),
        .gradient = (double)sums->gradient * (model->unit[3] / n)};
}

uint64_t helium_marks_of(const struct helium_sums *sums, uint32_t walkers) {
    uint64_t marks = 0;
    for (uint32_t w = 0; w < walkers; w++)
        marks |= (uint64_t)sums[w].accepted >> HELIUM_BEYOND;
    return marks;
}

void helium_write_table(struct ergo_engine *e, unsigned row, const struct helium_model *models,
                        bool (*shared)(const struct ergo_batch *batch, size_t member),
                        unsigned binades, size_t pieces,
                        void (*make)(const struct helium_model *model, unsigned binades,
                                     struct helium_cubic_host *table)) {
    const size_t members = e->batch->count;
    struct helium_cubic_host *table = malloc(members * pieces * sizeof *table);
    if (!table)
        ERGO_ENGINE_FAIL(e, ERGO_E_MEMORY, "no memory for the tables of %zu members", members);
    for (size_t i = 0; i < members && table; i++)
        if (shared(e->batch, i))
            memcpy(table + i * pieces, table + (i - 1) * pieces, pieces * sizeof *table);
        else
            make(&models[i], binades, table + i * pieces);
    ergo_engine_constant(e, row, table);
    free(table);
}

void helium_write_random(struct ergo_engine *e, unsigned row) {
    struct helium_cubic_host random[2 * HELIUM_R_SIZE];
    helium_table_random(random);
    ergo_engine_constant(e, row, random);
}
