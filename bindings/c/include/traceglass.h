/* traceglass for C: reads traces (RDF, RTC, RFR, CTF, dial9) as they lie in memory, and records CTF.
 *
 * Nothing is allocated, nothing is kept outside of what the caller lends, nothing is called back. What is lent must stay
 * where it is, and as it is, for as long as anything that was made from it is used. Two threads may read the same data,
 * each with storage of its own.
 *
 * Made from src/ by cbindgen 0.29: `.ci/c.sh --write`. */

#ifndef TRACEGLASS_H
#define TRACEGLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#define TRACEGLASS_VERSION "0.1.0"
#if UINTPTR_MAX <= 0xffffffff
#define TG_32
#endif
#define TG_ALIGN(n) __attribute__((aligned(n)))

#if defined(TG_32)
/**
 * The size of a tg_crash in bytes.
 */
#define TG_CRASH_SIZE 112
#endif

#if !defined(TG_32)
/**
 * The size of a tg_crash in bytes.
 */
#define TG_CRASH_SIZE 128
#endif

#if defined(TG_32)
/**
 * The size of a tg_ctf_schema in bytes.
 */
#define TG_CTF_SCHEMA_SIZE 208
#endif

#if !defined(TG_32)
/**
 * The size of a tg_ctf_schema in bytes.
 */
#define TG_CTF_SCHEMA_SIZE 256
#endif

#if defined(TG_32)
/**
 * The size of a tg_ctf in bytes.
 */
#define TG_CTF_SIZE 2944
#endif

#if !defined(TG_32)
/**
 * The size of a tg_ctf in bytes.
 */
#define TG_CTF_SIZE 3072
#endif

#if defined(TG_32)
/**
 * The size of a tg_dial9 in bytes.
 */
#define TG_DIAL9_SIZE 384
#endif

#if !defined(TG_32)
/**
 * The size of a tg_dial9 in bytes.
 */
#define TG_DIAL9_SIZE 512
#endif

/**
 * The size of a tg_dial9_schema in bytes.
 */
#define TG_DIAL9_SCHEMA_SIZE 128

/**
 * The size of a tg_dial9_text in bytes.
 */
#define TG_DIAL9_TEXT_SIZE 32

#if defined(TG_32)
/**
 * The size of a tg_events in bytes.
 */
#define TG_EVENTS_SIZE 16896
#endif

#if !defined(TG_32)
/**
 * The size of a tg_events in bytes.
 */
#define TG_EVENTS_SIZE 21504
#endif

#if defined(TG_32)
/**
 * The size of a tg_rdf in bytes.
 */
#define TG_RDF_SIZE 40
#endif

#if !defined(TG_32)
/**
 * The size of a tg_rdf in bytes.
 */
#define TG_RDF_SIZE 64
#endif

/**
 * The size of a tg_zstd in bytes.
 */
#define TG_ZSTD_SIZE 16000

#if defined(TG_32)
/**
 * The size of a tg_rfr in bytes.
 */
#define TG_RFR_SIZE 192
#endif

#if !defined(TG_32)
/**
 * The size of a tg_rfr in bytes.
 */
#define TG_RFR_SIZE 256
#endif

/**
 * The greatest number of streams.
 */
#define TG_RTC_STREAMS 16

#if defined(TG_32)
/**
 * The size of a tg_rtc in bytes.
 */
#define TG_RTC_SIZE 7168
#endif

#if !defined(TG_32)
/**
 * The size of a tg_rtc in bytes.
 */
#define TG_RTC_SIZE 8192
#endif

/**
 * The result of a function.
 */
enum tg_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * There is nothing more.
   */
  TG_END = 0,
  /**
   * Something was read.
   */
  TG_OK = 1,
  /**
   * It cannot be read; the error says what and where.
   */
  TG_ERROR = -1,
  /**
   * The storage that was lent is too small; the error says how much is needed.
   */
  TG_TOO_SMALL = -2,
  /**
   * A pointer is NULL. Storage that was not opened, or could not be, cannot be told from open storage: it must not be
   * used before it is opened.
   */
  TG_MISUSE = -3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tg_status tg_status;
