/*
 * Audits by replay. A stretch of the run, with its measurements, is made once more. The device
 * makes it by the functions, kernels and launches of the run; the host makes it by the sampler's
 * twin, from the same state. Both must agree to the bit. Then the device gets its state back, and
 * the run continues as if nothing had happened.
 *
 * A sampler tells which buffers there are, how long a stretch is, and how its twin compares. This
 * module keeps, wipes, runs and restores, and writes the error messages.
 */
#ifndef ERGO_ENGINE_REPLAY_H
#define ERGO_ENGINE_REPLAY_H

#include "device/device.h"
#include "engine/samples.h"

enum ergo_replay_kind {
    ERGO_REPLAY_NONE, /* nothing: lets rows have the numbers of the sampler's buffers */
    /* on the device: from which a chain continues; restored after the stretch */
    ERGO_REPLAY_STATE,
    /* a state too, but the stretch is made in a copy on the device, where that has room for it:
     * then the run's own memory is not touched, and nothing is kept on the host
     * (ergo_replay_before) */
    ERGO_REPLAY_APART,
    /* the same as STATE with a buffer for each member: mem[members], one after the other in `kept`
     */
    ERGO_REPLAY_EACH,
    /* on the device: written anew by the stretch. Wiped before it (0xff), because a kernel that
     * does nothing must not leave the last block's numbers; zeroed after it */
    ERGO_REPLAY_RESULT,
    /* in the sampler's own state, such as its step; restored after the stretch */
    ERGO_REPLAY_HOST
};

struct ergo_replay_row {
    const char *what; /* "lattices", for messages */
    enum ergo_replay_kind kind;
    /* address of the buffer's handle in the sampler's state, because buffers may change places
     * within the stretch */
    cl_mem *mem;
    void *host; /* ERGO_REPLAY_HOST: the memory */
    size_t bytes;
};

struct ergo_replay {
    /* the sampler's */
    const char *sampler; /* "hard-disks" */
    const char *remedy;  /* what to try besides another device: "/tuning/path" */
    struct ergo_device *device;
    void *state;
    void *user; /* for compare */
    const struct ergo_replay_row *rows;
    size_t n_rows;
    size_t members, n_columns, n_curves;
    const size_t *curve_sizes; /* [n_curves]; 0: not measured */
    uint64_t step;             /* step at which the stretch begins */
    /* The stretch: `lead` steps without a sample (0: none), as at the beginning of a run, then this
     * many samples with this many steps before each. first_sample decides which of them carry
     * curves. */
    size_t samples;
    uint64_t lead, every, first_sample;
    enum ergo_status (*advance)(struct ergo_context *ctx, void *state, unsigned slot, size_t count,
                                uint64_t every, uint64_t first_sample);
    enum ergo_status (*collect)(struct ergo_context *ctx, void *state, unsigned slot,
                                struct ergo_samples *samples);
    /* Called with the device at the end of the stretch. Reports a difference by
     * ergo_replay_differs. */
    enum ergo_status (*compare)(struct ergo_context *ctx, const struct ergo_replay *r);

    /* set by ergo_replay, for compare */
    void **kept;  /* [n_rows] bytes of STATE and HOST rows before the stretch; of APART
                     rows see ergo_replay_before */
    cl_mem *owns; /* [n_rows] the run's memory of rows whose stretch is made in a copy, else NULL */
    struct ergo_samples found;
};

/* ERGO_E_AUDIT: device and host differ. ERGO_E_MEMORY: no memory to keep the state. */
enum ergo_status ergo_replay(struct ergo_context *ctx, struct ergo_replay *r);

/* ERGO_E_AUDIT: "audit of SAMPLER failed on DEVICE (DRIVER): from the same state, WHAT of member M
 * differ between the device and the host at steps ...". */
enum ergo_status ergo_replay_differs(struct ergo_context *ctx, const struct ergo_replay *r,
                                     size_t member, const char *what);

/* For compare: bytes of a STATE or APART row as they were before the stretch. */
enum ergo_status ergo_replay_before(struct ergo_context *ctx, const struct ergo_replay *r,
                                    size_t row, size_t offset, size_t bytes, void *to);

/* Calls one() for members [begin, end), by all cores and with no context: it asks nothing of the
 * device. Where one of them fails, once more with the context, for the message. */
enum ergo_status
ergo_replay_each(struct ergo_context *ctx, const struct ergo_replay *r, size_t begin, size_t end,
                 enum ergo_status (*one)(struct ergo_context *ctx, const struct ergo_replay *r,
                                         size_t member, void *user),
                 void *user);

/* Plan the samples of a stretch of at most `most` steps. There are as many steps between samples as
 * in the run (measure_every), if that fits. If there is time, two samples carry curves, one of them
 * the last. interval: samples from one with curves to the next, 0: none carries curves.
 * block_samples: the most samples. */
void ergo_replay_plan(struct ergo_replay *r, int64_t measure_every, uint64_t interval,
                      uint64_t most, size_t block_samples);
/* Does this sample of the stretch (counted from 0) carry curves? */
bool ergo_replay_has_curve(const struct ergo_replay *r, uint64_t interval, size_t sample);
/* Is this member one of the `some` that are replayed? They are spread evenly and include the last
 * one. */
bool ergo_replay_takes(const struct ergo_replay *r, size_t some, size_t member);

/* Are n doubles the same bits (a NaN equals itself)? */
bool ergo_replay_same(const double *a, const double *b, size_t n);

/*
 * Constants are buffers that are written once and read by all chains: parameters, tables,
 * couplings, thresholds. A hash of the written data is kept. An audit reads the buffers back and
 * compares.
 */
enum { ERGO_CONSTANTS = 24 };
struct ergo_constants {
    size_t n;
    struct ergo_constant {
        const char *what;
        cl_mem mem;
        size_t bytes;
        uint64_t hash;
    } rows[ERGO_CONSTANTS];
};

/* Like ergo_buffer_create, but also notes the hash; `data` is never NULL. The buffer is released
 * like any other. Where *mem is there, it gets other data of the same size. */
enum ergo_status ergo_constant_create(struct ergo_context *ctx, struct ergo_device *device,
                                      struct ergo_constants *constants, const char *what,
                                      size_t bytes, const void *data, cl_mem *mem);
/* Notes the present contents of a buffer that was written in another way, by a kernel that an audit
 * replays. May be called again for new contents. */
enum ergo_status ergo_constant_note(struct ergo_context *ctx, struct ergo_device *device,
                                    struct ergo_constants *constants, const char *what, cl_mem mem,
                                    size_t bytes);
/* Adds a word to a checksum that changes with any bit. It is fast (some GB/s), because couplings
 * may be large. */
static inline uint64_t ergo_constants_add(uint64_t sum, uint64_t word) {
    sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return sum ^ sum >> 32;
}
/* ERGO_E_AUDIT, naming the first constant that has changed. only: this one, or NULL for all. */
enum ergo_status ergo_constants_check(struct ergo_context *ctx, struct ergo_device *device,
                                      const struct ergo_constants *constants, cl_mem only,
                                      const char *sampler);

#endif
