/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_records.c - any bytes as a compiler's records: two files of one program, the first byte says where the second starts (in
 * 1/256 of the input).
 *
 * Sums agree, a peak is not above what is needed, each buffer belongs to an allocation.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <tesela/tesela.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_records: %s\n", what);
  abort();
}

static void check_program(const tesela_record_program *program) {
  for (int64_t i = 0; i < program->n_buffers; i++) {
    require(program->buffer[i].allocation >= 0 && program->buffer[i].allocation < program->n_allocations,
            "a buffer without an allocation");
    require(i == 0 || program->buffer[i - 1].bytes >= program->buffer[i].bytes, "the order of the buffers");
  }
  for (int64_t i = 0; i < program->n_spaces; i++)
    require(program->space[i].peak_bytes <= program->space[i].needs_bytes, "a peak above what is needed");
  for (int64_t i = 0; i < program->n_differences; i++)
    require(program->difference[i].count > 0 && program->difference[i].text[0], "a difference without words");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  const char *text = (const char *)data + 1;
  size_t n = size - 1, cut = n * data[0] / 256;
  tesela_records *records = NULL;
  require(tesela_records_create(&records, NULL, NULL) == TESELA_OK, "no records");
  require(tesela_records_read(records, "d/module_1.f.a", text + cut, n - cut, NULL) == TESELA_OK, "second");
  require(tesela_records_read(records, "d/module_1.f.b", text, cut, NULL) == TESELA_OK, "first");
  require(tesela_records_finish(records, NULL) == TESELA_OK, "finish failed");
  for (int64_t i = 0; i < tesela_records_n_programs(records); i++)
    check_program(tesela_records_program_at(records, i));
  tesela_records_destroy(records);
  return 0;
}
