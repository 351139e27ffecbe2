/* The harness alone: what each figure of flash and stack contains. */
#include "host.h"

int run(void) {
    return 0;
}
