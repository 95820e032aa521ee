/* Host arithmetic that enters the chain, in IEEE basic operations only: libm's functions may differ
 * in the last bit between versions and CPUs, and the chain may not. */
#ifndef ERGO_BASE_PORTABLE_H
#define ERGO_BASE_PORTABLE_H

/* exp(x) within 2 units in the last place for -745 <= x <= 709; 0 below, +infinity above. */
double ergo_portable_exp(double x);

#endif
