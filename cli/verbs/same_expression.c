/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same_expression.c - comparing layouts of any kind, and the verb same for others than two XLA layouts.
 */
#include "verbs/same_expression.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "expression.h"
#include "main/input.h"
#include "main/say.h"

#define ENUMERATED ((int64_t)1 << 22) /* elements that are looked at one by one at most */

/* The relation of one side. The elements of a tile have no width of their own: they get that of the other side. */
static tesela_status relation_beside(const tesela_any_layout *any, const tesela_any_layout *other,
                                     tesela_layout *layout, tesela_error *err) {
  tesela_layout beside;
  bool lends = input_has_bytes(other) && other->kind != TESELA_KIND_REGISTER;
  if (input_has_bytes(any) || !lends || tesela_any_to_layout(other, &beside, NULL) != TESELA_OK)
    return tesela_any_to_layout(any, layout, err);
  return tesela_tile_memory_to_layout(&any->memory, beside.dtype, beside.bits, layout, err);
}

/* Element by element, for swizzles that differ. false: there are too many, or copies. */
static bool compare_all(const tesela_layout *a, const tesela_layout *b, tesela_difference *d) {
  int64_t index[TESELA_MAX_RANK] = {0}, elements = 1, place_a = 0, place_b = 0;
  for (int32_t k = 0; k < a->rank; k++) {
    if (a->rank != b->rank || a->shape[k] != b->shape[k] || a->shape[k] == 0) return false;
    if (__builtin_mul_overflow(elements, a->shape[k], &elements) || elements > ENUMERATED) return false;
  }
  if (tesela_layout_copies(a) > 1 || tesela_layout_copies(b) > 1 || a->n_axes != 1 || b->n_axes != 1)
    return false;
  *d = (tesela_difference){.same = true, .same_extent = a->axis[0].extent == b->axis[0].extent};
  do {
    if (tesela_layout_place_of(a, index, &place_a, NULL) != TESELA_OK ||
        tesela_layout_place_of(b, index, &place_b, NULL) != TESELA_OK)
      return false;
    if (place_a == place_b) continue;
    d->same = false;
    d->have_index = true;
    for (int32_t k = 0; k < a->rank; k++) d->index[k] = index[k];
    snprintf(d->reason, sizeof d->reason, "places differ: %" PRId64 " and %" PRId64, place_a, place_b);
    return true;
  } while (expression_next(a->rank, a->shape, index));
  return true;
}

tesela_status same_compare(const tesela_any_layout *a, const tesela_any_layout *b, tesela_difference *d,
                           tesela_error *err) {
  tesela_layout left, right;
  if ((a->kind == TESELA_KIND_REGISTER) != (b->kind == TESELA_KIND_REGISTER)) {
    *d = (tesela_difference){.same = false};
    snprintf(d->reason, sizeof d->reason, "a is %s, b %s", tesela_kind_words(a->kind),
             tesela_kind_words(b->kind));
    return TESELA_OK;
  }
  tesela_status status = relation_beside(a, b, &left, err);
  if (status == TESELA_OK) status = relation_beside(b, a, &right, err);
  if (status != TESELA_OK) return status;
  status = tesela_layout_compare(&left, &right, d, err);
  return status == TESELA_E_UNSUPPORTED && compare_all(&left, &right, d) ? TESELA_OK : status;
}

/* ---- the verb -------------------------------------------------------------------------------------------- */

static int write_stdout(void *user, const char *text, size_t length) {
  (void)user;
  return fwrite(text, 1, length, stdout) != length;
}

