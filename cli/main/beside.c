/* SPDX-License-Identifier: Apache-2.0 */
/* beside.c - see beside.h. */
#include "main/beside.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "main/say.h"
#include "main/text_file.h"

enum { MOST_DEFINITIONS = 64 << 20 };

/* Read once: all layouts of a command have the same. */
static struct {
  bool read, good;
  tesela_xla_shape array;
  tesela_dtype dtype;
  char *definitions;
  size_t definitions_length;
} beside;

/* The value of an option, which the verb may lack. */
static const char *value_of(const cli_context *cli, const char *name) {
  bool common;
  int at;
  const cli_option *option = cli_find_option(cli, name, strlen(name), 0, &common, &at);
  return option && option->value && !common ? cli->own[at] : NULL;
}

static bool value_exists(const cli_context *cli, const char *name) {
  const cli_option *o = cli->verb->options;
  while (o->name && strcmp(o->name, name) != 0) o++;
  return o->name != NULL;
}

/* "20,70" or "20x70". */
static bool read_shape(const cli_context *cli, const char *text, tesela_xla_shape *array, int *status) {
  const char *at = text;
  while (*at) {
    char *end;
    long long extent = *at >= '0' && *at <= '9' ? strtoll(at, &end, 10) : -1;
    if (extent < 0 || extent == LLONG_MAX || array->rank == TESELA_MAX_RANK ||
        (*end && *end != ',' && *end != 'x') || (*end && !end[1])) {
      *status = say_usage(cli, "--shape=%s: expected up to %d extents, as in 20,70", text, TESELA_MAX_RANK);
      return false;
    }
    array->dim[array->rank++] = extent;
    at = *end ? end + 1 : end;
  }
  return true;
}

static bool read_all(const cli_context *cli, int *status) {
  tesela_error err = {.at = -1};
  const char *shape = value_of(cli, "shape"), *dtype = value_of(cli, "dtype"),
             *path = value_of(cli, "definitions");
  if (!value_exists(cli, "target")) dtype = NULL; /* verbs about registers read their own */
  if (dtype && tesela_dtype_read(dtype, strlen(dtype), &beside.dtype, &err) != TESELA_OK) {
    *status = say_failure_in(cli, dtype, strlen(dtype), &err);
    return false;
  }
  beside.array.dtype = beside.dtype;
  if (shape && !read_shape(cli, shape, &beside.array, status)) return false;
  if (path)
    beside.definitions = text_file_read(cli, path, MOST_DEFINITIONS, &beside.definitions_length, status);
  return !path || beside.definitions;
}

bool beside_options(const cli_context *cli, tesela_layout_read_options *options, int *status) {
  if (!beside.read) beside.good = read_all(cli, status);
  beside.read = true;
  if (value_of(cli, "shape")) options->array = &beside.array;
  options->dtype = beside.dtype;
  options->as = value_of(cli, "as");
  options->definitions = beside.definitions;
  options->definitions_length = beside.definitions_length;
  return beside.good;
}
