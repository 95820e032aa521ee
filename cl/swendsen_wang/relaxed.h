/*
 * Words that other work-items change at the same time, by atomics. A read sees an old or a new
 * value, and both will do; a write puts what says the same as what it replaces. So the order does
 * not matter, but without an atomic on both sides the two are a data race, which has no meaning in
 * OpenCL's memory model (OpenCL C 3.0, 6.15.12; OpenCL 1.2 promises nothing of plain accesses).
 *
 * SW_READ, SW_PUT: relaxed atomic accesses, as the device has them (src/device/quirks.c): those of
 * C11 in OpenCL C 3.0, in global memory; clang's own; or, always there, OpenCL 1.2's operations
 * that change nothing. SW_LOWER: SW_PUT of what is not larger than what is there.
 */
#ifndef ERGO_CL_SWENDSEN_WANG_RELAXED_H
#define ERGO_CL_SWENDSEN_WANG_RELAXED_H

#if defined(ERGO_RELAXED_C11)
#define SW_ATOMIC(p) ((volatile __global atomic_uint *)(p))
#define SW_READ(p) atomic_load_explicit(SW_ATOMIC(p), memory_order_relaxed, memory_scope_device)
#define SW_PUT(p, value)                                                                           \
    atomic_store_explicit(SW_ATOMIC(p), (value), memory_order_relaxed, memory_scope_device)
#define SW_LOWER(p, value) SW_PUT((p), (value))
#elif defined(ERGO_RELAXED_BUILTIN)
#define SW_READ(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define SW_PUT(p, value) __atomic_store_n((p), (value), __ATOMIC_RELAXED)
#define SW_LOWER(p, value) SW_PUT((p), (value))
#else
#define SW_READ(p) atomic_or((p), 0u)
#define SW_PUT(p, value) atomic_xchg((p), (value))
#define SW_LOWER(p, value) atomic_min((p), (value))
#endif

/*
 * The same in local memory. Those of C11 cost an H200 0.37 of a sweep (8.7e10 spins a second, not
 * 1.37e11; volatile ones as much, 2026-11-23), so there the accesses are plain, by OpenCL 1.2's
 * relaxed consistency, and not by the letter of 3.0's model: a word of 32 bits is read whole, each
 * value that it has had is a true label, no loop waits for another's write, and what is decided is
 * decided by what an atomic_min has returned.
 */
#ifdef ERGO_RELAXED_C11
#define SW_READ_LOCAL(p) (*(p))
#define SW_LOWER_LOCAL(p, value) (*(p) = (value))
#else
#define SW_READ_LOCAL(p) SW_READ(p)
#define SW_LOWER_LOCAL(p, value) SW_LOWER((p), (value))
#endif

#endif
