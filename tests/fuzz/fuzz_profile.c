/* libFuzzer's target for tuning profiles: settings that are read could be in a job. */
#include "fuzz.h"
#include "run/tuning.h"

static void expect_settings(const struct ergo_tuning_entry *entry) {
    const struct ergo_sampler *sampler = ergo_sampler_find(entry->sampler);
    expect(sampler != NULL, "a profile of no sampler");
    expect(entry->members > 0 && entry->work_per_step > 0, "a profile of nothing");
    for (size_t s = 0; s < entry->n_settings; s++) {
        bool found = false;
        for (size_t m = 0; m < sampler->n_models; m++)
            for (size_t t = 0; t < sampler->models[m]->n_tunables; t++) {
                const struct ergo_tunable *tunable = &sampler->models[m]->tunables[t];
                found |= strcmp(tunable->name, entry->settings[s].name) == 0 &&
                         entry->settings[s].value >= tunable->min &&
                         entry->settings[s].value <= tunable->max;
            }
        expect(found, "a setting that no job may have");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_tuning_list list = {0};
    expect(ctx != NULL, "no memory for a context");
    const enum ergo_status status = ergo_tuning_parse(ctx, "f", (const char *)data, size, &list);
    expect(status == ERGO_OK || status == ERGO_E_IO, "an odd status");
    if (status != ERGO_OK)
        expect_message(ergo_error_message(ctx));
    for (size_t i = 0; i < list.count; i++)
        expect_settings(&list.entries[i]);
    ergo_tuning_list_free(&list);
    ergo_context_destroy(ctx);
    return 0;
}
