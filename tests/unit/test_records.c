/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_records.c - a compiler's records when memory runs out, when texts break off, and what is refused.
 */
#include "support_fault.h"
#include "support_report.h"

static const char *const texts[][2] = {
    {"d/module_0001.jit_f.after_optimizations.txt",
     "HloModule jit_f, is_scheduled=true\n\nFileNames\n1 \"a.py\"\n\nFileLocations\n1 {file_name_id=1 "
     "line=3}\n\nStackFrames\n"
     "1 {file_location_id=1}\n\n\nENTRY %main () -> f32[] {\n  %a = f32[256]{0:T(128)} custom-call(), "
     "metadata={op_name=\"x\" stack_frame_id=1}\n  %b = f32[256]{0:T(128)} negate(%a)\n}\n"},
    {"d/module_0001.jit_f.after_optimizations-buffer-assignment.txt",
     "BufferAssignment:\nallocation 0: size 2048, preallocated-temp:\n"
     " value: <1 a @0> (size=1024,offset=0): f32[256]{0:T(128)}\n"
     " value: <2 b @0> (size=1024,offset=1024): f32[256]{0:T(128)}\n\nTotal bytes used: 2048 (2KiB)\n"},
    {"d/module_0001.jit_f.after_optimizations-live-range.txt",
     "HloLiveRange (max 2):\n  InstructionSequence:\n    0:a\n    1:b\n  BufferLiveRange:\n    a{}:0-1\n    "
     "b{}:1-2\n"},
    {"d/module_0001.jit_f.after_optimizations-memory-usage-report.txt",
     "Memory Space: default (color=0)\nTotal bytes: 2048 (2KiB)\n"},
    {"j/TLP-memory-space-assignment-allocinfo.txt",
     "buffer_id,size,offset,start_time,end_time\n1,1024,0,0,1\n"},
    {"j/TLP-memory-space-assignment-scheduleinfo.txt", "time,instruction_name\n0,a\n1,b\n"},
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

/* `cut` bytes of each text. */
static tesela_status read_all(tesela_records **records, const tesela_allocator *allocator, size_t cut) {
  tesela_status status = tesela_records_create(records, allocator, NULL);
  for (size_t i = 0; i < TEXTS && status == TESELA_OK; i++) {
    size_t n = strlen(texts[i][1]);
    status = tesela_records_read(*records, texts[i][0], texts[i][1], n < cut ? n : cut, NULL);
  }
  if (status == TESELA_OK) status = tesela_records_finish(*records, NULL);
  return status;
}

static void check_program(const tesela_records *records) {
  assert_int_equal(tesela_records_n_programs(records), 1);
  const tesela_record_program *program = tesela_records_program_at(records, 0);
  assert_string_equal(program->name, "jit_f");
  assert_int_equal(program->n_buffers, 2);
  assert_string_equal(program->buffer[0].instruction, "a");
  assert_string_equal(program->buffer[0].location, "a.py:3");
  assert_int_equal(program->buffer[1].from, 1);
  assert_int_equal(program->buffer[1].to, 2);
  assert_int_equal(program->n_spaces, 1);
  assert_int_equal(program->space[0].peak_bytes, 2048);
  assert_int_equal(program->space[0].at, 1);
  assert_string_equal(program->space[0].instruction, "b");
  assert_int_equal(program->n_stays, 1);
  assert_string_equal(program->stay[0].last, "b");
  assert_int_equal(program->n_differences, 0);
}

static void test_without_memory(void **state) {
  (void)state;
  for (int64_t n = 0;; n++) {
    fault f = {.countdown = n};
    tesela_allocator allocator = fault_allocator(&f);
    tesela_records *records = NULL;
    tesela_status status = read_all(&records, &allocator, SIZE_MAX);
    if (status == TESELA_OK) check_program(records);
    if (status != TESELA_OK) assert_int_equal(status, TESELA_E_MEMORY);
    tesela_records_destroy(records);
    assert_int_equal(f.live, 0);
    if (status == TESELA_OK) break;
    assert_true(n < 1000);
  }
}

static void test_cut_texts(void **state) {
  (void)state;
  for (size_t cut = 0; cut < 600; cut++) {
    tesela_records *records = NULL;
    assert_int_equal(read_all(&records, NULL, cut), TESELA_OK);
    for (int64_t i = 0; i < tesela_records_n_programs(records); i++) {
      const tesela_record_program *program = tesela_records_program_at(records, i);
      for (int64_t k = 0; k < program->n_spaces; k++)
        assert_true(program->space[k].peak_bytes <= program->space[k].needs_bytes);
    }
    tesela_records_destroy(records);
  }
}

static void test_kinds(void **state) {
  (void)state;
  static const tesela_record_kind kinds[TEXTS] = {
      TESELA_RECORD_HLO,   TESELA_RECORD_ASSIGNMENT,        TESELA_RECORD_LIVE_RANGE,
      TESELA_RECORD_USAGE, TESELA_RECORD_SPACE_ALLOCATIONS, TESELA_RECORD_SPACE_SCHEDULE};
  for (size_t i = 0; i < TEXTS; i++)
    assert_int_equal(tesela_records_kind(texts[i][1], strlen(texts[i][1])), kinds[i]);
  assert_int_equal(tesela_records_kind("\n\x08\n\x05jit_f", 9), TESELA_RECORD_PROTO);
  assert_int_equal(tesela_records_kind("\nhello", 6), TESELA_RECORD_NONE);
  assert_string_equal(tesela_record_kind_name(TESELA_RECORD_PROTO), "hlo_proto");
  assert_null(tesela_record_kind_name(TESELA_RECORD_N_KINDS));
  assert_string_equal(tesela_record_use_name(TESELA_RECORD_TEMPORARY), "temporary");
}

static void test_refused(void **state) {
  (void)state;
  tesela_records *records = NULL;
  assert_int_equal(read_all(&records, NULL, SIZE_MAX), TESELA_OK);
  assert_int_equal(tesela_records_read(records, "x", texts[1][1], 10, NULL), TESELA_E_INVALID);
  assert_null(tesela_records_program_at(records, 1));
  assert_null(tesela_records_program_at(records, -1));
  tesela_records_destroy(records);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_without_memory),
      cmocka_unit_test(test_cut_texts),
      cmocka_unit_test(test_kinds),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
