/*
 * Correlations of a cut lattice. Waves are summed over the clusters of a rectangle by its device,
 * and over ranks as sizes are (joining.h). Pairs lie on lines (cl/swendsen_wang/correlate.h): all
 * ranks tell all which clusters their sites on these are of, and count the pairs of some lines.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/cut.h"

/* Lines that are sent at a time. */
enum { BATCH = 16 };

static uint32_t side_of(const struct sw_cut *s, unsigned column) {
    return (uint32_t)(column ? s->shape.ly : s->shape.lx);
}

/* Over which lines of a direction are spread. */
static uint32_t across(const struct sw_cut *s, unsigned column) {
    return side_of(s, !column);
}

static uint32_t sites_of_rows(const struct ergo_rectangle *p) {
    return 32 * (p->words - 1) + p->tail;
}

/* The number of the first line from row or column `at` on. */
static uint32_t first_line(uint64_t at, uint32_t side) {
    uint32_t j = 0;
    while (j < sw_line_count(side) && sw_line_at(j, side) < at)
        j++;
    return j;
}

/* Lines of a rectangle. */
static void lines_of(const struct sw_cut *s, const struct ergo_rectangle *p, unsigned column,
                     uint32_t *first, uint32_t *count) {
    const uint64_t begin = column ? 32 * p->word0 : p->row0;
    const uint64_t end = begin + (column ? sites_of_rows(p) : p->rows);
    *first = first_line(begin, across(s, column));
    *count = first_line(end, across(s, column)) - *first;
}

static uint64_t line_sites(const struct sw_cut *s) {
    return (uint64_t)s->lines.count[0] * sites_of_rows(&s->piece) +
           (uint64_t)s->lines.count[1] * s->piece.rows;
}

void sw_lines_declare(struct sw_cut *s, const char *tiles) {
    static const char *const program = "swendsen_wang/cut_correlate.cl";
    struct ergo_engine *e = &s->e;
    const uint64_t words = ergo_rectangle_words(&s->piece);
    const uint64_t entries = 32 * (uint64_t)s->piece.words + s->piece.rows;
    for (unsigned column = 0; column < 2; column++)
        lines_of(s, &s->piece, column, &s->lines.first[column], &s->lines.count[column]);
    const struct {
        unsigned row;
        const char *what;
        uint64_t bytes;
    } results[] = {{SW_CUT_WAVES_EDGES, "waves of parts", 32 * entries},
                   {SW_CUT_WAVES, "structure factor", 8 * SW_WAVE_LIMBS},
                   {SW_CUT_LINES, "clusters on lines", 8 * (line_sites(s) + 1)}};
    for (size_t k = 0; k < sizeof results / sizeof results[0]; k++) {
        ergo_engine_buffer(e, results[k].row, results[k].what, ERGO_BUFFER_SCRATCH,
                           results[k].bytes);
        ergo_engine_flag(e, results[k].row, ERGO_BUFFER_HOSTED);
    }
    ergo_engine_buffer(e, SW_CUT_WAVES_INSIDE, "waves of clusters", ERGO_BUFFER_SCRATCH,
                       512 * words);
    ergo_engine_kernel(e, SW_CUT_WAVE_TILES, program, tiles, "sw_waves");
    ergo_engine_kernel(e, SW_CUT_WAVE_ROOTS, program, tiles, "sw_wave_roots");
    ergo_engine_kernel(e, SW_CUT_NAME_LINES, program, tiles, "sw_cut_line_names");
}

enum ergo_status sw_lines_prepare(struct sw_cut *s) {
    const size_t lx = (size_t)s->shape.lx, ly = (size_t)s->shape.ly, longest = lx > ly ? lx : ly;
    const size_t entries = 32 * (size_t)s->piece.words + s->piece.rows;
    s->part_waves = ergo_engine_memory(&s->e, 2 * entries, sizeof *s->part_waves);
    s->lines.all = ergo_engine_memory(&s->e, BATCH * longest, sizeof *s->lines.all);
    s->lines.line = ergo_engine_memory(&s->e, longest, sizeof *s->lines.line);
    return ergo_engine_end(&s->e);
}

