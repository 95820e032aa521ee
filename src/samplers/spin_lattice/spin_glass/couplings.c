/*
 * Couplings of spin glasses: drawn, or from a file.
 *
 * Drawn: key = the disorder's (seed, or /system/disorder_seed, and replica: not the temperature, so
 * that a scan over it keeps its samples), entity = 3 site + direction, step = word. Bimodal: 32
 * samples at once, random words compared plane by plane with the fraction of negative bonds, 32
 * bits. Gaussian: each sample by the ratio of uniforms (Kinderman, Monahan 1977) with a portable
 * exponential, draw = 32 attempt + sample.
 *
 * A file is text: "x y [z] axis J" for the bond from a site to its neighbour in the positive
 * direction of axis x, y or z, each bond once; "sample" begins the next sample; # a comment.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/rng.h"
#include "base/portable.h"
#include "job/input.h"
#include "samplers/spin_lattice/ergodic.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/spin_glass/glass.h"

static const double real_most = 8; /* six bonds and 24 bits stay below 2^30 */

size_t glass_couplings_length(const struct glass_shape *s) {
    return (s->d + (size_t)s->field) * (size_t)s->sites * (s->real ? 32 : 1);
}

/* ---- drawn ----------------------------------------------------------------------------------- */

void glass_disorder_key(const struct ergo_point *point, uint32_t key[2]) {
    const struct ergo_value *own = &of_lattice(point)->disorder_seed;
    const uint64_t seed = own->present ? own->seed : point->parameters->seed.seed;
    char line[128];
    const int n = snprintf(line, sizeof line, "ergocl spin-glass disorder %llu %u",
                           (unsigned long long)seed, point->replica);
    const uint64_t hash = ergo_hash64(line, (size_t)n);
    key[0] = (uint32_t)hash;
    key[1] = (uint32_t)(hash >> 32);
}

static struct ergo_words draw(const uint32_t key[2], uint32_t bond, uint32_t word, uint32_t n) {
    return ergo_philox_words(bond, word, 0, ERGO_DRAW(GLASS_PURPOSE_COUPLING, n), key[0], key[1]);
}

static uint32_t bimodal(const uint32_t key[2], uint32_t bond, uint32_t word, double fraction) {
    uint32_t open = 0xffffffffu, negative = 0;
    if (fraction * 0x1p32 + 0.5 >= 0x1p32)
        return open;
    const uint32_t threshold = (uint32_t)(fraction * 0x1p32 + 0.5);
    for (uint32_t plane = 0; plane < 32 && open && threshold << plane; plane += 4) {
        const struct ergo_words r = draw(key, bond, word, plane / 4);
        const uint32_t random[4] = {r.x, r.y, r.z, r.w};
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t bits = 0u - (threshold >> (31 - plane - i) & 1);
            negative |= open & bits & ~random[i];
            open &= ~(bits ^ random[i]);
        }
    }
    return negative;
}

int32_t glass_normal(const uint32_t key[2], uint32_t entity, uint32_t step, uint32_t purpose,
                     uint32_t sample) {
    for (uint32_t attempt = 0;; attempt++) {
        const struct ergo_words r = ergo_philox_words(
            entity, step, 0, ERGO_DRAW(purpose, 32 * attempt + sample), key[0], key[1]);
        const double u = ((double)r.x + ((double)r.y + 0.5) * 0x1p-32) * 0x1p-32;
        const double v = ((double)r.z + ((double)r.w + 0.5) * 0x1p-32) * 0x1p-32;
        const double x = (2 * v - 1) * 0.85776388496070680 / u; /* sqrt(2 / e) */
        if (fabs(x) < real_most && u <= ergo_portable_exp(-0.25 * x * x))
            return (int32_t)floor(x * 0x1p24 + 0.5);
    }
}

/* ---- from a file ----------------------------------------------------------------------------- */

/* What is wrong, or NULL. couplings (may be NULL): of word-lattice `word`. */
struct reading {
    const struct glass_shape *s;
    char *text;
    uint8_t *seen; /* bonds of the current sample */
    uint32_t word;
    uint32_t *couplings;
    double *plain; /* of the first sample, as they are; may be NULL */
    uint32_t sample, line;
    size_t bonds; /* of the current sample */
    char wrong[160];
};

static bool fails(struct reading *r, const char *what) {
    snprintf(r->wrong, sizeof r->wrong, "line %u, sample %u: %s", r->line, r->sample + 1, what);
    return false;
}

