#include "model.h"

#include <math.h>
#include <stdio.h>

#include "samplers/swendsen_wang/joining.h"

/* Measured on H200s, 16384 x 16384 sites a rank, microseconds a sweep (bench/NOTES.md): not cut,
 * and of that labels of tiles, and joins of these; one rank that gathers; sites of others. */
enum { SIDE = 16384 };
static const double not_cut = 1806, labels = 1240, joins = 165, one_gathers = 1904,
                    gather_each = 0.001;
/* Assumed: us a message, bytes a us; a transfer to or from the device that is waited for; edges and
 * parts on the device, with their launches; tiles on edges before others fill the device; bonds
 * drawn ahead, and what it takes longer to keep them; what stays between two chains in flight. */
static const double latency = 3, bandwidth = 20000, transfer_us = 10, edges_us = 40, first_us = 30,
                    draws = 200, kept_us = 40, between_us = 15;
/* Of a host: threads that find bridges, one below, one to the right; a part with bonds to others,
 * to be numbered and named. Labels that rounds have left, for each rank, and a rank's bytes and us
 * for each of all: counted for 4,096 ranks. */
enum { THREADS = 2 };
static const double part_us = 0.004, left_each = 0.92, left_bytes = 4.5, left_us = 0.033;

double early_bytes(const struct counted *n) {
    return 4 * n->edge / 2 + 4 * n->items / 2;
}

double late_bytes(const struct counted *n, bool sized) {
    return sized && n->late > 0 ? 16 * n->late : 0; /* a sum there and back */
}

struct predicted {
    double device;      /* what it does for a single chain */
    double early, late; /* of hosts and network, behind labels and behind draws */
    double alone, flight, gather;
};

/* Of P ranks with squares of that side. */
static struct predicted predict(const struct counted *n, double ranks, double side) {
    const double larger = side / n->side, area = side * side / ((double)SIDE * SIDE);
    const double edge = 4 * side, parts = n->parts * larger,
                 left = ranks > 4 ? left_each * ranks : 0;
    const double steps = ranks > 1 ? ceil(log(ranks) / log(SW_JOINING_FAN) - 1e-9) : 0;
    const double rounds = ranks > 1 ? sw_joining_rounds((int)ranks) : 0;
    const double early_wire = (early_bytes(n) + n->early_bytes) * larger;
    const double late_wire = (n->bytes - n->early_bytes) * larger + left_bytes * left;
    const double wire = ranks > 1 ? 1 : 0;
    struct predicted p = {0};
    p.device = not_cut * area + edges_us + first_us + kept_us * area;
    p.early = transfer_us + 8 * edge / bandwidth + n->bridges_us / THREADS * larger +
              part_us * parts + n->early_us * larger +
              wire * (latency * (2 + n->early) + early_wire / bandwidth);
    p.late = 2 * transfer_us + (8 * edge + 12 * parts / 4) / bandwidth + n->host_us * larger +
             part_us * parts + left_us * left + latency * (rounds + steps) +
             wire * late_wire / bandwidth;
    p.alone = p.device + fmax(0, p.early - (labels * 7 / 8 + joins) * area) +
              fmax(0, p.late - draws * area);
    p.flight = fmax(not_cut * area + edges_us, p.early + p.late) + between_us;
    p.gather =
        one_gathers * area +
        wire * (gather_each * (ranks - 1) * 2 * side + latency * (4 + 2 * ceil(log2(ranks))) +
                (10 * side + 8 * 0.31 * 2 * side * (ranks - 1)) / bandwidth);
    return p;
}

static void show(const struct counted *n, double ranks, double side, double one) {
    const struct predicted p = predict(n, ranks, side);
    printf(
        "| %4.0f | %5.0f | %5.0f | %4.0f | %4.0f | %5.0f | %.3f | %5.0f | %.3f | %6.0f | %.3f | %s "
        "|\n",
        ranks, side, p.device, p.early, p.late, p.alone, one / p.alone, p.flight, one / p.flight,
        p.gather, one / p.gather, p.gather <= p.alone ? "gather" : "rounds");
}

static void head(void) {
    puts("| ranks | side | device | hosts and network, early | late | one chain, edges first | of "
         "speed | two in flight, a chain | of speed | one chain, gather | of speed | best for one "
         "|\n"
         "|---|---|---|---|---|---|---|---|---|---|---|---|");
}

void model_show(const struct counted *n) {
    static const double ranks[] = {2, 8, 64, 256, 4096};
    printf(
        "\nA model, not a measurement; us a sweep, not measured. H200s, %d x %d a rank: %.0f not "
        "cut, of that labels %.0f and joins\n%.0f, %.0f a rank that gathers alone, %.4f for each "
        "site of the others' edges (measured); edges and parts on the device %.0f,\nthe first "
        "tiles "
        "%.0f, draws ahead %.0f and %.0f longer, a transfer waited for %.0f and 20 GB/s, a message "
        "%.0f and 20 GB/s, between chains\nin flight %.0f (assumed); a host as this machine: "
        "bridges "
        "%.4f a site by two threads, a part %.4f early and %.4f late, as\ncounted here; labels "
        "left "
        "as counted for 4,096 ranks. Of speed: of a lattice that is not cut.\n\nWeak scaling:\n\n",
        SIDE, SIDE, not_cut, labels, joins, one_gathers, gather_each, edges_us, first_us, draws,
        kept_us, transfer_us, latency, between_us, n->bridges_us / (2.0 * THREADS * n->side),
        n->early_us / n->parts, n->host_us / n->parts);
    head();
    for (size_t k = 0; k < sizeof ranks / sizeof ranks[0]; k++)
        show(n, ranks[k], SIDE, not_cut);
    printf("\nStrong scaling, 32768 x 32768 over so many:\n\n");
    head();
    for (double p = 1; p <= 64; p *= p < 4 ? 2 : 4)
        show(n, p, 32768 / sqrt(p), 4 * not_cut / p);
}
