/* Reads its own trace, by a schema that was compiled on a host, and prints the last ten events. */
#include "events.h"
#include "host.h"
/* Made by `traceglass compile --c` of the metadata. */
#include "schema.h"

enum { PAGE_WORDS = 64, PAGES = 4, EVENTS = 60, LAST = 10 };

static uint32_t memory[PAGES * PAGE_WORDS];
static tg_ctf_packet packet;
static tg_ctf_schema schema;
static tg_ctf ctf;

/* Prints text that no NUL ends. */
static void say_bytes(tg_bytes text) {
    char buffer[32];
    size_t len = text.len < sizeof buffer - 1 ? text.len : sizeof buffer - 1;
    memcpy(buffer, text.ptr, len);
    buffer[len] = '\0';
    say(buffer);
}

/* Goes over the events of the ring, and prints those after the first `skip`. Returns how many there are, or -1. */
static int go_over(int skip) {
    tg_error error;
    tg_ctf_event event;
    tg_ctf_field field;
    tg_status status = TG_END;
    int count = 0;
    /* The page after the one that is written is the oldest. */
    for (size_t n = 0; n < PAGES && status == TG_END; n++) {
        const uint32_t *page = memory + (packet.next + n * PAGE_WORDS) % (PAGES * PAGE_WORDS);
        if (page[0] == 0) {
            continue;
        }
        tg_ctf_open(&ctf, &schema, (const uint8_t *)page, PAGE_WORDS * 4);
        while ((status = tg_ctf_next(&ctf, &event, &error)) == TG_OK) {
            if (count++ < skip) {
                continue;
            }
            say_bytes(event.name);
            say_number(" at ", event.ticks);
            while ((status = tg_ctf_next_field(&ctf, &field, &error)) == TG_OK) {
                say("  ");
                say_bytes(field.name);
                say_number(" = ", field.u);
            }
        }
    }
    return status == TG_END ? count : -1;
}

int run(void) {
    tg_error error;
    tg_ctf_packet_open(&packet, memory, PAGES * PAGE_WORDS, PAGE_WORDS, false, 0);
    for (uint32_t n = 0; n < EVENTS; n++) {
        const bool is_recorded = n % 5 == 4 ? record_tick(&packet, 100 * n, n)
                                            : record_step(&packet, 100 * n, (uint8_t)(n & 1), (uint16_t)(n % 7), n);
        if (!is_recorded) {
            return 1;
        }
    }
    if (tg_ctf_load_trusted(&schema, traceglass_schema, traceglass_schema_size, &error) != TG_OK) {
        return 2;
    }
    const int count = go_over(EVENTS);
    if (count < LAST) {
        return 3;
    }
    return go_over(count - LAST) == count ? 0 : 4;
}
