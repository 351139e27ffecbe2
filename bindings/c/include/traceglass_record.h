/* Recording events in C: the fast path, inline, and metadata from the same lists as the functions that record.
 *
 * An event is a list of fields; a trace is a list of events. From them come a function for each event, and the text of
 * the file `metadata`:
 *
 *     #define SAMPLE(FIELD) FIELD(uint8_t, channel) FIELD(int32_t, value)
 *     TG_EVENT(sample, 0, SAMPLE)                             // bool record_sample(packet, time, channel, value)
 *
 *     static const char metadata[] =
 *         TG_METADATA(1000000) TG_EVENT_METADATA(sample, 0, SAMPLE);
 *
 * Types are uint8_t … uint64_t, int8_t … int64_t, float, double.
 */
#ifndef TRACEGLASS_RECORD_H
#define TRACEGLASS_RECORD_H

#include "traceglass.h"
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "records are written as they lie in memory, which must be little-endian"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The place for `size` bytes of fields of an event; NULL if it is lost, which is counted. It is aligned to 4. */
static inline void *tg_ctf_packet_begin(tg_ctf_packet *packet, uint64_t time, uint32_t event, uint32_t size) {
    const uint32_t words = 2 + size / 4 + (size % 4 != 0);
    /* A record has the lower half of its time alone, and a reset must not separate the halves of a new end: a packet
     * has one upper half, and no time that goes back. */
    const uint32_t upper = (uint32_t)(time >> 32), lower = (uint32_t)time;
    const bool is_apart = upper != (uint32_t)(packet->last >> 32) || lower < (uint32_t)packet->last;
    if ((packet->end - packet->at < words || is_apart) && !tg_ctf_packet_turn(packet, time, words)) {
        return NULL;
    }
    uint32_t *record = packet->memory + packet->at;
    record[0] = (uint32_t)time;
    record[1] = event;
    return record + 2;
}

/* Makes the event count whose fields were written to the place that was begun last. */
static inline void tg_ctf_packet_commit(tg_ctf_packet *packet, uint64_t time, uint32_t size) {
    uint32_t *page = packet->memory + packet->page;
    const uint32_t content = ((uint32_t)(packet->at - packet->page) + 2) * 32 + size * 8;
    page[5] = (uint32_t)(time >> 32);
    page[4] = (uint32_t)time;
    /* Whoever stops the program finds the record once it covers it. */
    __atomic_store_n(&page[6], content, __ATOMIC_RELEASE);
    packet->at += 2 + (size + 3) / 4;
    packet->last = time;
}

/* The function that records an event: record_NAME(packet, time, fields…). False if it is lost. */
#define TG_EVENT(name, id, fields)                                                                                     \
    static inline bool record_##name(tg_ctf_packet *tg_packet, uint64_t tg_time fields(TG_PARAMETER)) {                \
        const uint32_t tg_size = 0u fields(TG_SIZE_OF);                                                                \
        unsigned char *tg_to = (unsigned char *)tg_ctf_packet_begin(tg_packet, tg_time, id, tg_size);                  \
        if (tg_to == NULL) {                                                                                           \
            return false;                                                                                              \
        }                                                                                                              \
        fields(TG_PUT)(void) tg_to;                                                                                    \
        tg_ctf_packet_commit(tg_packet, tg_time, tg_size);                                                             \
        return true;                                                                                                   \
    }

#define TG_PARAMETER(type, field) , type field
#define TG_SIZE_OF(type, field) +(uint32_t)sizeof(type)
#define TG_PUT(type, field)                                                                                            \
    memcpy(tg_to, &field, sizeof(type));                                                                               \
    tg_to += sizeof(type);

/* The metadata of CTF 1.8, which all readers know: that of the packets, with the frequency of the clock in hertz, and
 * after it that of each event. */
#define TG_METADATA(hertz)                                                                                             \
    "/* CTF 1.8 */\n"                                                                                                  \
    "typealias integer { size = 32; align = 32; signed = false; byte_order = le; } := uint32_t;\n"                     \
    "trace { major = 1; minor = 8; byte_order = le;\n"                                                                 \
    "    packet.header := struct { uint32_t magic; uint32_t stream_instance_id; };\n};\n"                              \
    "clock { name = default; freq = " TG_TEXT(hertz) "; };\n"                                                          \
    "typealias integer { size = 32; align = 32; signed = false; byte_order = le; map = clock.default.value; } "        \
    ":= stamp32_t;\n"                                                                                                  \
    "typealias integer { size = 64; align = 32; signed = false; byte_order = le; map = clock.default.value; } "        \
    ":= stamp64_t;\n"                                                                                                  \
    "stream {\n"                                                                                                       \
    "    packet.context := struct { stamp64_t timestamp_begin; stamp64_t timestamp_end; uint32_t content_size;\n"      \
    "        uint32_t packet_size; uint32_t packet_seq_num; uint32_t events_discarded; };\n"                           \
    "    event.header := struct { stamp32_t timestamp; uint32_t id; };\n};\n"
#define TG_EVENT_METADATA(name, id, fields)                                                                            \
    "event { name = \"" #name "\"; id = " TG_TEXT(id) "; fields := struct {" fields(TG_DECLARATION) " }; };\n"
/* A number, or a macro that is one, as text. */
#define TG_TEXT(number) TG_TEXT_OF(number)
#define TG_TEXT_OF(number) #number
#define TG_DECLARATION(type, field) TG_TYPE_##type " _" #field ";"
#define TG_INTEGER(bits, is_signed) " integer { size = " #bits "; align = 8; signed = " #is_signed "; byte_order = le; }"
#define TG_TYPE_uint8_t TG_INTEGER(8, false)
#define TG_TYPE_uint16_t TG_INTEGER(16, false)
#define TG_TYPE_uint32_t TG_INTEGER(32, false)
#define TG_TYPE_uint64_t TG_INTEGER(64, false)
#define TG_TYPE_int8_t TG_INTEGER(8, true)
#define TG_TYPE_int16_t TG_INTEGER(16, true)
#define TG_TYPE_int32_t TG_INTEGER(32, true)
#define TG_TYPE_int64_t TG_INTEGER(64, true)
#define TG_TYPE_float " floating_point { exp_dig = 8; mant_dig = 24; align = 8; byte_order = le; }"
#define TG_TYPE_double " floating_point { exp_dig = 11; mant_dig = 53; align = 8; byte_order = le; }"

#ifdef __cplusplus
}
#endif

#endif
