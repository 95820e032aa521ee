/* Which kernels a batch takes, and their work-groups. */
#include <math.h>
#include <string.h>

#include "helium_vmc/params.h"
#include "samplers/helium_vmc/helium.h"

/* Most atoms that a work-item keeps in registers. HELIUM_CHUNK needs 255 registers. */
static uint32_t most_rows(bool warp) {
    return warp ? HELIUM_CHUNK : HELIUM_CHUNK / 2;
}

static uint64_t register_local_bytes(const struct helium_shape *s, const struct helium_launch *l,
                                     uint32_t mates, uint32_t copies) {
    const uint64_t rows = (s->n + l->group - 1) / l->group, items = (uint64_t)l->group * mates;
    return ((uint64_t)16 << HELIUM_U_PIECES) * l->binades * copies + 32 * items +
           (rows > 4 ? 8 * rows * items : 0) + (l->warp ? l->group / 2 : 8 * l->group + 512);
}

/* What the energy kernel keeps in local memory: the tables first, of which a pair reads 16 or 32
 * bytes, then the positions. Small walkers share tables (H200: 256 work-items are fastest). */
static void choose_energy(const struct ergo_device *device, const struct helium_shape *s,
                          struct helium_launch *l) {
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const uint64_t tables = 32 * (uint64_t)helium_energy_pieces(l->binades);
    const uint64_t most = device->summary.local_memory;
    const uint64_t places = 16 * (uint64_t)s->n, sums = 40 * (uint64_t)l->energy_group + 512;
    l->energy_mates = 1;
    l->tables_local = gpu && tables + sums <= most;
    l->places_local =
        l->path != HELIUM_PATH_LANES && places + sums + (l->tables_local ? tables : 0) <= most;
    while (l->energy_group > 1 && l->places_local && l->energy_pieces == 1 &&
           2 * l->energy_mates <= s->walkers && 2 * l->energy_mates * l->energy_group <= 256 &&
           (l->tables_local ? tables : 0) + 2 * l->energy_mates * (places + sums) <= most)
        l->energy_mates *= 2;
}

/* Choose group, mates and copies of HELIUM_PATH_REGISTERS. false: it is not possible. */
static bool choose_registers(const struct ergo_batch *batch, const struct ergo_device *device,
                             const struct helium_shape *s, struct helium_launch *l) {
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *point = batch->points[0];
    const uint64_t units = d->compute_units ? d->compute_units : 1, all = batch->count * s->walkers;
    const uint32_t wish = (uint32_t)point->parameters->work_group;
    const uint32_t limit =
        d->largest_group < 1024 ? ergo_power_of_two_down(d->largest_group) : 1024;
    uint32_t mates = (uint32_t)of_vmc(point)->walkers_per_group;
    uint32_t copies = (uint32_t)of_vmc(point)->table_copies;
    l->warp = ergo_device_adds_in_warps(device) && of_vmc(point)->warps != 1;
    /* a group of 32 would leave half of a wave of 64 idle */
    uint32_t group = device->type == CL_DEVICE_TYPE_CPU ? 32 : ergo_device_least_group(device);
    while (group < limit && group * most_rows(l->warp) < s->n)
        group *= 2;
    if (!wish && group * most_rows(l->warp) < s->n)
        return false;
    /* H200: 512 atoms are fastest with 32 work-items and 16 rows; few walkers need more
     * work-items */
    while (device->type != CL_DEVICE_TYPE_CPU && group < 256 && group < limit && group * 2 < s->n &&
           all * group < 256 * units)
        group *= 2;
    if (wish)
        group = wish;
    while (group > limit)
        group /= 2;
    if (group * HELIUM_CHUNK < s->n)
        return false;
    l->group = group;
    l->warp = l->warp && group >= 32;
    /* a multiprocessor holds at most 32 work-groups */
    const bool alone = !l->warp || group != 32;
    mates = alone ? 1 : mates ? mates : s->n <= 256 ? 4 : 1;
    while (mates > 1 && (mates * group > limit || mates > s->walkers))
        mates /= 2;
    copies = copies ? copies : 1;
    while (copies > 1 && register_local_bytes(s, l, mates, copies) > d->local_memory)
        copies /= 2;
    while (mates > 1 && register_local_bytes(s, l, mates, copies) > d->local_memory)
        mates /= 2;
    l->mates = mates;
    l->copies = copies;
    return register_local_bytes(s, l, mates, copies) <= d->local_memory;
}

/* Choose group and tile of HELIUM_PATH_BLOCKS. The tile is the number of partners that fit into
 * local memory, or fewer if there are too few walkers to keep all multiprocessors busy. */
