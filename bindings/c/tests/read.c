/* Reads the samples from C, and prefixes and damaged copies of them in memory of exactly their size, so that valgrind and
 * the sanitizers see a byte that is read outside of it. The folder of the samples is the argument. */
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

typedef struct {
    unsigned char *data;
    size_t len;
} file;

static file slurp(const char *folder, const char *name) {
    char path[512];
    CHECK(snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path);
    FILE *from = fopen(path, "rb");
    CHECK(from != NULL);
    file all = { malloc(1 << 20), 0 };
    CHECK(all.data != NULL);
    all.len = fread(all.data, 1, 1 << 20, from);
    CHECK(all.len > 0 && all.len < 1 << 20);
    fclose(from);
    return all;
}

static bool is(tg_bytes bytes, const char *text) {
    return bytes.len == strlen(text) && memcmp(bytes.ptr, text, bytes.len) == 0;
}

/* Whether a slice lies in what was lent. */
static bool within(tg_bytes bytes, const unsigned char *data, size_t len) {
    return bytes.len == 0 || (bytes.ptr >= data && bytes.ptr + bytes.len <= data + len);
}

/* What is read of data must be found again: how much it was. */
typedef struct {
    uint64_t count, sum, last;
    tg_status status;
    tg_error error;
} result;

static void is_located(const result *got, size_t len) {
    CHECK(got->status == TG_END || (got->status < 0 && got->error.offset <= len && got->error.element.len > 0
                                    && got->error.kind.len > 0));
    CHECK(got->status != TG_MISUSE);
}

static result read_rdf(const unsigned char *data, size_t len) {
    static tg_zstd zstd;
    static unsigned char buffer[1 << 17];
    tg_rdf rdf;
    tg_rdf_entry entry;
    tg_bytes bytes;
    result got = { 0 };
    got.status = tg_rdf_open(&rdf, data, len, &got.error);
    while (got.status == TG_OK
           && (got.status = tg_rdf_entry_at(&rdf, (size_t)got.count, &entry, &got.error)) == TG_OK) {
        got.status = tg_rdf_data(&rdf, entry.number, &zstd, buffer, sizeof buffer, &bytes, &got.error);
        if (got.status != TG_OK) {
            break;
        }
        CHECK(bytes.len == entry.size && (within(bytes, data, len) || within(bytes, buffer, sizeof buffer)));
        got.count++;
        for (size_t at = 0; at < bytes.len; at++) {
            got.sum += bytes.ptr[at];
        }
    }
    return got;
}

static result read_rtc(const unsigned char *data, size_t len) {
    static tg_rtc rtc;
    unsigned char buffer[512] = { 0 };
    tg_rtc_record record;
    result got = { 0 };
    CHECK(tg_rtc_open(&rtc, data, len, buffer, sizeof buffer) == TG_OK);
    while ((got.status = tg_rtc_next(&rtc, &record, &got.error)) == TG_OK) {
        CHECK(within(record.data, data, len) || within(record.data, buffer, sizeof buffer));
        got.count++;
        got.sum += record.data.len;
        if (record.has_time) {
            got.last = (uint64_t)record.seconds;
        }
    }
    return got;
}

static result read_rfr(const unsigned char *data, size_t len) {
    tg_rfr rfr;
    tg_rfr_record record;
    result got = { 0 };
    got.status = tg_rfr_open(&rfr, data, len, &got.error);
    while (got.status == TG_OK && (got.status = tg_rfr_next(&rfr, &record, &got.error)) == TG_OK) {
        got.count++;
        got.sum += record.iid;
        got.last = record.time;
    }
    return got;
}

static tg_ctf_schema schema;

