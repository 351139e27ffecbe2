/* Instructions for a record, written and read. The emulator gives each instruction the same time, and a loop whose
 * instructions are known tells how many a cycle of SysTick is. */
#include "clock.h"
#include "events.h"
#include "host.h"
#include "schema.h"

enum { PAGE_WORDS = 1024, COUNT = 900, LOOPS = 100000 };

extern const uint8_t sample_rtc[], stream_rfr[];
extern const uint32_t sample_rtc_size, stream_rfr_size;

static uint32_t memory[8 * PAGE_WORDS];
static tg_ctf_packet packet;
static tg_ctf_schema schema;
static union {
    tg_ctf ctf;
    tg_rtc rtc;
    tg_rfr rfr;
} reader;
static uint8_t buffer[512];
static uint32_t begun, calibrated;

static void begin(void) {
    SYST_CVR = 0;
    begun = SYST_CVR;
    while ((begun = SYST_CVR) == 0) {
    }
}

static uint32_t end(void) {
    return begun - SYST_CVR;
}

static void tell(const char *what, uint32_t cycles, uint32_t count) {
    say_number(what, (uint64_t)cycles * (2 * LOOPS) / calibrated / count);
}

/* Not inlined: the loop around it is not counted for much. */
static __attribute__((noinline)) bool record_one(uint32_t n) {
    return record_step(&packet, n, (uint8_t)n, (uint16_t)n, n);
}

static __attribute__((noinline)) bool record_blocked(uint32_t n) {
    const uint32_t mask = block();
    const bool is_recorded = record_step(&packet, clock_now(), (uint8_t)n, (uint16_t)n, n);
    unblock(mask);
    return is_recorded;
}

int run(void) {
    clock_start(1u << 24, 0);
    begin();
    uint32_t loops = LOOPS;
    __asm__ volatile("1: subs %0, #1\n\tbne 1b" : "+r"(loops)::"cc");
    calibrated = end();

    tg_ctf_packet_open(&packet, memory, 8 * PAGE_WORDS, PAGE_WORDS, false, 0);
    begin();
    for (uint32_t n = 0; n < COUNT; n++) {
        if (!record_one(n)) {
            return 1;
        }
    }
    tell("recorded, three fields: ", end(), COUNT);

    tg_error error;
    tg_ctf_event event;
    tg_ctf_field field;
    tg_rtc_record rtc;
    tg_rfr_record rfr;
    uint32_t count = 0;
    tg_status status = TG_END;
    tg_ctf_load_trusted(&schema, traceglass_schema, traceglass_schema_size, &error);
    for (int with_fields = 0; with_fields < 2; with_fields++) {
        count = 0;
        tg_ctf_open(&reader.ctf, &schema, (const uint8_t *)memory, PAGE_WORDS * 4);
        begin();
        while ((status = tg_ctf_next(&reader.ctf, &event, &error)) == TG_OK) {
            count++;
            while (with_fields && (status = tg_ctf_next_field(&reader.ctf, &field, &error)) == TG_OK) {
            }
        }
        tell(with_fields ? "read, CTF with fields: " : "read, CTF: ", end(), count);
        if (status != TG_END || count != (PAGE_WORDS - 10) / 4) {
            return 2;
        }
    }

    begin();
    for (uint32_t n = 0; n < COUNT; n++) {
        if (!record_blocked(n)) {
            return 1;
        }
    }
    tell("recorded, with clock and interrupts blocked: ", end(), COUNT);

    count = 0;
    tg_rtc_open(&reader.rtc, sample_rtc, sample_rtc_size, buffer, sizeof buffer);
    begin();
    while ((status = tg_rtc_next(&reader.rtc, &rtc, &error)) == TG_OK) {
        count++;
    }
    tell("read, RTC: ", end(), count);
    if (status != TG_END) {
        return 3;
    }

    count = 0;
    status = tg_rfr_open(&reader.rfr, stream_rfr, stream_rfr_size, &error);
    begin();
    while (status == TG_OK && (status = tg_rfr_next(&reader.rfr, &rfr, &error)) == TG_OK) {
        count++;
    }
    tell("read, RFR: ", end(), count);
    return status == TG_END ? 0 : 4;
}
