/* Names as papers print them: symbols of observables, curves and keys, and labels of points. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page/sections.h"

/* Where a field has one sign for a thing. What is not here has its name. */
static const struct {
    const char *name, *symbol;
} symbols[] =
    {
        {"magnetization", "⟨m⟩"},
        {"abs_magnetization", "⟨|m|⟩"},
        {"magnetization2", "⟨m²⟩"},
        {"magnetization4", "⟨m⁴⟩"},
        {"staggered_magnetization2", "⟨mₛ²⟩"},
        {"staggered_magnetization4", "⟨mₛ⁴⟩"},
        {"abs_staggered_magnetization", "⟨|mₛ|⟩"},
        {"staggered_susceptibility", "χₛ"},
        {"staggered_order_parameter2", "⟨mₛ²⟩"},
        {"order_parameter", "⟨m⟩"},
        {"order_parameter2", "⟨m²⟩"},
        {"order_parameter4", "⟨m⁴⟩"},
        {"susceptibility", "χ"},
        {"heat_capacity", "C"},
        {"binder", "U₄"},
        {"correlation_length", "ξ"},
        {"energy2", "⟨e²⟩"},
        {"psi2", "⟨ψ²⟩"},
        {"psi4", "⟨ψ⁴⟩"},
        {"moment_ratio", "⟨ψ²⟩²/⟨ψ⁴⟩"},
        {"psi6", "ψ₆"},
        {"q6", "Q₆"},
        {"particles", "⟨N⟩"},
        {"particles2", "⟨N²⟩"},
        {"particles_variance", "⟨N²⟩ − ⟨N⟩²"},
        {"particles_energy", "⟨NU⟩"},
        {"particles_energy_covariance", "⟨NU⟩ − ⟨N⟩⟨U⟩"},
        {"total_energy", "⟨U⟩"},
        {"total_energy2", "⟨U²⟩"},
        {"density", "ρ"},
        {"pressure", "P"},
        {"relaxation_time", "τ"},
        {"overlap2", "⟨q²⟩"},
        {"overlap4", "⟨q⁴⟩"},
        {"overlap_abs", "⟨|q|⟩"},
        {"ln_psi", "⟨ln ψ⟩"},
        {"gr", "g(r)"},
        {"sk", "S(k)"},
        {"phi", "Φ(t)"},
        {"structure_factor", "S(k)"},
        {"helicity_modulus", "Υ"},
        {"vortex_density", "ρᵥ"},
        {"chirality", "⟨|κ|⟩"},
        {"alignment", "⟨s·s′⟩"},
        {"magnetization_x", "⟨mₓ⟩"},
        {"z2", "⟨s_z²⟩"},
},
  keys[] = {
      {"temperature", "T"},
      {"size", "L"},
      {"packing_fraction", "η"},
      {"density", "ρ"},
      {"up_density", "c"},
      {"activity", "z"},
      {"mu", "μ"},
      {"beta_mu", "βμ"},
      {"field", "B"},
      {"crystal_field", "D"},
      {"random_field", "h"},
      {"anisotropy", "D"},
      {"n", "N"},
      {"b", "b"},
      {"time_step", "τ"},
      {"q", "q"},
};

const char *ergo_report_symbol(const char *name) {
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        if (strcmp(symbols[i].name, name) == 0)
            return symbols[i].symbol;
    return NULL;
}

const char *ergo_report_axis_name(const char *name) {
    const char *symbol = ergo_report_symbol(name);
    return symbol ? symbol : name;
}

/* The number of the side that a pointer names ("/system/size/1"); -1: it names none. */
static int side_of(const char *pointer) {
    static const char sides[] = "/system/size/";
    const size_t length = sizeof sides - 1;
    return strncmp(pointer, sides, length) == 0 && pointer[length] ? atoi(pointer + length) : -1;
}

bool ergo_report_same_sides(const struct ergo_result *result) {
    for (size_t m = 0; m < result->n_members; m++) {
        const struct ergo_point *point = result->members[m].point;
        const struct ergo_value *size = ergo_format_value(point, "/system/size");
        for (int i = 1; size && i < size->items; i++)
            if (size->size[i] != size->size[0])
                return false;
    }
    return true;
}

