/*
 * Audit: one more measured sweep, on the device by the kernels of the run and on the host by the
 * twin, from the same lattice: bonds, labels (against Hoshen and Kopelman), new spins, and all
 * counts have to be equal. Afterwards the device has its lattices back.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/sw.h"

/* Together at most so many sites: half a second. At least one member is looked at, up to 2^26 sites
 * (some seconds, 2 GiB of memory). */
static const uint64_t budget_sites = 1u << 22, most_sites = 1u << 26;

struct audit {
    struct sw_state *s;
    struct sw_twin twin;
    uint32_t *found; /* room for the largest buffer of a member */
    uint64_t step;
};

static enum ergo_status differ(struct ergo_context *ctx, const struct audit *a, size_t member,
                               const char *what) {
    const struct ergo_device_summary *d = &a->s->device->summary;
    return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                     "audit of swendsen-wang failed on %s (%s): %s of sweep %llu of member %zu "
                     "differ between the device and the host. The device's compiler or hardware is "
                     "wrong for these kernels: try another device, or another /system/labelling",
                     d->name, d->driver, what, (unsigned long long)a->step, member);
}

static enum ergo_status read_member(struct ergo_context *ctx, const struct audit *a, cl_mem mem,
                                    size_t member, size_t bytes) {
    return ergo_buffer_read(ctx, a->s->device, mem, member * bytes, bytes, a->found);
}

static bool starts_run(const struct audit *a, size_t i) {
    const size_t x = i % (32 * (size_t)a->s->shape.row_words);
    return x < (size_t)a->s->shape.lx &&
           !(i % 32 && a->twin.right[i / 32] >> (i % 32 - 1) & 1u); /* no bond from the left */
}

/* First site of the part of the cluster in its tile, of the first site of a run. */
static size_t part_of(const struct audit *a, size_t i, const uint32_t *runs) {
    const struct sw_launch *l = &a->s->launch;
    const size_t row = a->s->shape.row_words, x = i / 32 % row, y = i / 32 / row;
    const size_t tile_x = x / l->tile_words, tile_y = y / l->tile_rows;
    const size_t tiles_x = (row + l->tile_words - 1) / l->tile_words;
    const size_t items = (size_t)l->tile_words * l->tile_rows;
    size_t run = 0;
    for (size_t j = i & ~(size_t)31; j < i; j++)
        run += starts_run(a, j);
    const uint32_t pair = runs[16 * items * (tile_y * tiles_x + tile_x) + run / 2 * items +
                               y % l->tile_rows * l->tile_words + x % l->tile_words];
    const size_t node = run % 2 ? pair >> 16 : pair & 0xffff, n = node - node / SW_NODE_ROW;
    return 32 * ((tile_y * l->tile_rows + n / 32 / l->tile_words) * row + tile_x * l->tile_words +
                 n / 32 % l->tile_words) +
           n % 32;
}

/* Labels of first sites of runs, followed to their end, against the root of the site. open: sites
 * that have labels; NULL: all. */
static bool labels_agree(const struct audit *a, const uint32_t *runs, const uint32_t *open) {
    const size_t sites = 32 * (size_t)a->s->shape.words;
    const uint32_t bits = a->s->launch.label_bits;
    for (size_t i = 0; i < sites; i++) {
        if (!starts_run(a, i))
            continue;
        size_t root = open ? part_of(a, i, runs) : i;
        if (root >= sites)
            return false;
        if (!open || open[root / 32] >> (root % 32) & 1u) {
            while (a->found[root] >> bits < root)
                root = a->found[root] >> bits;
            if (a->found[root] >> bits != root)
                return false;
        }
        if (root != a->twin.labels[i])
            return false;
    }
    return true;
}

static enum ergo_status compare_labels(struct ergo_context *ctx, const struct audit *a,
                                       size_t member) {
    const struct sw_state *s = a->s;
    const size_t words = (size_t)s->shape.words;
    uint32_t *runs = NULL;
    uint32_t *open = NULL;
    enum ergo_status status = read_member(ctx, a, s->labels, member, 128 * words);
    if (!s->launch.equivalence) {
        const size_t bytes = (size_t)s->launch.run_bytes;
        runs = calloc(bytes, 1);
        open = calloc(words, sizeof *open);
        if (!runs || !open)
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
        if (status == ERGO_OK)
            status = ergo_buffer_read(ctx, s->device, s->runs, member * bytes, bytes, runs);
        if (status == ERGO_OK)
            status = ergo_buffer_read(ctx, s->device, s->open, 4 * words * member, 4 * words, open);
    }
    if (status == ERGO_OK && !labels_agree(a, runs, open))
        status = differ(ctx, a, member, "labels");
    free(runs);
    free(open);
    return status;
}

static enum ergo_status compare_counts(struct ergo_context *ctx, const struct audit *a,
                                       size_t member) {
    struct sw_state *s = a->s;
    const size_t slots = s->launch.sum_slots, q = s->shape.q;
    const size_t clusters_bytes = 4 * slots * SW_CLUSTER_FIELDS;
    uint32_t *sums = malloc(4 * slots * q + clusters_bytes);
    uint32_t *clusters = sums ? sums + slots * q : NULL;
    struct sw_counts c;
    if (!sums)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    enum ergo_status status = ergo_buffer_read(ctx, s->device, s->slots[0].results[SW_SUMS],
                                               4 * member * slots * q, 4 * slots * q, sums);
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, s->slots[0].results[SW_CLUSTERS],
                                  member * clusters_bytes, clusters_bytes, clusters);
    if (status == ERGO_OK) {
        sw_add_places(s, sums, clusters, &c);
        if (c.unequal != a->twin.unequal ||
            memcmp(c.states, a->twin.counts, q * sizeof c.states[0]) != 0)
            status = differ(ctx, a, member, "counts of spins and bonds");
        else if (c.clusters != a->twin.clusters || c.largest != a->twin.largest ||
                 c.squares != a->twin.squares ||
                 fabs(c.fourths - a->twin.fourths) > 1e-12 * a->twin.fourths)
            status = differ(ctx, a, member, "number and sizes of clusters");
    }
    free(sums);
    return status;
}