#else
typedef int32_t tg_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The kind of value in a field.
 */
enum tg_ctf_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Something else: an integer of more than 64 bits, a bit array.
   */
  TG_CTF_OTHER = 0,
  /**
   * u.
   */
  TG_CTF_UNSIGNED = 1,
  /**
   * i.
   */
  TG_CTF_SIGNED = 2,
  /**
   * u: 0 or 1.
   */
  TG_CTF_BOOLEAN = 3,
  /**
   * f.
   */
  TG_CTF_FLOAT = 4,
  /**
   * bytes.
   */
  TG_CTF_TEXT = 5,
  /**
   * bytes.
   */
  TG_CTF_BLOB = 6,
  /**
   * Members follow, then TG_CTF_CLOSE.
   */
  TG_CTF_STRUCTURE = 7,
  /**
   * u elements follow, then TG_CTF_CLOSE.
   */
  TG_CTF_ARRAY = 8,
  /**
   * u is 1: its content follows, then TG_CTF_CLOSE. u is 0: neither.
   */
  TG_CTF_OPTIONAL = 9,
  /**
   * The option of the number u follows, then TG_CTF_CLOSE.
   */
  TG_CTF_VARIANT = 10,
  /**
   * The end of what began last.
   */
  TG_CTF_CLOSE = 11,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tg_ctf_kind tg_ctf_kind;
#else
typedef uint32_t tg_ctf_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The kind of value in a field.
 */
enum tg_dial9_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Something else: a list, a map, a stack, or nothing.
   */
  TG_DIAL9_OTHER = 0,
  /**
   * u.
   */
  TG_DIAL9_UNSIGNED = 1,
  /**
   * i.
   */
  TG_DIAL9_SIGNED = 2,
  /**
   * u: 0 or 1.
   */
  TG_DIAL9_BOOLEAN = 3,
  /**
   * f.
   */
  TG_DIAL9_FLOAT = 4,
  /**
   * bytes. If it is of a pool for which no slots were lent, u is its number, and bytes is empty.
   */
  TG_DIAL9_TEXT = 5,
  /**
   * bytes.
   */
  TG_DIAL9_BLOB = 6,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tg_dial9_kind tg_dial9_kind;
#else
typedef uint32_t tg_dial9_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The kind of an item.
 */
enum tg_item_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Something else.
   */
  TG_ITEM_OTHER = 0,
  /**
   * A track, before the first event on it. It may come again when more is known of it.
   */
  TG_ITEM_TRACK = 1,
  /**
   * Something happened.
   */
  TG_ITEM_INSTANT = 2,
  /**
   * A slice begins. Slices of a track are nested.
   */
  TG_ITEM_BEGIN = 3,
  /**
   * The slice that began last on the track ends.
   */
  TG_ITEM_END = 4,
  /**
   * The track has this value from now on.
   */
  TG_ITEM_COUNTER = 5,
  /**
   * A range of the input cannot be read: offset and len say which.
   */
  TG_ITEM_GAP = 6,
  /**
   * The recorder discarded events before this one.
   */
  TG_ITEM_DISCARDED = 7,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tg_item_kind tg_item_kind;
#else
typedef uint32_t tg_item_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The kind of an argument.
 */
enum tg_arg_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Something else: an integer of more than 64 bits.
   */
  TG_ARG_OTHER = 0,
  /**
   * u.
   */
  TG_ARG_UNSIGNED = 1,
  /**
   * i.
   */
  TG_ARG_SIGNED = 2,
  /**
   * u: 0 or 1.
   */
  TG_ARG_BOOLEAN = 3,
  /**
   * f.
   */
  TG_ARG_FLOAT = 4,
  /**
   * bytes.
   */
  TG_ARG_TEXT = 5,
  /**
   * bytes.
   */
  TG_ARG_BYTES = 6,
  /**
   * Arguments with a name each follow, then TG_ARG_CLOSE.
   */
  TG_ARG_GROUP = 7,
  /**
   * Elements follow, then TG_ARG_CLOSE; u is their number, or 0 if that is not known before.
   */
  TG_ARG_LIST = 8,
  /**
   * The end of what began last.
   */
  TG_ARG_CLOSE = 9,
  /**
   * There is no value.
   */
  TG_ARG_ABSENT = 10,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tg_arg_kind tg_arg_kind;
