/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.c - a compiler's records: what a file is, and reading it.
 */
#include "records/records.h"

#define TESELA__ROW(symbol, name, words) name,
static const char *const kind_names[] = {TESELA_RECORD_MAP(TESELA__ROW)};
#undef TESELA__ROW

const char *tesela_record_kind_name(tesela_record_kind kind) {
  return (unsigned)kind < TESELA_RECORD_N_KINDS ? kind_names[kind] : NULL;
}

const char *tesela_record_use_name(tesela_record_use use) {
  static const char *const names[] = {"temporary",    "parameter", "constant",
                                      "thread_local", "result",    "other"};
  return (unsigned)use < sizeof names / sizeof names[0] ? names[use] : NULL;
}

/* ---- reading ---------------------------------------------------------------------------------------------- */

static const struct {
  tesela_record_kind kind;
  const char *start;
  bool (*read)(tesela__record_file *file);
} readers[] = {
    {TESELA_RECORD_HLO, "HloModule ", tesela__record_hlo},
    {TESELA_RECORD_ASSIGNMENT, "BufferAssignment:", tesela__record_assignment},
    {TESELA_RECORD_VALUES, "Used values:", tesela__record_values},
    {TESELA_RECORD_LIVE_RANGE, "HloLiveRange", tesela__record_live_range},
    {TESELA_RECORD_USAGE, "Memory Space: ", tesela__record_usage},
    {TESELA_RECORD_VALUES, "Total bytes used: ", tesela__record_values},
    {TESELA_RECORD_USAGE, "Total bytes used: ", tesela__record_usage}, /* with a table */
    {TESELA_RECORD_SPACE_BUFFERS, "buffer_id,buffer_name,", tesela__record_space_buffers},
    {TESELA_RECORD_SPACE_ALLOCATIONS, "buffer_id,size,offset,start_time,end_time",
     tesela__record_space_allocations},
    {TESELA_RECORD_SPACE_SCHEDULE, "time,instruction_name", tesela__record_space_schedule},
};
enum { READERS = sizeof readers / sizeof readers[0] };

/* An HloProto starts with its module, which starts with its name: 0A, a length, 0A, a shorter length, a name. */
static bool is_proto(const unsigned char *p, size_t n) {
  size_t i = 1;
  if (n < 4 || p[0] != 0x0a) return false;
  while (i < n && i < 10 && p[i] >= 128) i++;
  if (i + 3 >= n || p[i + 1] != 0x0a || p[i + 2] == 0) return false;
  return p[i + 2] >= 128 || (i + 3 < n && tesela__is_name((char)p[i + 3]));
}

/* An XSpace starts with a plane, and that with its number or its name: 0A, a length, 08 NUMBER or nothing, 12, the length of a name. */
static bool is_profile(const unsigned char *p, size_t n) {
  size_t i = 1;
  if (n < 4 || p[0] != 0x0a) return false;
  while (i < n && i < 10 && p[i] >= 128) i++;
  if (++i < n && p[i] == 0x08) {
    while (++i < n && p[i] >= 128) continue;
    i++;
  }
  if (i + 2 >= n || p[i] != 0x12 || p[i + 1] == 0 || p[i + 1] >= 128) return false;
  size_t end = i + 2 + p[i + 1];
  for (i += 2; i < end && i < n; i++)
    if (p[i] < ' ' || p[i] > '~') return false;
  return end < n && (p[end] == 0x1a || p[end] == 0x22 || p[end] == 0x2a || p[end] == 0x32 || p[end] == 0x0a);
}

static size_t reader_of(const char *bytes, size_t length) {
  const char *end = bytes + length, *p = bytes;
  while (p < end && (*p == '\n' || tesela__is_blank(*p))) p++;
  size_t i = 0;
  while (i < READERS && !tesela__looking_at(p, end, readers[i].start)) i++;
  bool table = i < READERS && readers[i].start[0] == 'T' &&
               tesela__find(tesela__between(p, end - p > 400 ? p + 400 : end), "cumulative_size");
  return table ? i + 1 : i;
}

tesela_record_kind tesela_records_kind(const char *bytes, size_t length) {
  if (!bytes) return TESELA_RECORD_NONE;
  if (length > 4096) length = 4096;
  if (is_proto((const unsigned char *)bytes, length)) return TESELA_RECORD_PROTO;
  if (is_profile((const unsigned char *)bytes, length)) return TESELA_RECORD_PROFILE;
  size_t i = reader_of(bytes, length);
  return i < READERS ? readers[i].kind : TESELA_RECORD_NONE;
}

static bool read_kind(tesela__record_file *file, tesela_record_kind kind) {
  if (kind == TESELA_RECORD_PROFILE) return tesela__record_profile(file);
  file->program = tesela__record_program_of(file->records, file->path, kind);
  if (!file->program) return false;
  file->program->told.kinds |= 1u << kind;
  if (kind == TESELA_RECORD_PROTO) return tesela__record_proto(file);
  return readers[reader_of(file->rest.text, file->rest.n)].read(file);
}

tesela_status tesela_records_read(tesela_records *records, const char *path, const char *bytes, size_t length,
                                  tesela_error *err) {
  TESELA__NEED(err, records, path);
  TESELA__NEED_LIST(err, bytes, length);
  if (records->finished) return tesela__fail(err, TESELA_E_INVALID, -1, "the records are finished");
  tesela_record_kind kind = tesela_records_kind(bytes, length);
  if (kind == TESELA_RECORD_NONE) return TESELA_OK;
  tesela__record_file file = {.records = records, .path = path, .rest = {bytes, length}};
  bool fits = read_kind(&file, kind);
  return fits ? TESELA_OK : tesela__fail(err, TESELA_E_MEMORY, -1, "no memory");
}

tesela_status tesela_records_create(tesela_records **records, const tesela_allocator *allocator,
                                    tesela_error *err) {
  TESELA__NEED(err, records);
  tesela_allocator memory = tesela__allocator(allocator);
  *records = tesela__alloc(&memory, sizeof **records, alignof(tesela_records));
  if (!*records) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory");
  **records = (tesela_records){.allocator = memory};
  return TESELA_OK;
}

void tesela_records_destroy(tesela_records *records) {
  if (!records) return;
  tesela_allocator memory = records->allocator;
  for (size_t i = 0; i < records->program.n; i++) {
    tesela__record_program *program = ((tesela__record_program **)records->program.items)[i];
    void *const owned[] = {
        program->allocation.items,   program->buffer.items,        program->stay.items,
        program->space.items,        program->difference.items,    program->instant.items,
        program->instruction.items,  program->range.items,         program->total.items,
        program->space_name.items,   program->space_instant.items, program->proto_allocation.items,
        program->proto_buffer.items, program->instructions.place,  program->ranges.place,
    };
    for (size_t k = 0; k < sizeof owned / sizeof owned[0]; k++) tesela__release(&memory, owned[k]);
    tesela__frames_free(&program->frames, &memory);
  }
  tesela__release(&memory, records->program.items);
  tesela__arena_clear(&records->text, &memory);
  tesela__release(&memory, records);
}

int64_t tesela_records_n_programs(const tesela_records *records) {
  return records && records->finished ? (int64_t)records->joined : 0;
}

const tesela_record_program *tesela_records_program_at(const tesela_records *records, int64_t i) {
  if (i < 0 || i >= tesela_records_n_programs(records)) return NULL;
  return &((tesela__record_program *const *)records->program.items)[i]->told;
}
