/* Two tasks and an interrupt record into a ring in memory, which is written to the host as it is: the files `metadata` and
 * `ring` in the folder of the emulator are a trace. */
#include "clock.h"
#include "events.h"
#include "host.h"

enum { PAGE_WORDS = 128, WORDS = 8 * PAGE_WORDS, TICKS = 1500 };

static uint32_t memory[WORDS];
static tg_ctf_packet packet;

static const char metadata[] = METADATA;

/* The interrupt. */
void tick(void) {
    const uint32_t mask = block();
    clock_ticks++;
    record_tick(&packet, clock_now(), clock_ticks);
    unblock(mask);
}

static void step(uint8_t task, uint32_t serial) {
    /* The time is taken where the event is recorded, so that times do not go back. */
    const uint32_t mask = block();
    record_step(&packet, clock_now(), task, (uint16_t)(serial % 7), serial);
    unblock(mask);
}

int run(void) {
    if (tg_ctf_packet_open(&packet, memory, WORDS, PAGE_WORDS, false, 0) != TG_OK) {
        return 1;
    }
    clock_start(150, 1);
    uint32_t serial[2] = { 0, 0 };
    while (clock_ticks < TICKS) {
        step(0, serial[0]++);
        for (uint32_t n = 0; n < 2 && clock_ticks < TICKS; n++) {
            step(1, serial[1]++);
        }
    }
    block();
    say_number("steps of task 0: ", serial[0]);
    say_number("steps of task 1: ", serial[1]);
    say_number("ticks: ", clock_ticks);
    say_number("lost: ", packet.lost);
    return write_file("metadata", metadata, sizeof metadata - 1) || write_file("ring", memory, sizeof memory);
}
