/* c10m with an I/O call in its loop (c10m.h). */
#define C10M_IO
#include "c10m.h"
