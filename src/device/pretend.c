/*
 * Tests only: ERGOCL_PRETEND lets devices report less than they can do, or another type, so that
 * what is chosen by itself is chosen as on a device that is not at hand. Chains do not change by
 * it: no launch does.
 */
#include "device/pretend.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "device/quirks.h"

#define BASE                                                                                       \
    "cl_khr_byte_addressable_store+cl_khr_global_int32_base_atomics+"                              \
    "cl_khr_local_int32_base_atomics"
#define ATOMICS64 "+cl_khr_int64_base_atomics+cl_khr_int64_extended_atomics"

/*
 * As their drivers say, not as the hardware is: ROCm runs groups of 256 unless a kernel asks for
 * more, and rusticl leaves out what it does not do. Units of Intel's are Xe cores (find_units).
 */
static const struct {
    const char *name, *words;
} presets[] = {
    /* AMD CDNA 3 white paper: 304 compute units, wave64, 64 KiB LDS; groups and extensions: ROCm
     * 6's clinfo of gfx942 */
    {"mi300x", "gpu,vendor=amd,units=304,wave=64,group=256,local=65536,extensions=" BASE
               "+cl_khr_fp64" ATOMICS64},
    /* AMD RDNA 3 ISA guide: 96 compute units, wave32; the rest: clinfo of rusticl (Mesa 26,
     * radeonsi on navi31), without 64-bit atomics, buffers of 2 GiB */
    {"rx7900", "gpu,vendor=amd,units=96,wave=32,group=1024,local=65536,alloc=2147483647,"
               "extensions=" BASE},
    /* Arc A770, Intel's data sheet: 32 Xe cores; NEO 24's clinfo: no fp64, buffers of 4 GiB,
     * a preferred multiple of 64 */
    {"arc", "gpu,vendor=intel,units=32,wave=64,group=1024,local=65536,alloc=4294959104,"
            "extensions=" BASE ATOMICS64},
    /* Data Center GPU Max 1550, one tile: 64 Xe cores; NEO 24's clinfo: 128 KiB SLM */
    {"pvc", "gpu,vendor=intel,units=64,wave=64,group=1024,local=131072,extensions=" BASE
            "+cl_khr_fp64" ATOMICS64},
    /* Iris Xe of a laptop, 96 execution units in 6 subslices; NEO 24's clinfo: groups of 512 */
    {"xe-igpu", "gpu,vendor=intel,units=6,wave=64,group=512,local=65536,alloc=4294959104,"
                "extensions=" BASE ATOMICS64},
    /* Mali-G52 MC2, Arm's OpenCL developer guide (threads per core, warps of 8 and 16) and clinfo
     * of a board: groups of 384, 32 KiB in main memory */
    {"mali", "gpu,vendor=arm,units=2,wave=16,group=384,local=32768,extensions=" BASE},
    /* M1, clinfo of macOS: 8 cores, groups of 256, 32 KiB, OpenCL 1.2 */
    {"apple", "gpu,vendor=apple,units=8,wave=32,group=256,local=32768,extensions=" BASE},
    /* nobody's: the least that all models run on; OpenCL 1.2 asks of a GPU for 32 KiB */
    {"tiny", "gpu,units=1,wave=64,group=64,local=32768,alloc=134217728,extensions=" BASE},
};
enum { PRESETS = sizeof presets / sizeof presets[0] };

static const struct {
    const char *word, *name; /* `name`: as CL_DEVICE_VENDOR */
} vendors[] = {{"amd", "Advanced Micro Devices, Inc."},
               {"apple", "Apple"},
               {"arm", "ARM"},
               {"intel", "Intel(R) Corporation"},
               {"nvidia", "NVIDIA Corporation"}};

static const struct {
    const char *word;
    cl_device_type type;
} types[] = {{"gpu", CL_DEVICE_TYPE_GPU},
             {"cpu", CL_DEVICE_TYPE_CPU},
             {"accelerator", CL_DEVICE_TYPE_ACCELERATOR}};

void ergo_pretend_presets(struct ergo_text *names) {
    for (size_t i = 0; i < PRESETS; i++)
        ergo_text_append(names, "%s%s", i ? " " : "", presets[i].name);
}

/* false: not a number from 1 to `most`. */
static bool take_number(const char *text, uint64_t most, uint64_t *value) {
    uint64_t n = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        if (!isdigit((unsigned char)*text) || n > most)
            return false;
        n = 10 * n + (uint64_t)(*text - '0');
    }
    *value = n;
    return n >= 1 && n <= most;
}

static bool take_extensions(const char *text, struct ergo_pretend *mask) {
    if (strlen(text) >= sizeof mask->extensions)
        return false;
    size_t n = 0;
    for (; text[n]; n++) {
        if (!isalnum((unsigned char)text[n]) && text[n] != '_' && text[n] != '+')
            return false;
        mask->extensions[n] = (char)(text[n] == '+' ? ' ' : text[n]);
    }
    mask->extensions[n] = '\0';
    mask->has_extensions = true;
    return true;
}

static bool take_vendor(const char *text, struct ergo_pretend *mask) {
    for (size_t i = 0; i < sizeof vendors / sizeof vendors[0]; i++)
        if (strcmp(text, vendors[i].word) == 0)
            mask->vendor = vendors[i].name;
    return *text && mask->vendor;
}

static bool take_quirks(const char *text, struct ergo_pretend *mask) {
    snprintf(mask->quirks, sizeof mask->quirks, "%s", text);
    return *text && strlen(text) < sizeof mask->quirks;
}

