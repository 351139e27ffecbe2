/* Records at random, and reads it back: whenever it is stopped, the events of all pages that are still there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traceglass_record.h"

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                                                 \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define SMALL(FIELD) FIELD(uint8_t, a) FIELD(int16_t, b) FIELD(uint8_t, c)
#define WIDE(FIELD) FIELD(uint32_t, lead) FIELD(int64_t, i) FIELD(uint64_t, u) FIELD(double, d) FIELD(float, f)
#define NOTHING(FIELD)
/* Numbers may have names. */
#define HERTZ 1000000
#define WIDE_ID 1
TG_EVENT(small, 0, SMALL)
TG_EVENT(wide, WIDE_ID, WIDE)
TG_EVENT(nothing, 2, NOTHING)

static const char metadata[] = TG_METADATA(HERTZ) TG_EVENT_METADATA(small, 0, SMALL)
    TG_EVENT_METADATA(wide, WIDE_ID, WIDE) TG_EVENT_METADATA(nothing, 2, NOTHING);

static uint64_t seed;

static uint64_t next_random(void) {
    seed += 0x9e3779b97f4a7c15u;
    uint64_t mixed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return mixed ^ mixed >> 31;
}

/* What was recorded. */
typedef struct {
    uint64_t time, value;
    uint32_t id;
} entry;

static bool record(tg_ctf_packet *packet, entry *said) {
    const uint64_t n = said->value = next_random();
    switch (said->id = (uint32_t)(next_random() % 3)) {
        case 0: return record_small(packet, said->time, (uint8_t)n, (int16_t)(n >> 8), (uint8_t)(n >> 24));
        case 1: return record_wide(packet, said->time, (uint32_t)n, (int64_t)n, n, (double)(n >> 12), (float)(n & 4095));
        default: return record_nothing(packet, said->time);
    }
}

static tg_ctf_schema schema;

/* The next event must be this one. */
static void expect(tg_ctf *ctf, const entry *said) {
    tg_ctf_event event;
    tg_ctf_field field[8];
    tg_error error;
    CHECK(tg_ctf_next(ctf, &event, &error) == TG_OK);
    CHECK(event.id == said->id && event.has_time && event.ticks == said->time);
    size_t count = 0;
    while (tg_ctf_next_field(ctf, &field[count], &error) == TG_OK) {
        CHECK(++count < 8);
    }
    const uint64_t n = said->value;
    switch (said->id) {
        case 0:
            CHECK(count == 3 && field[0].u == (uint8_t)n && field[1].i == (int16_t)(n >> 8) && field[2].u == (uint8_t)(n >> 24));
            CHECK(event.name.len == 5 && memcmp(event.name.ptr, "small", 5) == 0);
            CHECK(field[1].name.len == 1 && field[1].name.ptr[0] == 'b');
            break;
        case 1:
            CHECK(count == 5 && field[0].u == (uint32_t)n && field[1].i == (int64_t)n && field[2].u == n);
            CHECK(field[3].f == (double)(n >> 12) && field[4].f == (double)(n & 4095));
            break;
        default: CHECK(count == 0);
    }
}

/* Pages are read in the order of their numbers: the oldest one first. */
static void expect_pages(const uint32_t *memory, size_t pages, size_t page_words, const entry *said, size_t count) {
    static tg_ctf ctf;
    tg_ctf_event event;
    tg_error error;
    uint32_t newest = 0;
    size_t there = 0;
    for (size_t page = 0; page < pages; page++) {
        if (memory[page * page_words] == 0xc1fc1fc1u) {
            there++;
            newest = memory[page * page_words + 8] > newest ? memory[page * page_words + 8] : newest;
        }
    }
    /* As many of the last events as the pages have: they are counted first. */
    size_t found = 0;
    for (int pass = 0; pass < 2; pass++) {
        const entry *at = said + count - found;
        for (size_t back = there; back-- > 0;) {
            const uint32_t number = newest - (uint32_t)back;
            const uint32_t *page = memory + number % pages * page_words;
            CHECK(page[8] == number);
            CHECK(tg_ctf_open(&ctf, &schema, (const uint8_t *)page, page_words * 4) == TG_OK);
            if (pass == 0) {
                while (tg_ctf_next(&ctf, &event, &error) == TG_OK) {
                    found++;
                }
            } else {
                const size_t records = page[9];
                CHECK(records == 0);
                while (at < said + count && at->time <= ((uint64_t)page[5] << 32 | page[4])
                       && at->time >= ((uint64_t)page[3] << 32 | page[2])) {
                    expect(&ctf, at++);
                }
                CHECK(tg_ctf_next(&ctf, &event, &error) == TG_END);
            }
        }
        CHECK(pass == 0 || at == said + count);
        CHECK(found <= count && found > 0);
    }
}

