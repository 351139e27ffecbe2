/* Tracks and events of the samples, read from C: all of them, prefixes and damaged copies in memory of exactly their size,
 * and with ever more memory lent, from none on. The folder of the samples is the argument. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traceglass.h"

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                                                 \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

enum { INPUTS = 8, TRACKS = 4096 };

typedef struct {
    tg_bytes inputs[INPUTS];
    size_t count;
} trace;

static void add(trace *to, const char *folder, const char *name) {
    char path[512];
    CHECK(snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path);
    FILE *from = fopen(path, "rb");
    CHECK(from != NULL && to->count < INPUTS);
    unsigned char *data = malloc(1 << 20);
    CHECK(data != NULL);
    const size_t len = fread(data, 1, 1 << 20, from);
    CHECK(len > 0 && len < 1 << 20);
    fclose(from);
    /* Memory of exactly its size. */
    data = realloc(data, len);
    CHECK(data != NULL);
    to->inputs[to->count++] = (tg_bytes){ data, len };
}

static bool is(tg_bytes bytes, const char *text) {
    return bytes.len == strlen(text) && memcmp(bytes.ptr, text, bytes.len) == 0;
}

/* What was read: how many items of each kind, and sums over all that was said. */
typedef struct {
    uint64_t kinds[8], args, sum, flows_begun, flows_ended;
    int64_t first, last;
    tg_status status;
    tg_error error;
} result;

/* Bytes that must be readable: they are read. */
static uint64_t sum_of(tg_bytes bytes) {
    uint64_t sum = 0;
    for (size_t at = 0; at < bytes.len; at++) {
        sum = sum * 31 + bytes.ptr[at];
    }
    return sum;
}

static void read_args(tg_events *events, result *got) {
    const tg_arg *args;
    size_t count = 0;
    int depth = 0;
    tg_error error;
    const tg_status status = tg_events_args(events, &args, &count, &error);
    /* A record that cannot be read in full says so, and has none. */
    CHECK(status == TG_OK || status == TG_ERROR || status == TG_TOO_SMALL);
    if (status == TG_TOO_SMALL) {
        got->status = status;
        got->error = error;
    }
    for (size_t n = 0; status == TG_OK && n < count; n++) {
        CHECK(args[n].kind <= TG_ARG_ABSENT);
        depth += args[n].kind == TG_ARG_GROUP || args[n].kind == TG_ARG_LIST;
        depth -= args[n].kind == TG_ARG_CLOSE;
        CHECK(depth >= 0);
        got->args++;
        got->sum = got->sum * 7 + sum_of(args[n].name) + sum_of(args[n].bytes) + args[n].u + (uint64_t)args[n].i;
    }
    CHECK(status != TG_OK || depth == 0);
}

static result read(const trace *from, void *memory, size_t size) {
    static tg_events events;
    /* A track is there before what happens on it, and slices of a track nest. */
    static int64_t open[TRACKS];
    static bool known[TRACKS];
    tg_item item;
    result got = { .kinds = { 0 }, .first = INT64_MAX, .last = INT64_MIN };
    memset(open, 0, sizeof open);
    memset(known, 0, sizeof known);
    got.status = tg_events_open(&events, from->inputs, from->count, memory, size, &got.error);
    while (got.status == TG_OK && (got.status = tg_events_next(&events, &item, &got.error)) == TG_OK) {
        CHECK(item.kind <= TG_ITEM_DISCARDED);
        got.kinds[item.kind]++;
        got.sum += sum_of(item.name) + sum_of(item.unit);
        if (item.kind == TG_ITEM_TRACK) {
            CHECK(item.track_kind.len > 0);
            CHECK(!item.has_parent || item.parent >= TRACKS || known[item.parent]);
            if (item.track < TRACKS) {
                known[item.track] = true;
            }
        } else if (item.track < TRACKS) {
            CHECK(known[item.track]);
            open[item.track] += item.kind == TG_ITEM_BEGIN;
            open[item.track] -= item.kind == TG_ITEM_END;
            CHECK(open[item.track] >= 0);
        }
        if (item.kind != TG_ITEM_TRACK && item.has_time) {
            got.first = item.time < got.first ? item.time : got.first;
            got.last = item.time > got.last ? item.time : got.last;
        }
        if (item.kind != TG_ITEM_TRACK) {
            CHECK(item.input < from->count && item.offset <= from->inputs[item.input].len);
            CHECK(item.len <= from->inputs[item.input].len - item.offset);
        }
        got.flows_begun += item.has_flow;
        got.flows_ended += item.ends_count;
        read_args(&events, &got);
        /* The name is still there. */
        got.sum += sum_of(item.name);
    }
    return got;
}

