#include "result/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

void ergo_html_escape(struct ergo_text *text, const char *string) {
    const char *at = string ? string : "", *end = at + strlen(at);
    while (at < end) {
        size_t n = ergo_utf8_length(at, end);
        if (n == 0) {
            ergo_text_append_bytes(text, ERGO_UTF8_REPLACEMENT, 3);
            n = 1;
        } else if (strchr("&<>\"'", *at)) {
            ergo_text_append(text, "&#%d;", *at);
        } else if (n > 1 || *at >= 0x20 || *at == '\n' || *at == '\t') {
            ergo_text_append_bytes(text, at, n);
        }
        at += n;
    }
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Words of units and formulas that have a sign. */
static const struct {
    const char *word, *sign;
    bool prose; /* in sentences, too, where "A" is an article */
} signs[] = {{"A", "Å", false},     {"sigma", "σ", true}, {"psi", "ψ", true}, {"pi", "π", true},
             {"lambda", "λ", true}, {"sqrt", "√", true},  {"rho", "ρ", true}, {"Psi", "Ψ", true},
             {"beta", "β", true},   {"theta", "θ", true}};

static bool in_word(char c) {
    return is_letter(c) || is_digit(c);
}

/* The sign for the word at `at`, whose length it tells; NULL: none. */
static const char *sign_at(const char *start, const char *at, bool prose, size_t *length) {
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        *length = strlen(signs[i].word);
        if ((!prose || signs[i].prose) && strncmp(at, signs[i].word, *length) == 0 &&
            (at == start || !in_word(at[-1])) && !in_word(at[*length]) &&
            (prose || at == start || at[-1] != '_') &&
            !(at[*length] == '_' && is_letter(at[*length + 1]))) /* beta_mu, a key */
            return signs[i].sign;
    }
    return NULL;
}

