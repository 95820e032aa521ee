/*
 * The operations of a sampler's model on a device. Its tables, and what needs no device, are in
 * `struct ergo_model` (job/model.h).
 *
 * The run layer (src/run) owns the sequence
 *     plan -> create -> init | load -> advance ... -> save -> audit -> destroy
 * A sampler never parses arguments, opens files, reads a clock, or calls MPI (one that can be cut
 * uses src/dist). It never sees one system but a batch: members of equal shape that differ in
 * parameters and stream.
 */
#ifndef ERGO_SAMPLERS_SAMPLER_H
#define ERGO_SAMPLERS_SAMPLER_H

#include "device/device.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/fields.h"
#include "engine/samples.h"
#include "engine/view.h"
#include "job/model.h"
#include "stats/stats.h"

struct ergo_sampler_ops {
    const struct ergo_engine_model *engine;
    /* Memory and launches on a device, or a refusal with the reason (ERGO_E_DEVICE). NULL: the
     * engine's, or with slabs theirs. */
    enum ergo_status (*plan)(struct ergo_context *ctx, const struct ergo_batch *batch,
                             const struct ergo_device *device, struct ergo_plan *plan);
    /* Build programs, allocate. NULL: as above. *state begins with a struct ergo_engine, and
     * ergo_engine_destroy destroys it. */
    enum ergo_status (*create)(struct ergo_context *ctx, const struct ergo_batch *batch,
                               struct ergo_device *device, void **state);
    /* Starting configuration of every member at step 0. */
    enum ergo_status (*init)(struct ergo_context *ctx, void *state);
    /* For starts that take long (NULL: none do). Called after init and before anything else, each
     * time for about a tenth of a second, until *done. The run can stop between two calls. */
    enum ergo_status (*start)(struct ergo_context *ctx, void *state, bool *done);
    /*
     * Enqueue `count` times (`every` steps, then one sample); count 0: `every` steps, no sample.
     * Never waits: two blocks may be in flight, in `slot` 0 and 1. `first_sample` is the index of
     * the block's first sample in the run (decides which samples carry curves). NULL: the engine's.
     */
    enum ergo_status (*advance)(struct ergo_context *ctx, void *state, unsigned slot, size_t count,
                                uint64_t every, uint64_t first_sample);
    /* Wait for the block in `slot` and convert its samples; samples->columns has room for them.
     * NULL: the engine's. */
    enum ergo_status (*collect)(struct ergo_context *ctx, void *state, unsigned slot,
                                struct ergo_samples *samples);
    /* Add numbers counted since the last call (or the start, or load) that are no part of the
     * state, by ergo_curve_add_sum; NULL: none. Called once per member whenever states are saved,
     * so that a resume continues from there, and before end_curves. */
    enum ergo_status (*count)(struct ergo_context *ctx, void *state, size_t member,
                              struct ergo_curve *curves);
    /* Add samples of curves that are known only at the end of the run, by ergo_curve_add, one for
     * each independent realisation; NULL: none. Called once per member. */
    enum ergo_status (*end_curves)(struct ergo_context *ctx, void *state, size_t member,
                                   struct ergo_curve *curves);
    /*
     * A member's physical state in its canonical form, which the sampler's README documents and
     * which has no trace of the layout in memory. The digest is made of it and the step counter.
     * save appends to `text`. load takes the same bytes, checks them (ERGO_E_IO if they are no
     * state), and continues at `step`.
     */
    enum ergo_status (*save)(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_text *text);
    enum ergo_status (*load)(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                             const void *bytes, size_t length);
    /* A start at step 0 from the last state of another chain, in its canonical form: its
     * configuration, while what tells of that chain's run (times, counts, tuned steps) is as at any
     * start. Called after init for each member of a batch, in order, ERGO_E_IO as load. NULL: there
     * is nothing of a run in a state, and load is enough, without init. */
    enum ergo_status (*carry)(struct ergo_context *ctx, void *state, size_t member,
                              const void *bytes, size_t length);
    /* Of a cut system (NULL: no): create measures the shares of ranks, so that a state which is
     * saved, made again and loaded suits devices that have become slower. */
    bool (*adapts)(const void *state);
    /* A member's lattice for people, or NULL op. Pictures, and frames if the model has a
     * trajectory, are made of it. */
    enum ergo_status (*view)(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_view *view);
    /* Where that is no lattice (NULL op: none): a picture of a member into *picture, which is
     * empty; its configuration as extended XYZ, appended to `text`. */
    enum ergo_status (*picture)(struct ergo_context *ctx, void *state, size_t member,
                                struct ergo_picture *picture);
    enum ergo_status (*frame)(struct ergo_context *ctx, void *state, size_t member,
                              struct ergo_text *text);
    /* At the end of a run: what it has found of `count` members from `first` on, the replicas of a
     * scan point, as text for a file of the folder `states`. NULL: nothing. */
    enum ergo_status (*states)(struct ergo_context *ctx, void *state, size_t first, size_t count,
                               struct ergo_text *text);
};