static bool same(const result *one, const result *other) {
    return one->status == other->status && memcmp(one->kinds, other->kinds, sizeof one->kinds) == 0
           && one->args == other->args && one->sum == other->sum && one->first == other->first
           && one->last == other->last && one->flows_ended == other->flows_ended;
}

/* The items that must be there: tracks, instants, slices, counters, and the flows that end at them. */
typedef struct {
    uint64_t tracks, instants, begun, ended, counters, flows, args;
    int64_t first, last;
} expected;

enum { ENOUGH = 1 << 21 };

static void all_of(const char *name, trace whole, expected what) {
    unsigned char *memory = malloc(ENOUGH);
    CHECK(memory != NULL);
    const result all = read(&whole, memory, ENOUGH);
    if (all.status != TG_END || all.kinds[TG_ITEM_TRACK] != what.tracks || all.kinds[TG_ITEM_INSTANT] != what.instants
        || all.kinds[TG_ITEM_BEGIN] != what.begun || all.kinds[TG_ITEM_END] != what.ended
        || all.kinds[TG_ITEM_COUNTER] != what.counters || all.flows_ended != what.flows || all.args != what.args
        || all.first != what.first || all.last != what.last || all.kinds[TG_ITEM_GAP] != 0) {
        fprintf(stderr,
                "%s: status %d %.*s, { %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64
                ", %" PRIu64 ", %" PRId64 ", %" PRId64 " }\n",
                name, (int)all.status, all.status < 0 ? (int)all.error.element.len : 0,
                all.status < 0 ? (const char *)all.error.element.ptr : "", all.kinds[TG_ITEM_TRACK],
                all.kinds[TG_ITEM_INSTANT], all.kinds[TG_ITEM_BEGIN], all.kinds[TG_ITEM_END],
                all.kinds[TG_ITEM_COUNTER], all.flows_ended, all.args, all.first, all.last);
        exit(1);
    }
    /* From no memory on: it is told how much is needed, always more, until it is enough; then all is the same. */
    size_t size = 0, tries = 0;
    for (;;) {
        unsigned char *lent = malloc(size == 0 ? 1 : size);
        CHECK(lent != NULL);
        /* Not aligned, either. */
        const size_t skip = size > 0 && tries % 2 == 1 ? 1 : 0;
        const result part = read(&whole, size == 0 ? NULL : lent + skip, size - skip);
        free(lent);
        if (part.status == TG_END) {
            CHECK(same(&part, &all));
            break;
        }
        CHECK(part.status == TG_TOO_SMALL && part.error.needed > size - skip && part.error.element.len > 0);
        size = (size_t)part.error.needed + skip + size / 8;
        CHECK(++tries < 200 && size <= ENOUGH);
    }
    /* Cut, and with a byte that is another one. */
    const tg_bytes last = whole.inputs[whole.count - 1];
    const size_t step = last.len / 100 + 1;
    for (size_t at = 0; at < last.len; at += step) {
        for (int is_cut = 0; is_cut < 2; is_cut++) {
            const size_t len = is_cut ? at : last.len;
            unsigned char *copy = malloc(len == 0 ? 1 : len);
            CHECK(copy != NULL);
            memcpy(copy, last.ptr, len);
            if (!is_cut) {
                copy[at] ^= (unsigned char)(1u << at % 8);
            }
            whole.inputs[whole.count - 1] = (tg_bytes){ copy, len };
            const result part = read(&whole, memory, ENOUGH);
            CHECK(part.status == TG_END || (part.status < 0 && part.status != TG_MISUSE && part.error.kind.len > 0));
            free(copy);
        }
    }
    whole.inputs[whole.count - 1] = last;
    printf("%s: %" PRIu64 " tracks, %" PRIu64 " slices, %zu bytes of memory\n", name, what.tracks, what.begun, size);
    for (size_t at = 0; at < whole.count; at++) {
        free((void *)(uintptr_t)whole.inputs[at].ptr);
    }
    free(memory);
}