#else
typedef uint32_t tg_arg_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Bytes that are borrowed: from the data that is read, from what was lent, or from the library. No NUL ends them.
 */
typedef struct tg_bytes {
  const uint8_t *ptr;
  size_t len;
} tg_bytes;

/**
 * The events of a chunk that is being read.
 */
typedef struct TG_ALIGN(8) tg_crash {
  uint8_t bytes[TG_CRASH_SIZE];
} tg_crash;

/**
 * Why something cannot be read.
 */
typedef struct tg_error {
  /**
   * The offset in the data.
   */
  uint64_t offset;
  /**
   * The element that was being read: "RDF file header".
   */
  struct tg_bytes element;
  /**
   * The kind of error: "unexpected-end".
   */
  struct tg_bytes kind;
  /**
   * The number of bytes that are missing in the data, or of bytes or slots that are needed in all, if that is the error;
   * else 0.
   */
  uint64_t needed;
} tg_error;

/**
 * An event of the driver.
 */
typedef struct tg_crash_event {
  /**
   * The offset in the data of the chunk.
   */
  uint64_t offset;
  /**
   * The time in ticks of the GPU, if has_time.
   */
  uint64_t ticks;
  /**
   * The name of its kind; empty if it is not known.
   */
  struct tg_bytes kind;
  /**
   * Of a page fault: the address, and the process.
   */
  uint64_t address;
  uint32_t pid;
  struct tg_bytes process;
  /**
   * Of the state of a command buffer: its number.
   */
  uint32_t cmd_buffer;
  bool has_time;
  bool is_page_fault;
  /**
   * The command buffer had begun and had not ended.
   */
  bool is_in_flight;
} tg_crash_event;

/**
 * The layout of a trace's streams, compiled from its metadata.
 */
typedef struct TG_ALIGN(8) tg_ctf_schema {
  uint8_t bytes[TG_CTF_SCHEMA_SIZE];
} tg_ctf_schema;

/**
 * A slot for a part of a schema that is compiled.
 */
typedef struct tg_ctf_node {
  uint32_t words[6];
} tg_ctf_node;

/**
 * The event records of a data stream that is being read. It must stay where it is: its parts refer to each other.
 */
typedef struct TG_ALIGN(8) tg_ctf {
  uint8_t bytes[TG_CTF_SIZE];
} tg_ctf;

/**
 * An event.
 */
typedef struct tg_ctf_event {
  /**
   * The number of its class, and that of its stream class.
   */
  uint64_t id;
  uint64_t stream_class;
  /**
   * The time in ticks of the stream's clock, if has_time.
   */
  uint64_t ticks;
  /**
   * The name of its class; empty if it has none, or is written with escapes.
   */
  struct tg_bytes name;
  bool has_time;
} tg_ctf_event;

/**
 * A field of an event.
 */
typedef struct tg_ctf_field {
  tg_ctf_kind kind;
  uint64_t u;
  int64_t i;
  double f;
  struct tg_bytes bytes;
  /**
   * The name of the member; empty if it is none, or is written with escapes.
   */
  struct tg_bytes name;
} tg_ctf_field;

/**
 * The events of a trace that is being read. It must stay where it is: its parts refer to each other.
 */
typedef struct TG_ALIGN(8) tg_dial9 {
  uint8_t bytes[TG_DIAL9_SIZE];
} tg_dial9;

/**
 * A slot for a schema of a batch; writers have some tens of them.
 */
typedef struct TG_ALIGN(8) tg_dial9_schema {
  uint8_t bytes[TG_DIAL9_SCHEMA_SIZE];
} tg_dial9_schema;

/**
 * A slot for a text in the pool of a batch.
 */
typedef struct TG_ALIGN(8) tg_dial9_text {
  uint8_t bytes[TG_DIAL9_TEXT_SIZE];
} tg_dial9_text;

/**
 * An event.
 */
