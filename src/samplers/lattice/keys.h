/* Rows of keys that lattice models have in common: place, kind, range and unit, once. A row begins
 * with one of these, and adds what is the model's own: its help, and where the key acts. */
#ifndef ERGO_SAMPLERS_LATTICE_KEYS_H
#define ERGO_SAMPLERS_LATTICE_KEYS_H

#include "samplers/lattice/parameters.h"

/* Fewest and most sides, and the longest side. */
#define LATTICE_SIZE(fewest_, most_, longest_)                                                     \
    LATTICE_KEY(size, "/system/size", SIZE),                                                       \
        .flags =                                                                                   \
            ERGO_KEY_FORM | ERGO_KEY_REQUIRED | ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,   \
        .min = 2, .max = (longest_), .min_items = (fewest_), .max_items = (most_), .unit = "sites"
/* flags: ERGO_KEY_REQUIRED, or 0 where the model has chains without a temperature. */
#define LATTICE_TEMPERATURE(flags_)                                                                \
    JOB_KEY(temperature, "/system/temperature", REAL),                                             \
        .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN | (flags_), .min = 0,      \
        .max = 1e12, .unit = "J/k_B"
/* A coupling or field of H. */
#define LATTICE_ENERGY_KEY(field_, pointer_, fallback_)                                            \
    LATTICE_KEY(field_, pointer_, REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,                  \
                                         .fallback = (fallback_), .min = -1e6, .max = 1e6,         \
                                         .unit = "J"
#define LATTICE_Q(fallback_, most_)                                                                \
    LATTICE_KEY(q, "/system/q", INT),                                                              \
        .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,                  \
        .fallback = (fallback_), .min = 2, .max = (most_), .unit = "states"
/* A choice that is a part of the chain. */
#define LATTICE_CHOICE(field_, pointer_, choices_)                                                 \
    LATTICE_KEY(field_, pointer_, ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,                 \
                                         .choices = (choices_), .unit = ""
#define LATTICE_DYNAMICS(choices_)                                                                 \
    LATTICE_CHOICE(dynamics, "/system/dynamics", choices_), .fallback = "\"metropolis\""
#define LATTICE_START(choices_)                                                                    \
    LATTICE_CHOICE(start, "/system/start", choices_), .fallback = "\"random\""
/* Random couplings and fields. */
#define LATTICE_DISORDER(choices_) LATTICE_CHOICE(disorder, "/system/disorder", choices_)
#define LATTICE_DISORDER_SEED                                                                      \
    LATTICE_KEY(disorder_seed, "/system/disorder_seed", SEED), .flags = ERGO_KEY_SHAPE, .unit = ""
#define LATTICE_RANDOM_FIELD                                                                       \
    LATTICE_KEY(random_field, "/system/random_field", REAL),                                       \
        .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .min = 0, .max = 1e6, .unit = "J"
#define LATTICE_FIELD_DISTRIBUTION(choices_)                                                       \
    LATTICE_CHOICE(field_distribution, "/system/field_distribution", choices_),                    \
        .acts = model_draws_fields, .where = "with random_field, without field_file"
#define LATTICE_FIELD_FILE                                                                         \
    LATTICE_KEY(field_file, "/system/field_file", STRING),                                         \
        .flags = ERGO_KEY_SHAPE | ERGO_KEY_FILE, .unit = ""

#endif
