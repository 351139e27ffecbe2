/* Explains a crash of a GPU: page faults, and the command buffers that were in flight.
 *
 *     rdf_crash crash.rgd
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "traceglass.h"

static int failed(const char *what, const tg_error *error) {
    fprintf(stderr, "%s: %.*s at 0x%" PRIx64 ": %.*s\n", what, (int)error->element.len, (const char *)error->element.ptr,
            error->offset, (int)error->kind.len, (const char *)error->kind.ptr);
    return EXIT_FAILURE;
}

/* A file as a whole; on a larger system, mmap does better. */
static unsigned char *slurp(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    unsigned char *data = NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        const long size = ftell(file);
        rewind(file);
        data = size < 0 ? NULL : malloc((size_t)size + 1);
        *len = data == NULL ? 0 : fread(data, 1, (size_t)size, file);
    }
    fclose(file);
    return data;
}

/* Prints the events of one chunk. */
static int explain(tg_rdf *rdf, const tg_rdf_entry *entry, tg_zstd *zstd) {
    tg_error error;
    tg_bytes header, data;
    unsigned char *buffer = malloc(entry->size + 1);
    int status = EXIT_FAILURE;
    if (buffer == NULL) {
        return status;
    }
    tg_crash crash;
    if (tg_rdf_header(rdf, entry->number, &header, &error) != TG_OK
        || tg_rdf_data(rdf, entry->number, zstd, buffer, entry->size, &data, &error) != TG_OK
        || tg_crash_open(&crash, entry->version, header, data, &error) != TG_OK) {
        status = failed("DDEvent", &error);
    } else {
        tg_crash_event event;
        tg_status got;
        while ((got = tg_crash_next(&crash, &event, &error)) == TG_OK) {
            if (event.is_page_fault) {
                printf("page fault at 0x%" PRIx64 " in process %" PRIu32 " %.*s\n", event.address, event.pid,
                       (int)event.process.len, (const char *)event.process.ptr);
            }
            if (event.is_in_flight) {
                printf("command buffer %" PRIu32 " in flight\n", event.cmd_buffer);
            }
        }
        status = got == TG_END ? EXIT_SUCCESS : failed("event", &error);
    }
    free(buffer);
    return status;
}

int main(int argc, char **argv) {
    static tg_zstd zstd;
    size_t len = 0;
    unsigned char *file = argc > 1 ? slurp(argv[1], &len) : NULL;
    if (file == NULL) {
        fprintf(stderr, "usage: rdf_crash FILE\n");
        return EXIT_FAILURE;
    }
    tg_error error;
    tg_rdf rdf;
    tg_rdf_entry entry;
    int status = EXIT_SUCCESS;
    if (tg_rdf_open(&rdf, file, len, &error) != TG_OK) {
        status = failed(argv[1], &error);
    } else {
        static const char name[] = "DDEvent";
        size_t number, count = 0;
        while (tg_rdf_find(&rdf, (const uint8_t *)name, sizeof name - 1, count, &number) == TG_OK) {
            count++;
            if (tg_rdf_entry_at(&rdf, number, &entry, &error) != TG_OK) {
                status = failed("entry", &error);
            } else if (explain(&rdf, &entry, &zstd) != EXIT_SUCCESS) {
                status = EXIT_FAILURE;
            }
        }
        printf("%zu chunks of events of the driver\n", count);
    }
    free(file);
    return status;
}