static result read_ctf(const unsigned char *data, size_t len) {
    static tg_ctf ctf;
    tg_ctf_event event;
    tg_ctf_field field;
    result got = { 0 };
    CHECK(tg_ctf_open(&ctf, &schema, data, len) == TG_OK);
    while ((got.status = tg_ctf_next(&ctf, &event, &got.error)) == TG_OK) {
        got.count++;
        int64_t nanoseconds = 0;
        /* TG_END: a damaged time may have more than 63 bits. */
        CHECK(tg_ctf_nanoseconds(&ctf, &nanoseconds) >= TG_END);
        got.last = (uint64_t)(nanoseconds / 1000000000);
        while ((got.status = tg_ctf_next_field(&ctf, &field, &got.error)) == TG_OK) {
            CHECK(within(field.bytes, data, len));
            got.sum += field.kind == TG_CTF_TEXT ? field.bytes.len : field.kind == TG_CTF_UNSIGNED ? field.u : 0;
        }
        if (got.status != TG_END) {
            break;
        }
    }
    return got;
}

static result read_dial9(const unsigned char *data, size_t len) {
    static tg_dial9 dial9;
    static tg_dial9_schema schemas[64];
    static tg_dial9_text texts[256];
    tg_dial9_event event;
    tg_dial9_field field;
    result got = { 0 };
    CHECK(tg_dial9_open(&dial9, data, len, schemas, 64, texts, 256) == TG_OK);
    while ((got.status = tg_dial9_next(&dial9, &event, &got.error)) == TG_OK) {
        got.count++;
        while (tg_dial9_next_field(&dial9, &field) == TG_OK) {
            CHECK(within(field.bytes, data, len) && field.name.len > 0);
            got.sum += field.kind == TG_DIAL9_TEXT && is(field.name, "spawn_loc") ? field.bytes.len : 0;
        }
    }
    return got;
}

static void prefixes_and_flips(const char *name, file whole, result (*read)(const unsigned char *, size_t), uint64_t count,
                               uint64_t sum) {
    const result all = read(whole.data, whole.len);
    if (all.status != TG_END || all.count != count || all.sum != sum) {
        fprintf(stderr, "%s: status %d after %" PRIu64 " of %" PRIu64 " records, sum %" PRIu64 "\n", name,
                (int)all.status, all.count, count, all.sum);
        exit(1);
    }
    /* At most some hundred of them: under valgrind, each takes time. */
    const size_t step = whole.len / 400 + 1;
    for (size_t len = 0; len < whole.len; len += step) {
        unsigned char *copy = malloc(len == 0 ? 1 : len);
        CHECK(copy != NULL);
        memcpy(copy, whole.data, len);
        const result part = read(copy, len);
        is_located(&part, len);
        CHECK(part.count <= all.count);
        free(copy);
    }
    /* A byte that is another one: whatever it is, what is read lies within, and errors are located. */
    for (size_t at = 0; at < whole.len; at += step) {
        unsigned char *copy = malloc(whole.len);
        CHECK(copy != NULL);
        memcpy(copy, whole.data, whole.len);
        copy[at] ^= (unsigned char)(1u << at % 8);
        const result other = read(copy, whole.len);
        is_located(&other, whole.len);
        free(copy);
    }
    printf("%s: %" PRIu64 " records, sum %" PRIu64 ", last %" PRIu64 "\n", name, all.count, all.sum, all.last);
    free(whole.data);
}