/* The place of an element: a number, or {"threads":[..],"local":n}. */
static tesela_status put_place(json_writer *j, const tesela_any_layout *any, const int64_t *index,
                               tesela_error *err) {
  tesela_layout layout;
  int64_t place[TESELA_MAX_AXES] = {0};
  const tesela_writer to = {write_stdout, NULL};
  if (any->kind == TESELA_KIND_REGISTER && !j)
    return expression_print_place(&any->registers, index, &to, err);
  if (any->kind == TESELA_KIND_REGISTER) {
    jw_object(j);
    tesela_status status = expression_put_place(j, &any->registers, index, err);
    jw_end(j);
    return status;
  }
  tesela_status status = tesela_any_to_layout(any, &layout, err);
  if (status == TESELA_OK) status = tesela_layout_place_of(&layout, index, place, err);
  if (j)
    jw_int(j, place[0]);
  else
    printf("%" PRId64, place[0]);
  return status;
}

static int print_any_json(const cli_context *cli, const tesela_any_layout *any, int32_t rank,
                          const tesela_difference *d) {
  json_writer j = {0};
  tesela_error err = {.at = -1};
  tesela_status status = TESELA_OK;
  jw_object(&j);
  jw_put_bool(&j, "same", d->same);
  jw_put_bool(&j, "same_size", d->same_extent);
  if (!d->same) {
    jw_key(&j, "first_difference");
    if (d->have_index) {
      jw_object(&j);
      jw_key(&j, "index");
      jw_ints(&j, rank, d->index);
      jw_key(&j, "a");
      status = put_place(&j, &any[0], d->index, &err);
      jw_key(&j, "b");
      if (status == TESELA_OK) status = put_place(&j, &any[1], d->index, &err);
      jw_end(&j);
    } else {
      jw_null(&j);
    }
    jw_put_str(&j, "reason", d->reason);
  }
  jw_end(&j);
  bool done = status == TESELA_OK && (jw_line(&j, stdout) || ferror(stdout));
  jw_free(&j);
  if (status != TESELA_OK) return say_failure(cli, &err);
  return !done ? CLI_FAILED : d->same ? CLI_YES : CLI_NO;
}

static int print_any_text(const cli_context *cli, const tesela_any_layout *any, int32_t rank,
                          const tesela_difference *d) {
  tesela_error err = {.at = -1};
  if (d->same) {
    puts("same");
    if (!d->same_extent) say_note(cli, "the sizes differ");
    return CLI_YES;
  }
  if (!d->have_index) {
    printf("differ: %s\n", d->reason);
    return CLI_NO;
  }
  fputs("differ: first at [", stdout);
  if (rank > 0) input_print_index(rank, d->index);
  fputs("]: ", stdout);
  tesela_status status = put_place(NULL, &any[0], d->index, &err);
  fputs(" in a, ", stdout);
  if (status == TESELA_OK) status = put_place(NULL, &any[1], d->index, &err);
  fputs(" in b\n", stdout);
  return status == TESELA_OK ? CLI_NO : say_failure(cli, &err);
}

int same_any(const cli_context *cli) {
  tesela_any_layout any[2];
  tesela_difference d = {.same = false};
  tesela_error err = {.at = -1};
  tesela_layout first;
  size_t used;
  int status = CLI_YES;
  for (int i = 0; i < 2; i++) {
    if (input_is_tuple(cli->arg[i], strlen(cli->arg[i]), &used))
      return say_usage(cli, "%s is a tuple; only tuples are compared with it", i ? "B" : "A");
    if (input_any(cli, cli->arg[i], strlen(cli->arg[i]), NULL, &any[i], i ? NULL : &first, &status)) continue;
    fprintf(stderr, "This was %s.\n", i ? "B" : "A");
    return status;
  }
  if (same_compare(&any[0], &any[1], &d, &err) != TESELA_OK) return say_failure(cli, &err);
  for (int i = 0; i < 2 && d.have_index; i++) /* before anything is written */
    if (any[i].kind == TESELA_KIND_REGISTER && expression_check_copies(&any[i].registers, &err) != TESELA_OK)
      return say_failure(cli, &err);
  return cli->json ? print_any_json(cli, any, first.rank, &d) : print_any_text(cli, any, first.rank, &d);
}
