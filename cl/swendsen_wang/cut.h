/* For programs whose rectangle's shape is an argument (core.h). */
#ifndef ERGO_CL_SWENDSEN_WANG_CUT_H
#define ERGO_CL_SWENDSEN_WANG_CUT_H

#define SW_OF_RECT
#include "swendsen_wang/core.h"

#endif
