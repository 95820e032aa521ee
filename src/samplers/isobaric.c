#include "samplers/isobaric.h"

#include <math.h>

#include "base/bytes.h"
#include "samplers/particle_parameters.h"

_Static_assert(sizeof(struct ergo_volume) == ERGO_VOLUME_BYTES, "no padding");
_Static_assert(sizeof(struct ergo_volume_rules) == ERGO_VOLUME_RULES_BYTES, "no padding");

static const char *const kinds[] = {"isotropic", "per-axis", NULL};

const bool ergo_isobaric = true;

const struct ergo_key ergo_isobaric_keys[ERGO_ISOBARIC_KEYS] = {
    {PARTICLE_KEY(max_volume_change, "/system/max_volume_change", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .fallback = "0", .min = 0, .max = 0.5, .unit = "",
     .help = "Largest trial change of ln V; 0: 2 / (beta P V) of the start, at most 0.1, which is "
             "then tuned during the equilibration until 2/7 of the trials are accepted. Isotropic "
             "moves have four trials each then."},
    {PARTICLE_KEY(volume_every, "/system/volume_every", INT),
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .fallback = "1", .min = 1, .max = 1e6,
     .unit = "sweeps", .help = "A trial change of the volume after every so many sweeps."},
    {PARTICLE_KEY(volume_moves, "/system/volume_moves", ENUM),
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .fallback = "\"isotropic\"", .stream = "",
     .choices = kinds, .unit = "",
     .help = "What a volume move changes: isotropic, all sides by the same factor; per-axis, one "
             "side drawn at random, so that a crystal finds the shape of its box. A fluid has no "
             "such shape: its box wanders to the limits of the cells (volume_limited)."},
};

bool ergo_isobaric_per_axis(const struct ergo_point *point) {
    return ergo_says(of_particle(point)->volume_moves, "per-axis");
}

bool ergo_isobaric_tuned(const struct ergo_point *point) {
    return point->parameters->equilibration > 0 && of_particle(point)->max_volume_change == 0;
}

double ergo_isobaric_volume(int64_t size) {
    const struct ergo_scaled e = ergo_volume_exp(size);
    return ldexp((double)e.mantissa, (int)e.exponent - 62);
}

/* A step of 2 / (beta P V) meets an overlap about two times in three. */
struct ergo_volume_rules ergo_isobaric_rules(const struct ergo_point *point, uint64_t n,
                                             double volume, double sigma, unsigned dimensions,
                                             const uint64_t contact[2], int64_t *size) {
    const double pressure = of_particle(point)->pressure;
    const double step = of_particle(point)->max_volume_change;
    const double wish = step > 0 ? step : fmin(0.1, 2.0 / (pressure * volume));
    const uint64_t unit = ergo_isobaric_tuned(point) ? ERGO_VOLUME_UNIT : 1;
    *size = ergo_volume_log(volume);
    return (struct ergo_volume_rules){
        .n = n,
        .pressure = ergo_volume_log(pressure),
        .scale = ergo_volume_log(sigma * sigma) + 2 * *size / (int64_t)dimensions,
        .step = unit * (uint64_t)fmax(1.0, floor(wish * 0x1p36 / (double)unit)),
        .contact = {contact[0], contact[1]},
        .tuned = unit == 1 ? 0 : (uint64_t)point->parameters->equilibration,
        .most = (uint64_t)(fmin(0.5, 0x1p25 / (double)n) * 0x1p36)};
}

enum ergo_status ergo_isobaric_check(struct ergo_context *ctx, const struct ergo_point *point,
                                     const struct ergo_volume_rules *rules, double volume) {
    const double product = of_particle(point)->pressure * volume;
    const double step = (double)rules->step * 0x1p-36, most = 0x1p25 / (double)rules->n;
    if (product > 1e12)
        return ergo_job_error(ctx, "/system/pressure",
                              "beta P V is %.3g at the start; volume moves count to 10^12",
                              product);
    if (step > most)
        return ergo_job_error(ctx, "/system/max_volume_change",
                              "%.6g with %llu particles; allowed: at most %.6g, because volume "
                              "moves count N times it to 2^25",
                              step, (unsigned long long)rules->n, floor(most * 1e6) / 1e6);
    return ERGO_OK;
}

bool ergo_isobaric_right(const struct ergo_volume_rules *rules, const struct ergo_volume *volume) {
    return rules->tuned
               ? volume->step && volume->step <= rules->most && volume->step % ERGO_VOLUME_UNIT == 0
               : volume->step == rules->step;
}

enum ergo_status ergo_isobaric_refuse(struct ergo_context *ctx, const char *device, size_t member) {
    return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                     "audit failed on %s: the largest volume change of member %zu has changed in "
                     "the device's memory",
                     device, member);
}