static void overwriting(void) {
    enum { PAGES = 3, WORDS = 41, COUNT = 120 };
    static uint32_t memory[PAGES * WORDS];
    static entry said[COUNT];
    tg_ctf_packet packet;
    memset(memory, 0, sizeof memory);
    CHECK(tg_ctf_packet_open(&packet, memory, PAGES * WORDS, WORDS, false, 7) == TG_OK);
    uint64_t time = 0xffffffff00u;
    for (size_t n = 0; n < COUNT; n++) {
        /* A reset, which the memory outlives: what lies in it is kept, and numbers go on. */
        if (next_random() % 16 == 0) {
            const uint32_t number = packet.number;
            memset(&packet, 0xa5, sizeof packet);
            CHECK(tg_ctf_packet_open(&packet, memory, PAGES * WORDS, WORDS, false, 7) == TG_OK);
            CHECK(tg_ctf_packet_reopen(&packet) == TG_OK && packet.number == number);
        }
        /* Never 0, so that a time is of one page alone. */
        time += next_random() % 20 == 0 ? (uint64_t)1 << 32 : 1 + next_random() % 50;
        said[n].time = time;
        CHECK(record(&packet, &said[n]));
        expect_pages(memory, PAGES, WORDS, said, n + 1);
    }
    CHECK(packet.lost == 0);
}

static void keeping(void) {
    enum { PAGES = 3, WORDS = 41, COUNT = 400 };
    static uint32_t memory[PAGES * WORDS];
    static entry said[COUNT];
    static uint8_t sent[COUNT * 64];
    static tg_ctf ctf;
    tg_ctf_packet packet;
    tg_ctf_page page;
    size_t len = 0, kept = 0, pages = 0;
    uint32_t lost = 0;
    CHECK(tg_ctf_packet_open(&packet, memory, PAGES * WORDS, WORDS, true, 0) == TG_OK);
    for (size_t n = 0; n < COUNT; n++) {
        said[kept].time = n;
        if (record(&packet, &said[kept])) {
            kept++;
        } else {
            lost++;
        }
        CHECK(packet.lost == lost);
        if (n == COUNT - 1) {
            tg_ctf_packet_close(&packet);
        }
        while ((n == COUNT - 1 || next_random() % 24 == 0) && tg_ctf_packet_page(&packet, &page) == TG_OK) {
            CHECK(page.count <= WORDS && page.words[7] == page.count * 32 && page.words[8] == pages);
            memcpy(sent + len, page.words, page.count * 4);
            len += page.count * 4;
            pages++;
            tg_ctf_packet_release(&packet);
        }
    }
    CHECK(lost > 0 && kept > 0 && tg_ctf_packet_page(&packet, &page) == TG_END);
    CHECK(tg_ctf_open(&ctf, &schema, sent, len) == TG_OK);
    for (size_t n = 0; n < kept; n++) {
        expect(&ctf, &said[n]);
    }
    tg_ctf_event event;
    tg_error error;
    CHECK(tg_ctf_next(&ctf, &event, &error) == TG_END);
}

/* The end of a packet is stored in two halves: a reset between them must not make it another time. */
static void halves(void) {
    enum { WORDS = 24 };
    static uint32_t memory[5 * WORDS];
    const uint64_t upper = (uint64_t)1 << 32;
    const uint64_t times[] = { upper - 3, upper - 1, upper, upper + 7, UINT64_MAX - 1, 5, 4 };
    const uint64_t begins[] = { upper - 3, upper, UINT64_MAX - 1, 5, 4 };
    tg_ctf_packet packet;
    CHECK(tg_ctf_packet_open(&packet, memory, 5 * WORDS, WORDS, false, 0) == TG_OK);
    for (size_t n = 0; n < sizeof times / sizeof *times; n++) {
        CHECK(record_nothing(&packet, times[n]));
    }
    for (size_t n = 0; n < 5; n++) {
        const uint32_t *page = memory + n * WORDS;
        CHECK(((uint64_t)page[3] << 32 | page[2]) == begins[n] && page[5] == page[3] && page[4] >= page[2]);
    }
}

int main(void) {
    static tg_ctf_node nodes[128];
    tg_error error;
    CHECK(tg_ctf_compile(&schema, (const uint8_t *)metadata, sizeof metadata - 1, nodes, 128, &error) == TG_OK);
    for (uint64_t number = 0; number < 20; number++) {
        seed = number;
        overwriting();
        keeping();
    }
    halves();
    tg_ctf_packet packet;
    uint32_t memory[12] = { 0 };
    /* No room for a record, and no memory. */
    CHECK(tg_ctf_packet_open(&packet, memory, 12, 12, false, 0) == TG_OK);
    CHECK(!record_nothing(&packet, 0) && packet.lost == 1);
    CHECK(tg_ctf_packet_open(&packet, NULL, 12, 12, false, 0) == TG_MISUSE);
    /* Fields that are longer than any page. */
    static uint32_t page[20];
    CHECK(tg_ctf_packet_open(&packet, page, 20, 20, false, 0) == TG_OK && record_nothing(&packet, 0));
    CHECK(tg_ctf_packet_begin(&packet, 0, 0, UINT32_MAX) == NULL && packet.lost == 1);
    CHECK(tg_ctf_packet_reopen(NULL) == TG_MISUSE);
    puts("recorded and read back");
    return 0;
}
