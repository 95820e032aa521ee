/* libFuzzer's target for starts: the same file as start of all samplers of particles. */
#include "fuzz.h"
#include "job/xyz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const jobs[] = {
        "{'sampler': 'hard-disks', 'system': {'n': 3, 'box': 4, 'start': '@'}, 'run': {'sweeps': "
        "4}}",
        "{'sampler': 'lj-gcmc', 'system': {'box': [9, 9, 9], 'temperature': 1.5, 'activity': 0.1, "
        "'start': '@'}, 'run': {'sweeps': 4}}",
        "{'sampler': 'lj-fluid', 'system': {'ensemble': 'muvt', 'box': [9, 9, 9], 'temperature': "
        "1.5, 'activity': 0.1, 'frozen': {'file': '@', 'epsilon': [1, 2], 'sigma': 1}}, 'run': "
        "{'sweeps': 4}}",
        "{'sampler': 'helium-vmc', 'system': {'n': 3, 'density': 0.001, 'b': 0, 'walkers': 2, "
        "'start': '@'}, 'run': {'sweeps': 4}}"};
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_xyz frame;
    expect(ctx != NULL, "no memory for a context");
    char *text = malloc(size + 1); /* line ends as jobs read them */
    expect(text != NULL, "no memory for a text");
    memcpy(text, data, size);
    text[size] = '\0';
    const size_t length = ergo_text_plain(text, size);
    const bool read = ergo_xyz_parse(ctx, "f", text, length, &frame) == ERGO_OK;
    for (size_t i = 0; read && i < 3 * frame.n; i++)
        expect(frame.positions[i] - frame.positions[i] == 0, "a coordinate that is no number");
    ergo_xyz_free(&frame);
    free(text);
    ergo_context_destroy(ctx);
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
        expect(!fuzz_job(jobs[i], data, size) || read, "a start that cannot be read is taken");
    return 0;
}