typedef struct tg_dial9_event {
  /**
   * The offset in the file.
   */
  uint64_t offset;
  /**
   * Nanoseconds of the writer's monotonic clock, if has_time.
   */
  uint64_t time;
  struct tg_bytes name;
  bool has_time;
} tg_dial9_event;

/**
 * A field of an event.
 */
typedef struct tg_dial9_field {
  tg_dial9_kind kind;
  uint64_t u;
  int64_t i;
  double f;
  struct tg_bytes bytes;
  struct tg_bytes name;
} tg_dial9_field;

/**
 * The tracks and events of a trace that is being read. It must stay where it is: its parts refer to each other.
 */
typedef struct TG_ALIGN(16) tg_events {
  uint8_t bytes[TG_EVENTS_SIZE];
} tg_events;

/**
 * An arrow from what causes to what is caused: it ends at an event with the same track and number.
 */
typedef struct tg_flow {
  /**
   * The track of what is caused.
   */
  uint64_t track;
  /**
   * The number among the flows to this track, from 0.
   */
  uint64_t number;
} tg_flow;

/**
 * A track, or an event on one.
 */
typedef struct tg_item {
  tg_item_kind kind;
  /**
   * There is a time; one that is unknown or has more than 63 bits is none.
   */
  bool has_time;
  /**
   * The time counts from the Unix epoch; else from the origin of a clock.
   */
  bool is_absolute;
  /**
   * It was inferred from another record: the end of a slice that was not recorded.
   */
  bool is_inferred;
  /**
   * The track has a parent.
   */
  bool has_parent;
  /**
   * The counter is an integer of 64 bits.
   */
  bool is_integer;
  /**
   * It is known how many events were discarded.
   */
  bool has_count;
  /**
   * A flow begins with it.
   */
  bool has_flow;
  /**
   * Nanoseconds.
   */
  int64_t time;
  /**
   * The number of the track on which it happened; that of a track itself.
   */
  uint64_t track;
  /**
   * The track that a track belongs to, which was there before it.
   */
  uint64_t parent;
  /**
   * The name: of a task, of what happened. It holds until the next item.
   */
  struct tg_bytes name;
  /**
   * The kind of a track: "task", "thread", "cpu", "counter".
   */
  struct tg_bytes track_kind;
  /**
   * The unit of a counter's track; empty if it is not known.
   */
  struct tg_bytes unit;
  /**
   * The number of the input, and its bytes there: none of a track and of what was inferred.
   */
  size_t input;
  uint64_t offset;
  uint64_t len;
  /**
   * The value of a counter; integer has it, too, if is_integer.
   */
  double value;
  int64_t integer;
  /**
   * The number of events that were discarded.
   */
  uint64_t count;
  /**
   * The flow that begins with it: a wake, a spawn.
   */
  struct tg_flow starts;
  /**
   * The flows that end with it: as many as ends_count, with consecutive numbers from this one on.
   */
  struct tg_flow ends;
  uint64_t ends_count;
  /**
   * Of a gap, what is wrong: "unexpected-end".
   */
  struct tg_bytes cause;
} tg_item;

/**
 * An argument of an event, or a fact about a track.
 */
typedef struct tg_arg {
  tg_arg_kind kind;
  uint64_t u;
  int64_t i;
  double f;
  struct tg_bytes bytes;
  /**
   * The name; empty if it is an element of a list.
   */
  struct tg_bytes name;
} tg_arg;

/**
 * A file that is open.
 */
typedef struct TG_ALIGN(8) tg_rdf {
  uint8_t bytes[TG_RDF_SIZE];
} tg_rdf;

/**
 * A chunk of a file.
 */
typedef struct tg_rdf_entry {
  /**
   * The identifier: as many bytes as there are before the first NUL.
   */
  uint8_t name[16];
  /**
   * The number of the entry.
   */
  size_t number;
  uint32_t version;
  /**
   * The encoding of the data: 0 as it is, 1 as Zstandard.
   */
  uint32_t compression;
  /**
   * The size of the data in bytes, decompressed.
   */
  uint64_t size;
  /**
   * The size of the data in bytes, as stored.
   */
  uint64_t stored_size;
} tg_rdf_entry;

