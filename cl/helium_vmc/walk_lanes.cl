/* Macroupdates for CPUs. */
#include "helium_vmc/walk.cl"
