/*
 * 64-bit atomics, for devices that claim them. They are a program of their own: if it does not
 * build or gives wrong answers, the device is used without them.
 */
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#include "common/compat.h"
#include "common/probe_params.h"

__kernel void probe_atomics64(__global ulong *cells) {
    const uint item = (uint)get_global_id(0);
    const ulong word = (ulong)ergo_probe_mix(item) << 32 | ergo_probe_mix(item + 77u);
    atom_add(&cells[CELL64_ADD], word);
    atom_min(&cells[CELL64_MIN], word);
    atom_max(&cells[CELL64_MAX], word);
    atom_or(&cells[CELL64_OR], word & (1UL << (item & 63u)));
}
