/*
 * libFuzzer's target for tables that jobs name: fields, couplings, functions of distance. The first
 * byte says which.
 */
#include "fuzz.h"

#define SPINS(system)                                                                              \
    "{'sampler': 'spin-lattice', 'system': {'size': [4, 4], 'temperature': 2, " system             \
    "}, 'run': {'sweeps': 4}}"
#define HELIUM(system)                                                                             \
    "{'sampler': 'helium-vmc', 'system': {'n': 64, " system "}, 'run': {'sweeps': 4}}"
#define LJ(system)                                                                                 \
    "{'sampler': 'lj-fluid', 'system': {'ensemble': 'muvt', 'box': [4, 4, 4], 'cutoff': 2, "       \
    "'temperature': 1.5, 'activity': 0.1, 'particles': 3, " system "}, 'run': {'sweeps': 4}}"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const jobs[] = {
        SPINS("'model': 'ising', 'field_file': '@'"),
        SPINS("'model': 'ising', 'disorder_file': '@'"),
        SPINS("'model': 'ising', 'disorder_file': '@', 'dynamics': 'heat-bath'"),
        SPINS("'model': 'spin-glass', 'disorder_file': '@', 'samples': 2"),
        SPINS("'model': 'spin-glass', 'disorder_file': '@', 'disorder': 'gaussian', 'samples': 1"),
        HELIUM("'potential': '@'"),
        HELIUM("'wave_function': '@'"),
        HELIUM("'wave_function': '@', 'potential': '@', 'symmetrised': false"),
        LJ("'field': '@'")};
    if (size)
        (void)fuzz_job(jobs[*data % (sizeof jobs / sizeof jobs[0])], data + 1, size - 1);
    return 0;
}
