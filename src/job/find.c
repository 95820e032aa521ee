/* Alone in its file: the contract tests bring their own, which looks over the sampler's shoulder.
 */
#include <string.h>

#include "job/model.h"

const struct ergo_sampler *ergo_sampler_find(const char *name) {
    for (size_t i = 0; i < ergo_n_samplers; i++)
        if (strcmp(ergo_samplers[i]->name, name) == 0)
            return ergo_samplers[i];
    return NULL;
}