static void choose_blocks(const struct ergo_batch *batch, const struct ergo_device *device,
                          const struct helium_shape *s, struct helium_launch *l) {
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *point = batch->points[0];
    const uint64_t units = d->compute_units ? d->compute_units : 1, all = batch->count * s->walkers;
    const uint32_t wish = (uint32_t)point->parameters->work_group;
    const uint32_t tile = (uint32_t)of_vmc(point)->tile;
    const uint64_t table = (((uint64_t)16 << HELIUM_U_PIECES) * l->binades) + 64;
    uint32_t group = wish ? wish : 128;
    while (group > 1 && (group > d->largest_group || table + 56 * group > d->local_memory))
        group /= 2;
    l->group = group;
    l->tile = tile ? tile : 1024;
    while (!tile && l->tile > group && all * ((s->n + l->tile - 1) / l->tile) < 8 * units)
        l->tile /= 2;
    l->tile = l->tile > group ? l->tile : group;
    while (l->tile > group && table + 16 * l->tile + 40 * group > d->local_memory)
        l->tile /= 2;
}

/* Choose group and copies of HELIUM_PATH_PAIRS. false: it is not possible. 64 atoms on an H200,
 * 132, 264 and 528 walkers: 160 visits/ns with groups of 512, of which a multiprocessor holds one;
 * 121, 190 and 235 with 256. */
static bool choose_pairs(const struct ergo_batch *batch, const struct ergo_device *device,
                         const struct helium_shape *s, struct helium_launch *l) {
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *point = batch->points[0];
    const uint32_t wish = (uint32_t)point->parameters->work_group;
    const uint32_t copies = (uint32_t)of_vmc(point)->table_copies;
    const uint64_t table = ((uint64_t)16 << HELIUM_U_PIECES) * l->binades;
    l->group = wish ? wish : batch->count * s->walkers > d->compute_units ? 256 : 512;
    while (l->group > d->largest_group)
        l->group /= 2;
    const uint64_t rest = 16 * (uint64_t)s->n + 8 * (uint64_t)l->group + 11000;
    l->copies = copies ? copies : 8;
    while (l->copies > 1 && l->copies * table + rest > d->local_memory)
        l->copies /= 2;
    l->warp = ergo_device_adds_in_warps(device) && of_vmc(point)->warps != 1;
    return l->group >= 64 && l->copies * table + rest <= d->local_memory;
}

/*
 * The path with the least time of a macroupdate (H200; only ratios matter). Registers: pair visits
 * at the device's full rate, or the trials of a walker one after the other (0.17 us each, and 70 ns
 * per 256 partners), whichever is longer. Pairs: likewise, with 32 trials at once. Blocks: two
 * launches for 128 trials, and 0.15 us for each decision.
 */
static enum helium_path fastest(const struct helium_shape *s, uint64_t all, bool warps) {
    const double n = s->n, visits = n * n * (double)all;
    const double registers = fmax(visits / 5e11, n * (0.17e-6 + 0.07e-6 * n / 256));
    const double pairs = fmax(visits / 2.9e11, ceil(n / 32) * (1.0e-6 + 12e-9 * n));
    const double blocks = visits / 3e11 + ceil(n / 128) * 10e-6 + n * 0.15e-6;
    const bool many = s->n >= 512 && blocks < registers;
    if (warps && pairs < (many ? blocks : registers))
        return HELIUM_PATH_PAIRS;
    return many ? HELIUM_PATH_BLOCKS : HELIUM_PATH_REGISTERS;
}

/* Work-groups of the energy kernel, for the path that has been chosen. */
static void choose_energy_groups(const struct ergo_batch *batch, const struct ergo_device *device,
                                 const struct helium_shape *s, struct helium_launch *l) {
    const struct ergo_device_summary *d = &device->summary;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU, blocks = l->path == HELIUM_PATH_BLOCKS;
    const uint64_t units = d->compute_units ? d->compute_units : 1, all = batch->count * s->walkers;
    const uint32_t wish = (uint32_t)of_quantum(batch->points[0])->energy_group;
    const uint32_t limit =
        d->largest_group && d->largest_group < 1024 ? (uint32_t)d->largest_group : 1024;
    /* The cores of a CPU take one walker each. PoCL 3.1 also computes groups of two wrong
     * (Oclgrind, Mesa and NVIDIA do not). */
    l->energy_group = !gpu && !device->quirks.loop_limit ? 1
                      : wish                             ? wish
                      : gpu ? ergo_power_of_two_up(s->n, ergo_device_least_group(device), 256)
                            : ergo_power_of_two_up(s->n, 1, limit);
    while (l->energy_group > 1 &&
           (l->energy_group > limit || 40 * (uint64_t)l->energy_group + 512 > d->local_memory))
        l->energy_group /= 2;
    /* so that a few walkers keep all multiprocessors busy */
    const uint64_t most = (s->n + l->energy_group - 1) / l->energy_group;
    uint64_t pieces = all ? 4 * units / all : 1;
    pieces = pieces < 2 && blocks ? 2 : pieces;
    l->energy_pieces = !(gpu || blocks) || pieces < 1 || l->triplet
                           ? 1
                           : (uint32_t)(pieces < most ? pieces : most);
}

