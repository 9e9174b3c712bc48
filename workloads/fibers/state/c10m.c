/* c10m as state machines (c10m.h). */
#include "../c10m.h"
