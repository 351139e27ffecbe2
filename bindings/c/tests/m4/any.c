/* The events of a CTF stream in flash, by metadata of either version that is compiled on the device. */
#include "host.h"
#include "traceglass.h"

extern const uint8_t sample_ctf_metadata[], sample_ctf_stream[];
extern const uint32_t sample_ctf_metadata_size, sample_ctf_stream_size;

static tg_ctf_node nodes[64];
static tg_ctf_schema schema;
static tg_ctf ctf;

int run(void) {
    tg_ctf_event event;
    uint32_t count = 0;
    tg_status status = tg_ctf_compile(&schema, sample_ctf_metadata, sample_ctf_metadata_size, nodes, 64, NULL);
    if (status != TG_OK) {
        return 1;
    }
    tg_ctf_open(&ctf, &schema, sample_ctf_stream, sample_ctf_stream_size);
    while ((status = tg_ctf_next(&ctf, &event, NULL)) == TG_OK) {
        count++;
    }
    say_number("events: ", count);
    return status == TG_END && count == 16 ? 0 : 2;
}
