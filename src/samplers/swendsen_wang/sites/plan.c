/* Lattices of sites: what a job says of them, and launch shapes on a device. Choices here change
 * the speed and never the chain. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "samplers/lattice/moments.h"
#include "samplers/swendsen_wang/sites/sites.h"

/* Labels have 32 bits, three of them for ways around the lattice. */
static const double most_sites = 1u << 29;

bool sw_serves_square(const struct ergo_point *point) {
    return sw_is_potts(point) && of_lattice(point)->size.items == 2 &&
           ergo_says(of_lattice(point)->lattice.text, "square") &&
           ergo_says(of_sw(point)->update, "swendsen-wang") && !sw_adapts(point) &&
           sw_is_periodic(point) && sw_is_plain(point);
}

/* Sides of this kind, by bits; *words: how many the job has. */
static uint32_t sides(const struct ergo_point *point, const char *kind, int *words) {
    const char *at = of_lattice(point)->boundary;
    const uint32_t all = (1u << of_lattice(point)->size.items) - 1;
    const size_t length = strlen(kind);
    uint32_t found = 0;
    for (*words = 0;; at++) {
        const size_t word = strcspn(at, ",");
        if (word == length && memcmp(at, kind, length) == 0)
            found |= 1u << *words;
        ++*words;
        at += word;
        if (*at == '\0')
            return *words == 1 && found ? all : found;
    }
}

bool sw_is_periodic(const struct ergo_point *point) {
    int words;
    return !sides(point, "open", &words) && !sides(point, "antiperiodic", &words);
}

bool sw_may_correlate(const struct ergo_point *point) {
    return !ergo_says(of_sw(point)->update, "wolff") && sw_is_periodic(point) &&
           !sw_has_field(point);
}

bool sw_is_ferromagnetic(const struct ergo_point *point) {
    int words;
    return !sides(point, "antiperiodic", &words);
}

static enum ergo_status check_sides(struct ergo_context *ctx, const struct ergo_point *point) {
    const int items = of_lattice(point)->size.items;
    int words;
    const bool periodic = sides(point, "periodic", &words);
    if (words != 1 && words != items)
        return ergo_job_error(ctx, "/system/boundary",
                              "%d of them; one word, or one for each of the %d sides", words,
                              items);
    if (!sw_is_ferromagnetic(point) && sw_is_potts(point) && of_lattice(point)->q != 2)
        return ergo_job_error(ctx, "/system/boundary",
                              "\"antiperiodic\" has the opposite spin across a side, and of "
                              "potts only q = 2 has opposites; /system/q is %lld",
                              (long long)of_lattice(point)->q);
    if (!sw_is_ferromagnetic(point) && sw_spins_of(point)->model == SW_MODEL_CLOCK &&
        of_lattice(point)->q % 2)
        return ergo_job_error(ctx, "/system/boundary",
                              "\"antiperiodic\" has the opposite spin across a side, which of "
                              "clock is a direction for even q only; /system/q is %lld",
                              (long long)of_lattice(point)->q);
    if (sw_adapts(point) && !periodic)
        return ergo_job_error(ctx, "/system/boundary",
                              "no side is periodic, and method probability-changing waits for "
                              "clusters that lead around one");
    return ERGO_OK;
}

struct sw_sites_shape sw_sites_shape_of(const struct ergo_point *point) {
    const struct ergo_value *size = &of_lattice(point)->size;
    struct sw_sites_shape s = {.model = sw_spins_of(point)->model,
                               .spin_bytes = sw_spins_of(point)->bytes,
                               .lx = (uint32_t)size->size[0],
                               .ly = (uint32_t)size->size[1],
                               .lz = size->items > 2 ? (uint32_t)size->size[2] : 1,
                               .wolff = ergo_says(of_sw(point)->update, "wolff"),
                               .adapts = sw_adapts(point),
                               .waved = sw_correlates(point),
                               .disordered = sw_is_disordered(point),
                               .field = sw_has_field(point)};
    s.q = s.spin_bytes == 1 ? (uint32_t)of_lattice(point)->q : 2;
    s.directions = size->items > 2 ? 3 : 2;
    if (ergo_says(of_lattice(point)->lattice.text, "triangular")) {
        s.lattice = SW_LATTICE_TRIANGULAR;
        s.directions = 3;
    } else if (ergo_says(of_lattice(point)->lattice.text, "honeycomb")) {
        s.lattice = SW_LATTICE_HONEYCOMB;
    }
    int words;
    s.open = sides(point, "open", &words);
    s.anti = sides(point, "antiperiodic", &words);
    s.sites = s.lx * s.ly * s.lz;
    return s;
}

