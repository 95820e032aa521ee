/*
 * Edges first, for a single chain by rounds: nothing hides its joining but its own sweep.
 *
 * Tiles on the rectangle's edges are labelled first. What of clusters they have there, as far as
 * tiles alone know it, hosts join over ranks while devices label the inside. Then tiles are joined,
 * and hosts learn which of these parts are one (sw_joining_connect): few reach so far. While they
 * tell each other what follows from that, devices draw the bonds of the next sweep.
 */
#include "samplers/swendsen_wang/cut.h"

/* Tiles of the inside that are labelled while neighbours' spins come: one of so many. */
enum { MEANWHILE = 8 };
/* Of so many sweeps one tells how fast the device is (cut_shares.c): hosts do not wait for each
 * other while it works. In all others who waits for whom cannot be seen. */
enum { TIMED = 16 };

static uint32_t columns_of(const struct sw_cut *s) {
    return (s->piece.words - 1) / s->tiles.tile_words + 1;
}

static uint32_t edge_tiles(const struct sw_cut *s) {
    const uint32_t columns = columns_of(s), rows = (s->piece.rows - 1) / s->tiles.tile_rows + 1;
    return rows < 3 ? rows * columns : 2 * columns + (columns < 3 ? columns : 2) * (rows - 2);
}

static uint32_t tiles_before_rest(const struct sw_cut *s) {
    const uint32_t edges = edge_tiles(s), all = (uint32_t)s->tiles.tiles;
    return edges + (all - edges) / MEANWHILE;
}

void sw_early_declare(struct sw_cut *s, const char *common, const char *tiles) {
    static const char *const of_tiles = "swendsen_wang/cut_tiles.cl";
    struct ergo_engine *e = &s->e;
    const uint64_t words = ergo_rectangle_words(&s->piece);
    const uint64_t entries = 32 * (uint64_t)s->piece.words + s->piece.rows;
    ergo_engine_buffer(e, SW_CUT_DRAWN, "next bonds", ERGO_BUFFER_SCRATCH, 8 * words);
    ergo_engine_buffer(e, SW_CUT_EARLY, "parts in tiles", ERGO_BUFFER_SCRATCH, 8 * entries);
    ergo_engine_buffer(e, SW_CUT_EARLY_ROOTS, "their roots", ERGO_BUFFER_SCRATCH, 8 * entries);
    ergo_engine_flag(e, SW_CUT_EARLY, ERGO_BUFFER_HOSTED | ERGO_BUFFER_BESIDE);
    ergo_engine_flag(e, SW_CUT_EARLY_ROOTS, ERGO_BUFFER_HOSTED | ERGO_BUFFER_BESIDE);
    ergo_engine_buffer(e, SW_CUT_RECT_INSIDE, "its inside", ERGO_BUFFER_CONSTANT,
                       sw_cut_rect_bytes(s));
    ergo_engine_buffer(e, SW_CUT_RECT_REST, "the rest of it", ERGO_BUFFER_CONSTANT,
                       sw_cut_rect_bytes(s));
    ergo_engine_kernel(e, SW_CUT_DRAW, "swendsen_wang/cut.cl", common, "sw_cut_draw");
    ergo_engine_kernel(e, SW_CUT_EARLY_PARTS, of_tiles, tiles, "sw_cut_early");
    ergo_engine_kernel(e, SW_CUT_CLAIM, of_tiles, tiles, "sw_cut_claim");
    ergo_engine_kernel(e, SW_CUT_NUMBER, of_tiles, tiles, "sw_cut_number");
    ergo_engine_kernel(e, SW_CUT_LATE, of_tiles, tiles, "sw_cut_late");
}

void sw_early_prepare(struct sw_cut *s, struct sw_rect *rect) {
    rect->first_tile = edge_tiles(s);
    ergo_engine_constant(&s->e, SW_CUT_RECT_INSIDE, rect);
    rect->first_tile = tiles_before_rest(s);
    ergo_engine_constant(&s->e, SW_CUT_RECT_REST, rect);
}

/* ---- on the device --------------------------------------------------------------------------- */

static void draw(struct sw_cut *s, uint64_t step) {
    ERGO_LAUNCH(&s->e, SW_CUT_DRAW, sw_cut_over(s, ergo_rectangle_words(&s->piece)),
                BUFFER(SW_CUT_MEMBER), BUFFER(SW_CUT_RECT), BUFFER(SW_CUT_DRAWN), U64(step));
    s->drawn = step + 1;
}

/* So many tiles, from where `rect` says. */
static void label(struct sw_cut *s, unsigned rect, uint32_t tiles) {
    if (tiles)
        ERGO_LAUNCH(&s->e, SW_CUT_TILE_LABEL, ergo_grid_groups(tiles, s->tiles.tile_group, 1),
                    BUFFER(rect), BUFFER(SW_CUT_SPINS), BUFFER(SW_CUT_MEMBER), BUFFER(SW_CUT_DRAWN),
                    BUFFER(SW_CUT_RIGHT), BUFFER(SW_CUT_DOWN), BUFFER(SW_CUT_RUN_LABELS),
                    BUFFER(SW_CUT_TILE_PARTS), BUFFER(SW_CUT_OPEN), BUFFER(SW_CUT_LABELS),
                    U64(s->e.step));
}