/* "group" and "64". */
static bool take_value(const char *key, const char *text, struct ergo_pretend *mask) {
    uint64_t n = 0;
    if (strcmp(key, "extensions") == 0)
        return take_extensions(text, mask);
    if (strcmp(key, "quirks") == 0)
        return take_quirks(text, mask);
    if (strcmp(key, "vendor") == 0) {
        mask->vendor = NULL;
        return take_vendor(text, mask);
    }
    if (strcmp(key, "group") == 0)
        return take_number(text, 1u << 20, &mask->group);
    if (strcmp(key, "local") == 0)
        return take_number(text, UINT64_C(1) << 40, &mask->local);
    if (strcmp(key, "alloc") == 0)
        return take_number(text, UINT64_C(1) << 50, &mask->alloc);
    if (strcmp(key, "units") == 0 && take_number(text, 1u << 20, &n)) {
        mask->units = (unsigned)n;
        return true;
    }
    if (strcmp(key, "wave") == 0 && take_number(text, 1024, &n) && (n & (n - 1)) == 0) {
        mask->wave = (unsigned)n;
        return true;
    }
    return false;
}

static bool take_words(const char *text, bool first, struct ergo_pretend *mask, char *wrong,
                       size_t size);

/* One word between commas; presets only as the first. */
static bool take_word(char *word, bool first, struct ergo_pretend *mask) {
    char *value = strchr(word, '=');
    if (value) {
        *value = '\0';
        const bool good = take_value(word, value + 1, mask);
        *value = '=';
        return good;
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(word, types[i].word) == 0) {
            mask->type = types[i].type;
            return true;
        }
    char wrong[8];
    for (size_t i = 0; i < PRESETS && first; i++)
        if (strcmp(word, presets[i].name) == 0)
            return take_words(presets[i].words, false, mask, wrong, sizeof wrong);
    return false;
}

static bool take_words(const char *text, bool first, struct ergo_pretend *mask, char *wrong,
                       size_t size) {
    for (;; first = false) {
        char word[600];
        const size_t length = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word),
                 text);
        if (length >= sizeof word || !take_word(word, first, mask)) {
            snprintf(wrong, size, "%s", word);
            return false;
        }
        if (!text[length])
            return true;
        text += length + 1;
    }
}

enum ergo_status ergo_pretend_parse(struct ergo_context *ctx, const char *text,
                                    struct ergo_pretend *mask) {
    char wrong[600];
    *mask = (struct ergo_pretend){0};
    if (take_words(text, true, mask, wrong, sizeof wrong))
        return ERGO_OK;
    struct ergo_text names = {0}, shown = {0};
    ergo_pretend_presets(&names);
    ergo_utf8_append_word(&shown, wrong, 64);
    const enum ergo_status status = ERGO_FAIL(
        ctx, ERGO_E_JOB,
        "ERGOCL_PRETEND: \"%s\" is none of its words; first a preset (%s) if one is meant, then, "
        "with commas between, gpu, cpu, accelerator, vendor= (amd, apple, arm, intel, nvidia), "
        "group=, local=, alloc=, units=, wave= (a power of two), extensions= (with + between), "
        "quirks= (a platform, or none)",
        shown.data ? shown.data : "", names.data ? names.data : "");
    ergo_text_free(&names);
    ergo_text_free(&shown);
    return status;
}

static uint64_t smaller(uint64_t real, uint64_t mask) {
    return mask && mask < real ? mask : real;
}

void ergo_pretend_apply(const struct ergo_pretend *mask, const char *text,
                        struct ergo_candidate *one) {
    struct ergo_device_summary *s = &one->summary;
    char name[sizeof s->name];
    if (mask->type) {
        one->type = mask->type;
        snprintf(s->type, sizeof s->type, "%s",
                 mask->type == CL_DEVICE_TYPE_GPU   ? "gpu"
                 : mask->type == CL_DEVICE_TYPE_CPU ? "cpu"
                                                    : "accelerator");
    }
    if (mask->vendor)
        snprintf(one->vendor, sizeof one->vendor, "%s", mask->vendor);
    s->largest_group = smaller(s->largest_group, mask->group);
    s->local_memory = smaller(s->local_memory, mask->local);
    s->largest_buffer = smaller(s->largest_buffer, mask->alloc);
    s->compute_units = mask->units ? mask->units : s->compute_units;
    one->wave = mask->wave ? mask->wave : one->wave;
    if (mask->has_extensions) {
        s->fp64 = s->fp64 && ergo_candidate_has_word(mask->extensions, "cl_khr_fp64");
        s->atomics64 = s->atomics64 &&
                       ergo_candidate_has_word(mask->extensions, "cl_khr_int64_base_atomics") &&
                       ergo_candidate_has_word(mask->extensions, "cl_khr_int64_extended_atomics");
    }
    if (mask->quirks[0]) {
        struct ergo_device_summary other = {0};
        const size_t platform = strcspn(mask->quirks, "/");
        snprintf(other.platform, sizeof other.platform, "%.*s", (int)platform, mask->quirks);
        snprintf(other.name, sizeof other.name, "%s", mask->quirks + platform);
        one->own_options = one->quirks.build_options;
        ergo_quirks_find(&other, &one->quirks);
    }
    one->masked = true;
    /* in all results, and no profile nor remembered probe of the device itself fits */
    snprintf(name, sizeof name, "%s", s->name);
    if (strlen(text) <= 40)
        snprintf(s->name, sizeof s->name, "pretended %s on %.70s", text, name);
    else
        snprintf(s->name, sizeof s->name, "pretended %.30s~%08x on %.70s", text,
                 (unsigned)(ergo_hash64(text, strlen(text)) >> 32), name);
}