/**
 * The memory of the Zstandard decoder; all 0 before its first use.
 */
typedef struct TG_ALIGN(8) tg_zstd {
  uint8_t bytes[TG_ZSTD_SIZE];
} tg_zstd;

/**
 * Events on their way into packets of CTF, in pages of memory. Its fields are the library's.
 *
 * One context uses it at a time: tasks and interrupts that share one block each other out from tg_ctf_packet_begin to
 * tg_ctf_packet_commit. Or each has one of its own, with another stream.
 */
typedef struct tg_ctf_packet {
  uint64_t last;
  uint32_t *memory;
  size_t words;
  size_t page_words;
  size_t page;
  size_t at;
  size_t end;
  size_t next;
  uint32_t open;
  uint32_t number;
  /**
   * The number of records that were lost since the start.
   */
  uint32_t lost;
  uint32_t stream;
  bool keep;
  /**
   * The offset of the oldest closed page.
   */
  size_t oldest;
  /**
   * The number of pages that were closed, and of those that were released.
   */
  uint32_t marks[2];
} tg_ctf_packet;

/**
 * A closed page: a packet of as many words.
 */
typedef struct tg_ctf_page {
  const uint32_t *words;
  size_t count;
} tg_ctf_page;

/**
 * The records of a file that is being read.
 */
typedef struct TG_ALIGN(8) tg_rfr {
  uint8_t bytes[TG_RFR_SIZE];
} tg_rfr;

/**
 * A record.
 */
typedef struct tg_rfr_record {
  /**
   * The offset in the file.
   */
  uint64_t offset;
  /**
   * Microseconds since the Unix epoch.
   */
  uint64_t time;
  /**
   * The id of what it is about, if has_iid: a task, a span, a callsite.
   */
  uint64_t iid;
  /**
   * The name of its kind: "TaskPollStart".
   */
  struct tg_bytes kind;
  /**
   * The number of its sequence in the chunk, from 0.
   */
  uint32_t sequence;
  bool has_iid;
} tg_rfr_record;

/**
 * The records of a file that is being read.
 */
typedef struct TG_ALIGN(16) tg_rtc {
  uint8_t bytes[TG_RTC_SIZE];
} tg_rtc;

/**
 * A record.
 */
typedef struct tg_rtc_record {
  /**
   * The offset of its first frame.
   */
  uint64_t offset;
  /**
   * The id of its stream.
   */
  uint64_t stream;
  /**
   * The time in seconds since the origin of the clock, if has_time; and the nanoseconds after that.
   */
  int64_t seconds;
  uint32_t nanoseconds;
  bool has_time;
  /**
   * The name of its stream; empty if it has none, or is written with escapes.
   */
  struct tg_bytes name;
  struct tg_bytes data;
} tg_rtc_record;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library: "0.1.0".
 */
struct tg_bytes tg_version(void);

/**
 * Begins to read the events of a chunk: its version, header and data, as tg_rdf_entry_at, tg_rdf_header and tg_rdf_data
 * give them.
 */
tg_status tg_crash_open(struct tg_crash *crash,
                        uint32_t version,
                        struct tg_bytes header,
                        struct tg_bytes data,
                        struct tg_error *error);

/**
 * The next event.
 */
tg_status tg_crash_next(struct tg_crash *crash,
                        struct tg_crash_event *event,
                        struct tg_error *error);

/**
 * Compiles metadata, of CTF 2 or 1.8, into slots. TG_TOO_SMALL tells how many are needed.
 */
tg_status tg_ctf_compile(struct tg_ctf_schema *schema,
                         const uint8_t *metadata,
                         size_t len,
                         struct tg_ctf_node *slots,
                         size_t count,
                         struct tg_error *error);

/**
 * The same for CTF 2 alone, in less code.
 */
tg_status tg_ctf_compile_json(struct tg_ctf_schema *schema,
                              const uint8_t *metadata,
                              size_t len,
                              struct tg_ctf_node *slots,
                              size_t count,
                              struct tg_error *error);

/**
 * A schema that `traceglass compile --c` compiled, read where it lies: the address is a multiple of 4, the length is in
 * bytes. It may come from anywhere: it is validated.
 */
