/* c10m-live as state machines (c10m.h). */
#define C10M_LIVE
#include "../c10m.h"