/* A poll of a task, item by item. */
static void polls(const char *folder) {
    static tg_events events;
    static uint64_t memory[8192];
    trace stream = { .count = 0 };
    tg_item item;
    tg_error error;
    add(&stream, folder, "stream.rfr");
    CHECK(tg_events_open(&events, stream.inputs, 1, (uint8_t *)memory, sizeof memory, &error) == TG_OK);
    CHECK(tg_events_next(&events, &item, &error) == TG_OK && item.kind == TG_ITEM_TRACK);
    CHECK(is(item.track_kind, "recording") && !item.has_parent);
    int64_t begun = 0, polled = 0;
    bool has_task = false;
    while (tg_events_next(&events, &item, &error) == TG_OK) {
        has_task |= item.kind == TG_ITEM_TRACK && is(item.track_kind, "task");
        if (item.kind == TG_ITEM_BEGIN) {
            begun = item.time;
        } else if (item.kind == TG_ITEM_END) {
            polled += item.time - begun;
        }
    }
    CHECK(has_task && polled > 0);
    /* What is in a window. */
    CHECK(tg_events_open(&events, stream.inputs, 1, (uint8_t *)memory, sizeof memory, &error) == TG_OK);
    CHECK(tg_events_window(&events, begun, INT64_MAX) == TG_OK);
    size_t count = 0;
    while (tg_events_next(&events, &item, &error) == TG_OK) {
        CHECK(item.kind == TG_ITEM_TRACK || !item.has_time || item.time >= begun);
        count += item.kind == TG_ITEM_BEGIN;
    }
    CHECK(count == 1);
    free((void *)(uintptr_t)stream.inputs[0].ptr);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    const char *folder = argv[1];
    static tg_events events;
    const tg_bytes nothing = { (const uint8_t *)"PK\3\4", 4 };
    uint64_t memory[64];
    tg_error error;
    tg_item item;
    CHECK(tg_events_open(&events, &nothing, 1, (uint8_t *)memory, sizeof memory, &error) == TG_ERROR);
    CHECK(is(error.kind, "bad-magic") && tg_events_next(&events, &item, &error) == TG_MISUSE);
    CHECK(tg_events_open(&events, NULL, 0, (uint8_t *)memory, sizeof memory, &error) == TG_ERROR);
    CHECK(tg_events_open(NULL, &nothing, 1, (uint8_t *)memory, sizeof memory, &error) == TG_MISUSE);
    CHECK(tg_events_next(NULL, &item, &error) == TG_MISUSE && tg_events_window(NULL, 0, 1) == TG_MISUSE);
    polls(folder);

    trace rfr = { .count = 0 }, chunk = rfr, rtc = rfr, ctf = rfr, ctf1 = rfr, dial9 = rfr, rdf = rfr;
    add(&rfr, folder, "stream.rfr");
    all_of("rfr", rfr, (expected){ 2, 5, 3, 3, 0, 3, 84, 1795225314001000000, 1795225315000000000 });
    add(&chunk, folder, "sample.rfr/callsites.rfr");
    add(&chunk, folder, "sample.rfr/2026-11/21-01/chunk-41-54.rfr");
    all_of("rfr chunk", chunk, (expected){ 6, 44, 41, 41, 0, 42, 874, 1795225314000900000, 1795225314782089000 });
    add(&rtc, folder, "sample.rtc");
    all_of("rtc", rtc, (expected){ 7, 472, 0, 0, 170, 0, 660, 1700000000000000000, 1700000000021999000 });
    add(&ctf, folder, "sample.ctf/metadata");
    add(&ctf, folder, "sample.ctf/stream");
    all_of("ctf", ctf, (expected){ 2, 16, 0, 0, 0, 0, 28, 1795225314000000000, 1795225314017000000 });
    add(&ctf1, folder, "sample.ctf1/metadata");
    add(&ctf1, folder, "sample.ctf1/data");
    all_of("ctf 1.8", ctf1, (expected){ 2, 16, 0, 0, 0, 0, 28, 0, 15000 });
    add(&dial9, folder, "trace.0.bin");
    all_of("dial9", dial9, (expected){ 11, 28, 35, 35, 2, 19, 302, 4182000000000, 4182042524000 });
    add(&rdf, folder, "sample.rgp");
    all_of("rdf", rdf, (expected){ 12, 14, 10, 10, 5, 0, 253, 32000, 30934400 });
    return 0;
}
