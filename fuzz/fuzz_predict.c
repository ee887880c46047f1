/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_predict.c - any bytes as a program before it is compiled. First byte: the target.
 *
 * What is read has sums of its arrays; what is refused has an error within the text.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <tesela/report.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_predict: %s\n", what);
  abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const targets[] = {"v2", "v3", "v4", "v5e", "v5p", "v6e", "tpu7x"};
  tesela_prediction *p;
  tesela_error err = {.at = -1};
  if (size == 0) return 0;
  const char *target = targets[data[0] % (sizeof targets / sizeof targets[0])];
  if (tesela_predict_create(&p, (const char *)data + 1, size - 1, target, NULL, &err) != TESELA_OK) {
    require(!p && err.message[0] != '\0' && err.at < (int64_t)size, "an error outside of the text");
    return 0;
  }
  const tesela_prediction_totals t = tesela_predict_totals(p);
  const tesela_predicted *array;
  int64_t arguments = 0, results = t.table_bytes;
  int32_t n = 0;
  for (; (array = tesela_predict_at(p, n)) != NULL; n++) {
    require(array->bytes >= 0 && array->alias < t.n_results, "an array out of range");
    require(array->name_length == 0 || (array->name >= (const char *)data &&
                                        array->name + array->name_length <= (const char *)data + size),
            "a name outside of the text");
    *(array->result ? &results : &arguments) += array->bytes;
  }
  require(n == t.n_arguments + t.n_results, "another number of arrays");
  require(arguments == t.argument_bytes + t.host_argument_bytes, "another sum of the arguments");
  require(results == t.output_bytes + t.host_output_bytes, "another sum of the results");
  tesela_predict_destroy(p);
  return 0;
}