bool sw_has_quarter(const struct ergo_point *point) {
    const struct ergo_value *size = &of_lattice(point)->size;
    bool all = true;
    for (int k = 0; k < size->items; k++)
        all = all && size->size[k] >= 4;
    return all;
}

enum ergo_status sw_sites_check(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct ergo_value *size = &of_lattice(point)->size;
    const char *lattice = of_lattice(point)->lattice.text;
    const double sites = lattice_sites(point);
    enum ergo_status status = ERGO_OK;
    if (size->items > 2 && strcmp(lattice, "square") != 0)
        status = ergo_job_error(ctx, "/system/lattice",
                                "a %s lattice has two dimensions, and /system/size has %d sides",
                                lattice, size->items);
    if (strcmp(lattice, "honeycomb") == 0 && (size->size[0] % 2 || size->size[1] % 2))
        status = ergo_job_error(ctx, "/system/size",
                                "%lld x %lld: sides of a honeycomb lattice are even, so that it "
                                "closes around the edges",
                                (long long)size->size[0], (long long)size->size[1]);
    if (sites > most_sites)
        status = ergo_job_error(ctx, "/system/size",
                                "%.3g sites are more than 2^29, which the 32-bit labels of this "
                                "lattice and update can number",
                                sites);
    const enum ergo_status adapts = sw_adapt_check(ctx, point), closed = check_sides(ctx, point);
    if (status == ERGO_OK)
        status = sw_correlate_check(ctx, point);
    if (status == ERGO_OK)
        status = sw_temperature_check(ctx, point);
    if (status == ERGO_OK)
        status = sw_disorder_check(ctx, point);
    if (status == ERGO_OK)
        status = sw_slab_check(ctx, point);
    return status != ERGO_OK ? status : adapts != ERGO_OK ? adapts : closed;
}

uint32_t sw_chance_of(double p, uint32_t bit, uint32_t *always) {
    const double scaled = p * 0x1p32 + 0.5;
    if (scaled < 0x1p32)
        return (uint32_t)scaled;
    *always |= bit;
    return 0;
}

void sw_sites_member_fill(const struct ergo_point *point, struct sw_site_member *member) {
    memset(member, 0, sizeof *member);
    member->key0 = (uint32_t)point->stream;
    member->key1 = (uint32_t)(point->stream >> 32);
    if (sw_adapts(point))
        sw_adapt_fill(point, member);
    sw_disorder_fill(point, member);
    if (!sw_is_potts(point)) {
        if (!sw_has_temperature(point)) /* sw_site_take has it */
            return;
        member->coupling =
            (float)(2 * of_lattice(point)->coupling.real / point->parameters->temperature);
        return;
    }
    member->threshold = sw_chance_of(sw_bond_probability(point), SW_ALWAYS, &member->always);
}

/* ---- launches -------------------------------------------------------------------------------- */

static uint32_t parts(uint32_t n, uint32_t size) {
    return (n + size - 1) / size;
}

/* Quarters of bytes of local memory for a site of a tile: a label, a part of its block and padding;
 * or, where sizes are counted, what leads to its cluster, a place in a list and a count; where
 * waves are summed, also a root. */
enum { LABEL_QUARTERS = 21, SIZED_QUARTERS = 32, WAVED_QUARTERS = 52 };
/* Sites of a block, which a work-item labels in registers; its least sides. */
enum { BLOCK = 16, BLOCK_X = 4 };