/* Text of C, which has no NUL for the library. */
static const uint8_t *bytes_of(const char *text) {
    return (const uint8_t *)text;
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    const char *folder = argv[1];
    CHECK(is(tg_version(), TRACEGLASS_VERSION));

    file rdf = slurp(folder, "sample.rdf");
    {
        tg_rdf open;
        tg_error error;
        tg_rdf_entry entry;
        tg_bytes bytes;
        size_t number;
        CHECK(tg_rdf_open(&open, rdf.data, rdf.len, &error) == TG_OK);
        CHECK(tg_rdf_find(&open, bytes_of("AsicInfo"), 8, 0, &number) == TG_OK && number == 0);
        CHECK(tg_rdf_find(&open, bytes_of("AsicInfo"), 8, 1, &number) == TG_END);
        CHECK(tg_rdf_find(&open, bytes_of("more than 16 bytes"), 18, 0, &number) == TG_END);
        CHECK(tg_rdf_stored(&open, number, &bytes, &error) == TG_OK && bytes.len == 15);
        CHECK(memcmp(bytes.ptr, "gfx1100 Navi 31", 15) == 0);
        /* The storage that is needed is said, and is enough. */
        static tg_zstd zstd;
        unsigned char *buffer = malloc(1 << 17);
        CHECK(tg_rdf_find(&open, bytes_of("Snapshot"), 8, 0, &number) == TG_OK);
        CHECK(tg_rdf_data(&open, number, &zstd, buffer, 1024, &bytes, &error) == TG_TOO_SMALL && error.needed == 70000);
        CHECK(tg_rdf_data(&open, number, &zstd, buffer, 70000, &bytes, &error) == TG_OK && bytes.len == 70000);
        CHECK(tg_rdf_entry_at(&open, number, &entry, &error) == TG_OK && entry.size == 70000 && entry.compression == 1);
        CHECK(tg_rdf_entry_at(&open, 6, &entry, &error) == TG_END);
        CHECK(tg_rdf_open(&open, NULL, 0, &error) == TG_ERROR && is(error.element, "RDF file header"));
        CHECK(is(error.kind, "unexpected-end") && error.needed > 0);
        CHECK(tg_rdf_open(&open, rdf.data, rdf.len, NULL) == TG_OK);
        CHECK(tg_rdf_open(NULL, rdf.data, rdf.len, NULL) == TG_MISUSE);
        free(buffer);
    }
    prefixes_and_flips("rdf", rdf, read_rdf, 6, 43631);
    prefixes_and_flips("rtc", slurp(folder, "sample.rtc"), read_rtc, 5 + 171 + 170 + 227 + 69,
                       60 + 386 + 340 + 8109 + 5607);
    prefixes_and_flips("rfr", slurp(folder, "stream.rfr"), read_rfr, 13, 44);
    prefixes_and_flips("rfr chunk", slurp(folder, "sample.rfr/2026-11/21-01/chunk-41-54.rfr"), read_rfr, 126, 573);
    prefixes_and_flips("dial9", slurp(folder, "trace.0.bin"), read_dial9, 97, 334);

    /* CTF three times: by a schema that was compiled before, by JSON, by TSDL. */
    static tg_ctf_node nodes[256];
    tg_error error;
    file table = slurp(folder, "sample.ctf.schema");
    CHECK(tg_ctf_load(&schema, (const uint32_t *)(const void *)table.data, table.len, &error) == TG_OK);
    prefixes_and_flips("ctf by table", slurp(folder, "sample.ctf/stream"), read_ctf, 16, 14704);
    CHECK(tg_ctf_load(&schema, (const uint32_t *)(const void *)(table.data + 1), table.len - 1, &error) == TG_ERROR);
    CHECK(is(error.kind, "bad-magic"));
    CHECK(tg_ctf_load_trusted(&schema, (const uint32_t *)(const void *)table.data, table.len, &error) == TG_OK);
    prefixes_and_flips("ctf by table, trusted", slurp(folder, "sample.ctf/stream"), read_ctf, 16, 14704);
    free(table.data);
    file json = slurp(folder, "sample.ctf/metadata");
    CHECK(tg_ctf_compile(&schema, json.data, json.len, nodes, 3, &error) == TG_TOO_SMALL && error.needed < 256);
    CHECK(tg_ctf_compile(&schema, json.data, json.len, nodes, (size_t)error.needed, &error) == TG_OK);
    prefixes_and_flips("ctf by json", slurp(folder, "sample.ctf/stream"), read_ctf, 16, 14704);
    CHECK(tg_ctf_compile_json(&schema, json.data, json.len, nodes, 256, &error) == TG_OK);
    prefixes_and_flips("ctf by json alone", slurp(folder, "sample.ctf/stream"), read_ctf, 16, 14704);
    free(json.data);
    file tsdl = slurp(folder, "sample.ctf1/metadata");
    CHECK(tg_ctf_compile(&schema, tsdl.data, tsdl.len, nodes, 256, &error) == TG_OK);
    prefixes_and_flips("ctf 1.8", slurp(folder, "sample.ctf1/data"), read_ctf, 16, 14704);
    free(tsdl.data);
    return 0;
}
