/* Ticks of axes. */
#include "page/axis.h"

#include <math.h>
#include <stdio.h>

double ergo_axis_place(const struct ergo_axis *axis, double value) {
    const double v = axis->log && value > 0 ? log10(value) : value;
    const double part = (v - axis->min) / (axis->max - axis->min);
    return axis->at0 + (isnan(part) ? 0 : fmin(fmax(part, -9), 9)) * (axis->at1 - axis->at0);
}

/* What a value means on an axis: NaN when it cannot be shown there. Differences of what can be have
 * a size, and so do powers of ten near to it. */
double ergo_axis_shown(bool is_log, double value) {
    if (!(fabs(value) <= 1e300) || (is_log && !(value >= 1e-300)))
        return NAN;
    return is_log ? log10(value) : fabs(value) < 1e-290 ? 0 : value;
}

void ergo_axis_append_superscript(char *out, size_t size, int n) {
    static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char plain[16];
    size_t used = 0;
    snprintf(plain, sizeof plain, "%d", n);
    out[0] = '\0';
    for (const char *p = plain; *p && used + 4 < size; p++)
        used += (size_t)snprintf(out + used, size - used, "%s", *p == '-' ? "⁻" : digits[*p - '0']);
}

static void use_minus(char *text, size_t size) {
    if (text[0] == '-') { /* U+2212 is as wide as a plus, a hyphen is not */
        char copy[ERGO_AXIS_LABEL];
        snprintf(copy, sizeof copy, "%s", text + 1);
        snprintf(text, size, "−%.20s", copy);
    }
}

void ergo_axis_add_tick(struct ergo_axis *axis, double value, const char *label) {
    if (axis->n_ticks == ERGO_AXIS_TICKS)
        return;
    axis->ticks[axis->n_ticks] = value;
    snprintf(axis->labels[axis->n_ticks], ERGO_AXIS_LABEL, "%s", label);
    use_minus(axis->labels[axis->n_ticks], ERGO_AXIS_LABEL);
    axis->n_ticks++;
}

static void add_minor(struct ergo_axis *axis, double value) {
    if (axis->n_minor < 4 * ERGO_AXIS_TICKS)
        axis->minor[axis->n_minor++] = value;
}

/* Sizes of lattices and numbers of particles mostly double. */
static void make_doubling_ticks(struct ergo_axis *axis) {
    char label[ERGO_AXIS_LABEL];
    for (int k = (int)ceil(axis->min / log10(2) - 1e-9); k <= axis->max / log10(2) + 1e-9; k++) {
        snprintf(label, sizeof label, "%.0f", ldexp(1, k));
        ergo_axis_add_tick(axis, ldexp(1, k), label);
    }
}

static void make_log_ticks(struct ergo_axis *axis) {
    int first = (int)ceil(axis->min - 1e-9), last = (int)floor(axis->max + 1e-9);
    int every = (last - first) / 6 + 1;
    char label[ERGO_AXIS_LABEL], power[ERGO_AXIS_LABEL];
    const double least = 1.9 * axis->zero; /* the next point is at twice its place or beyond */
    if (axis->zero > 0)
        ergo_axis_add_tick(axis, axis->zero, "0");
    for (int d = first - 1; d <= last; d++) {
        if (d >= first && (d - first) % every == 0 && pow(10, d) > least) {
            ergo_axis_append_superscript(power, sizeof power, d);
            if (d >= 0 && d <= 3)
                snprintf(label, sizeof label, "%.0f", pow(10, d));
            else
                snprintf(label, sizeof label, "10%.20s", power);
            ergo_axis_add_tick(axis, pow(10, d), label);
        }
        for (int k = 2; k < 10 && last - first <= 6; k++) {
            double v = d + log10(k);
            if (v < axis->min || v > axis->max || k * pow(10, d) < least)
                continue;
            if (last - first < 1 && (k == 2 || k == 5)) { /* less than two decades: label more */
                snprintf(label, sizeof label, "%g", k * pow(10, d));
                ergo_axis_add_tick(axis, k * pow(10, d), label);
            } else {
                add_minor(axis, k * pow(10, d));
            }
        }
    }
}

/* Ticks at 1, 2, 2.5 or 5 times a power of ten, about `wanted` of them. */
static void make_linear_ticks(struct ergo_axis *axis, int wanted) {
    static const double steps[] = {1, 2, 2.5, 5, 10};
    static const int divisions[] = {5, 4, 5, 5, 5};
    double range = axis->max - axis->min;
    double magnitude = pow(10, floor(log10(range / wanted)));
    int chosen = 4;
    for (int i = 4; i >= 0; i--)
        if (steps[i] * magnitude * wanted >= range * 0.999)
            chosen = i;
    double step = steps[chosen] * magnitude;
    if (axis->integer && step < 1) {
        step = 1;
        chosen = 0;
    }
    double largest = fmax(fabs(axis->min), fabs(axis->max));
    axis->exponent = 0;
    if (largest >= 1e5 || largest < 1e-2)
        axis->exponent = (int)floor(log10(largest));
    double scaled = step / pow(10, axis->exponent);
    int decimals = (int)fmax(0, ceil(-log10(scaled) - 1e-9));
    if (chosen == 2) /* 2.5 has a digit more than its power of ten */
        decimals += scaled < 9.99;
    if (decimals > 9)
        decimals = 9;
    long long first = (long long)ceil(axis->min / step - 1e-9);
    long long last = (long long)floor(axis->max / step + 1e-9);
    for (long long k = first - 1; k <= last; k++) {
        char label[ERGO_AXIS_LABEL];
        double value = (double)k * step;
        if (k >= first) {
            snprintf(label, sizeof label, "%.*f", decimals, value / pow(10, axis->exponent));
            ergo_axis_add_tick(axis, value, label);
        }
        for (int i = 1; i < divisions[chosen] && !axis->integer; i++) {
            double v = value + step * i / divisions[chosen];
            if (v > axis->min && v < axis->max)
                add_minor(axis, v);
        }
    }
}

void ergo_axis_make_ticks(struct ergo_axis *axis, int wanted) {
    if (axis->log && axis->integer && !(axis->zero > 0) && axis->min >= 0 &&
        axis->max - axis->min < 2)
        make_doubling_ticks(axis);
    else if (axis->log)
        make_log_ticks(axis);
    else
        make_linear_ticks(axis, wanted);
}
