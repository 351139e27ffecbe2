/* The events of the programs for the Cortex-M4, and their metadata. */
#ifndef EVENTS_H
#define EVENTS_H

#include "traceglass_record.h"

#define STEP(FIELD) FIELD(uint8_t, task) FIELD(uint16_t, queue) FIELD(uint32_t, serial)
#define TICK(FIELD) FIELD(uint32_t, count)
TG_EVENT(step, 0, STEP)
TG_EVENT(tick, 1, TICK)

#define METADATA TG_METADATA(12500000) TG_EVENT_METADATA(step, 0, STEP) TG_EVENT_METADATA(tick, 1, TICK)

#endif
