/* An RDF file in flash: the data of one that is compressed. */
#include "host.h"
#include "traceglass.h"

extern const uint8_t sample_rdf[];
extern const uint32_t sample_rdf_size;

int run(void) {
    static tg_zstd zstd;
    static uint8_t buffer[256];
    tg_rdf rdf;
    tg_bytes data;
    size_t number;
    if (tg_rdf_open(&rdf, sample_rdf, sample_rdf_size, NULL) != TG_OK
        || tg_rdf_find(&rdf, (const uint8_t *)"DDEvent", 7, 0, &number) != TG_OK
        || tg_rdf_data(&rdf, number, &zstd, buffer, sizeof buffer, &data, NULL) != TG_OK) {
        return 1;
    }
    say_number("bytes: ", data.len);
    return 0;
}
