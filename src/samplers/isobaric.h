/* Hard particles at constant pressure: what their samplers share on the host. The moves themselves
 * are in cl/common/volume.h. */
#ifndef ERGO_SAMPLERS_ISOBARIC_H
#define ERGO_SAMPLERS_ISOBARIC_H

#include "base/text.h"
#include "common/volume.h"
#include "job/job.h"
#include "job/model.h"

/* The `rule` of such models; those at constant volume have none. */
extern const bool ergo_isobaric;
static inline bool ergo_is_isobaric(const struct ergo_point *point) {
    return point->job->model->rule == &ergo_isobaric;
}
/* Keys of all such models: the largest step, how often it is tried, and of what. */
enum { ERGO_ISOBARIC_KEYS = 3 };
extern const struct ergo_key ergo_isobaric_keys[ERGO_ISOBARIC_KEYS];
/* Do moves change one side at a time? At points that have these keys. */
bool ergo_isobaric_per_axis(const struct ergo_point *point);

/* V in sigma^d at that ln V. */
double ergo_isobaric_volume(int64_t size);
/* The rules of a point's volume moves, and ln V of its start, where sigma has that many units.
 * contact: the smallest and the largest r^2 that the cells allow. */
struct ergo_volume_rules ergo_isobaric_rules(const struct ergo_point *point, uint64_t n,
                                             double volume, double sigma, unsigned dimensions,
                                             const uint64_t contact[2], int64_t *size);
/* Is the largest change of ln V tuned? */
bool ergo_isobaric_tuned(const struct ergo_point *point);
/* Can it be what it is? And the error where it cannot. */
bool ergo_isobaric_right(const struct ergo_volume_rules *rules, const struct ergo_volume *volume);
enum ergo_status ergo_isobaric_refuse(struct ergo_context *ctx, const char *device, size_t member);
/* Refuses rules beyond what volume moves can count. */
enum ergo_status ergo_isobaric_check(struct ergo_context *ctx, const struct ergo_point *point,
                                     const struct ergo_volume_rules *rules, double volume);

/* Rows of volume moves, by their columns; because: why moves are refused without a trial; its: what
 * sets limits. */
/* clang-format off */
#define ERGO_ISOBARIC_OBSERVABLES(step, accepted, limited, because, its)                           \
    {ERGO_NAMED("volume_step", ""), .help = "largest trial change of ln V, as it was tuned",       \
     ERGO_COLUMN(step), .of_moves = true, .applies = ergo_isobaric_tuned},                         \
    {ERGO_NAMED("volume_acceptance", ""), .help = "accepted share of volume moves",                \
     ERGO_COLUMN(accepted), .of_moves = true},                                                     \
    {ERGO_NAMED("volume_limited", ""),                                                             \
     .help = "share of volume moves refused because " because                                      \
             ": where it is not 0, the ensemble is that of volumes between these limits",          \
     .limits = "volumes are those between the limits of the " its ", and averages not those of "   \
               "the whole ensemble. Start nearer to the density that comes out",                   \
     ERGO_COLUMN(limited), .of_moves = true}
/* clang-format on */

/* A volume as the first bytes of a canonical state: i64 ln V in 2^-36; u8, bit 0 set if the last
 * move was accepted and bit 1 if the cells refused it; u64, the checksum of closest pairs; where
 * sides change one by one, i64 of each axis but x, the stretch in 2^-36; where it is tuned, u64,
 * the largest change in 2^-36. */
enum { ERGO_ISOBARIC_BYTES = 17 };
size_t ergo_isobaric_bytes(const struct ergo_volume_rules *rules, unsigned dimensions,
                           bool per_axis);
void ergo_isobaric_append(struct ergo_text *text, const struct ergo_volume_rules *rules,
                          unsigned dimensions, bool per_axis, const struct ergo_volume *volume);
/* The last state of another chain, with a step or without, as one of this point's at its start. So
 * many bytes of a state are the `rest`. */
void ergo_isobaric_carried(struct ergo_text *text, const struct ergo_volume_rules *rules,
                           unsigned dimensions, bool per_axis, const void *bytes, size_t length,
                           size_t rest);
/* False: no volume that the cells allow (which is not asked where sides change one by one). */
bool ergo_isobaric_read(const uint8_t *data, const struct ergo_volume_rules *rules,
                        unsigned dimensions, bool per_axis, struct ergo_volume *volume);

#endif