void sw_lines_waves(struct sw_cut *s) {
    const size_t edges = (size_t)s->e.buffers[SW_CUT_WAVES_EDGES].bytes;
    ergo_engine_zero(&s->e, SW_CUT_WAVES_EDGES, edges);
    ergo_engine_zero(&s->e, SW_CUT_WAVES, 8 * SW_WAVE_LIMBS);
    ERGO_LAUNCH(&s->e, SW_CUT_WAVE_TILES, sw_cut_over_tiles(s), BUFFER(SW_CUT_RECT),
                BUFFER(SW_CUT_RIGHT), BUFFER(SW_CUT_RUN_LABELS), BUFFER(SW_CUT_OPEN),
                BUFFER(SW_CUT_LABELS), BUFFER(SW_CUT_WAVES_INSIDE), BUFFER(SW_CUT_WAVES_EDGES),
                U32(s->shape.ly), BUFFER(SW_CUT_WAVES), U32(0));
    ERGO_LAUNCH(&s->e, SW_CUT_WAVE_ROOTS, ergo_grid_groups(s->sum_groups, s->group_size, 1),
                BUFFER(SW_CUT_RECT), BUFFER(SW_CUT_OPEN), BUFFER(SW_CUT_LABELS),
                BUFFER(SW_CUT_WAVES_INSIDE), BUFFER(SW_CUT_WAVES), U32(0));
    ergo_engine_fetch(&s->e, SW_CUT_WAVES_EDGES, 0, edges,
                      ergo_engine_host(&s->e, SW_CUT_WAVES_EDGES, 0, 0));
    ergo_engine_fetch(&s->e, SW_CUT_WAVES, 0, 8 * SW_WAVE_LIMBS,
                      ergo_engine_host(&s->e, SW_CUT_WAVES, 0, 0));
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* A rank's part of lines `from` .. `to` - 1: sites of a line, the first line, how many. */
struct share {
    uint32_t sites, first, count;
    uint64_t at; /* of its sites in a line */
};

static struct share share_of(const struct sw_cut *s, int rank, unsigned column, uint32_t from,
                             uint32_t to) {
    const struct ergo_rectangle *p = &s->layout.rectangles[rank];
    uint32_t first, count;
    lines_of(s, p, column, &first, &count);
    const uint32_t begin = first > from ? first : from;
    const uint32_t end = first + count < to ? first + count : to;
    return (struct share){.sites = column ? p->rows : sites_of_rows(p),
                          .first = begin,
                          .count = end > begin ? end - begin : 0,
                          .at = column ? p->row0 : 32 * p->word0};
}

/* Line j of all ranks' shares, which follow each other in `all`. */
static void assemble(const struct sw_cut *s, unsigned column, uint32_t from, uint32_t to,
                     uint32_t j) {
    const uint64_t *all = s->lines.all;
    for (int r = 0; r < s->layout.ranks; r++) {
        const struct share share = share_of(s, r, column, from, to);
        if (j >= share.first && j - share.first < share.count)
            memcpy(s->lines.line + share.at, all + (size_t)(j - share.first) * share.sites,
                   sizeof *all * share.sites);
        all += (size_t)share.count * share.sites;
    }
}

static void count_batch(struct sw_cut *s, unsigned column, uint32_t from, uint32_t to,
                        uint64_t *counts, uint64_t *pairs) {
    const uint64_t *mine = ergo_engine_host(&s->e, SW_CUT_LINES, 0, 0);
    const struct share own = share_of(s, s->rank, column, from, to);
    if (column)
        mine += (size_t)s->lines.count[0] * sites_of_rows(&s->piece);
    if (own.count)
        mine += (size_t)(own.first - s->lines.first[column]) * own.sites;
    for (int r = 0; r < s->layout.ranks; r++) {
        const struct share share = share_of(s, r, column, from, to);
        counts[r] = (uint64_t)share.count * share.sites;
    }
    ergo_engine_note(&s->e,
                     ergo_dist_collect_items(s->e.ctx, mine, s->lines.all, sizeof *mine, counts));
    for (uint32_t j = from; j < to && s->e.status == ERGO_OK; j++)
        if ((int)(j % (uint32_t)s->layout.ranks) == s->rank) {
            assemble(s, column, from, to, j);
            sw_correlate_line(s->lines.line, side_of(s, column), s->distances, pairs);
        }
}

void sw_lines_count(struct sw_cut *s, struct sw_cut_counts *c) {
    const uint64_t sites = line_sites(s);
    uint64_t *counts = calloc((size_t)s->layout.ranks, sizeof *counts);
    if (!counts)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for correlations over ranks");
    if (sites)
        ERGO_LAUNCH(&s->e, SW_CUT_NAME_LINES, sw_cut_over(s, sites), BUFFER(SW_CUT_RECT),
                    BUFFER(SW_CUT_RIGHT), BUFFER(SW_CUT_RUN_LABELS), BUFFER(SW_CUT_OPEN),
                    BUFFER(SW_CUT_LABELS), BUFFER(SW_CUT_NAMES), BUFFER(SW_CUT_LINES),
                    U32(s->lines.first[0]), U32(s->lines.count[0]), U32(s->lines.first[1]),
                    U32(s->lines.count[1]), U32(s->shape.lx), U32(s->shape.ly));
    ergo_engine_read(&s->e, SW_CUT_LINES, 0, 8 * (size_t)(sites + 1),
                     ergo_engine_host(&s->e, SW_CUT_LINES, 0, 0));
    for (unsigned column = 0; column < 2; column++) {
        const uint32_t lines = sw_line_count(across(s, column));
        for (uint32_t from = 0; from < lines && s->e.status == ERGO_OK; from += BATCH)
            count_batch(s, column, from, from + BATCH < lines ? from + BATCH : lines, counts,
                        c->correlations.pairs[column]);
    }
    free(counts);
}
