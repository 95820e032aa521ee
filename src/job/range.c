/*
 * The values of a range in a scan. A point of a range is the same double as its value typed by
 * hand: 2.4 + 10 * (-0.01) is 2.3 and not 2.3000000000000003. So steps are counted in decimals,
 * exactly, wherever the numbers have at most 18 digits; everything else is rounded to 12.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/build.h"

struct range {
    double from, to, step;
    int64_t count;
    bool by_step, logarithmic;
    const char *from_token, *step_token;
};

/* token = mantissa * 10^exponent; false when that takes more than 18 digits. */
static bool read_decimal(const char *token, int64_t *mantissa, long *exponent) {
    int64_t m = 0;
    long e = 0;
    int digits = 0;
    bool fraction = false;
    const char *p = *token == '-' ? token + 1 : token;
    for (; (*p >= '0' && *p <= '9') || *p == '.'; p++) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        digits += digits || *p != '0';
        if (digits > 18)
            return false;
        m = 10 * m + (*p - '0');
        e -= fraction;
    }
    if (*p == 'e' || *p == 'E') {
        long written = strtol(p + 1, NULL, 10);
        if (written < -400 || written > 400)
            return false;
        e += written;
    }
    *mantissa = *token == '-' ? -m : m;
    *exponent = e;
    return true;
}

/* Rewrite a mantissa for a smaller exponent. */
static bool shift(int64_t *mantissa, long *exponent, long to) {
    for (; *exponent > to; --*exponent) {
        if (*mantissa > INT64_MAX / 10 || *mantissa < -(INT64_MAX / 10))
            return false;
        *mantissa *= 10;
        if (*mantissa == 0) {
            *exponent = to;
            return true;
        }
    }
    return true;
}

/* from + i * step in decimals; false when it does not fit. */
static bool decimal_value(const struct range *range, int64_t i, double *value) {
    int64_t from, step;
    long e_from, e_step;
    if (!read_decimal(range->from_token, &from, &e_from) ||
        !read_decimal(range->step_token, &step, &e_step))
        return false;
    long e = e_from < e_step ? e_from : e_step;
    if (!shift(&from, &e_from, e) || !shift(&step, &e_step, e))
        return false;
    int64_t size = step < 0 ? -step : step;
    if (i > 0 && size > INT64_MAX / 2 / i)
        return false;
    if (from > INT64_MAX / 2 || from < -(INT64_MAX / 2))
        return false;
    char text[64];
    snprintf(text, sizeof text, "%llde%ld", (long long)(from + i * step), e);
    *value = strtod(text, NULL) + 0.0;
    return true;
}

/* To 12 significant digits, and for sums of terms as large as `scale` to no digit that is only
 * rounding noise of those (scale 0: no such terms). */
static double round12(double value, double scale) {
    char text[400];
    snprintf(text, sizeof text, "%.12g", value);
    double rounded = strtod(text, NULL);
    if (scale > 0) {
        snprintf(text, sizeof text, "%e", scale);
        long places = 14 - strtol(strchr(text, 'e') + 1, NULL, 10);
        if (places >= 0 && places < 340) {
            snprintf(text, sizeof text, "%.*f", (int)places, rounded);
            rounded = strtod(text, NULL);
        }
    }
    return rounded == 0 ? 0.0 : rounded;
}

static double range_value(const struct range *range, int64_t i) {
    const double scale = fmax(fabs(range->from), fabs(range->to));
    if (i == 0)
        return range->from;
    if (i == range->count - 1)
        return range->to;
    double value;
    if (range->by_step)
        return decimal_value(range, i, &value)
                   ? value
                   : round12(range->from + (double)i * range->step, scale);
    const double m = (double)(range->count - 1), x = (double)i;
    /* exp and log may differ in the last bits between machines: the 12 digits do not. */
    if (range->logarithmic)
        return round12(exp((log(range->from) * (m - x) + log(range->to) * x) / m), 0);
    return round12((range->from * (m - x) + range->to * x) / m, scale);
}

static bool read_number(struct ergo_build *build, const struct ergo_json *range,
                        const char *pointer, const char *name, double *number) {
    static const struct ergo_key any = {.type = ERGO_KEY_REAL, .unit = ""};
    const struct ergo_json *node = ergo_json_member(range, name);
    struct ergo_text where = {0};
    ergo_text_append(&where, "%s/%s", pointer, name);
    struct ergo_value value = {0};
    bool good = false;
    if (node)
        good = ergo_value_read(build, &any, where.data ? where.data : "", node, &value);
    else
        ergo_build_error(build, where.data, NULL, "missing; needed: a number");
    *number = value.real;
    ergo_text_free(&where);
    return good;
}

static bool known_names(struct ergo_build *build, const struct ergo_json *range,
                        const char *pointer) {
    static const char *const names[] = {"from", "to", "step", "count", "spacing"};
    size_t errors = build->errors;
    for (const struct ergo_json *member = range->child; member; member = member->next) {
        bool known = false;
        for (size_t i = 0; i < 5; i++)
            known = known || !strcmp(member->key, names[i]);
        if (known || ergo_build_full(build))
            continue;
        const char *near =
            strlen(member->key) <= 64 ? ergo_text_nearest(member->key, names, 5) : NULL;
        struct ergo_text where = {0};
        ergo_text_append(&where, "%s", pointer);
        ergo_json_pointer(&where, member->key);
        ergo_build_error(build, where.data, member,
                         "unknown key;%s%s%s a range has from, to, and step or count (and "
                         "spacing)",
                         near ? " did you mean \"" : "", near ? near : "", near ? "\"?" : "");
        ergo_text_free(&where);
    }
    return build->errors == errors;
}

