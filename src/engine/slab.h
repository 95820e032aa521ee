/*
 * One lattice in slabs of whole layers (rows, planes), one for each rank, for local updates. A rank
 * has its layers and, before and behind them, `halo` layers of its neighbours, which it updates as
 * they do: random numbers belong to sites. Each update of a colour leaves one layer less of a halo
 * that is right, `valid`, or as many as share random numbers, `together`; then edges are exchanged.
 * So a rank sends few messages, and in the last update before one the edges go first and travel
 * while the device makes the rest. Where layers are large, so that bytes cost more than messages,
 * edges are exchanged after each update instead, one layer of that colour: a quarter of the bytes
 * at a time, half of them in all.
 *
 * The state on a device: [piece][tall layers][layer_words], a piece being a colour of a member,
 * `pitch` words from one to the next. All ranks have as many layers there, so that they share one
 * build of the kernels: the halo before, the own ones from `halo` on, the halo behind; then unused
 * ones.
 */
#ifndef ERGO_ENGINE_SLAB_H
#define ERGO_ENGINE_SLAB_H

#include "base/text.h"
#include "engine/engine.h"
#include "engine/shares.h"
#include "engine/view.h"

/* The model's rows for what a slab has on the device. */
struct ergo_slab_rows {
    unsigned state, out, in; /* buffers */
    unsigned pack, unpack;   /* kernels */
};

struct ergo_slab {
    struct ergo_shares *shares;
    /* Where the state is not in layers of words: the model's own kernels put both edges into the
     * buffer `out`, edge_bytes each, and take halos from `in`. NULL: the engine's. */
    void (*pack)(void *state);
    void (*unpack)(void *state);
    size_t edge_bytes;
    uint64_t layers;      /* of the lattice */
    uint64_t first;       /* the own ones begin there */
    uint32_t count;       /* and are so many */
    uint32_t least, most; /* of all ranks */
    uint32_t granule;     /* slabs begin at multiples of it, and so do halos */
    /* Layers whose decisions depend on each other, because they share random numbers: a wrong
     * neighbour of one may change all. 0: each is by itself. Divides granule. */
    uint32_t together;
    uint32_t colours;   /* that are updated one after the other */
    uint32_t per_sweep; /* updates of a colour in a sweep */
    uint32_t halo, tall;
    uint32_t valid; /* layers of both halos that are right */
    bool by_colour; /* one layer of one colour after each update */
    uint64_t layer_words, pitch;
    size_t pieces;
    unsigned bits; /* that a byte of the state uses, 1, 2 or 4: only these are sent; 8: all */
    size_t group;  /* of packing */
    bool alone;    /* for a trial: nothing is exchanged, and halos become wrong */
    struct ergo_slab_rows rows;
    struct ergo_dist_posts *posts;
    uint64_t bytes, exchanges; /* sent so far, and how often */
    double waited;             /* seconds for messages */
};

/* What a model in slabs adds to its engine's table (`slab` there): where its state has the struct
 * ergo_slab, which the engine prepares and releases. settle (NULL: nothing): what follows `prepare`
 * when all ranks have come that far, because they do it together. Its only field is the lattice
 * (fields.h). */
struct ergo_slab_model {
    size_t at;
    enum ergo_status (*settle)(struct ergo_context *ctx, void *state);
};
static inline struct ergo_slab *ergo_slab_of(const struct ergo_engine *e) {
    return (struct ergo_slab *)(void *)((uintptr_t)e + e->model->slab->at);
}

/* Rank 0's kernels before the others': theirs then find its results in the caches. */
enum ergo_status ergo_slab_in_turn(struct ergo_context *ctx, const struct ergo_engine_model *model,
                                   const struct ergo_batch *batch, struct ergo_device *device,
                                   void **state);
/* A step, for a trial (ergo_shares_try): the model waits for no other rank in it. */
enum ergo_status ergo_slab_sweep_alone(struct ergo_context *ctx, void *state);
/* A sampler's operations (samplers/sampler.h). create: with shares by a trial, where the job does
 * not say them. save: at rank 0 alone; collective. */
enum ergo_status ergo_slab_plan(struct ergo_context *ctx, const struct ergo_engine_model *model,
                                const struct ergo_batch *batch, const struct ergo_device *device,
                                struct ergo_plan *plan);
enum ergo_status ergo_slab_create(struct ergo_context *ctx, const struct ergo_engine_model *model,
                                  const struct ergo_batch *batch, struct ergo_device *device,
                                  void **state);
bool ergo_slab_adapts(const void *state);
enum ergo_status ergo_slab_init(struct ergo_context *ctx, void *state);
enum ergo_status ergo_slab_save(struct ergo_context *ctx, void *state, size_t member,
                                struct ergo_text *text);
