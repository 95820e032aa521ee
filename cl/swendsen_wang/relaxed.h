/*
 * Access to words that other work-items change at the same time by atomics. A read may see an old
 * or a new value, and both are right. A write replaces a value by an equivalent one. So the order
 * does not matter. But a plain access beside an atomic one is a data race, which has no meaning in
 * OpenCL's memory model (OpenCL C 3.0, 6.15.12; OpenCL 1.2 promises nothing of plain accesses).
 * On AMD and Intel GPUs it may also never see what another work-group writes: atomics bypass the
 * first cache there, plain loads do not. So a loop whose exchange has failed goes on from the value
 * that the exchange returned, and reads no word again in the hope of a newer one.
 *
 * These are the only words that a kernel of ergocl reads while another work-group of the same
 * launch may write them: labels while they are joined, shortened or marked, the keys of
 * sw_cut_nodes, and the sizes in sw_flip_sizes and sw_slab_sizes, of which a value that others may
 * change is not used. In all other kernels, what a work-group reads in global memory was written by
 * an earlier launch, or by itself before a barrier with a global fence. Sums of several groups
 * (atomic_add, _inc, _or, _max) are read by later launches, and within one only as what the atomic
 * returned.
 *
 * SW_READ, SW_PUT: relaxed atomic accesses, of the kind that the device has (src/device/quirks.c).
 * These are C11's, which OpenCL C 3.0 has in global memory; or clang's own; or, always available,
 * OpenCL 1.2's read-modify-write operations that change nothing. SW_LOWER: SW_PUT of a value that
 * is not larger than the old one.
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
 * The same in local memory. With C11's relaxed or volatile accesses an H200 takes 1.6 times as long
 * per sweep, so there the accesses are plain. This follows OpenCL 1.2's relaxed consistency, but
 * not the letter of 3.0's model. It is right because a 32-bit word is read whole, each value that a
 * word has had is a true label, no loop waits for a write of another work-item, and each decision
 * rests on what an atomic_min has returned.
 */
#ifdef ERGO_RELAXED_C11
#define SW_READ_LOCAL(p) (*(p))
#define SW_LOWER_LOCAL(p, value) (*(p) = (value))
#else
#define SW_READ_LOCAL(p) SW_READ(p)
#define SW_LOWER_LOCAL(p, value) SW_LOWER((p), (value))
#endif

#endif
