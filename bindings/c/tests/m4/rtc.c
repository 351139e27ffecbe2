/* The records of an RTC file in flash. */
#include "host.h"
#include "traceglass.h"

extern const uint8_t sample_rtc[];
extern const uint32_t sample_rtc_size;

static tg_rtc rtc;
static uint8_t buffer[512];

int run(void) {
    tg_rtc_record record;
    tg_status status;
    uint32_t count = 0;
    tg_rtc_open(&rtc, sample_rtc, sample_rtc_size, buffer, sizeof buffer);
    while ((status = tg_rtc_next(&rtc, &record, NULL)) == TG_OK) {
        count++;
    }
    say_number("records: ", count);
    return status == TG_END ? 0 : 1;
}
