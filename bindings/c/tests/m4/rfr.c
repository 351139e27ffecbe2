/* The records of an RFR stream in flash. */
#include "host.h"
#include "traceglass.h"

extern const uint8_t stream_rfr[];
extern const uint32_t stream_rfr_size;

static tg_rfr rfr;

int run(void) {
    tg_rfr_record record;
    tg_status status = tg_rfr_open(&rfr, stream_rfr, stream_rfr_size, NULL);
    uint32_t count = 0;
    while (status == TG_OK && (status = tg_rfr_next(&rfr, &record, NULL)) == TG_OK) {
        count++;
    }
    say_number("records: ", count);
    return status == TG_END ? 0 : 1;
}
