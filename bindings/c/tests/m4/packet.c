/* The writer alone: one event, into pages that a host dumps. */
#include "events.h"
#include "host.h"

static uint32_t memory[256];
static tg_ctf_packet packet;
static volatile uint32_t input = 3;

int run(void) {
    tg_ctf_packet_open(&packet, memory, 256, 64, false, 0);
    return record_step(&packet, input, (uint8_t)input, (uint16_t)input, input) && memory[8] == 0 ? 0 : 1;
}
