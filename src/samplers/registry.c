/* The samplers of this build. To add one: its files, and a line here. */
#include <string.h>

#include "samplers/sampler.h"
#include "samplers/spin_lattice/spin_lattice.h"

const struct ergo_sampler *const ergo_samplers[] = {
    &ergo_spin_lattice,
};
const size_t ergo_n_samplers = sizeof ergo_samplers / sizeof ergo_samplers[0];

const struct ergo_sampler *ergo_sampler_find(const char *name) {
    for (size_t i = 0; i < ergo_n_samplers; i++)
        if (strcmp(ergo_samplers[i]->info->name, name) == 0)
            return ergo_samplers[i];
    return NULL;
}