/* Few work-items, so that a trial's partners keep them busy; more where there are few walkers.
 * Small walkers share a table, so that a multiprocessor holds more of them. */
static void choose_triplet(const struct ergo_batch *batch, const struct ergo_device *device,
                           const struct helium_shape *s, struct helium_launch *l) {
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *point = batch->points[0];
    const uint64_t units = d->compute_units ? d->compute_units : 1, all = batch->count * s->walkers;
    const uint32_t wish = (uint32_t)point->parameters->work_group;
    const uint32_t mates = (uint32_t)of_vmc(point)->walkers_per_group;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const uint64_t table = (((uint64_t)32 << HELIUM_U_PIECES) * l->binades) + 256;
    l->path = HELIUM_PATH_TRIPLET;
    l->group = wish ? wish : gpu ? ergo_device_least_group(device) : 1;
    while (!wish && gpu && l->group < 256 && 2 * l->group <= s->n && all * l->group < 256 * units)
        l->group *= 2;
    while (l->group > 1 &&
           (l->group > d->largest_group || table + 40 * (uint64_t)l->group > d->local_memory))
        l->group /= 2;
    l->walk_local = table + 40 * (uint64_t)l->group + 24 * (uint64_t)s->n <= d->local_memory;
    l->warp = l->group == 32 && ergo_device_adds_in_warps(device) && of_vmc(point)->warps != 1;
    const uint64_t each = 40 * (uint64_t)l->group + (l->walk_local ? 24 * (uint64_t)s->n : 0);
    l->mates = !l->warp ? 1 : mates ? mates : s->n <= 256 ? 4 : 1;
    while (l->mates > 1 && (l->mates > s->walkers || l->mates * l->group > d->largest_group ||
                            table + l->mates * each > d->local_memory))
        l->mates /= 2;
}

/*
 * CPUs whose compilers turn a vector of eight into one instruction use lanes: with PoCL 3.1 (EPYC)
 * 3.6 times (64 atoms) and 1.6 times (512) as fast as registers. All other devices use registers.
 * Blocks are for many atoms and few walkers, and for walkers that do not fit into registers.
 * llvmpipe 22.3.6 computes lanes wrong (the audit finds it), and Oclgrind 21.10 crashes on them.
 */
static void choose_path(const struct ergo_batch *batch, const struct ergo_device *device,
                        const struct helium_shape *s, struct helium_launch *l) {
    const struct ergo_device_summary *d = &device->summary;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const bool vectors = !gpu && (strstr(d->platform, "Portable Computing Language") ||
                                  strstr(d->platform, "Intel"));
    l->path = (enum helium_path)batch->points[0]->parameters->path;
    l->group = l->mates = l->copies = l->tile = 1;
    if (l->triplet) {
        choose_triplet(batch, device, s, l);
        return;
    }
    if (l->path == HELIUM_PATH_AUTO)
        l->path = vectors ? HELIUM_PATH_LANES
                  : gpu   ? fastest(s, batch->count * s->walkers, ergo_device_adds_in_warps(device))
                          : HELIUM_PATH_REGISTERS;
    if (l->path == HELIUM_PATH_LANES && !vectors)
        l->path = HELIUM_PATH_REGISTERS;
    if (l->path == HELIUM_PATH_LANES && 24 * (uint64_t)s->n + 1536 > d->local_memory)
        l->path = HELIUM_PATH_BLOCKS;
    if (l->path == HELIUM_PATH_PAIRS && !choose_pairs(batch, device, s, l)) {
        l->path = HELIUM_PATH_REGISTERS;
        l->copies = 1;
        l->warp = false;
    }
    if (l->path == HELIUM_PATH_REGISTERS && !choose_registers(batch, device, s, l)) {
        l->path = HELIUM_PATH_BLOCKS;
        l->warp = false;
        l->mates = l->copies = 1;
    }
    if (l->path == HELIUM_PATH_BLOCKS)
        choose_blocks(batch, device, s, l);
}

void helium_choose_launch(const struct ergo_batch *batch, const struct ergo_device *device,
                          const struct helium_shape *s, struct helium_launch *l) {
    choose_path(batch, device, s, l);
    choose_energy_groups(batch, device, s, l);
    choose_energy(device, s, l);
    l->density = helium_density_choose(device, s->n, l->energy_group, l->triplet);
}
