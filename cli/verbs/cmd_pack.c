/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_pack.c - the verb pack: tensors in the layouts of a device, with those layouts recorded in the file.
 *
 * A rule is PATTERN={...}. It takes a tensor whose name matches and that has as many dims as the braces list; the first
 * that does counts. --to is one more rule for all names.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "main/say.h"
#include "tensor_file_write.h"

typedef struct rule {
  char *pattern;
  const char *layout;
  int64_t n_names, n_taken; /* tensors whose name matches; that have the right number of dims, too */
} rule;

typedef struct packing {
  const cli_context *cli;
  const tensor_file *in;
  rule *rule;
  int n_rules;
  bool has_to; /* the last rule is that of --to */
} packing;

/* ---- rules --------------------------------------------------------------------------------------------- */

static int no_memory(const cli_context *cli) {
  say_error(cli, "no memory");
  return CLI_FAILED;
}

static int read_rule(const cli_context *cli, const char *word, rule *out) {
  const char *equals = strstr(word, "={");
  char quote[SAY_QUOTE];
  if (!equals || equals == word)
    return say_usage(cli, "%s is no rule; one is PATTERN={...}, as in '*weight={1,0:T(8,128)}'",
                     say_quote(word, quote));
  *out = (rule){.pattern = strndup(word, (size_t)(equals - word)), .layout = equals + 1};
  return out->pattern ? CLI_YES : no_memory(cli);
}

static int read_rules(packing *p) {
  const cli_context *cli = p->cli;
  const char *to = cli_value(cli, "to");
  int status = CLI_YES;
  p->rule = calloc((size_t)cli->n_args + 1, sizeof *p->rule);
  if (!p->rule) return no_memory(cli);
  for (int i = 1; i < cli->n_args && status == CLI_YES; i++)
    status = read_rule(cli, cli->arg[i], &p->rule[p->n_rules++]);
  p->has_to = to != NULL;
  if (status == CLI_YES && to) {
    p->rule[p->n_rules] = (rule){.pattern = strdup("*"), .layout = to};
    status = p->rule[p->n_rules++].pattern ? CLI_YES : no_memory(cli);
  }
  if (status == CLI_YES && p->n_rules == 0)
    return say_usage(cli, "no layout: --to='{1,0:T(8,128)}' gives one for all, PATTERN={...} for some");
  return status;
}

/* The number of dims that a LAYOUT or its braces list, `rank` for one that lists none; -1 after saying that it is none. */
static int32_t rank_of(const cli_context *cli, const char *text, int32_t rank) {
  tesela_xla_layout braces;
  tesela_xla_shape shape;
  tesela_error err;
  int status;
  if (strncmp(text, "stick(", 6) == 0) return rank;
  if (*text != '{') {
    status = tensor_layout_text(cli, text, NULL, &shape, NULL);
    return status == CLI_YES ? shape.rank : -1;
  }
  if (tesela_xla_parse_layout(text, strlen(text), TESELA_XLA_LENIENT, &braces, NULL, &err) == TESELA_OK)
    return braces.rank;
  say_failure_in(cli, text, strlen(text), &err);
  return -1;
}

/* The rule that takes a tensor of a name and rank; NULL if none does, or after saying what is wrong with one. */
static const rule *find_rule(packing *p, const char *name, int32_t rank, int *status) {
  for (int i = 0; i < p->n_rules; i++) {
    rule *r = &p->rule[i];
    if (fnmatch(r->pattern, name, 0) != 0) continue;
    r->n_names++;
    int32_t listed = rank_of(p->cli, r->layout, rank);
    if (listed < 0) *status = CLI_BAD;
    if (listed < 0) return NULL;
    if (listed != rank) continue;
    r->n_taken++;
    return r;
  }
  return NULL;
}

