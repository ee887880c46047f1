/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_unpack.c - the verb unpack: what pack wrote, row-major again.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "main/say.h"
#include "tensor_file_write.h"

/* The same tensor row-major, with elements of the same width. */
static int row_major(const cli_context *cli, const tensor *from, tesela_xla_shape *to) {
  const tesela_xla_shape *shape = &from->shape;
  tesela_error err;
  if (tesela_xla_shape_make(to, shape->dtype, shape->rank, shape->dim, NULL, &err) != TESELA_OK)
    return say_failure(cli, &err);
  if (from->layout.bits != 8 * tesela_dtype_bytes(shape->dtype)) to->layout.element_bits = from->layout.bits;
  return CLI_YES;
}

static int choose(const tensor_job *job, const tesela_file_tensor *entry, tensor_item *item) {
  tensor from;
  *item = (tensor_item){.name = entry->name, .entry = entry, .as_is = !tensor_is_packed(entry)};
  if (item->as_is) return CLI_YES;
  int status = tensor_file_read(job->cli, job->in, entry, &job->says, &from);
  return status == CLI_YES ? row_major(job->cli, &from, &item->to) : status;
}

/* Which tensors are written: all, or the one that is named or the only one that is packed. */
static int choose_all(tensor_job *job) {
  const tensor_file *in = job->in;
  const char *name = cli_value(job->cli, "tensor");
  char quote[SAY_QUOTE];
  int64_t n_packed = 0;
  bool one = name || job->format != TESELA_FILE_SAFETENSORS;
  int status = CLI_YES;
  for (int64_t i = 0; i < in->info.n_tensors && status == CLI_YES; i++) {
    const tesela_file_tensor *entry = &in->info.tensor[i];
    bool packed = tensor_is_packed(entry), wanted = name ? strcmp(entry->name, name) == 0 : !one || packed;
    n_packed += wanted && packed;
    if (wanted) status = choose(job, entry, &job->item[job->n++]);
  }
  if (status != CLI_YES) return status;
  if (n_packed == 0 && name)
    return tensor_file_wrong(job->cli, in->name, "holds no packed tensor %s", say_quote(name, quote));
  if (n_packed == 0) return tensor_file_wrong(job->cli, in->name, "no tensor in it is packed");
  if (one && job->n > 1)
    return say_usage(job->cli,
                     "%" PRId64 " tensors are packed; --tensor=NAME says which one, or write .safetensors",
                     job->n);
  return CLI_YES;
}

int cmd_unpack(const cli_context *cli) {
  const char *path = cli_value(cli, "output");
  tensor_job job = {.cli = cli, .path = path ? path : "-"};
  tensor_file *in;
  if (!tensor_output_format(cli, job.path, &job.format)) return CLI_BAD;
  int status = tensor_file_open(cli, cli->arg[0], &in);
  if (status != CLI_YES) return status;
  job.in = in;
  job.item = calloc((size_t)in->info.n_tensors + 1, sizeof *job.item);
  if (!job.item) say_error(cli, "no memory");
  if (!job.item) status = CLI_FAILED;
  if (status == CLI_YES) status = choose_all(&job);
  if (status == CLI_YES) status = tensor_write(&job);
  free(job.item);
  tensor_file_close(in);
  return status;
}
