#include "base/portable.h"

#include <math.h>

double ergo_portable_exp(double x) {
    if (x < -745.0)
        return 0.0;
    if (x > 709.0)
        return INFINITY;
    /* x = n ln 2 + r, ln 2 in two parts: n * ln2_high is exact (its last 21 bits are zero) */
    const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
    const double n = floor(x * 0x1.71547652b82fep+0 + 0.5);
    const double r = (x - n * ln2_high) - n * ln2_low;
    /* |r| < 0.3466: the Taylor series to r^17 is good to 2^-70 */
    double sum = 1.0;
    for (int k = 17; k >= 1; k--)
        sum = 1.0 + sum * r / k;
    return ldexp(sum, (int)n);
}
