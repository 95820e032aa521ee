/*
 * Tuning profiles: launch shapes that `ergocl tune` found faster than the automatic ones. They come
 * after the job's own /tuning and change no chain.
 */
#ifndef ERGO_RUN_TUNING_H
#define ERGO_RUN_TUNING_H

#include "result/result.h"
#include "samplers/sampler.h"

enum { ERGO_TUNING_SETTINGS = 16, ERGO_TUNING_VALUES = 24 };

struct ergo_tuning_setting {
    char name[32];
    int64_t value;
};

/* An entry is for jobs like the one it was measured with: the same sampler, model and automatic
 * kernels, and both members and work within a factor of 1.5. */
struct ergo_tuning_entry {
    char device[128];                      /* its whole name; "": by family or type */
    char family[64];                       /* part of the name, or "" */
    char type[16];                         /* "gpu", "cpu", or "" */
    char sampler[32], model[32], path[64]; /* a text without a model means the sampler's first */
    double members, work_per_step;
    size_t n_settings;
    struct ergo_tuning_setting settings[ERGO_TUNING_SETTINGS];
    double gain; /* rate over the automatic one's */
    char date[16], driver[128];
};

struct ergo_tuning_list {
    size_t count;
    struct ergo_tuning_entry *entries; /* owned */
};
void ergo_tuning_list_free(struct ergo_tuning_list *list);

/* The user's file: $ERGOCL_CONFIG_DIR, $XDG_CONFIG_HOME/ergocl or ~/.config/ergocl, tuning.json.
 * NULL: there is no place for one ($ERGOCL_CONFIG_DIR set and empty, or no home). Caller frees. */
char *ergo_tuning_user_path(void);
/* Appends the entries of a text. Out of range, or of no sampler: ERGO_E_IO with the reason. */
enum ergo_status ergo_tuning_parse(struct ergo_context *ctx, const char *name, const char *text,
                                   size_t length, struct ergo_tuning_list *list);
/* Appends the entries of a file; a missing file has none. */
enum ergo_status ergo_tuning_read(struct ergo_context *ctx, const char *path,
                                  struct ergo_tuning_list *list);
enum ergo_status ergo_tuning_write(struct ergo_context *ctx, const char *path,
                                   const struct ergo_tuning_list *list);
/* Writes the entry into the file, in place of an older one for the same jobs. Without settings the
 * older one is removed. Several processes may do so at once (PATH.lock). */
enum ergo_status ergo_tuning_keep(struct ergo_context *ctx, const char *path,
                                  const struct ergo_tuning_entry *entry);
/* Are both for the same jobs on the same device? */
bool ergo_tuning_same(const struct ergo_tuning_entry *a, const struct ergo_tuning_entry *b);

/* Values of a tunable that are worth a try, and their number: all of a short range, else powers of
 * two, within what jobs and profiles may give. */
size_t ergo_tuning_values(const struct ergo_tunable *tunable, int64_t values[ERGO_TUNING_VALUES]);

/* What identifies a batch; the plan is its automatic one. */
void ergo_tuning_identify(const struct ergo_batch *batch, const struct ergo_device *device,
                          const struct ergo_plan *plan, struct ergo_tuning_entry *entry);
/* One tunable of all points of a batch; 0: automatic. */
void ergo_tuning_set(const struct ergo_batch *batch, const char *name, int64_t value);
/* All of them automatic. */
void ergo_tuning_clear(const struct ergo_batch *batch);
/* Does the job itself choose any? Then profiles are not asked. */
bool ergo_tuning_given(const struct ergo_batch *batch);
bool ergo_tuning_given_any(const struct ergo_job *job); /* in any of its batches */

/* Gives every batch of a job the settings that fit best: the user's, then shipped ones, for the
 * device, its family, its type. What the sampler refuses is left out. */
void ergo_tuning_apply(struct ergo_context *ctx, const struct ergo_job *job,
                       const struct ergo_device *device);

/* What a run of the job would begin with: its device (selector NULL: as the environment or the job
 * says) and a copy of the job with the settings of profiles. After a failure both are NULL. */
enum ergo_status ergo_tuning_open(struct ergo_context *ctx, const struct ergo_job *job,
                                  const char *selector, struct ergo_job **own,
                                  struct ergo_device **device);

#endif
