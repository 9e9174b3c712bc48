/* c10m, as the talk has it (c10m.h). */
#include "c10m.h"