enum ergo_status ergo_slab_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                                const void *bytes, size_t length);
#define ERGO_SLAB_OPS                                                                              \
    .adapts = ergo_slab_adapts, .init = ergo_slab_init, .save = ergo_slab_save,                    \
    .load = ergo_slab_load, .view = ergo_fields_view

/* Layers of the halos that an update of a colour leaves wrong. */
static inline uint32_t ergo_slab_step(const struct ergo_slab *slab) {
    return slab->together ? slab->together : 1;
}
/* The slabs of `layers` layers by the shares of the job (point NULL: equal), which are made if
 * there are none; each has `reach` (>= 1) at least, over which it measures. granule divides
 * `layers`. ERGO_E_DEVICE, at all ranks: there are not so many. */
enum ergo_status ergo_slab_cut(struct ergo_context *ctx, struct ergo_slab *slab,
                               const struct ergo_point *point, uint64_t layers, uint32_t granule,
                               uint32_t reach);
/* Updates of a colour from one exchange to the next: those of as many sweeps as the job says, or
 * where these cost least together that an exchange takes as long as so many updates of a site, and
 * that halos of 2 n layers, of so many sites each in all members, add n layers to two updates;
 * halos are an eighth at most. per_sweep is set. */
uint32_t ergo_slab_updates(const struct ergo_slab *slab, const struct ergo_point *point,
                           double exchange, double layer_sites);
/* Halos for so many updates of a colour from one exchange to the next, and of `reach` layers at
 * least; fewer where a slab has not so many layers. With `by_colour` for an exchange after each
 * update. layer_bytes: of a layer of one member, so that buffers are not much taller than slabs; 0:
 * kernels need whole multiples of 16 granules. */
void ergo_slab_deepen(struct ergo_slab *slab, bool by_colour, uint32_t updates, uint32_t reach,
                      double layer_bytes);
/* Bits of a byte that has one of n values, as in `bits`. */
unsigned ergo_slab_bits(uint32_t n);
/* By the job's tuning, or where a model expects it to be faster: the copies of two layers of
 * layer_bytes (those that are sent) to the host, to the other one and to its device, at 20 GB/s,
 * take longer than an update of a colour of a slab, of so many seconds, and this longer than what
 * an exchange costs besides. */
bool ergo_slab_prefers_colours(const struct ergo_point *point, double layer_bytes, double update);
/* Declares buffers and kernels of the exchange; what the state is made of is set. Where the model
 * packs, the kernels are its own, and rows.pack and rows.unpack are not used. */
void ergo_slab_declare(struct ergo_engine *e, struct ergo_slab *slab, struct ergo_slab_rows rows);
/* The same at the end of `configure`, with blocks of 64 samples and the plan's texts. Returns room
 * for `bytes` of each sample with curves, which ranks join; NULL: none, or an error. */
void *ergo_slab_configured(struct ergo_engine *e, struct ergo_slab *slab,
                           struct ergo_slab_rows rows, const char *path, size_t bytes);
void ergo_slab_prepare(struct ergo_engine *e, struct ergo_slab *slab);
void ergo_slab_release(struct ergo_slab *slab);

/*
 * An update of one colour, which `update` launches for layers `from` to `to` - 1 of the state, in
 * one or several calls; both are multiples of `unit`, which divides `tall`. Where it leaves
 * nothing of the halos that is right, edges are exchanged: those are updated first, and travel
 * while the device updates the rest.
 */
typedef void (*ergo_slab_update)(void *state, unsigned colour, uint64_t from, uint64_t to);
void ergo_slab_half_sweep(struct ergo_engine *e, struct ergo_slab *slab, uint32_t unit,
                          ergo_slab_update update, unsigned colour);
/* An exchange of edges, by a model that packs, beside that of a half-sweep. */
void ergo_slab_swap(struct ergo_engine *e, struct ergo_slab *slab);
/* An exchange, where fewer than `layers` layers of the halos are right. */
void ergo_slab_need(struct ergo_engine *e, struct ergo_slab *slab, uint32_t layers);

/* The own layers of all ranks, in order, appended to `whole` at rank 0; tall: with halos.
 * Collective.
 */
enum ergo_status ergo_slab_gather(struct ergo_context *ctx, const struct ergo_slab *slab,
                                  const void *tall, size_t bytes, struct ergo_text *whole);
/* And back: this rank's layers with its halos, of all; malloc'ed. */
enum ergo_status ergo_slab_take(struct ergo_context *ctx, const struct ergo_slab *slab,
                                const void *whole, size_t bytes, uint8_t **tall);

#endif
