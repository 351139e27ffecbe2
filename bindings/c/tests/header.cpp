// The header as C++: what it declares can be called, and an event can be recorded.
#include "traceglass_record.h"

#define BEAT(FIELD) FIELD(uint8_t, pulse)
TG_EVENT(beat, 0, BEAT)

static const char metadata[] = TG_METADATA(1000) TG_EVENT_METADATA(beat, 0, BEAT);

int main() {
    static uint32_t memory[64];
    tg_ctf_packet packet;
    tg_rdf rdf;
    tg_error error;
    const bool is_recorded =
        tg_ctf_packet_open(&packet, memory, 64, 32, false, 0) == TG_OK && record_beat(&packet, 1, 61);
    return is_recorded && sizeof metadata > 100 && tg_rdf_open(&rdf, nullptr, 0, &error) == TG_ERROR ? 0 : 1;
}