/* A rule without any tensor is most likely misspelt; --to may find that the others took all. */
static int check_rules(const packing *p) {
  char quotes[2][SAY_QUOTE];
  int64_t n_taken = 0;
  for (int i = 0; i < p->n_rules; i++) n_taken += p->rule[i].n_taken;
  for (int i = 0; i < p->n_rules; i++) {
    const rule *r = &p->rule[i];
    if (r->n_taken > 0 || (i == p->n_rules - 1 && p->has_to && n_taken > 0)) continue;
    if (r->n_names == 0)
      return tensor_file_wrong(p->cli, p->in->name, "no tensor is left for %s",
                               say_quote(r->pattern, quotes[0]));
    return tensor_file_wrong(p->cli, p->in->name, "no tensor that %s matches has the dims of %s",
                             say_quote(r->pattern, quotes[0]), say_quote(r->layout, quotes[1]));
  }
  return CLI_YES;
}

/* ---- tensors ------------------------------------------------------------------------------------------- */

/* What becomes of one tensor. */
static int choose(packing *p, const tensor_job *job, const tesela_file_tensor *entry, tensor_item *item) {
  char quotes[2][SAY_QUOTE];
  tensor from;
  int status = CLI_YES;
  const char *name = p->in->info.format == TESELA_FILE_SAFETENSORS ? entry->name : "tensor";
  *item = (tensor_item){.name = name, .entry = entry, .as_is = true};
  int32_t rank = entry->rank;
  bool packed = tensor_is_packed(entry);
  if (rank < 0 || entry->layout) { /* what the file calls a list of places has dims of its own */
    status = tensor_file_read(p->cli, p->in, entry, &job->says, &from);
    if (status != CLI_YES) return status;
    rank = from.shape.rank;
  }
  const rule *r = find_rule(p, item->name, rank, &status);
  if (!r) return status;
  if (packed)
    return tensor_file_wrong(p->cli, p->in->name,
                             "tensor %s is packed already, as %s; tesela unpack undoes that",
                             say_quote(item->name, quotes[0]), say_quote(entry->layout, quotes[1]));
  item->as_is = false;
  status = tensor_file_read(p->cli, p->in, entry, &job->says, &from);
  if (status == CLI_YES) status = tensor_layout_text(p->cli, r->layout, &from.shape, &item->to, NULL);
  if (status == CLI_YES)
    status = tensor_check_pair(p->cli, "the rule", &from.shape, &item->to, TESELA_TRANSFORM_NONE);
  if (status != CLI_YES) fprintf(stderr, "This was for tensor %s.\n", say_quote(item->name, quotes[0]));
  return status;
}

static int pack(packing *p, tensor_job *job) {
  const tensor_file *in = p->in;
  int status = CLI_YES;
  job->in = in;
  job->n = in->info.n_tensors;
  if ((job->says.layout || job->says.dtype) && in->info.n_tensors != 1)
    return say_usage(p->cli, "--from and --dtype are for a file with one tensor; this one has %" PRId64,
                     job->n);
  job->item = calloc((size_t)job->n + 1, sizeof *job->item);
  if (!job->item) return no_memory(p->cli);
  for (int64_t i = 0; i < job->n && status == CLI_YES; i++)
    status = choose(p, job, &in->info.tensor[i], &job->item[i]);
  if (status == CLI_YES) status = check_rules(p);
  if (status == CLI_YES) status = tensor_write(job);
  free(job->item);
  return status;
}

int cmd_pack(const cli_context *cli) {
  const char *path = cli_value(cli, "output");
  tensor_job job = {.cli = cli, .path = path ? path : "-", .format = TESELA_FILE_SAFETENSORS};
  packing p = {.cli = cli};
  tensor_file *in = NULL;
  job.says =
      (tensor_says){.layout = cli_value(cli, "from"), .dtype = cli_value(cli, "dtype"), .option = "from"};
  if (tensor_name_ends(job.path, ".npy") || tensor_name_is_foreign(job.path))
    return say_usage(cli, "pack writes .safetensors; tesela relayout writes others");
  int status = read_rules(&p);
  if (status == CLI_YES) status = tensor_file_open(cli, cli->arg[0], &in);
  p.in = in;
  if (status == CLI_YES) status = pack(&p, &job);
  for (int i = 0; i < p.n_rules; i++) free(p.rule[i].pattern);
  free(p.rule);
  tensor_file_close(in);
  return status;
}
