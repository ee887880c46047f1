/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_relayout.c - the verb relayout: a tensor of a file in another layout.
 */
#include <string.h>

#include "main/say.h"
#include "tensor_file_write.h"

static tesela_transform transform_of(const cli_context *cli) {
  static const char *const names[] = {"none", "swap", "convert", "split", "merge"};
  const char *said = cli_value(cli, "transform");
  for (int i = 0; said && i < (int)(sizeof names / sizeof names[0]); i++)
    if (strcmp(said, names[i]) == 0) return (tesela_transform)i;
  return TESELA_TRANSFORM_NONE;
}

static int relayout(tensor_job *job) {
  const cli_context *cli = job->cli;
  tensor from;
  tensor_item item = {.name = "tensor"};
  int status = tensor_file_read(cli, job->in, NULL, &job->says, &from);
  if (status == CLI_YES) status = tensor_layout_text(cli, cli_value(cli, "to"), &from.shape, &item.to, NULL);
  if (status == CLI_YES) status = tensor_check_pair(cli, "--to", &from.shape, &item.to, job->transform);
  if (status != CLI_YES) return status;
  item.entry = from.entry;
  if (job->in->info.format == TESELA_FILE_SAFETENSORS) item.name = from.entry->name;
  job->n = 1;
  job->item = &item;
  return tensor_write(job);
}

int cmd_relayout(const cli_context *cli) {
  const char *path = cli_value(cli, "output");
  tensor_file *in;
  tensor_job job = {.cli = cli, .path = path ? path : "-"};
  job.says = (tensor_says){cli_value(cli, "from"), cli_value(cli, "dtype"), cli_value(cli, "tensor"), "from"};
  job.transform = transform_of(cli);
  if (!cli_value(cli, "to")) return say_usage(cli, "--to is missing: the layout to write, {1,0:T(8,128)}");
  if (!tensor_output_format(cli, job.path, &job.format)) return CLI_BAD;
  if (job.transform == TESELA_TRANSFORM_SPLIT && job.format != TESELA_FILE_RAW)
    return say_usage(cli, "pairs of f32 are no type of a .npy or .safetensors file; write them raw");
  int status = tensor_file_open(cli, cli->arg[0], &in);
  job.in = in;
  if (status == CLI_YES) status = relayout(&job);
  tensor_file_close(in);
  return status;
}
