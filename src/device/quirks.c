/*
 * Known defects of OpenCL implementations: what to match, what to do, the evidence, the date.
 * Defects that bind the kernels and not the host are not here: PoCL 3.1 miscompiles barrier loops
 * that call get_local_id; PoCL's -I breaks on spaces; corrupt binaries crash PoCL (so the cache's
 * checksum is checked first on every platform); llvmpipe of Mesa 26.2.6 makes the body of a loop
 * once more when it has ended, without work-items, and in groups of one, where all addresses are
 * uniform, its loads are made all the same, from wherever (tests/offline/loop_end.c). A kernel of
 * groups of one that takes an index from memory bounds it, or has something legal behind the end.
 */
#include <stdlib.h>
#include <string.h>

#include "device/quirks.h"

static const struct {
    /* case-sensitive substrings; NULL matches everything */
    const char *platform, *device, *driver, *version;
    struct ergo_quirks effect;
    const char *evidence, *date;
} table[] = {
    {
        .platform = "rusticl",
        .driver = "22.",
        .effect = {.no_profiling = true, .group_limit_unreliable = true},
        .evidence = "Mesa 22.3.6 on llvmpipe: all four event times are 0, and "
                    "CL_KERNEL_WORK_GROUP_SIZE says 32 while groups of 1024 run and are right.",
        .date = "2026-11-21",
    },
    {
        .platform = "rusticl",
        .driver = "22.",
        .effect = {.finish_forgets = true},
        .evidence = "Mesa 22.3.6: clFinish waits for commands since the last flush only; after "
                    "clFlush it returns at once, with reads still to come. Seen as curves of "
                    "facilitated models whose last word-lattices were zero.",
        .date = "2026-11-22",
    },
    {
        .platform = "rusticl",
        .effect = {.no_binary_cache = true},
        .evidence = "Mesa 22.3.6: clCreateProgramWithBinary of a binary it does not understand "
                    "panics (\"unknown version\") and takes the process with it. Building anew "
                    "costs little there, so later versions are not trusted either.",
        .date = "2026-11-21",
    },
    {
        .device = "llvmpipe",
        .effect = {.loop_limit = 65535},
        .evidence =
            "Mesa 22.3.6: a work-item that has made 65535 iterations, counted over all its "
            "loops, leaves them without an error (gallivm's loop limiter). Seen as an Ising "
            "lattice of 64 x 16 after 200000 sweeps, 78125 a launch: another digest than "
            "everywhere else.",
        .date = "2026-11-21",
    },
    {
        .platform = "Portable Computing Language",
        .effect = {.many_barriers_unreliable = true},
        .evidence =
            "PoCL 3.1 (LLVM 14, AVX-512): glass_local_ladder, some 30 barriers in and between "
            "loops, gives wrong spins from groups of 128 on; the right ones with -cl-opt-disable, "
            "with a printf in its last region, under Oclgrind (no race), on rusticl and on an "
            "H200. So does sw_local, nine barriers in a loop, from groups of 4 on. PoCL 7.1 (LLVM "
            "21, "
            "AVX-512): glass_local_ladder still decides some exchanges wrongly; the right ones "
            "with "
            "POCL_WORK_GROUP_METHOD=cbs. Helium's walks and sw_local are right there.",
        .date = "2026-11-24",
    },
    {
        /* The environment has the effect, before the platforms are loaded (ergo_quirks_load); the
         * macro only changes the names of programs, so that none in a cache was built before. */
        .platform = "Portable Computing Language",
        .effect = {.build_options = "-DERGO_POCL_LOOPS"},
        .evidence =
            "PoCL 3.1: kernels of groups of up to POCL_FULL_REPLICATION_THRESHOLD (2) work-items "
            "are copied for each item instead of looped over. lj_run gives other particles so, "
            "from step 150 on with two teams in a group of two; the right ones with loops "
            "(threshold 1, or POCL_WORK_GROUP_METHOD=loops), in all other groups, and on rusticl.",
        .date = "2026-11-24",
    },
    {
        .platform = "Portable Computing Language",
        .effect = {.build_again = true},
        .evidence = "PoCL 5.0: of a dozen processes that build one program into a new cache at the "
                    "same time, one fails now and then (CL_BUILD_PROGRAM_FAILURE without a word of "
                    "the compiler): another has removed the file that it wants to replace.",
        .date = "2026-11-22",
    },
    {
        .platform = "Portable Computing Language",
        .effect = {.binaries_compile = true},
        .evidence =
            "PoCL 3.1: clGetProgramInfo(CL_PROGRAM_BINARIES) compiles every kernel for groups "
            "of any size, beside those of the sizes that are launched, which its own cache "
            "keeps. A first start of a small job takes 3.9 s of a processor without, 7.4 s "
            "with (swendsen-wang), a later one 0.41 and 0.29 s. Where "
            "POCL_WORK_GROUP_SPECIALIZATION is 0, launches take the kernels of the binary.",
        .date = "2026-11-25",
    },
    {
        .platform = "Portable Computing Language",
        .effect = {.relaxed_atomics = "-DERGO_RELAXED_BUILTIN"},
        .evidence = "PoCL 3.1 and 5.0: clang's __atomic_load_n is a plain move, also in OpenCL C "
                    "1.2; of rusticl (Mesa 22.3.6), Oclgrind 21.10 and NVIDIA's 580 the compilers "
                    "know it and fail.",
        .date = "2026-11-23",
    },
    {
        .platform = "NVIDIA",
        .version = "OpenCL 3",
        .effect = {.relaxed_atomics = "-cl-std=CL3.0 -DERGO_RELAXED_C11"},
        .evidence =
            "580.159.04 on an H200: of two -cl-std the last counts, and atomic_load_explicit of "
            "global memory costs 1 to 7% of a sweep of clusters (1.35e11 spins a second, plain "
            "1.37e11, 8192 x 8192; 2.63e10, plain 2.80e10, 1024 x 1024), atomic_or of nothing 42%.",
        .date = "2026-11-23",
    },
    {
        .platform = "Intel(R) OpenCL",
        .device = "Data Center GPU Max",
        .effect = {.build_options = "-cl-intel-enable-auto-large-GRF-mode"},
        .evidence = "ocloc 26.27 for pvc: of 84 kernels 19 spill at 32 lanes and 128 registers, up "
                    "to 11072 bytes a thread; with the option, which gives 256 registers to those "
                    "that need them, 3, up to 384 (bench/results/offline). No such card was asked.",
        .date = "2026-11-25",
    },
    {
        .platform = "Oclgrind",
        .effect = {.no_profiling = true,
                   .no_binary_cache = true,
                   .no_fill = true,
                   .whole_writes = true,
                   .one_thread = true,
                   .build_options = "-cl-opt-disable -DERGO_NO_FORCED_INLINE"},
        .evidence =
            "Oclgrind 21.10: no event times; optimised rotates become llvm.fshl, which it "
            "does not know; inlined functions that return structs bring "
            "llvm.experimental.noalias.scope.decl, which it does not know either; its "
            "reports name source lines only for programs built from source; it takes "
            "what clEnqueueFillBuffer wrote for uninitialised, and, after a write of a part "
            "of a buffer, all of it but that part, whatever kernels store there.",
        .date = "2026-11-21",
    },
};