/* A tile of some 2,048 sites, as compact as a row of 32 bytes allows. One work-item does a whole
 * tile on a CPU, where barriers and atomics cost more than they bring. */
static void choose_tile(const struct sw_sites_state *s, struct sw_sites_launch *l) {
    const struct ergo_device *device = s->e.device;
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *first = s->e.batch->points[0];
    const struct sw_sites_shape *h = &s->shape;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU, flat = h->lz == 1;
    const uint32_t words = (uint32_t)of_sw(first)->tile_words;
    const uint32_t rows = (uint32_t)of_lattice(first)->tile_rows;
    const uint32_t wish = (uint32_t)of_sw(first)->tile_group;
    const uint32_t side = rows ? rows : flat ? 64 : 8;
    const uint32_t block_y = flat ? 4 : 2, block_z = flat ? 1 : 2;
    const uint32_t quarters = h->waved                   ? WAVED_QUARTERS
                              : s->clusters && !h->wolff ? SIZED_QUARTERS
                                                         : LABEL_QUARTERS;
    l->tx = ergo_power_of_two_up(h->lx, BLOCK_X, words ? 32 * words : 32);
    l->ty = ergo_power_of_two_up(h->ly, block_y, side > block_y ? side : block_y);
    l->tz = ergo_power_of_two_up(h->lz, block_z, flat ? 1 : side > block_z ? side : block_z);
    const uint64_t reserved = h->waved ? 4096 : 2048;
    const uint64_t most =
        d->local_memory > reserved ? 4 * (d->local_memory - reserved) / quarters : BLOCK;
    while (l->tx * l->ty * l->tz > most || l->tx * l->ty * l->tz > 8192) {
        if (l->tz >= l->ty && l->tz > block_z)
            l->tz /= 2;
        else if (l->ty > block_y)
            l->ty /= 2;
        else if (l->tx > BLOCK_X)
            l->tx /= 2;
        else
            break;
    }
    const uint32_t sites = l->tx * l->ty * l->tz;
    l->tile_group = ergo_power_of_two_up(sites / BLOCK, 1, wish ? wish : gpu ? 256 : 1);
    /* a site takes some 50 loop iterations */
    while (device->quirks.loop_limit && l->tile_group < sites / BLOCK &&
           50 * (uint64_t)sites > device->quirks.loop_limit * l->tile_group)
        l->tile_group *= 2;
    while (l->tile_group > 1 && l->tile_group > d->largest_group)
        l->tile_group /= 2;
    if (device->quirks.many_barriers_unreliable)
        l->tile_group = 1;
    l->tiles = parts(h->lx, l->tx) * parts(h->ly, l->ty) * parts(h->lz, l->tz);
    l->inside = s->cut ? l->tiles - parts(h->lx, l->tx) * (flat ? 1 : parts(h->ly, l->ty)) : 0;
}

static void choose_groups(const struct sw_sites_state *s, struct sw_sites_launch *l) {
    const struct ergo_device_summary *d = &s->e.device->summary;
    const bool gpu = s->e.device->type != CL_DEVICE_TYPE_CPU;
    const uint32_t wish = (uint32_t)s->e.batch->points[0]->parameters->work_group;
    const uint32_t units = d->compute_units ? d->compute_units : 1, sites = s->shape.sites;
    l->group = ergo_power_of_two_up(sites, 1, wish ? wish : gpu ? 128 : 32);
    while (l->group > 1 && l->group > d->largest_group)
        l->group /= 2;
    const uint32_t enough = (gpu ? 16 : 2) * units, least = sites / (1u << 21) + 1;
    uint32_t groups = parts(sites, (gpu ? 8 : 1024) * l->group);
    groups = groups > enough ? enough : groups;
    l->sum_groups = groups < least ? least : groups;
    l->sum_slots = l->sum_groups < 32 ? l->sum_groups : 32;
}

