/*
 * What a sampler's model does on a device. Its tables, and what can be said of a point without a
 * device, are `struct ergo_model` (job/model.h).
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
#include "engine/plan.h"
#include "engine/samples.h"
#include "job/model.h"
#include "stats/stats.h"

struct ergo_sampler_ops {
    /* Memory and launches on a device, or a refusal with the reason (ERGO_E_DEVICE). */
    enum ergo_status (*plan)(struct ergo_context *ctx, const struct ergo_batch *batch,
                             const struct ergo_device *device, struct ergo_plan *plan);
    /* Build programs, allocate. *state is the sampler's own. */
    enum ergo_status (*create)(struct ergo_context *ctx, const struct ergo_batch *batch,
                               struct ergo_device *device, void **state);
    /* Starting configuration of every member at step 0. */
    enum ergo_status (*init)(struct ergo_context *ctx, void *state);
    /* Where a start takes long (NULL: nowhere): after init and before anything else a piece of it
     * of a tenth of a second, roughly, until *done. A stop comes between two. */
    enum ergo_status (*start)(struct ergo_context *ctx, void *state, bool *done);
    /*
     * Enqueue `count` times (`every` steps, then one sample); count 0: `every` steps, no sample.
     * Never waits: two blocks may be in flight, in `slot` 0 and 1. `first_sample` is the index of
     * the block's first sample in the run (decides which samples carry curves).
     */
    enum ergo_status (*advance)(struct ergo_context *ctx, void *state, unsigned slot, size_t count,
                                uint64_t every, uint64_t first_sample);
    /* Wait for the block in `slot` and convert its samples; samples->columns has room for them. */
    enum ergo_status (*collect)(struct ergo_context *ctx, void *state, unsigned slot,
                                struct ergo_samples *samples);
    /* What was counted since the last call (or the start, or load) and is no part of the state,
     * added to sums by ergo_curve_add_sum; NULL op. Called once per member wherever states are
     * saved, so that a resume goes on from there, and before end_curves. */
    enum ergo_status (*count)(struct ergo_context *ctx, void *state, size_t member,
                              struct ergo_curve *curves);
    /* Curves over the time of the run, which are known at its end only, or NULL op: adds their
     * samples by ergo_curve_add, one for each independent realisation. Called once per member. */
    enum ergo_status (*end_curves)(struct ergo_context *ctx, void *state, size_t member,
                                   struct ergo_curve *curves);
    /*
     * A member's physical state in its canonical form (documented in the sampler's README; no
     * trace of the layout in memory). The digest is made of it and the step counter. save appends
     * to `text`; load takes the same bytes, checks them (ERGO_E_IO where they are no state), and
     * continues at `step`.
     */
    enum ergo_status (*save)(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_text *text);
    enum ergo_status (*load)(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                             const void *bytes, size_t length);
    /* Recompute running quantities from scratch and compare; replay a few steps of the run's own
     * kernels on the host. ERGO_E_AUDIT with what differs; afterwards the state is as before. Each
     * launch made here has to matter, and of a device that reads back wrong bits nothing may pass:
     * so what is written back is measured, too. */
    enum ergo_status (*audit)(struct ergo_context *ctx, void *state);
    /* A picture of a member, or NULL op. */
    enum ergo_status (*picture)(struct ergo_context *ctx, void *state, size_t member,
                                struct ergo_picture *picture);
    /* The member's configuration as a file of extended XYZ (or of frame_suffix), appended to
     * `text`, or NULL op (then the model's trajectory is NULL). Nothing appended: no file. */
    enum ergo_status (*frame)(struct ergo_context *ctx, void *state, size_t member,
                              struct ergo_text *text);
    void (*destroy)(void *state);
};

/* start.c */
/* Of functions that may be missing: without one nothing is done, and a start is at its end. */
enum ergo_status ergo_sampler_start_piece(struct ergo_context *ctx,
                                          const struct ergo_sampler_ops *ops, void *state,
                                          bool *done);
enum ergo_status ergo_sampler_count(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                    void *state, size_t member, struct ergo_curve *curves);
enum ergo_status ergo_sampler_end_curves(struct ergo_context *ctx,
                                         const struct ergo_sampler_ops *ops, void *state,
                                         size_t member, struct ergo_curve *curves);
/* init and all of the start, where nothing may stop it. */
enum ergo_status ergo_sampler_start(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                    void *state);

#endif
