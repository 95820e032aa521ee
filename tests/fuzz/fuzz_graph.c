/*
 * libFuzzer's target for graphs from files. The first byte says in which format they are read. What
 * is taken has colours without neighbours, and energies that are numbers.
 */
#include <math.h>

#include "fuzz.h"
#include "samplers/spin_lattice/graph/network.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct graph_problem p;
    struct graph_network net;
    char wrong[GRAPH_WRONG];
    if (!size)
        return 0;
    char *text = malloc(size);
    expect(text != NULL, "no memory");
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    const clock_t start = clock();
    if (!graph_parse(text, size - 1, (enum graph_format)(*data % 4), &p, wrong)) {
        for (char *c = wrong; *c; c++) /* ergo_job_error shows other bytes as escapes */
            *c = (unsigned char)*c < 0x20 || *c == 0x7F ? '?' : *c;
        expect_message(wrong);
        expect(p.edges == NULL && p.fields == NULL, "memory of a refused graph");
    } else {
        expect(graph_network_make(&p, &net), "no memory for a network");
        for (uint32_t c = 0; c < net.colours; c++)
            for (uint32_t s = net.colour_first[c]; s < net.colour_first[c + 1]; s++)
                for (uint32_t k = net.first[s]; k < net.first[s + 1]; k++)
                    expect(net.bonds[k].to < net.colour_first[c] ||
                               net.bonds[k].to >= net.colour_first[c + 1],
                           "neighbours of one colour");
        uint8_t *bits = calloc(p.n, 1);
        expect(bits != NULL, "no memory");
        expect(isfinite(graph_problem_energy(&p, bits)), "an energy that is no number");
        free(bits);
        graph_network_free(&net);
        graph_problem_free(&p);
    }
    expect(clock() - start < 3 * CLOCKS_PER_SEC, "the answer took more than a second");
    free(text);
    return 0;
}