static void declare_buffers(struct sw_sites_state *s) {
    struct ergo_engine *e = &s->e;
    const uint64_t members = e->batch->count, sites = members * s->shape.sites;
    const uint64_t places = members * s->launch.sum_slots;
    const bool sized = s->clusters && !s->shape.wolff;
    if (sized || s->pairs || s->cut)
        ergo_engine_buffer(e, SITES_SIZES, "cluster sizes", ERGO_BUFFER_SCRATCH, 4 * sites);
    if (s->pairs)
        ergo_engine_sums(e, SITES_PAIRS, "pairs in clusters", ERGO_BUFFER_SAMPLES, 16 * members);
    ergo_engine_buffer(e, SITES_SPINS, "spins", ERGO_BUFFER_STATE,
                       s->shape.spin_bytes * members * sw_sites_span(s));
    ergo_engine_buffer(e, SITES_BONDS, "bonds", ERGO_BUFFER_SCRATCH, sites);
    ergo_engine_buffer(e, SITES_FIRSTS, "parts of tiles", ERGO_BUFFER_SCRATCH, 2 * sites);
    ergo_engine_buffer(e, SITES_LABELS, "labels", ERGO_BUFFER_SCRATCH, 4 * sites);
    ergo_engine_sums(e, SITES_SUMS, "samples", ERGO_BUFFER_SAMPLES,
                     s->shape.model == SW_MODEL_POTTS ? 4 * places * s->shape.q
                                                      : 8 * members * SW_NUMBERS);
    if (s->shape.disordered) {
        ergo_engine_buffer(e, SITES_WEAK, "weak bonds", ERGO_BUFFER_SCRATCH, sites);
        if (s->shape.model == SW_MODEL_POTTS)
            ergo_engine_sums(e, SITES_WEAK_SUMS, "sums over weak bonds", ERGO_BUFFER_SAMPLES,
                             8 * members);
    }
    if (s->shape.field)
        ergo_engine_buffer(e, SITES_HELD, "clusters of the field", ERGO_BUFFER_SCRATCH, sites);
    if (s->shape.wolff)
        ergo_engine_sums(e, SITES_GROWN, "Wolff's clusters", ERGO_BUFFER_SAMPLES, 12 * members);
    if (s->shape.adapts) {
        ergo_engine_buffer(e, SITES_CHANCES, "bond probabilities", ERGO_BUFFER_STATE, 4 * members);
        ergo_engine_buffer(e, SITES_WAYS, "ways around", ERGO_BUFFER_SCRATCH, 4 * members);
        ergo_engine_sums(e, SITES_RECORD, "bond probabilities of samples", ERGO_BUFFER_SAMPLES,
                         8 * members);
    }
    if (s->shape.waved) {
        const uint64_t powers = sw_sites_waves(&s->shape) - 1;
        ergo_engine_buffer(e, SITES_WAVES, "waves of clusters", ERGO_BUFFER_SCRATCH,
                           8 * (powers + 1) * sites);
        ergo_engine_sums(e, SITES_POWERS, "structure factors", ERGO_BUFFER_SAMPLES,
                         8 * powers * SW_WAVE_LIMBS * members);
    }
    if (s->cut)
        sw_slab_declare(s);
    if (!sized)
        return;
    ergo_engine_sums(e, SITES_CLUSTERS, "sums over clusters", ERGO_BUFFER_SAMPLES,
                     4 * places * SW_CLUSTER_FIELDS);
    ergo_engine_sums(e, SITES_WRAPS, "clusters around the lattice", ERGO_BUFFER_SAMPLES,
                     4 * members);
}

