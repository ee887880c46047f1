/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_infer.c - any bytes as a kernel program.
 *
 * A refusal names a byte of the text. What was inferred is valid: layouts of the tensors' shapes with the program's
 * threads, conflicts that show, the same answer and the same table the second time.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/tesela.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_infer: %s\n", what);
  abort();
}

/* FNV-1a of a text that is written. */
static int hash_text(void *user, const char *text, size_t length) {
  uint64_t *hash = user;
  for (size_t i = 0; i < length; i++) *hash = (*hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
  return 0;
}

static uint64_t table_of(const tesela_kernel_program *program) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  require(tesela_kernel_program_print(program, &(tesela_writer){hash_text, &hash}, NULL) == TESELA_OK,
          "print");
  return hash;
}

static void check_tensor(const tesela_kernel_program *program, const tesela_tensor *tensor, bool all) {
  const tesela_register *registers = tensor->registers;
  const tesela_tile_memory *memory = tensor->memory;
  bool inside = tensor->space == TESELA_TENSOR_REGISTER;
  require(inside ? !memory : !registers, "a layout of the wrong kind");
  require(!all || registers || memory, "a tensor without a layout");
  require((registers || memory) == (tensor->rule[0] != '\0'),
          "a rule without a layout, or the other way round");
  if (registers) {
    require(tesela_register_check(registers, NULL) == TESELA_OK, "a layout that is none");
    require(registers->spatial_size == tesela_kernel_program_threads(program), "another number of threads");
    require(registers->rank == tensor->rank, "another rank");
  }
  if (memory) require(memory->rank == tensor->rank && memory->size >= 1, "another rank in memory");
  for (int32_t d = 0; d < tensor->rank; d++) {
    require(!registers || registers->shape[d] == tensor->shape[d], "another shape");
    require(!memory || memory->shape[d] == tensor->shape[d], "another shape in memory");
  }
}

/* It cannot be done as it is, and can in the suggested layout; of a copy other registers may be meant. */
static void check_access(const tesela_kernel_program *program, const tesela_kernel_conflict *conflict) {
  tesela_tensor tensor =
      tesela_kernel_program_tensor(program, tesela_kernel_program_find(program, conflict->tensor));
  tesela_tensor other =
      tesela_kernel_program_tensor(program, tesela_kernel_program_find(program, conflict->other));
  int32_t bits = tesela_dtype_bits(tensor.dtype);
  tesela_vector_width width;
  require(tesela_vector_width_of(&conflict->has, &conflict->memory, bits, NULL, &width, NULL) == TESELA_OK &&
              width.bytes == 0,
          "an access that can be done");
  if (!conflict->repairable || !other.registers) return;
  require(tesela_vector_width_of(&conflict->has, &conflict->would_do, bits, NULL, &width, NULL) ==
                  TESELA_OK &&
              width.bytes > 0,
          "a layout that would not do");
}

static void check_conflict(const tesela_kernel_program *program, tesela_status status, size_t size) {
  const tesela_kernel_conflict *conflict = tesela_kernel_program_conflict(program);
  bool has = false, needs = false;
  require(conflict->found == (status == TESELA_E_INVALID), "a conflict and the status differ");
  if (!conflict->found) return;
  require(conflict->at >= 0 && (size_t)conflict->at < size && conflict->line >= 1,
          "a conflict without a place");
  require(conflict->why[0] != '\0', "a conflict without a reason");
  if (conflict->is_access) check_access(program, conflict);
  if (!conflict->have_index) return;
  require(tesela_register_locate_at(&conflict->needs, conflict->index, conflict->thread, &needs, NULL) ==
                  TESELA_OK &&
              needs,
          "nobody needs this");
  require(tesela_register_locate_at(&conflict->has, conflict->index, conflict->thread, &has, NULL) ==
                  TESELA_OK &&
              !has,
          "it is there");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tesela_kernel_program *program = NULL;
  tesela_error err = {.message = ""};
  tesela_status status = tesela_kernel_program_create(&program, (const char *)data, size, NULL, &err);
  if (status != TESELA_OK) {
    require(err.at >= 0 && (size_t)err.at <= size && err.message[0] != '\0', "an error without a place");
    return 0;
  }
  status = tesela_kernel_program_infer(program, &err);
  require(status == TESELA_OK || status == TESELA_E_INVALID || status == TESELA_E_UNSUPPORTED ||
              status == TESELA_E_LIMIT || status == TESELA_E_OVERFLOW,
          "a status that infer has not");
  check_conflict(program, status, size);
  for (int32_t i = 0; i < tesela_kernel_program_count(program); i++) {
    tesela_tensor tensor = tesela_kernel_program_tensor(program, i);
    check_tensor(program, &tensor, status == TESELA_OK);
  }
  uint64_t table = table_of(program);
  require(tesela_kernel_program_infer(program, NULL) == status, "another answer the second time");
  require(table_of(program) == table, "another table the second time");
  tesela_kernel_program_destroy(program);
  return 0;
}
