/* c10m-io as state machines (c10m.h). */
#define C10M_IO
#include "../c10m.h"