/* defaults.c: of functions that may be missing. */
bool ergo_sampler_has_slabs(const struct ergo_sampler_ops *ops); /* its engine's model has */
enum ergo_status ergo_sampler_plan(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                   const struct ergo_batch *batch, const struct ergo_device *device,
                                   struct ergo_plan *plan);
enum ergo_status ergo_sampler_create(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                     const struct ergo_batch *batch, struct ergo_device *device,
                                     void **state);
/* The plan by which a state was made, which is not made once more. */
enum ergo_status ergo_sampler_planned(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                      const void *state, struct ergo_plan *plan);
enum ergo_status ergo_sampler_advance(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                      void *state, unsigned slot, size_t count, uint64_t every,
                                      uint64_t first_sample);
enum ergo_status ergo_sampler_collect(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                      void *state, unsigned slot, struct ergo_samples *samples);
/* Without one nothing is done, and a start is at its end. */
enum ergo_status ergo_sampler_start_piece(struct ergo_context *ctx,
                                          const struct ergo_sampler_ops *ops, void *state,
                                          bool *done);
enum ergo_status ergo_sampler_count(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                    void *state, size_t member, struct ergo_curve *curves);
enum ergo_status ergo_sampler_end_curves(struct ergo_context *ctx,
                                         const struct ergo_sampler_ops *ops, void *state,
                                         size_t member, struct ergo_curve *curves);
/* Of all members: from the last states of other chains. */
struct ergo_carried {
    const void *bytes;
    size_t length;
};
enum ergo_status ergo_sampler_carry(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                    void *state, size_t members, const struct ergo_carried *states);
/* Observables from means: the ratio of two; of x and x^2, the variance and its root. */
double ergo_mean_ratio(const struct ergo_point *point, const double *m);
double ergo_mean_variance(const struct ergo_point *point, const double *m);
double ergo_mean_width(const struct ergo_point *point, const double *m);
/* And from a curve: the mean of all its values. */
double ergo_curve_mean(const struct ergo_point *point, const double *mean, size_t size);

/* view.c */
/* The colour of direction i of n: around the wheel of hues. Of height i of 256: from blue (down) by
 * white to red (up). */
void ergo_view_hue(unsigned i, unsigned n, uint8_t colour[3]);
void ergo_view_height(unsigned i, uint8_t colour[3]);
/* A picture of a member, of a model that has them; without pixels on ranks that show none. */
enum ergo_status ergo_sampler_picture(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                      void *state, size_t member, struct ergo_picture *picture);
/* Its configuration as a file of the model's frame_suffix, appended to `text`; of models with a
 * trajectory. */
enum ergo_status ergo_sampler_frame(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                    void *state, size_t member, struct ergo_text *text);

#endif
