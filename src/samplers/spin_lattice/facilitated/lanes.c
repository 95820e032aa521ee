/*
 * Fluctuations between realisations (/run/chi4): chi_4 of persistence and overlap.
 *
 * With p the share of spins of a realisation that have not flipped since t = 0,
 * chi_4 = N (<p^2> - <p>^2) (Toninelli, Wyart, Berthier, Biroli, Bouchaud, Phys. Rev. E 71, 041505
 * (2005)), and the same with the overlap
 * q = sum s(0) s(t) / N. Realisations of a word-lattice share the sequence of sites, so only
 * word-lattices are independent: with a_w the mean of p in word-lattice w and b_w that of p^2, the
 * estimate is N (mean of b_w - mean over pairs of different w of a_w a_w'), which has no bias.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/facilitated/facilitated.h"
#include "samplers/spin_lattice/models.h"

enum { LANES = 32 };

enum ergo_status fac_lanes_prepare(struct fac_state *s) {
    if (!s->each)
        return ERGO_OK;
    s->lanes = ergo_engine_memory(&s->e, s->n_times, 4 * s->lanes_length);
    s->squares =
        ergo_engine_memory(&s->e, s->n_times * fac_lattices(s), FAC_SQUARES * sizeof *s->squares);
    return ergo_engine_end(&s->e);
}

void fac_lanes_clear(struct fac_state *s) {
    if (!s->each)
        return;
    memset(s->lanes, 0, 4 * s->n_times * s->lanes_length);
    memset(s->squares, 0, s->n_times * fac_lattices(s) * FAC_SQUARES * sizeof *s->squares);
}

void fac_lanes_record(struct fac_state *s, size_t k) {
    const size_t items = (size_t)s->shape.words * s->launch.parts * LANES;
    const size_t lattices = fac_lattices(s);
    if (!s->each)
        return;
    memset(s->squares + k * lattices * FAC_SQUARES, 0, lattices * FAC_SQUARES * sizeof *s->squares);
    ERGO_LAUNCH(&s->e, FAC_EACH, ergo_grid_items(items, s->launch.group, s->e.batch->count),
                BUFFER(FAC_SPINS), BUFFER(FAC_FIRST), BUFFER(FAC_FLIPPED), BUFFER(FAC_LANES),
                U32(s->shape.words), U32(s->launch.parts));
    ergo_engine_fetch(&s->e, FAC_LANES, 0, 4 * s->lanes_length, s->lanes + k * s->lanes_length);
}

uint64_t fac_square(const struct fac_state *s, size_t time, size_t member, size_t word,
                    unsigned c) {
    const size_t lattice = member * s->shape.words + word, parts = s->launch.parts;
    const uint32_t *counts =
        s->lanes + time * s->lanes_length + lattice * parts * LANES * FAC_SQUARES;
    uint64_t sum = s->squares[(time * fac_lattices(s) + lattice) * FAC_SQUARES + c];
    for (size_t lane = 0; lane < LANES; lane++) {
        uint64_t count = 0;
        for (size_t p = 0; p < parts; p++)
            count += counts[(p * LANES + lane) * FAC_SQUARES + c];
        sum += count * count;
    }
    return sum;
}

void fac_lanes_load(struct fac_state *s, size_t time, size_t member, size_t word,
                    const uint8_t *bytes) {
    const size_t lattice = member * s->shape.words + word, one = s->launch.parts * LANES;
    memcpy(s->squares + (time * fac_lattices(s) + lattice) * FAC_SQUARES, bytes, 8 * FAC_SQUARES);
    memset(s->lanes + time * s->lanes_length + lattice * one * FAC_SQUARES, 0,
           4 * one * FAC_SQUARES);
}

/* ---- chi_4 ----------------------------------------------------------------------------------- */

static double mean_of(const struct fac_state *s, size_t time, size_t member, size_t word,
                      unsigned c) {
    return (double)fac_record(s, time, member, word, 1 + c) /
           ((double)s->shape.sites * s->shape.lanes);
}

static double square_of(const struct fac_state *s, size_t time, size_t member, size_t word,
                        unsigned c) {
    const double sites = (double)s->shape.sites;
    return (double)fac_square(s, time, member, word, c) / (sites * sites * s->shape.lanes);
}

bool fac_lanes_curves(const struct fac_state *s, size_t member, struct ergo_curve *curves) {
    const size_t n = s->n_times, words = s->shape.words;
    double *values = malloc(words * n * sizeof *values), *a = malloc(2 * words * sizeof *a);
    bool memory = values && a;
    for (unsigned c = 0; c < FAC_SQUARES && memory && s->each; c++) {
        /* counts of equal spins are (1 + q) N / 2 */
        const double factor = (double)s->shape.sites * (c == 0 ? 4 : 1);
        for (size_t t = 0; t < n && memory; t++) {
            for (size_t w = 0; w < words; w++) {
                a[w] = mean_of(s, t, member, w, c);
                a[words + w] = square_of(s, t, member, w, c);
            }
            memory = model_chi4(words, n, a, a + words, factor, values + t);
        }
        for (size_t w = 0; w < words && memory; w++)
            ergo_curve_add(&curves[c == 0 ? CURVE_CHI4_OVERLAP : CURVE_CHI4], values + w * n);
    }
    free(values);
    free(a);
    return memory;
}