/* Of a slab. */
static void declare_bridges(struct sw_sites_state *s, const char *options) {
    static const char *const bridges = "swendsen_wang/sites_bridges.cl";
    struct ergo_engine *e = &s->e;
    ergo_engine_kernel(e, SITES_FACE, bridges, options, "sw_slab_face");
    ergo_engine_kernel(e, SITES_BRIDGE, bridges, options, "sw_slab_bridge");
    ergo_engine_kernel(e, SITES_GATHER, bridges, options, "sw_slab_gather");
    ergo_engine_kernel(e, SITES_LISTING, bridges, options, "sw_slab_list");
    ergo_engine_kernel(e, SITES_RENAME, bridges, options, "sw_slab_rename");
    ergo_engine_kernel(e, SITES_PART_NAMES, bridges, options, "sw_slab_part_names");
    if (!sw_slab_sums(s))
        return;
    ergo_engine_kernel(e, SITES_TOTAL, bridges, options, "sw_slab_total");
    ergo_engine_kernel(e, SITES_TOTAL_FAR, bridges, options, "sw_slab_total_far");
    if (s->clusters)
        ergo_engine_kernel(e, SITES_COUNT_BRIDGES, bridges, options, "sw_slab_count");
}

static enum ergo_status declare_kernels(struct ergo_context *ctx, struct sw_sites_state *s) {
    static const char *const measure = "swendsen_wang/sites_measure.cl";
    static const char *const sites = "swendsen_wang/sites.cl";
    static const char *const vectors = "swendsen_wang/sites_vectors.cl";
    static const char *const slab = "swendsen_wang/sites_slab.cl";
    static const char *const pairs = "swendsen_wang/sites_pairs.cl";
    static const char *const waves = "swendsen_wang/sites_waves.cl";
    struct ergo_engine *e = &s->e;
    const struct sw_sites_shape *h = &s->shape;
    const struct sw_sites_launch *l = &s->launch;
    struct ergo_text o = {0};
    ergo_text_append(&o,
                     "-DSW_MODEL=%u -DSW_Q=%uu -DSW_LX=%uu -DSW_LY=%uu -DSW_LZ=%uu -DSW_LATTICE=%u "
                     "-DSW_OPEN=%uu -DSW_ANTI=%uu -DSW_DIRECTIONS=%uu -DSW_TX=%uu -DSW_TY=%uu "
                     "-DSW_TZ=%uu -DSW_GROUP=%u "
                     "-DSW_SUM_SLOTS=%uu -DSW_LABEL_BITS=3u -DSW_ADAPTS=%d -DSW_SIZED=%d%s%s%s %s",
                     h->model, h->q, h->lx, h->ly, h->lz, h->lattice, h->open, h->anti,
                     h->directions, l->tx, l->ty, l->tz, l->tile_group, l->sum_slots, h->adapts,
                     s->clusters && !h->wolff, s->cut ? " -DSW_SLAB=1u" : "",
                     h->disordered ? " -DSW_DISORDER=1" : "", h->field ? " -DSW_FIELD=1" : "",
                     e->device->quirks.relaxed_atomics);
    if (s->cut)
        ergo_text_append(&o,
                         " -DSW_TURNED=%d -DSW_ALL_LAYERS=%uu -DSW_WOLFF=%d -DSW_PART_SUMS=%zuu",
                         s->whole.anti != 0, sw_sites_layers(&s->whole), h->wolff, sw_slab_sums(s));
    if (h->model == SW_MODEL_POTTS) {
        ergo_engine_kernel(e, SITES_START, measure, o.data, "sw_site_start");
        ergo_engine_kernel(e, SITES_MEASURE, measure, o.data, "sw_site_measure");
    } else {
        ergo_engine_kernel(e, SITES_START, vectors, o.data, "sw_site_begin");
        ergo_engine_kernel(e, SITES_MEASURE, vectors, o.data, "sw_site_sums");
    }
    ergo_engine_kernel(e, SITES_LABEL, sites, o.data, "sw_site_label");
    ergo_engine_kernel(e, SITES_JOIN, sites, o.data, "sw_site_join");
    if (s->cut) {
        struct ergo_text end = {0};
        ergo_text_append(&end, "%s -DSW_TILE_FIRST=%uu", o.data ? o.data : "", l->inside);
        if (l->inside)
            ergo_engine_kernel(e, SITES_LABEL_END, sites, end.data, "sw_site_label");
        struct ergo_text rest = {0};
        ergo_text_append(&rest, "%s -DSW_TILE_FIRST=%uu", o.data ? o.data : "",
                         l->tiles - l->inside);
        if (l->inside && !h->wolff)
            ergo_engine_kernel(e, SITES_FLIP_REST, slab, rest.data, "sw_slab_flip");
        o.failed = o.failed || end.failed || rest.failed;
        ergo_text_free(&end);
        ergo_text_free(&rest);
        ergo_engine_kernel(e, SITES_PACK, slab, o.data, "sw_slab_pack");
        ergo_engine_kernel(e, SITES_UNPACK, slab, o.data, "sw_slab_unpack");
        ergo_engine_kernel(e, SITES_CLAIM, slab, o.data, "sw_slab_claim");
        ergo_engine_kernel(e, SITES_MARK, slab, o.data, "sw_slab_mark");
        ergo_engine_kernel(e, SITES_SETTLE, slab, o.data, "sw_slab_settle");
        ergo_engine_kernel(e, SITES_NUMBER, slab, o.data, "sw_slab_number");
        declare_bridges(s, o.data);
        if (h->wolff) {
            ergo_engine_kernel(e, SITES_SEED, slab, o.data, "sw_slab_seed");
            ergo_engine_kernel(e, SITES_FLIP_ONE, slab, o.data, "sw_slab_flip_one");
        } else {
            ergo_engine_kernel(e, SITES_FLIP, slab, o.data, "sw_slab_flip");
        }
        if (s->clusters && !h->wolff)
            ergo_engine_kernel(e, SITES_PARTS_SIZE, slab, o.data, "sw_slab_sizes");
    } else if (h->wolff) {
        ergo_engine_kernel(e, SITES_FLIP_ONE, sites, o.data, "sw_site_flip_one");
    } else {
        ergo_engine_kernel(e, SITES_FLIP, sites, o.data, "sw_site_flip");
    }
    if (s->pairs)
        ergo_engine_kernel(e, SITES_PAIR, sites, o.data, "sw_site_pairs");
    if (s->pairs && !s->cut)
        ergo_engine_kernel(e, SITES_NAME, sites, o.data, "sw_site_name");
    if (s->pairs && s->cut) {
        ergo_engine_kernel(e, SITES_NAME_ROOTS, pairs, o.data, "sw_slab_name_roots");
        ergo_engine_kernel(e, SITES_NAME, pairs, o.data, "sw_slab_name_sites");
        ergo_engine_kernel(e, SITES_PAIR_FAR, pairs, o.data, "sw_slab_pairs");
    }
    if (h->waved) {
        ergo_engine_kernel(e, SITES_WAVE, waves, o.data, "sw_site_waves");
        ergo_engine_kernel(e, SITES_WAVE_ROOTS, waves, o.data, "sw_site_wave_roots");
        if (s->cut) {
            ergo_engine_kernel(e, SITES_PARTS_WAVE, waves, o.data, "sw_slab_waves");
            ergo_engine_kernel(e, SITES_GIVE_WAVES, "swendsen_wang/sites_bridges.cl", o.data,
                               "sw_slab_give_waves");
        }
    }
    if (h->adapts)
        ergo_engine_kernel(e, SITES_ADAPT, sites, o.data, "sw_site_adapt");
    if (h->disordered)
        ergo_engine_kernel(e, SITES_COUPLE, sites, o.data, "sw_site_couple");
    if (h->field)
        ergo_engine_kernel(e, SITES_HOLD, sites, o.data, "sw_site_hold");
    if (s->clusters && !h->wolff) {
        if (!s->cut)
            ergo_engine_kernel(e, SITES_FLIP_SIZES, sites, o.data, "sw_site_flip_sizes");
        ergo_engine_kernel(e, SITES_COUNT, measure, o.data, "sw_site_count");
    }
    const bool failed = o.failed;
    ergo_text_free(&o);
    return failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options") : ERGO_OK;
}