void sw_early_label(struct sw_cut *s, uint32_t first, uint32_t tiles) {
    if (s->drawn != s->e.step + 1)
        draw(s, s->e.step);
    label(s, first ? SW_CUT_RECT_REST : SW_CUT_RECT, tiles);
}

static size_t entries_of(const struct sw_cut *s) {
    return 2 * (32 * (size_t)s->piece.words + s->piece.rows);
}

static void fetch(struct sw_cut *s, unsigned row) {
    ergo_engine_fetch(&s->e, row, 0, 4 * entries_of(s), ergo_engine_host(&s->e, row, 0, 0));
}

static void find_early(struct sw_cut *s) {
    const struct ergo_grid grid = sw_cut_over(s, entries_of(s));
    ERGO_LAUNCH(&s->e, SW_CUT_EARLY_PARTS, grid, BUFFER(SW_CUT_SPINS), BUFFER(SW_CUT_MEMBER),
                BUFFER(SW_CUT_RECT), BUFFER(SW_CUT_HALO), BUFFER(SW_CUT_RIGHT),
                BUFFER(SW_CUT_RUN_LABELS), BUFFER(SW_CUT_EARLY), BUFFER(SW_CUT_SIZES),
                U64(s->e.step));
    ERGO_LAUNCH(&s->e, SW_CUT_CLAIM, grid, BUFFER(SW_CUT_RECT), BUFFER(SW_CUT_EARLY),
                BUFFER(SW_CUT_SIZES));
    ERGO_LAUNCH(&s->e, SW_CUT_NUMBER, grid, BUFFER(SW_CUT_RECT), BUFFER(SW_CUT_EARLY),
                BUFFER(SW_CUT_SIZES), BUFFER(SW_CUT_EARLY_ROOTS));
    fetch(s, SW_CUT_EARLY_ROOTS);
    fetch(s, SW_CUT_EARLY);
}

static void find_late(struct sw_cut *s) {
    const struct ergo_grid grid = sw_cut_over(s, entries_of(s));
    ERGO_LAUNCH(&s->e, SW_CUT_LATE, grid, BUFFER(SW_CUT_RECT), BUFFER(SW_CUT_EARLY_ROOTS),
                BUFFER(SW_CUT_LABELS), BUFFER(SW_CUT_EDGES));
    ERGO_LAUNCH(&s->e, SW_CUT_PARTS, grid, BUFFER(SW_CUT_RECT), BUFFER(SW_CUT_LABELS),
                BUFFER(SW_CUT_EDGES), BUFFER(SW_CUT_ROOTS), BUFFER(SW_CUT_NAMES));
    fetch(s, SW_CUT_ROOTS);
    fetch(s, SW_CUT_EDGES);
}

/* ---- a sweep, but for the new spins ---------------------------------------------------------- */

/* Seconds since the lap before; in a timed sweep at which the device has nothing left to do. */
static double settle(struct sw_cut *s, bool timed) {
    if (timed)
        ergo_engine_finish(&s->e);
    const double seconds = ergo_engine_lap(&s->e);
    s->times.busy += timed ? seconds : 0;
    return seconds;
}

void sw_early_names(struct sw_cut *s, bool plain) {
    const uint32_t edges = edge_tiles(s), before = tiles_before_rest(s);
    const bool timed = s->shares->measured && s->e.step % TIMED == 0;
    ergo_engine_lap(&s->e);
    s->times.local += settle(s, timed);
    if (!s->now->fresh)
        sw_cut_halo_start(s);
    sw_early_label(s, 0, edges);
    label(s, SW_CUT_RECT_INSIDE, before - edges);
    clFlush(s->e.device->queue);
    s->times.local += settle(s, timed);
    if (!s->now->fresh)
        sw_cut_halo_finish(s);
    s->times.halo += ergo_engine_lap(&s->e);
    find_early(s);
    sw_early_label(s, before, (uint32_t)s->tiles.tiles - before);
    sw_cut_join_tiles(s);
    find_late(s);
    if (plain)
        draw(s, s->e.step + 1);
    clFlush(s->e.device->queue);
    s->times.local += settle(s, timed);
    s->times.timed += timed;
    ergo_engine_await(&s->e, SW_CUT_EARLY); /* and the roots */
    s->times.local += ergo_engine_lap(&s->e);
    sw_cut_join_early(s);
    ergo_engine_await(&s->e, SW_CUT_EDGES); /* and the roots */
    s->times.local += ergo_engine_lap(&s->e);
    sw_cut_join_late(s);
}