/* Raised digits behind '^' at `at`, where there are some; returns how many bytes they take. */
static size_t append_power(struct ergo_text *text, const char *at) {
    static const char *const powers[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    size_t length = 1;
    if (*at != '^' || !(is_digit(at[1]) || (at[1] == '-' && is_digit(at[2]))))
        return 0;
    if (at[1] == '-') {
        ergo_text_append(text, "⁻");
        length++;
    }
    for (; is_digit(at[length]); length++)
        ergo_text_append(text, "%s", powers[at[length] - '0']);
    return length;
}

void ergo_html_prose(struct ergo_text *text, const char *string) {
    static const char *const lowered[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
    int open = 0;
    char piece[2] = "";
    for (const char *at = string ? string : ""; *at;) {
        size_t length = 0;
        const char *sign = sign_at(string, at, true, &length);
        if (sign) {
            ergo_text_append(text, "%s", sign);
            if (at[length] == '_' && is_digit(at[length + 1]) && !in_word(at[length + 2])) {
                ergo_text_append(text, "%s", lowered[at[length + 1] - '0']);
                length += 2;
            }
        } else if (*at == '`') { /* around names, in texts of help */
            length = 1;
        } else if ((length = append_power(text, at)) == 0) {
            length = 1;
            if (*at == '<' && at[1] && !strchr(" =-", at[1]) && strchr(at, '>')) {
                ergo_text_append(text, "⟨");
                open++;
            } else if (*at == '>' && open && at[-1] != ' ') {
                ergo_text_append(text, "⟩");
                open--;
            } else {
                piece[0] = *at;
                if ((unsigned char)*at < 0x80)
                    ergo_html_escape(text, piece);
                else
                    ergo_text_append_bytes(text, at, 1);
            }
        }
        at += length;
    }
}

void ergo_html_name(struct ergo_text *text, const char *name, bool svg) {
    char piece[2] = "";
    const char *start = name ? name : "", *sign = NULL;
    size_t length = 0;
    for (const char *at = start; *at; at++) {
        /* An index is one capital after one letter that is a word: k_B, but not heat_capacity. */
        bool index = *at == '_' && at > start && is_letter(at[-1]) &&
                     (at - 1 == start || !is_letter(at[-2])) && at[1] >= 'A' && at[1] <= 'Z' &&
                     !is_letter(at[2]);
        if (index) {
            at++;
            if (svg)
                ergo_text_append(text,
                                 "<tspan dy=\"3\" font-size=\"75%%\">%c</tspan>"
                                 "<tspan dy=\"-3\">&#8203;</tspan>",
                                 *at);
            else
                ergo_text_append(text, "<sub>%c</sub>", *at);
        } else if (*at == '_') {
            ergo_text_append(text, " ");
        } else if ((length = append_power(text, at)) > 0) {
            at += length - 1;
        } else if ((sign = sign_at(start, at, false, &length)) != NULL) {
            ergo_text_append(text, "%s", sign);
            at += length - 1;
        } else if (*at == '&' || *at == '<' || *at == '>') {
            piece[0] = *at;
            ergo_html_escape(text, piece);
        } else {
            ergo_text_append_bytes(text, at, 1);
        }
    }
}

const char *ergo_format_short(char buffer[ERGO_CONCISE], double value, int digits) {
    if (isnan(value))
        return "-";
    snprintf(buffer, ERGO_CONCISE, "%.*g", digits, value);
    return buffer;
}

const char *ergo_format_fixed(char buffer[ERGO_CONCISE], double value, int decimals) {
    if (isnan(value))
        return "-";
    snprintf(buffer, ERGO_CONCISE, fabs(value) < 1e15 ? "%.*f" : "%.*e", decimals, value);
    return buffer;
}

const char *ergo_format_concise(char buffer[ERGO_CONCISE], double value, double error) {
    char mantissa[ERGO_CONCISE];
    if (isnan(value))
        return "-";
    if (!isfinite(value) || !isfinite(error) || error < 0) {
        ergo_format_short(mantissa, value, 6);
        snprintf(buffer, ERGO_CONCISE, "%.60s(?)", mantissa);
        return buffer;
    }
    if (error == 0) {
        ergo_format_short(mantissa, value, 10);
        snprintf(buffer, ERGO_CONCISE, "%.60s(0)", mantissa);
        return buffer;
    }
    double size = fmax(fabs(value), error);
    if (size < 1e-300 || error < 1e-15 * size) { /* no digits of the one are the other's */
        char own[ERGO_CONCISE];
        snprintf(buffer, ERGO_CONCISE, "%.30s(%.20s)", ergo_format_short(mantissa, value, 15),
                 ergo_format_short(own, error, 2));
        return buffer;
    }
    /* Far from 1 the value is written with an exponent, else leading zeros would fill the table. */
    int exponent = (int)floor(log10(size));
    double scale = 1;
    if (exponent >= 7 || exponent < -4)
        scale = pow(10, exponent);
    else
        exponent = 0;
    double v = value / scale, e = error / scale;
    int decimals = 1 - (int)floor(log10(e));
    /* 0.0996 has to become 0.10, not 0.100 */
    if (decimals > 0 && round(e * pow(10, decimals)) >= 100)
        decimals--;
    decimals = decimals > 15 ? 15 : decimals;
    if (decimals <= 0)
        snprintf(mantissa, sizeof mantissa, "%.0f(%.0f)", v, e);
    else if (e >= 0.995) /* 12.3(1.4), for 12.3(14) reads as fourteen */
        snprintf(mantissa, sizeof mantissa, "%.*f(%.*f)", decimals, v, decimals, e);
    else
        snprintf(mantissa, sizeof mantissa, "%.*f(%.0f)", decimals, v, e * pow(10, decimals));
    if (exponent)
        snprintf(buffer, ERGO_CONCISE, "%.48se%d", mantissa, exponent);
    else
        snprintf(buffer, ERGO_CONCISE, "%s", mantissa);
    return buffer;
}

const char *ergo_format_pointer(char buffer[ERGO_CONCISE], const char *pointer) {
    const char *last = strrchr(pointer, '/');
    const char *name = last ? last + 1 : pointer;
    if (last && last > pointer && *name >= '0' && *name <= '9') {
        const char *before = last;
        while (before > pointer && before[-1] != '/')
            before--;
        snprintf(buffer, ERGO_CONCISE, "%.*s[%.16s]",
                 (int)(last - before > 40 ? 40 : last - before), before, name);
    } else {
        snprintf(buffer, ERGO_CONCISE, "%s", name);
    }
    return buffer;
}

const struct ergo_key *ergo_format_key(const struct ergo_job *job, const char *pointer) {
    for (size_t i = 0; i < job->n_keys; i++) {
        size_t length = strlen(job->keys[i]->pointer);
        if (strncmp(job->keys[i]->pointer, pointer, length) == 0 &&
            (!pointer[length] ||
             (pointer[length] == '/' && pointer[length + 1] >= '0' && pointer[length + 1] <= '9')))
            return job->keys[i];
    }
    return NULL;
}

const struct ergo_value *ergo_format_value(const struct ergo_point *point, const char *pointer) {
    for (size_t i = 0; i < point->job->n_keys; i++)
        if (strcmp(point->job->keys[i]->pointer, pointer) == 0)
            return &point->values[i];
    return NULL;
}

bool ergo_format_is_given(const struct ergo_observable_result *r) {
    return r->z == 0 && r->estimate.error == 0;
}

/* Replicas share a published value and its error: there their mean is compared, once. */
size_t ergo_format_chi2(const struct ergo_result *result, size_t o, double *chi2, bool *exact,
                        bool *published) {
    size_t count = 0;
    *chi2 = 0;
    *exact = *published = false;
    for (size_t m = 0; m < result->n_members; m++) {
        const double z = result->members[m].observables[o].z;
        /* an infinite one counts: a state that the chain never left */
        if (isnan(z) || ergo_format_is_given(&result->members[m].observables[o]))
            continue;
        *chi2 += z * z;
        *exact = true;
        count++;
    }
    for (size_t m = 0; m < (result->n_means ? result->n_means : result->n_members); m++) {
        const struct ergo_observable_result *r =
            result->n_means ? &result->means[m].observables[o] : &result->members[m].observables[o];
        if (!r->published || !isnan(r->z) || isnan(r->reference_z))
            continue;
        *chi2 += r->reference_z * r->reference_z;
        *published = true;
        count++;
    }
    return count;
}

bool ergo_format_merit(const struct ergo_result *result, struct ergo_merit *merit) {
    const struct ergo_model *model = result->job->model;
    const size_t n = result->n_members;
    size_t o = 0;
    double variance = 0, steps = 0;
    while (o < model->n_observables && !model->observables[o].merit)
        o++;
    if (!n || o == model->n_observables || result->members[0].point->n_scanned ||
        !(result->seconds > 0))
        return false;
    *merit = (struct ergo_merit){.observable = &model->observables[o]};
    for (size_t m = 0; m < n; m++) {
        const struct ergo_member_result *member = &result->members[m];
        const struct ergo_estimate *estimate = &member->observables[o].estimate;
        const double every = (double)member->measure_every;
        merit->tau += estimate->tau * every / (double)n;
        variance += pow(estimate->tau_error * every / (double)n, 2);
        steps += (double)member->steps;
        merit->too_short |= estimate->too_short;
    }
    merit->tau_error = sqrt(variance);
    merit->steps_per_second = steps / result->seconds;
    merit->independent = merit->steps_per_second / (2 * merit->tau);
    merit->independent_error = merit->independent * merit->tau_error / merit->tau;
    return isfinite(merit->independent) && isfinite(merit->independent_error);
}