/* Bonds per site. An open side has none across it. */
static double bonds_of(const struct sw_sites_shape *h) {
    const double x = h->open & 1u ? 1 - 1.0 / h->lx : 1, y = h->open & 2u ? 1 - 1.0 / h->ly : 1;
    const double z = h->open & 4u ? 1 - 1.0 / h->lz : 1;
    return h->lattice == SW_LATTICE_TRIANGULAR  ? x + y + x * y
           : h->lattice == SW_LATTICE_HONEYCOMB ? x + 0.5 * y
           : h->directions == 3                 ? x + y + z
                                                : x + y;
}

enum ergo_status sw_sites_configure(struct ergo_context *ctx, void *state) {
    struct sw_sites_state *s = state;
    const struct ergo_batch *batch = s->e.batch;
    const bool gpu = s->e.device->type != CL_DEVICE_TYPE_CPU;
    const unsigned units = s->e.device->summary.compute_units;
    struct ergo_plan *plan = &s->e.plan;
    s->whole = sw_sites_shape_of(batch->points[0]);
    s->shape = s->whole;
    if (s->cut) {
        const bool flat = s->whole.lz == 1;
        const uint32_t others = flat ? SW_AROUND_X : SW_AROUND_X | SW_AROUND_Y;
        *(flat ? &s->shape.ly : &s->shape.lz) = s->slab.count;
        s->shape.sites = s->shape.lx * s->shape.ly * s->shape.lz;
        if (s->slab.first + s->slab.count < s->slab.layers) { /* the last side is another rank's */
            s->shape.open &= others;
            s->shape.anti &= others;
        }
    }
    s->clusters = s->shape.model == SW_MODEL_POTTS && sw_wants_clusters(batch->points[0]);
    s->pairs = sw_wants_pairs(batch->points[0]) && sw_may_correlate(batch->points[0]);
    s->members =
        ergo_engine_table(&s->e, SITES_MEMBERS, "parameters", batch->count, sizeof *s->members);
    s->units = ergo_engine_memory(&s->e, batch->count, sizeof *s->units);
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return ergo_engine_end(&s->e);
    for (size_t i = 0; i < batch->count; i++) {
        sw_sites_member_fill(batch->points[i], &s->members[i]);
        s->members[i].first = (uint32_t)(s->slab.first * sw_sites_layer(&s->whole));
        s->units[i] = sw_unit_of(batch->points[i]);
        s->units[i].bonds = bonds_of(&s->whole);
        sw_disorder_unit(batch->points[i], &s->units[i]);
    }
    if (batch->points[0]->parameters->path == 1)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "/tuning/path 1, whole sweeps in local memory, is for square lattices of "
                         "two dimensions with /system/update swendsen-wang. Use 0");
    choose_tile(s, &s->launch);
    choose_groups(s, &s->launch);
    const struct sw_sites_launch *l = &s->launch;
    const double members = (double)batch->count, spins = (double)s->whole.sites * members;
    const double per_second = !gpu ? 1e7 * (units ? units : 1) : 2e10;
    plan->work_per_step = spins;
    plan->block_steps = fmax(1.0, floor(0.1 * per_second / (s->shape.sites * members)));
    plan->block_steps = fmin(plan->block_steps, gpu ? 2000 : 500); /* launches take time, too */
    const double sample_bytes =
        members * (4.0 * l->sum_slots * (s->shape.q + (double)SW_CLUSTER_FIELDS) + 16);
    s->e.block_samples =
        (size_t)fmax(1, fmin(fmax(64, plan->block_steps), ERGO_BLOCK_BYTES / sample_bytes));
    s->e.curve_interval = 1;
    plan->host_bytes = s->whole.sites * s->shape.spin_bytes * (3 + (uint64_t)batch->count);
    plan->launches_per_step = s->shape.adapts || s->shape.field ? 4 : 3;
    snprintf(plan->path, sizeof plan->path, "sites");
    snprintf(plan->launch, sizeof plan->launch,
             "labels in tiles of %u x %u x %u sites (work-groups of %u), then across them; other "
             "kernels in groups of %u",
             l->tx, l->ty, l->tz, l->tile_group, l->group);
    declare_buffers(s);
    return declare_kernels(ctx, s);
}
