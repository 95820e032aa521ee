/* Which device does a selector mean? Pure functions over a list, so tests need no device. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "device/candidate.h"

static bool same_text(const char *a, const char *b) {
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) {
        a++;
        b++;
    }
    return tolower((unsigned char)*a) == tolower((unsigned char)*b);
}

static bool has_part(const char *text, const char *part) {
    size_t length = strlen(part);
    for (; strlen(text) >= length; text++) {
        size_t i = 0;
        while (i < length && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
            i++;
        if (i == length)
            return true;
        if (!*text)
            break;
    }
    return false;
}

/* Digits, then `stop`; returns what follows, or NULL. */
static const char *skip_digits(const char *text, bool hex, char stop) {
    const char *at = text;
    while (hex ? isxdigit((unsigned char)*at) : isdigit((unsigned char)*at))
        at++;
    return at > text && *at == stop ? at + 1 : NULL;
}

static bool is_index(const char *text) {
    const char *rest = skip_digits(text, false, ':');
    return rest && skip_digits(rest, false, '\0');
}

/* "01:00.0" or "0000:01:00.0", as lspci prints them. */
static bool is_pci(const char *text, bool *with_domain) {
    const char *rest = skip_digits(text, true, ':');
    const char *again = rest ? skip_digits(rest, true, ':') : NULL;
    *with_domain = again != NULL;
    rest = rest ? skip_digits(again ? again : rest, true, '.') : NULL;
    return rest && skip_digits(rest, true, '\0');
}

static bool same_index(const char *id, const char *selector) {
    char *end = NULL;
    unsigned long p = strtoul(id, &end, 10), d = *end ? strtoul(end + 1, NULL, 10) : 0;
    unsigned long sp = strtoul(selector, &end, 10), sd = strtoul(end + 1, NULL, 10);
    return p == sp && d == sd;
}

static bool same_pci(const char *pci, const char *selector, bool with_domain) {
    if (!pci[0])
        return false;
    if (with_domain)
        return same_text(pci, selector);
    const char *bus = strchr(pci, ':');
    /* Without a domain the selector means domain 0, as lspci prints it. But where a driver numbers
     * domains freely (VMs), people know only the bus address; ambiguity is caught later. */
    return bus && same_text(bus + 1, selector);
}

static bool is_type(const char *text) {
    return same_text(text, "gpu") || same_text(text, "cpu") || same_text(text, "accelerator");
}

static double speed(const struct ergo_candidate *candidate) {
    unsigned clock = candidate->clock_mhz ? candidate->clock_mhz : 1;
    return (double)candidate->summary.compute_units * clock;
}

static enum ergo_choice choose_auto(const struct ergo_candidate *list, size_t count, size_t *index,
                                    bool *matched) {
    static const char *const order[] = {"gpu", "cpu", "accelerator"};
    for (size_t i = 0; i < count; i++)
        matched[i] = true;
    for (size_t t = 0; t < sizeof order / sizeof order[0]; t++) {
        bool found = false;
        for (size_t i = 0; i < count; i++) {
            if (!list[i].summary.usable || strcmp(list[i].summary.type, order[t]) != 0)
                continue;
            if (!found || speed(&list[i]) > speed(&list[*index]))
                *index = i;
            found = true;
        }
        if (found)
            return ERGO_CHOICE_FOUND;
    }
    return count ? ERGO_CHOICE_REFUSED : ERGO_CHOICE_NONE;
}

static void match_names(const char *selector, const struct ergo_candidate *list, size_t count,
                        bool *matched) {
    bool whole = false;
    const char *platform = same_text(selector, "pocl") ? "Portable Computing Language" : selector;
    /* "NVIDIA A100" must be able to name that device beside an "NVIDIA A100 80GB". */
    for (size_t i = 0; i < count; i++) {
        matched[i] = same_text(list[i].summary.name, selector);
        whole |= matched[i];
    }
    for (size_t i = 0; i < count && !whole; i++)
        matched[i] = has_part(list[i].summary.name, selector) ||
                     has_part(list[i].summary.platform, platform);
}

static enum ergo_choice choose(const char *selector, const struct ergo_candidate *list,
                               size_t count, size_t *index, bool *matched) {
    bool with_domain = false;
    if (same_text(selector, "auto"))
        return choose_auto(list, count, index, matched);
    /* A number alone would match versions inside names ("LLVM 15.0.6"). */
    if (!*selector || skip_digits(selector, false, '\0'))
        return ERGO_CHOICE_MALFORMED;
    if (is_pci(selector, &with_domain)) {
        for (size_t i = 0; i < count; i++)
            matched[i] = same_pci(list[i].pci, selector, with_domain);
    } else if (is_index(selector)) {
        for (size_t i = 0; i < count; i++)
            matched[i] = same_index(list[i].summary.id, selector);
    } else if (is_type(selector)) {
        for (size_t i = 0; i < count; i++)
            matched[i] = same_text(list[i].summary.type, selector);
    } else {
        match_names(selector, list, count, matched);
    }
    size_t fit = 0, usable = 0;
    for (size_t i = 0; i < count; i++) {
        if (!matched[i])
            continue;
        fit++;
        if (list[i].summary.usable) {
            usable++;
            *index = i;
        }
    }
    if (usable == 1)
        return ERGO_CHOICE_FOUND;
    if (usable > 1)
        return ERGO_CHOICE_AMBIGUOUS;
    return fit ? ERGO_CHOICE_REFUSED : ERGO_CHOICE_NONE;
}