tg_status tg_ctf_load(struct tg_ctf_schema *schema,
                      const uint32_t *table,
                      size_t len,
                      struct tg_error *error);

/**
 * The same for a table that is a part of the program, in less code: it is not validated.
 */
tg_status tg_ctf_load_trusted(struct tg_ctf_schema *schema,
                              const uint32_t *table,
                              size_t len,
                              struct tg_error *error);

/**
 * Begins to read a data stream that lies in memory. The schema must stay where it is.
 */
tg_status tg_ctf_open(struct tg_ctf *ctf,
                      struct tg_ctf_schema *schema,
                      const uint8_t *data,
                      size_t len);

/**
 * The next event. After an error in an event, the next packet goes on; after one that keeps a packet from being found,
 * nothing does.
 */
tg_status tg_ctf_next(struct tg_ctf *ctf,
                      struct tg_ctf_event *event,
                      struct tg_error *error);

/**
 * The time of the event that was read last, in nanoseconds since the clock's origin; TG_END if it has none, or has more
 * than 63 bits.
 */
tg_status tg_ctf_nanoseconds(struct tg_ctf *ctf,
                             int64_t *nanoseconds);

/**
 * The next field of the payload of the event that was read last.
 */
tg_status tg_ctf_next_field(struct tg_ctf *ctf, struct tg_ctf_field *field, struct tg_error *error);

/**
 * The label of the value of the field that was read last, an integer; TG_END if it has none.
 */
tg_status tg_ctf_label(struct tg_ctf *ctf, struct tg_bytes *label);

/**
 * The name of the member that was read last, without escapes, decoded into a buffer; TG_TOO_SMALL if it does not fit.
 */
tg_status tg_ctf_field_name(struct tg_ctf *ctf,
                            uint8_t *buffer,
                            size_t buffer_len,
                            struct tg_bytes *name);

/**
 * Begins to read a trace that lies in memory. There may be no slots for texts.
 */
tg_status tg_dial9_open(struct tg_dial9 *dial9,
                        const uint8_t *data,
                        size_t len,
                        struct tg_dial9_schema *schemas,
                        size_t schema_count,
                        struct tg_dial9_text *texts,
                        size_t text_count);

/**
 * The next event.
 */
tg_status tg_dial9_next(struct tg_dial9 *dial9,
                        struct tg_dial9_event *event,
                        struct tg_error *error);

/**
 * The next field of the event that was read last.
 */
tg_status tg_dial9_next_field(struct tg_dial9 *dial9, struct tg_dial9_field *field);

/**
 * Begins to read a trace whose files lie in memory: one of RTC or RDF; those of an RFR recording; the segments of a dial9
 * trace; the metadata of a CTF trace, and then its data streams. The first one tells the format.
 *
 * The memory is for tracks, names and all else that grows with the trace. TG_TOO_SMALL, here or later, tells how many
 * bytes are needed to come further: the trace is opened anew with that much, or better with twice as much.
 */
tg_status tg_events_open(struct tg_events *events,
                         const struct tg_bytes *inputs,
                         size_t count,
                         uint8_t *memory,
                         size_t len,
                         struct tg_error *error);

/**
 * Leaves out events that did not happen from one time on, in nanoseconds, and before another. To be called before the
 * first item. What lies outside is not read, where the format has a way around it.
 */
tg_status tg_events_window(struct tg_events *events,
                           int64_t from,
                           int64_t to);

/**
 * The next track or event. Damage is no error: it is an item, and reading goes on where it can.
 */
tg_status tg_events_next(struct tg_events *events, struct tg_item *item, struct tg_error *error);

/**
 * The arguments of the event that was read last, or what is known of the track: a list, which holds until the next call
 * for this reader. What has none, has an empty one.
 */
tg_status tg_events_args(struct tg_events *events,
                         const struct tg_arg **args,
                         size_t *count,
                         struct tg_error *error);

/**
 * Opens a file that lies in memory.
 */
tg_status tg_rdf_open(struct tg_rdf *rdf, const uint8_t *data, size_t len, struct tg_error *error);