size_t ergo_isobaric_bytes(const struct ergo_volume_rules *rules, unsigned dimensions,
                           bool per_axis) {
    return ERGO_ISOBARIC_BYTES + (per_axis ? 8 * ((size_t)dimensions - 1) : 0) +
           (rules->tuned ? 8 : 0);
}

void ergo_isobaric_append(struct ergo_text *text, const struct ergo_volume_rules *rules,
                          unsigned dimensions, bool per_axis, const struct ergo_volume *volume) {
    ergo_bytes_append(text, (uint64_t)volume->size, 8);
    ergo_bytes_append(text, volume->accepted | volume->limited << 1, 1);
    ergo_bytes_append(text, volume->trace, 8);
    for (unsigned k = 0; per_axis && k + 1 < dimensions; k++)
        ergo_bytes_append(text, (uint64_t)volume->stretch[k], 8);
    if (rules->tuned)
        ergo_bytes_append(text, volume->step, 8);
}

void ergo_isobaric_carried(struct ergo_text *text, const struct ergo_volume_rules *rules,
                           unsigned dimensions, bool per_axis, const void *bytes, size_t length,
                           size_t rest) {
    const size_t head = ergo_isobaric_bytes(rules, dimensions, per_axis) - (rules->tuned ? 8 : 0);
    const bool fits = length == head + rest || length == head + 8 + rest; /* load refuses others */
    ergo_text_append_bytes(text, bytes, fits ? head : length);
    if (fits && rules->tuned)
        ergo_bytes_append(text, rules->step, 8);
    if (fits)
        ergo_text_append_bytes(text, (const char *)bytes + (length - rest), rest);
}

bool ergo_isobaric_read(const uint8_t *data, const struct ergo_volume_rules *rules,
                        unsigned dimensions, bool per_axis, struct ergo_volume *volume) {
    const int64_t size = (int64_t)ergo_bytes_get(data, 8);
    const int64_t most = (int64_t)ERGO_VOLUME_LARGEST << ERGO_VOLUME_BITS;
    const int64_t widest = INT64_C(2) << ERGO_VOLUME_BITS; /* cells allow far less */
    if (size < -most || size > most || data[8] > 2)
        return false;
    *volume = (struct ergo_volume){.size = size,
                                   .accepted = data[8] & 1,
                                   .limited = data[8] >> 1,
                                   .trace = ergo_bytes_get(data + 9, 8),
                                   .step = rules->step};
    for (unsigned k = 0; per_axis && k + 1 < dimensions; k++) {
        volume->stretch[k] = (int64_t)ergo_bytes_get(data + ERGO_ISOBARIC_BYTES + 8 * (size_t)k, 8);
        if (volume->stretch[k] < -widest || volume->stretch[k] > widest)
            return false;
    }
    if (rules->tuned)
        volume->step =
            ergo_bytes_get(data + ergo_isobaric_bytes(rules, dimensions, per_axis) - 8, 8);
    const uint64_t contact =
        ergo_volume_contact(rules->scale, ergo_volume_along(*volume), dimensions);
    return ergo_isobaric_right(rules, volume) &&
           (per_axis || (contact >= rules->contact[0] && contact <= rules->contact[1]));
}