/* Is this scanned number said by another one, which stands before it? */
static bool is_said(const struct ergo_result *result, const struct ergo_point *point, size_t i) {
    if (side_of(point->scanned[i].pointer) < 0 || !ergo_report_same_sides(result))
        return false;
    for (size_t k = 0; k < i; k++)
        if (side_of(point->scanned[k].pointer) >= 0)
            return true;
    return false;
}

void ergo_report_key_name(char name[ERGO_CONCISE], const struct ergo_result *result,
                          const char *pointer) {
    static const char *const axes[] = {"x", "y", "z"};
    const int side = side_of(pointer);
    const char *last = strrchr(pointer, '/') ? strrchr(pointer, '/') + 1 : pointer;
    if (side >= 0 && ergo_report_same_sides(result)) {
        snprintf(name, ERGO_CONCISE, "L");
        return;
    }
    if (side >= 0 && side < 3) {
        snprintf(name, ERGO_CONCISE, "L%s", axes[side]);
        return;
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(keys[i].name, last) == 0 && strncmp(pointer, "/system/", 8) == 0) {
            snprintf(name, ERGO_CONCISE, "%s", keys[i].symbol);
            return;
        }
    ergo_format_pointer(name, pointer);
    ergo_report_words(name);
}

void ergo_report_scanned(char *label, size_t size, const struct ergo_result *result,
                         const struct ergo_point *point, size_t axis) {
    char name[ERGO_CONCISE], value[ERGO_CONCISE];
    size_t used = 0;
    const bool sides = axis < point->n_scanned && side_of(point->scanned[axis].pointer) >= 0 &&
                       ergo_report_same_sides(result);
    label[0] = '\0';
    for (size_t i = 0; i < point->n_scanned && used < size; i++) {
        const char *pointer = point->scanned[i].pointer;
        if (i == axis || is_said(result, point, i) || (sides && side_of(pointer) >= 0))
            continue;
        ergo_report_key_name(name, result, pointer);
        const int n = snprintf(label + used, size - used, "%s%s = %s", used ? ", " : "", name,
                               ergo_format_short(value, point->scanned[i].value, 6));
        used += n > 0 ? (size_t)n : 0;
    }
}

void ergo_report_label(char *label, size_t size, const struct ergo_result *result,
                       const struct ergo_member_result *member) {
    const struct ergo_point *point = member->point;
    /* replica 0 represents its point: it needs no number unless there is no scan */
    const bool replica = point->replica > 0 || (!point->n_scanned && result->n_members > 1);
    ergo_report_scanned(label, size, result, point, SIZE_MAX);
    const size_t used = strlen(label);
    if (replica && used + 1 < size)
        snprintf(label + used, size - used, "%sreplica %" PRIu32, used ? ", " : "", point->replica);
}

enum ergo_report_kind ergo_report_kind(const struct ergo_observable *observable) {
    static const char *const checks[] = {"acceptance", "difference", "_plain",    "sigma",
                                         "round_trip", "occupied",   "ln_psi",    "_laplacian",
                                         "_gradient",  "_virial",    "_re",       "_tail",
                                         "_impulsive", "apart",      "displaced", "effective"};
    const size_t length = strlen(observable->name);
    if (observable->merit || !length)
        return ERGO_REPORT_RESULT;
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        if (strstr(observable->name, checks[i]))
            return ERGO_REPORT_CHECK;
    /* ψ_6 has a digit that is no power, and so has whatever is no mean over samples */
    const bool power = strchr("2345678", observable->name[length - 1]) != NULL &&
                       strcmp(observable->name, "psi6") != 0;
    const bool product = strcmp(observable->name, "particles_energy") == 0 ||
                         strcmp(observable->name, "particles_energy_covariance") == 0;
    return power || product ? ERGO_REPORT_MOMENT : ERGO_REPORT_RESULT;
}