/**
 * The entry of that number, which count from 0; TG_END after the last one.
 */
tg_status tg_rdf_entry_at(struct tg_rdf *rdf,
                          size_t number,
                          struct tg_rdf_entry *entry,
                          struct tg_error *error);

/**
 * The number of the n-th chunk of a name, both counted from 0; TG_END if there is none.
 */
tg_status tg_rdf_find(struct tg_rdf *rdf,
                      const uint8_t *name,
                      size_t name_len,
                      size_t n,
                      size_t *number);

/**
 * The header of a chunk.
 */
tg_status tg_rdf_header(struct tg_rdf *rdf,
                        size_t number,
                        struct tg_bytes *header,
                        struct tg_error *error);

/**
 * The data of a chunk as it is stored: compressed, if it is.
 */
tg_status tg_rdf_stored(struct tg_rdf *rdf,
                        size_t number,
                        struct tg_bytes *stored,
                        struct tg_error *error);

/**
 * The data of a chunk: borrowed from the file if it is stored as it is, else decompressed into the buffer.
 */
tg_status tg_rdf_data(struct tg_rdf *rdf,
                      size_t number,
                      struct tg_zstd *zstd,
                      uint8_t *buffer,
                      size_t buffer_len,
                      struct tg_bytes *data,
                      struct tg_error *error);

/**
 * Begins to record into pages of `page_words` each, at least 13.
 *
 * If `keep` is false, the newest page takes the place of the oldest: memory is dumped later. If it is true, closed pages
 * wait until they are released, and events that find no room are lost, and counted. A stream is a number for each
 * recorder of a trace.
 */
tg_status tg_ctf_packet_open(struct tg_ctf_packet *packet,
                             uint32_t *memory,
                             size_t words,
                             size_t page_words,
                             bool keep,
                             uint32_t stream);

/**
 * Goes on in the pages as a reset left them, for memory that outlives one: to be called right after tg_ctf_packet_open,
 * with the same memory, pages and stream as before the reset.
 *
 * If `keep` is false, the packets in the memory stay until it is their turn, and the next one comes after the newest. If it
 * is true, all pages are free. The numbers of packets go on, as does that of lost records.
 */
tg_status tg_ctf_packet_reopen(struct tg_ctf_packet *packet);

/**
 * Goes on to the next page, with room for a record of so many words: tg_ctf_packet_begin calls it. False if the record
 * is lost.
 */
bool tg_ctf_packet_turn(struct tg_ctf_packet *packet,
                        uint64_t time,
                        uint32_t words);

/**
 * Closes the page, so that it can be sent: the next record begins another one.
 */
void tg_ctf_packet_close(struct tg_ctf_packet *packet);

/**
 * The oldest closed page that was not released; TG_END if there is none. Its total length becomes that of its content,
 * so that it can be sent without the unused rest.
 *
 * One context takes pages; it may be another one than those that record. Word 9, how many records were lost, may go on
 * until the page is released: whoever sends it in parts sends a copy.
 */
tg_status tg_ctf_packet_page(struct tg_ctf_packet *packet,
                             struct tg_ctf_page *page);

/**
 * Gives the oldest closed page back to the recorder.
 */
void tg_ctf_packet_release(struct tg_ctf_packet *packet);

/**
 * Begins to read a chunk file, or a streaming file, that lies in memory.
 */
tg_status tg_rfr_open(struct tg_rfr *rfr, const uint8_t *data, size_t len, struct tg_error *error);

/**
 * The next record, in the order of the file.
 */
tg_status tg_rfr_next(struct tg_rfr *rfr, struct tg_rfr_record *record, struct tg_error *error);

/**
 * Begins to read a file that lies in memory. Records in several frames are joined in the buffer.
 */
tg_status tg_rtc_open(struct tg_rtc *rtc,
                      const uint8_t *data,
                      size_t len,
                      uint8_t *buffer,
                      size_t buffer_len);

/**
 * The next record. Its data may lie in the buffer: it holds until the next call.
 */
tg_status tg_rtc_next(struct tg_rtc *rtc, struct tg_rtc_record *record, struct tg_error *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TRACEGLASS_H */