static bool keep(struct reading *r, size_t bond, double j) {
    const struct glass_shape *s = r->s;
    if (s->signs && j != 1 && j != -1)
        return fails(r, "a coupling is not 1 or -1: give \"/system/disorder\": \"gaussian\" for "
                        "couplings of any size");
    if (!(fabs(j) <= real_most))
        return fails(r, "a coupling is beyond 8: scale it by /system/coupling");
    if (r->seen[bond])
        return fails(r, "a bond for the second time");
    r->seen[bond] = 1;
    r->bonds++;
    if (r->plain)
        r->plain[bond] = j;
    if (!r->couplings || r->sample / 32 != r->word)
        return true;
    if (s->real)
        r->couplings[bond * 32 + r->sample % 32] = (uint32_t)(int32_t)floor(j * 0x1p24 + 0.5);
    else if (j < 0)
        r->couplings[bond] |= 1u << (r->sample % 32);
    return true;
}

static bool end_of_sample(struct reading *r) {
    if (r->bonds != r->s->d * (size_t)r->s->sites)
        return fails(r, "it ends and bonds are missing");
    memset(r->seen, 0, r->bonds);
    r->bonds = 0;
    r->sample++;
    return true;
}

static bool read_line(struct reading *r, char *line) {
    const struct glass_shape *s = r->s;
    const uint64_t side[3] = {s->lx, s->ly, s->lz};
    uint64_t at[3] = {0, 0, 0};
    char *end = line + strspn(line, " \t\r");
    if (*end == '\0' || *end == '#')
        return true;
    if (strncmp(end, "sample", 6) == 0)
        return (r->sample == 0 && r->bonds == 0) || end_of_sample(r);
    for (uint32_t k = 0; k < s->d && k < 3; k++) {
        char *from = end;
        const long long n = strtoll(from, &end, 10);
        if (end == from || n < 0 || (uint64_t)n >= side[k])
            return fails(r, "not a site of the lattice");
        at[k] = (uint64_t)n;
    }
    end += strspn(end, " \t");
    const uint32_t axis = *end == 'x' ? 0 : *end == 'y' ? 1 : *end == 'z' ? 2 : 3;
    if (axis >= s->d)
        return fails(r, "no axis x, y (or z) behind the site");
    char *from = end + 1;
    const double j = strtod(from, &end);
    if (end == from || end[strspn(end, " \t\r")] != '\0')
        return fails(r, "no coupling, or more than that, at its end");
    return keep(r, axis * (size_t)s->sites + at[0] + s->lx * (at[1] + s->ly * at[2]), j);
}

static bool read_text(struct reading *r) {
    char *line = r->text;
    while (line && r->sample < r->s->samples) {
        char *next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        r->line++;
        if (!read_line(r, line))
            return false;
        line = next;
    }
    if (r->sample < r->s->samples && r->bonds && !end_of_sample(r))
        return false;
    if (r->sample < r->s->samples) {
        snprintf(r->wrong, sizeof r->wrong, "it has %u samples, not %u", r->sample, r->s->samples);
        return false;
    }
    return true;
}

static enum ergo_status read_file(struct ergo_context *ctx, const struct ergo_point *point,
                                  struct reading *r) {
    const char *path = of_lattice(point)->disorder_file.text;
    size_t length = 0;
    enum ergo_status status =
        ergo_input_read(ctx, point, "/system/disorder_file", (size_t)1 << 30, &r->text, &length);
    r->seen = calloc(r->s->d, r->s->sites);
    if (status == ERGO_OK && !r->seen)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the couplings of %s", path);
    if (status == ERGO_OK && strlen(r->text) != length)
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "%s is not a file of couplings: it is not text", path);
    if (status == ERGO_OK && !read_text(r))
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "%s is not a file of couplings: %s", path, r->wrong);
    free(r->text);
    free(r->seen);
    return ergo_error_at(ctx, status, "/system/disorder_file");
}

