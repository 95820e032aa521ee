/* In a file of its own, so that a test may say how much memory there is. */
#include <unistd.h>

#include "base/memory.h"

double ergo_memory(void) {
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}
