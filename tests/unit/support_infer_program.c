/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_infer_program.c - kernels from correct texts.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_infer.h"

tesela_kernel_program *infer_program(const char *name, const char *text) {
  tesela_kernel_program *program = NULL;
  tesela_error err = {.message = ""};
  if (tesela_kernel_program_create(&program, text, strlen(text), NULL, &err) != TESELA_OK)
    fail_msg("%s: byte %" PRId64 ": %s", name, err.at, err.message);
  return program;
}

tesela_tensor infer_tensor(const tesela_kernel_program *program, const char *name) {
  return tesela_kernel_program_tensor(program, tesela_kernel_program_find(program, name));
}
