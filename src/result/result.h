/* What a run leaves. The run fills it; files and pages are made from it. */
#ifndef ERGO_RESULT_RESULT_H
#define ERGO_RESULT_RESULT_H

#include "base/file.h"
#include "device/profile.h"
#include "job/model.h"
#include "stats/stats.h"

/* What else a run is to note, for ergo_compare: ergo_run_options.watch. */
struct ergo_run_watch {
    bool profile;   /* time and bytes of each kernel: result->profile */
    bool trace;     /* and what launches left in the buffers; each is waited for */
    bool states;    /* of the members at the end */
    bool unaudited; /* of a device that is known to be wrong, to find where */
};

/* Where the wall time of a run goes. */
enum ergo_phase {
    ERGO_PHASE_DEVICE,  /* opening it, with the probe when it is new */
    ERGO_PHASE_BUILD,   /* programs, from source or the cache */
    ERGO_PHASE_PREPARE, /* buffers, starting state, first launches (at which some drivers compile)
                         */
    ERGO_PHASE_SAMPLE,
    ERGO_PHASE_AUDIT, /* with checkpoints and digests */
    ERGO_PHASE_FILES, /* estimates and writing */
    ERGO_PHASES
};

struct ergo_observable_result {
    const struct ergo_observable *observable;
    /* tau in samples; writers multiply by measure_every. Where trust is not ERGO_TRUST_FULL the
     * error is NAN; error_binning may be there, and is then too small. */
    struct ergo_estimate estimate;
    enum ergo_trust trust;
    double drift; /* ERGO_TRUST_DRIFT: of the first fifth from the last half, in standard errors */
    double exact; /* NAN: not known */
    double z;     /* (mean - exact) / error; NAN: not known */
    /* A value with an error of its own to compare with (error 0: none), and the difference in units
     * of the error of the difference: of a calibration the reference point's; else `published`. */
    double reference, reference_error, reference_z;
    bool published;
};

struct ergo_curve_result {
    const struct ergo_curve_info *info;
    size_t size;
    double *x, *mean, *error; /* owned */
    double *reference_z;      /* owned; of a calibration, else NULL; NAN: no error */
};

struct ergo_member_result {
    const struct ergo_point *point;
    uint64_t steps; /* done, equilibration included; 0: not begun, and no digest */
    uint64_t digest;
    uint64_t lead; /* sample i (from 0) was taken after lead + (i + 1) measure_every steps */
    uint64_t measure_every; /* steps between samples */
    size_t n_samples;       /* all, equilibration included */
    size_t n_equilibration; /* of them before measuring began */
    double **series;        /* [n_columns][n_samples], owned; NULL: not measured */
    struct ergo_observable_result *observables; /* [model->n_observables], hidden ones included */
    struct ergo_curve_result *curves;           /* [model->n_curves], size 0: not measured */
    size_t n_pictures;
    char *state; /* owned; canonical, behind the line of its digest; NULL: not asked for */
    size_t state_length;
    struct ergo_picture *pictures; /* owned; first to last snapshot */
    uint64_t *picture_steps;
};

/*
 * An observable over the replicas of a scan point (replicas.c). The mean is that of the replicas'
 * means, all of one weight. error_chains: from the replicas' own errors, sqrt(sum error^2) / n, NAN
 * unless all are trusted. error_scatter: sqrt(variance of the means / n), which knows nothing of
 * single chains; of few replicas it is a poor number (relative error sqrt(1 / (2 n - 2))). chi2:
 * deviations of the means from their mean over the chains' variance, dof of them.
 */
struct ergo_scatter {
    double error_scatter, error_chains, chi2, tail; /* tail: the chance of this chi2 or a larger */
    size_t dof;                                     /* 0: nothing to compare */
};

struct ergo_mean_result {
    size_t first, replicas; /* members[first] ... */
    size_t measured;        /* of them with samples */
    /* [n_observables], as of a member: error is error_chains where all chains are trusted and
     * agree; else error_scatter, of 10 chains or more with 20 autocorrelation times each; none
     * (ERGO_TRUST_REPLICAS) where they disagree. */
    struct ergo_observable_result *observables;
    struct ergo_scatter *scatters; /* [n_observables] */
    size_t n_apart;                /* replicas far from the others, where replicas disagree: */
    uint32_t *apart;               /* their numbers */
};

struct ergo_result {
    struct ergo_job *job; /* owned: a result outlives the call's job */
    const char *status;   /* "complete" or "stopped" */
    char started[32];     /* UTC, ISO 8601 */
    struct ergo_device_summary device;
    size_t n_devices;                    /* with several ranks: of each, in order; else 0 */
    struct ergo_device_summary *devices; /* owned */
    size_t n_members;
    struct ergo_member_result *members; /* in job order */
    size_t n_means;                     /* scan points with several replicas; 0: there are none */
    struct ergo_mean_result *means;     /* owned, in one piece with what it points to */
    double rate, seconds; /* work per second, wall seconds of sampling over all sessions */
    /* of the last session, on the first rank: the host's work on measurements, and the part of it
     * that cost no time because the device was working; NAN: not known */
    double host_seconds, hidden_seconds;
    double phases[ERGO_PHASES];   /* seconds; of one session that did all of it, else parts of it */
    uint64_t device_bytes;        /* of the largest batch's buffers, as planned */
    unsigned built, loaded;       /* programs: from source, from the cache */
    struct ergo_profile *profile; /* owned; NULL: not asked for */
    size_t n_warnings;
    char **warnings;  /* owned sentences */
    char *comparison; /* owned; of a calibration: what agrees with the reference; NULL: none */
};

/* replicas.c: means, from the members' estimates. */
enum ergo_status ergo_result_means(struct ergo_context *ctx, struct ergo_result *result);
/* warnings.c: all there is to say against the estimates and means, added to the list. */
enum ergo_status ergo_result_warn(struct ergo_context *ctx, struct ergo_result *result);

/* setup.c: what the run in a folder has measured so far, from its checkpoint. Only read: neither
 * the folder nor a run that goes on in it notices. ERGO_E_IO: no run is there, or it is damaged. */
enum ergo_status ergo_run_load(struct ergo_context *ctx, const char *directory,
                               struct ergo_result **result);

/* Averages over /output/blocks blocks of measurements: DIR/blocks/pPOINT.dat, and for series.h5. */
size_t ergo_blocks_count(const struct ergo_member_result *member); /* 0: none */
double ergo_blocks_mean(const struct ergo_model *model, const struct ergo_member_result *member,
                        const struct ergo_observable *observable, size_t block);
enum ergo_status ergo_result_write_blocks(struct ergo_context *ctx,
                                          const struct ergo_folder *folder,
                                          const struct ergo_result *result);

/* DIR/result.json, DIR/series.h5. */
enum ergo_status ergo_result_write_json(struct ergo_context *ctx, const struct ergo_folder *folder,
                                        const struct ergo_result *result);
enum ergo_status ergo_result_write_series(struct ergo_context *ctx,
                                          const struct ergo_folder *folder,
                                          const struct ergo_result *result);

#endif