static enum ergo_status compare_wraps(struct ergo_context *ctx, const struct audit *a,
                                      size_t member) {
    struct sw_state *s = a->s;
    const size_t entries = s->launch.seam_entries;
    struct sw_wraps *wraps = sw_wraps_create(entries);
    uint32_t found = 0;
    bool x, y;
    if (!wraps)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    sw_wraps_find(wraps, a->twin.seams, (size_t)s->shape.ly, entries, &x, &y);
    sw_wraps_destroy(wraps);
    const enum ergo_status status = ergo_buffer_read(ctx, s->device, s->slots[0].results[SW_WRAPS],
                                                     4 * member, sizeof found, &found);
    return status == ERGO_OK && (found != 0) != (x || y)
               ? differ(ctx, a, member, "clusters around the lattice")
               : status;
}

/* What stays in local memory of a lattice that is there is judged by what comes of it. */
static enum ergo_status compare_labelling(struct ergo_context *ctx, struct audit *a,
                                          size_t member) {
    const struct sw_state *s = a->s;
    const size_t words = (size_t)s->shape.words;
    enum ergo_status status = read_member(ctx, a, s->right, member, 4 * words);
    if (status == ERGO_OK && memcmp(a->found, a->twin.right, 4 * words) != 0)
        status = differ(ctx, a, member, "bonds to the right");
    if (status == ERGO_OK)
        status = read_member(ctx, a, s->down, member, 4 * words);
    if (status == ERGO_OK && memcmp(a->found, a->twin.down, 4 * words) != 0)
        status = differ(ctx, a, member, "bonds down");
    if (status == ERGO_OK)
        status = compare_labels(ctx, a, member);
    return status;
}

static enum ergo_status compare(struct ergo_context *ctx, struct audit *a, const uint8_t *before,
                                size_t member) {
    struct sw_state *s = a->s;
    const size_t bytes = (size_t)s->shape.member_bytes;
    enum ergo_status status = ERGO_OK;
    memcpy(a->twin.planes, before + member * bytes, bytes);
    if (!sw_twin_sweep(s->batch->points[member], &s->shape, a->step, &a->twin))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    if (status == ERGO_OK && !s->launch.local)
        status = compare_labelling(ctx, a, member);
    if (status == ERGO_OK)
        status = read_member(ctx, a, s->spins, member, bytes);
    if (status == ERGO_OK && memcmp(a->found, a->twin.planes, bytes) != 0)
        status = differ(ctx, a, member, "new spins");
    const size_t entries = s->launch.seam_entries;
    const bool seams = s->launch.label_bits == 0;
    if (status == ERGO_OK && seams)
        status = read_member(ctx, a, s->seams, member, 8 * entries);
    if (status == ERGO_OK && seams && memcmp(a->found, a->twin.seams, 8 * entries) != 0)
        status = differ(ctx, a, member, "bonds around the lattice");
    if (status == ERGO_OK)
        status = compare_wraps(ctx, a, member);
    return status == ERGO_OK ? compare_counts(ctx, a, member) : status;
}

enum ergo_status sw_audit(struct ergo_context *ctx, void *opaque) {
    struct sw_state *s = opaque;
    struct audit a = {.s = s, .step = s->step};
    const size_t words = (size_t)s->shape.words, bytes = (size_t)s->shape.member_bytes;
    const size_t room = 128 * words + 8 * (size_t)s->launch.seam_entries; /* of labels, or seams */
    if (s->shape.sites > most_sites)
        return sw_audit_rows(ctx, s);
    a.twin.planes = malloc(bytes);
    a.twin.right = malloc(4 * words);
    a.twin.down = malloc(4 * words);
    a.twin.labels = malloc(128 * words);
    a.twin.seams = malloc(8 * (size_t)s->launch.seam_entries);
    a.found = malloc(room);
    uint8_t *before = malloc(bytes * s->batch->count);
    enum ergo_status status =
        before && a.twin.planes && a.twin.right && a.twin.down && a.twin.labels && a.twin.seams &&
                a.found
            ? ergo_buffer_read(ctx, s->device, s->spins, 0, bytes * s->batch->count, before)
            : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    const bool saved = status == ERGO_OK;
    if (status == ERGO_OK)
        status = sw_sweep_measured(ctx, s);
    /* from the last member on: its place in the buffers is the most error-prone */
    uint64_t sites = 0;
    for (size_t m = s->batch->count; m-- > 0 && sites < budget_sites && status == ERGO_OK;
         sites += s->shape.sites)
        status = compare(ctx, &a, before, m);
    if (saved) {
        const enum ergo_status back =
            ergo_buffer_write(ctx, s->device, s->spins, 0, bytes * s->batch->count, before);
        status = status == ERGO_OK ? back : status;
    }
    s->step = a.step;
    free(before);
    free(a.twin.planes);
    free(a.twin.right);
    free(a.twin.down);
    free(a.twin.labels);
    free(a.twin.seams);
    free(a.found);
    return status;
}