/* The number of values from the step: the range must end where it says. */
static bool count_steps(struct ergo_build *build, const char *pointer, const struct ergo_json *node,
                        struct range *range) {
    const double length = range->to - range->from;
    if (range->step == 0 || !isfinite(length) || length / range->step < 0) {
        ergo_build_error(build, pointer, node, "step %g does not lead from %.15g to %.15g%s",
                         range->step, range->from, range->to,
                         range->step != 0 ? ": its sign is wrong" : "");
        return false;
    }
    const double steps = length / range->step, n = nearbyint(steps);
    if (n + 1 > ERGO_SCAN_POINTS_MAX) {
        ergo_build_error(build, pointer, node, "the range has %.0f values; at most %d points",
                         n + 1, ERGO_SCAN_POINTS_MAX);
        return false;
    }
    /* 1e-9 of a step allows for decimals cut by hand (1/3), and for the rounding of the ends. */
    const double noise =
        1e-9 + 4 * 2.3e-16 * (fabs(range->from) + fabs(range->to)) / fabs(range->step);
    if (fabs(steps - n) > noise) {
        const double below = range->from + floor(steps) * range->step;
        ergo_build_error(build, pointer, node,
                         "the range from %.15g in steps of %.15g misses its end %.15g: its values "
                         "next to it are %.12g and %.12g",
                         range->from, range->step, range->to, below, below + range->step);
        return false;
    }
    range->count = (int64_t)n + 1;
    return true;
}

static bool read_count(struct ergo_build *build, const struct ergo_json *node, const char *pointer,
                       struct range *range) {
    static const char *const spacings[] = {"linear", "log", NULL};
    static const struct ergo_key count = {
        .type = ERGO_KEY_INT, .min = 1, .max = ERGO_SCAN_POINTS_MAX, .unit = ""};
    static const struct ergo_key spacing = {.type = ERGO_KEY_ENUM, .choices = spacings, .unit = ""};
    const struct ergo_json *spaced = ergo_json_member(node, "spacing");
    struct ergo_text where = {0};
    struct ergo_value value = {0};
    ergo_text_append(&where, "%s/count", pointer);
    bool good = ergo_value_read(build, &count, where.data ? where.data : pointer,
                                ergo_json_member(node, "count"), &value);
    range->count = value.integer;
    where.length = 0;
    ergo_text_append(&where, "%s/spacing", pointer);
    value.text = "";
    if (spaced)
        good &= ergo_value_read(build, &spacing, where.data ? where.data : pointer, spaced, &value);
    range->logarithmic = spaced && good && !strcmp(value.text, "log");
    ergo_text_free(&where);
    if (good && (range->count == 1) != (range->from == range->to)) {
        ergo_build_error(build, pointer, node,
                         "%lld values from %.15g to %.15g: one value needs equal ends, several "
                         "need different ones",
                         (long long)range->count, range->from, range->to);
        return false;
    }
    if (range->logarithmic && (range->from <= 0 || range->to <= 0)) {
        ergo_build_error(build, pointer, node, "a range with spacing \"log\" needs ends > 0");
        return false;
    }
    return good;
}

bool ergo_scan_range(struct ergo_build *build, const struct ergo_key *key, const char *pointer,
                     const struct ergo_json *node, struct ergo_axis *axis) {
    struct range range = {0};
    const struct ergo_json *step = ergo_json_member(node, "step");
    const struct ergo_json *count = ergo_json_member(node, "count");
    bool good = known_names(build, node, pointer);
    good &= read_number(build, node, pointer, "from", &range.from);
    good &= read_number(build, node, pointer, "to", &range.to);
    if (!step == !count) {
        ergo_build_error(build, pointer, node,
                         "a range needs either \"step\" or \"count\" beside \"from\" and \"to\"");
        return false;
    }
    range.by_step = step != NULL;
    if (step)
        good &= read_number(build, node, pointer, "step", &range.step);
    if (step && ergo_json_member(node, "spacing")) {
        ergo_build_error(build, pointer, node, "\"spacing\" goes with \"count\", not \"step\"");
        return false;
    }
    if (!good || !(step ? count_steps(build, pointer, node, &range)
                        : read_count(build, node, pointer, &range)))
        return false;
    range.from_token = ergo_json_member(node, "from")->text;
    range.step_token = step ? step->text : NULL;

    axis->count = (size_t)range.count;
    axis->values = ergo_arena_alloc(build->arena, axis->count, sizeof *axis->values);
    if (!axis->values) {
        ergo_build_no_memory(build);
        return false;
    }
    for (int64_t i = 0; i < range.count; i++) {
        double value = range_value(&range, i);
        if (key->type == ERGO_KEY_INT && range.logarithmic)
            value = nearbyint(value);
        const char *why = NULL;
        if (key->type == ERGO_KEY_INT && value != floor(value))
            why = "no integer";
        else if (!ergo_key_in_range(key, value) ||
                 (key->type == ERGO_KEY_INT && fabs(value) > (double)ERGO_EXACT_MAX))
            why = "out of range";
        if (why) {
            struct ergo_text shown = {0}, allowed = {0};
            ergo_text_append_number(&shown, value);
            ergo_key_allowed(&allowed, key);
            ergo_build_error(build, pointer, node, "the range contains %s, %s; allowed: %s",
                             shown.data ? shown.data : "", why, allowed.data ? allowed.data : "");
            ergo_text_free(&shown);
            ergo_text_free(&allowed);
            return false;
        }
        axis->values[i] = value;
    }
    return true;
}
