#include "model.h"

#include <math.h>
#include <stdio.h>

#include "samplers/swendsen_wang/joining.h"

/* Measured on H200s, 16384 x 16384 sites a rank, microseconds a sweep (bench/NOTES.md). */
/* THREADS: of a host, for a rank: one finds bridges below, one to the right. */
enum { SIDE = 16384, THREADS = 2 };
static const double not_cut = 1806, one_gathers = 1904, gather_each = 0.001;
/* Assumed: us a message, bytes a us; edges and parts on the device, with their launches; a transfer
 * to or from the device that is waited for; what stays between two chains in flight. */
static const double latency = 3, bandwidth = 20000, edges_us = 40, transfer_us = 10,
                    between_us = 15;
/* Of a host: a part with bonds to others, to be numbered and named; a pair of labels (as counted
 * for 4,096 ranks). */
static const double part_us = 0.004, pair_us = 0.028;

double early_bytes(const struct counted *n) {
    return 4 * 2.0 * n->side + 4 * n->items / 2;
}

double late_bytes(const struct counted *n, bool sized) {
    return sized && n->late > 0 ? 16 * n->late : 0; /* a sum there and back */
}

struct predicted {
    double device, transfers, host, network, gather;
};

/* Of P ranks with squares of that side. */
static struct predicted predict(const struct counted *n, double ranks, double side) {
    const double larger = side / n->side, edge = 4 * side, share = ranks / n->ranks;
    const double rounds = sw_joining_rounds((int)ranks),
                 steps = ranks > 1 ? ceil(log(ranks) / log(SW_JOINING_FAN) - 1e-9) : 0;
    const double messages = ranks > 1 ? 2 + rounds + steps : 0;
    const double bytes = ranks > 1 ? (early_bytes(n) + n->bytes) * larger + n->handed * share : 0;
    struct predicted p = {0};
    p.device = not_cut * side * side / ((double)SIDE * SIDE) + edges_us;
    p.transfers = 3 * transfer_us + (8 * edge + 12 * n->parts * larger) / bandwidth;
    p.host = (n->bridges_us / THREADS + n->host_us + part_us * n->parts) * larger +
             pair_us * n->rest * share;
    p.network = latency * messages + bytes / bandwidth;
    p.gather = one_gathers * side * side / ((double)SIDE * SIDE) +
               (ranks > 1 ? gather_each * (ranks - 1) * 2 * side + latency * (4 + 2 * steps) +
                                (10 * side + 8 * 0.31 * 2 * side * (ranks - 1)) / bandwidth
                          : 0);
    return p;
}

static double alone(const struct predicted *p) {
    return p->device + p->transfers + p->host + p->network;
}

static double in_flight(const struct predicted *p) {
    return fmax(p->device, p->transfers + p->host + p->network) + between_us;
}

static void show(const struct counted *n, double ranks, double side, double one) {
    const struct predicted p = predict(n, ranks, side);
    printf(
        "| %4.0f | %5.0f | %5.0f | %5.0f | %4.0f | %4.0f | %5.0f | %.2f | %5.0f | %.2f | %6.0f | "
        "%.2f | %s |\n",
        ranks, side, p.device, p.transfers, p.host, p.network, alone(&p), one / alone(&p),
        in_flight(&p), one / in_flight(&p), p.gather, one / p.gather,
        p.gather <= alone(&p) ? "gather" : "rounds");
}

static void head(void) {
    puts("| ranks | side | device | transfers | host | network | one chain by rounds | of speed | "
         "two "
         "in flight | of speed | gather | of speed | one chain, best |\n"
         "|---|---|---|---|---|---|---|---|---|---|---|---|---|");
}

void model_show(const struct counted *n) {
    static const double ranks[] = {2, 8, 64, 256, 4096};
    printf(
        "\nA model, not a measurement; us a sweep, not measured. H200s, %d x %d a rank: %.0f not "
        "cut, %.0f a\nrank that gathers alone, %.4f for each site of the others' edges (measured); "
        "edges and parts on the device %.0f,\na transfer waited for %.0f and 20 GB/s, a message "
        "%.0f and 20 GB/s, between chains in flight %.0f (assumed); a host\nas this machine: "
        "bridges %.4f a site by two threads, rounds %.4f a part, as counted here; pairs left grow "
        "as the ranks.\n"
        "Of speed: of a lattice that is not cut.\n\nWeak scaling:\n\n",
        SIDE, SIDE, not_cut, one_gathers, gather_each, edges_us, transfer_us, latency, between_us,
        n->bridges_us / (2.0 * n->side), n->host_us / n->parts);
    head();
    for (size_t k = 0; k < sizeof ranks / sizeof ranks[0]; k++)
        show(n, ranks[k], SIDE, not_cut);
    printf("\nStrong scaling, 32768 x 32768 over so many:\n\n");
    head();
    for (double p = 1; p <= 64; p *= p < 4 ? 2 : 4)
        show(n, p, 32768 / sqrt(p), 4 * not_cut / p);
}
