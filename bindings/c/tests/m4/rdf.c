/* An RDF file in flash: its entries, and the data of one that is stored as it is. */
#include "host.h"
#include "traceglass.h"

extern const uint8_t sample_rdf[];
extern const uint32_t sample_rdf_size;

int run(void) {
    tg_rdf rdf;
    tg_bytes data;
    size_t number;
    if (tg_rdf_open(&rdf, sample_rdf, sample_rdf_size, NULL) != TG_OK
        || tg_rdf_find(&rdf, (const uint8_t *)"AsicInfo", 8, 0, &number) != TG_OK
        || tg_rdf_stored(&rdf, number, &data, NULL) != TG_OK) {
        return 1;
    }
    say_number("bytes: ", data.len);
    return 0;
}
