/* c10m with the 10,000 really suspended (c10m.h). */
#define C10M_LIVE
#include "c10m.h"