static bool fits(const char *text, const char *part) {
    return !part || strstr(text, part);
}

void ergo_quirks_load(void) {
    setenv("POCL_FULL_REPLICATION_THRESHOLD", "1", 1);
}

void ergo_quirks_find(const struct ergo_device_summary *summary, struct ergo_quirks *quirks) {
    *quirks = (struct ergo_quirks){.build_options = "", .relaxed_atomics = ""};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct ergo_quirks *effect = &table[i].effect;
        if (!fits(summary->platform, table[i].platform) || !fits(summary->name, table[i].device) ||
            !fits(summary->driver, table[i].driver) || !fits(summary->version, table[i].version))
            continue;
        quirks->no_profiling |= effect->no_profiling;
        quirks->no_binary_cache |= effect->no_binary_cache;
        quirks->no_fill |= effect->no_fill;
        quirks->whole_writes |= effect->whole_writes;
        quirks->group_limit_unreliable |= effect->group_limit_unreliable;
        quirks->many_barriers_unreliable |= effect->many_barriers_unreliable;
        quirks->finish_forgets |= effect->finish_forgets;
        quirks->build_again |= effect->build_again;
        quirks->one_thread |= effect->one_thread;
        quirks->binaries_compile |= effect->binaries_compile;
        if (effect->loop_limit && (!quirks->loop_limit || effect->loop_limit < quirks->loop_limit))
            quirks->loop_limit = effect->loop_limit;
        if (effect->build_options && !quirks->build_options[0])
            quirks->build_options = effect->build_options;
        if (effect->relaxed_atomics)
            quirks->relaxed_atomics = effect->relaxed_atomics;
        if (effect->host_buffer_limit &&
            (!quirks->host_buffer_limit || effect->host_buffer_limit < quirks->host_buffer_limit))
            quirks->host_buffer_limit = effect->host_buffer_limit;
    }
}