enum ergo_status glass_file_check(struct ergo_context *ctx, const struct ergo_point *point,
                                  const struct glass_shape *s) {
    struct reading r = {.s = s};
    return read_file(ctx, point, &r);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool has_field_file(const struct ergo_point *point) {
    return of_lattice(point)->field_file.present;
}

static double strength(const struct ergo_point *point) {
    const struct ergo_value *h = &of_lattice(point)->random_field;
    return h->present ? h->real : has_field_file(point);
}

/* The largest sum of couplings and field at a site, in units of the coupling, that is counted. */
static const double most_force = 63;

/* f of all samples, [sample][site], from the file; malloc'ed. */
static enum ergo_status read_fields(struct ergo_context *ctx, const struct ergo_point *point,
                                    const struct glass_shape *s, double **fields) {
    *fields = malloc(s->sites * s->samples * sizeof **fields);
    if (!*fields)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the fields of %u samples", s->samples);
    return model_fields_read(ctx, point, s->sites, s->samples, "samples", *fields);
}

enum ergo_status glass_field_check(struct ergo_context *ctx, const struct ergo_point *point,
                                   const struct glass_shape *s) {
    const struct ergo_value *distribution = &of_lattice(point)->field_distribution;
    const bool normal =
        distribution->present && !ergo_says(of_lattice(point)->field_distribution.text, "bimodal");
    const double unit = fabs(of_lattice(point)->coupling.real);
    double most = normal ? real_most : 1;
    enum ergo_status status = ERGO_OK;
    if (has_field_file(point)) {
        double *fields = NULL;
        status = model_fields_check(ctx, point, s->sites, s->samples, "samples", 24);
        if (status == ERGO_OK)
            status = read_fields(ctx, point, s, &fields);
        for (uint64_t i = 0; i < s->sites * s->samples && status == ERGO_OK; i++)
            most = fmax(i ? most : 0, fabs(fields[i]));
        free(fields);
    }
    const double field = (fabs(of_lattice(point)->field.real) + strength(point) * most) / unit;
    if (status == ERGO_OK && 2 * s->d * (s->signs ? 1 : real_most) + field > most_force)
        status = ergo_job_error(
            ctx, strength(point) != 0 ? "/system/random_field" : "/system/field",
            "fields of up to %.4g couplings beside %u couplings of up to %g: forces are counted up "
            "to %g couplings, in units of 2^-24",
            field, 2 * s->d, s->signs ? 1 : real_most, most_force);
    return status;
}

/* Of word-lattice `word`: [site][32]. */
static enum ergo_status add_fields(struct ergo_context *ctx, const struct ergo_point *point,
                                   const struct glass_shape *s, uint32_t word, uint32_t *to) {
    const struct ergo_value *distribution = &of_lattice(point)->field_distribution;
    const bool normal =
        distribution->present && !ergo_says(of_lattice(point)->field_distribution.text, "bimodal");
    const double unit = fabs(of_lattice(point)->coupling.real);
    const double b = of_lattice(point)->field.real / unit, h = strength(point) / unit;
    double *file = NULL;
    uint32_t key[2];
    enum ergo_status status = ERGO_OK;
    glass_disorder_key(point, key);
    if (has_field_file(point))
        status = read_fields(ctx, point, s, &file);
    for (uint64_t site = 0; site < s->sites && status == ERGO_OK; site++) {
        const uint32_t up = ergo_philox_words((uint32_t)site, word, 0,
                                              ERGO_DRAW(GLASS_PURPOSE_FIELD, 0), key[0], key[1])
                                .x;
        for (uint32_t k = 0; k < 32; k++) {
            const uint64_t sample = 32 * (uint64_t)word + k;
            double f = 0;
            if (h != 0)
                f = file ? (sample < s->samples ? file[sample * s->sites + site] : 0)
                    : normal
                        ? glass_normal(key, (uint32_t)site, word, GLASS_PURPOSE_FIELD, k) * 0x1p-24
                        : (up >> k & 1 ? 1 : -1);
            to[site * 32 + k] = (uint32_t)(int32_t)floor((b + h * f) * 0x1p24 + 0.5);
        }
    }
    free(file);
    return status;
}

/* ---- both ------------------------------------------------------------------------------------ */

/* 32 couplings of +-1 as they are counted beside fields. */
static void widen(uint32_t negative, uint32_t to[32]) {
    for (uint32_t k = 0; k < 32; k++)
        to[k] = negative >> k & 1 ? 0u - (1u << GLASS_REAL_BITS) : 1u << GLASS_REAL_BITS;
}

enum ergo_status glass_couplings(struct ergo_context *ctx, const struct ergo_point *point,
                                 const struct glass_shape *s, uint32_t word, uint32_t *couplings) {
    const struct ergo_value *fraction = &of_lattice(point)->negative_fraction;
    const size_t length = s->d * (size_t)s->sites * (s->real ? 32 : 1); /* without fields */
    const double sign = fraction->present ? fraction->real : 0.5;
    enum ergo_status status = ERGO_OK;
    uint32_t key[2];
    if (of_lattice(point)->disorder_file.present) {
        struct reading r = {.s = s, .word = word, .couplings = couplings};
        memset(couplings, 0, 4 * length);
        status = read_file(ctx, point, &r);
    } else {
        glass_disorder_key(point, key);
        for (uint32_t d = 0; d < s->d; d++)
            for (uint64_t site = 0; site < s->sites; site++) {
                const size_t at = d * (size_t)s->sites + site;
                const uint32_t bond = (uint32_t)(3 * site + d);
                if (!s->real)
                    couplings[at] = bimodal(key, bond, word, sign);
                else if (s->signs)
                    widen(bimodal(key, bond, word, sign), couplings + at * 32);
                for (uint32_t b = 0; !s->signs && b < 32; b++)
                    couplings[at * 32 + b] =
                        (uint32_t)glass_normal(key, bond, word, GLASS_PURPOSE_COUPLING, b);
            }
    }
    if (of_lattice(point)->coupling.real < 0)
        for (size_t i = 0; i < length; i++)
            couplings[i] = s->real ? 0u - couplings[i] : ~couplings[i];
    if (s->field && status == ERGO_OK)
        status = add_fields(ctx, point, s, word, couplings + length);
    return status;
}

bool glass_file_samples(const struct ergo_point *point, const struct glass_shape *s) {
    struct ergo_context *quiet = ergo_context_create(); /* the check says what is wrong */
    uint32_t *couplings = calloc(glass_couplings_length(s), 4);
    double *fields = calloc(s->sites, sizeof *fields);
    enum ergo_status status = quiet && couplings && fields ? ERGO_OK : ERGO_E_MEMORY;
    bool samples = true;
    for (uint32_t n = 0; n < s->samples && status == ERGO_OK && samples; n++) {
        const int32_t *j = (const int32_t *)couplings + n % 32;
        if (n % 32 == 0)
            status = glass_couplings(quiet, point, s, n / 32, couplings);
        for (uint64_t i = 0; i < s->sites && s->field; i++)
            fields[i] = j[(s->d * s->sites + i) * 32];
        const struct ergodic_bonds bonds = {
            .d = s->d, .l = {s->lx, s->ly, s->lz}, .step = 32, .j = j, .n = s->sites};
        samples = status != ERGO_OK || ergodic_bonds(&bonds, fields);
    }
    free(couplings);
    free(fields);
    ergo_context_destroy(quiet);
    return samples;
}

static enum ergo_status first_of_file(struct ergo_context *ctx, const struct ergo_point *point,
                                      const struct glass_shape *s, struct model_sites of,
                                      double *j) {
    struct reading r = {.s = s, .plain = malloc(s->d * s->sites * sizeof *r.plain)};
    const enum ergo_status status =
        r.plain ? read_file(ctx, point, &r)
                : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the couplings of a file");
    for (uint32_t d = 0; d < s->d && status == ERGO_OK; d++)
        for (uint64_t i = 0; i < of.n; i++)
            j[d * of.n + i] = r.plain[d * s->sites + (of.first + i) % s->sites];
    free(r.plain);
    return status;
}

enum ergo_status glass_first_sample(struct ergo_context *ctx, const struct ergo_point *point,
                                    const struct glass_shape *s, struct model_sites of, double *j) {
    const struct ergo_value *fraction = &of_lattice(point)->negative_fraction;
    const struct ergo_value *disorder = &of_lattice(point)->disorder;
    const struct ergo_value *ratio = &of_lattice(point)->disorder_ratio;
    const double other = ratio->present ? ratio->real : -1;
    const bool normal =
        disorder->present && ergo_says(of_lattice(point)->disorder.text, "gaussian");
    uint32_t key[2];
    if (of_lattice(point)->disorder_file.present)
        return first_of_file(ctx, point, s, of, j);
    glass_disorder_key(point, key);
    for (uint32_t d = 0; d < s->d; d++)
        for (uint64_t i = 0; i < of.n; i++) {
            const uint32_t bond = (uint32_t)(3 * ((of.first + i) % s->sites) + d);
            double *to = &j[d * of.n + i];
            if (normal)
                *to = glass_normal(key, bond, 0, GLASS_PURPOSE_COUPLING, 0) * 0x1p-24;
            else
                *to =
                    bimodal(key, bond, 0, fraction->present ? fraction->real : 0.5) & 1 ? other : 1;
        }
    return ERGO_OK;
}
