/* Host arithmetic that enters the chain, in IEEE basic operations only: libm's functions may differ
 * in the last bit between versions and CPUs, and the chain may not. */
#ifndef ERGO_BASE_PORTABLE_H
#define ERGO_BASE_PORTABLE_H

/* exp(x) within 2 units in the last place for -745 <= x <= 709; 0 below, +infinity above. */
double ergo_portable_exp(double x);

/*
 * For a function that repeats what a device calculates: with all that it calls compiled into it,
 * once with the processor's own fma, where it has one, and once without, where each fma is a call
 * into libm. Both give the same bits; the first takes 2/5 of the time (unit vectors, an EPYC).
 * Sanitizers are not ready when the program's loader chooses.
 */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) &&   \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ERGO_WITH_FMA __attribute__((flatten, target_clones("fma", "default")))
#else
#define ERGO_WITH_FMA
#endif

#endif