enum ergo_choice ergo_candidate_choose(const char *selector, const struct ergo_candidate *list,
                                       size_t count, size_t *index, bool *matched) {
    bool *own = matched ? matched : calloc(count + 1, sizeof *own);
    size_t chosen = 0;
    if (!own)
        return ERGO_CHOICE_NONE;
    for (size_t i = 0; i < count; i++)
        own[i] = false;
    enum ergo_choice choice = choose(selector, list, count, &chosen, own);
    if (choice == ERGO_CHOICE_FOUND)
        *index = chosen;
    if (!matched)
        free(own);
    return choice;
}

bool ergo_candidate_same(const struct ergo_candidate *a, const struct ergo_candidate *b) {
    const struct ergo_device_summary *x = &a->summary, *y = &b->summary;
    return a->platform == b->platform && strcmp(x->platform, y->platform) == 0 &&
           strcmp(x->name, y->name) == 0 && strcmp(x->driver, y->driver) == 0 &&
           strcmp(x->version, y->version) == 0 && strcmp(x->type, y->type) == 0 &&
           x->compute_units == y->compute_units && x->largest_group == y->largest_group;
}

bool ergo_candidate_equal(const char *selector, const struct ergo_candidate *list, size_t count,
                          const bool *matched) {
    bool domain = false;
    const struct ergo_candidate *first = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!matched[i] || !list[i].summary.usable)
            continue;
        if (first && !ergo_candidate_same(first, &list[i]))
            return false;
        first = &list[i];
    }
    return first && !is_pci(selector, &domain);
}

bool ergo_candidate_deal(const char *selector, const struct ergo_candidate *list, size_t count,
                         size_t turn, size_t *index) {
    bool *fits = calloc(count + 1, sizeof *fits), domain;
    size_t fit = 0, first = 0, any;
    bool deal = fits && !is_pci(selector, &domain) &&
                ergo_candidate_choose(selector, list, count, &any, fits) == ERGO_CHOICE_AMBIGUOUS;
    for (size_t i = 0; i < count && deal; i++) {
        fits[i] = fits[i] && list[i].summary.usable;
        if (!fits[i])
            continue;
        if (fit++ == 0)
            first = i;
        deal = is_type(selector) || (list[i].platform == list[first].platform &&
                                     strcmp(list[i].summary.name, list[first].summary.name) == 0);
    }
    for (size_t i = 0, left = fit ? turn % fit : 0; i < count && deal; i++)
        if (fits[i] && left-- == 0) {
            *index = i;
            break;
        }
    free(fits);
    return deal;
}

static void append_devices(struct ergo_text *text, const struct ergo_candidate *list, size_t count,
                           const bool *matched, bool verdicts, bool usable_only) {
    for (size_t i = 0; i < count; i++) {
        const struct ergo_device_summary *one = &list[i].summary;
        if ((matched && !matched[i]) || (usable_only && !one->usable))
            continue;
        ergo_text_append(text, "\n  %s  %s (%s, %s%s%s)%s%s", one->id, one->name, one->type,
                         one->platform, list[i].pci[0] ? ", PCI " : "", list[i].pci,
                         verdicts ? ": " : "", verdicts ? one->verdict : "");
    }
}

void ergo_candidate_explain(struct ergo_text *text, enum ergo_choice choice, const char *selector,
                            const char *source, const struct ergo_candidate *list, size_t count,
                            const bool *matched) {
    if (!count) {
        ergo_text_append(text, "No OpenCL device was found. Install a driver (on any CPU: Debian's "
                               "pocl-opencl-icd) and check with clinfo; Mesa's rusticl shows its "
                               "devices only when RUSTICL_ENABLE names a driver. PoCL shows none "
                               "where it cannot write its cache: set POCL_CACHE_DIR or "
                               "XDG_CACHE_HOME to a folder that can be written.");
        return;
    }
    switch (choice) {
    case ERGO_CHOICE_FOUND:
        break;
    case ERGO_CHOICE_NONE:
        ergo_text_append(text, "No device fits \"%s\"%s. There are:", selector, source);
        append_devices(text, list, count, NULL, false, false);
        break;
    case ERGO_CHOICE_REFUSED:
        ergo_text_append(text, "No device that fits \"%s\"%s can be used:", selector, source);
        append_devices(text, list, count, matched, true, false);
        break;
    case ERGO_CHOICE_AMBIGUOUS:
        ergo_text_append(text, "\"%s\"%s fits several devices; choose one by its index:", selector,
                         source);
        append_devices(text, list, count, matched, false, true);
        break;
    case ERGO_CHOICE_MALFORMED:
        ergo_text_append(text,
                         "\"%s\"%s does not select a device: give auto, platform:device, a PCI "
                         "address, a type (gpu, cpu, accelerator), or part of a name. There are:",
                         selector, source);
        append_devices(text, list, count, NULL, false, false);
        break;
    }
}
