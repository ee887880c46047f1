/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial.c - a problem with data, run and compared with the definition.
 */
#include "trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/layout.h>

#include "convert_value.h"
#include "request.h"
#include "system.h"

enum { SIDE = 4096 }; /* bytes before the destination and after it, and the alignment of both buffers */

/* ---- buffers ---------------------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state) { /* splitmix64 */
  uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static void fill_random(uint8_t *data, int64_t bytes, uint64_t seed) {
  for (int64_t i = 0; i < bytes; i += 8) {
    uint64_t word = next_random(&seed);
    memcpy(data + i, &word, (size_t)(bytes - i < 8 ? bytes - i : 8));
  }
}

/* What a byte of the destination holds before a run. */
static uint8_t pattern(int64_t i) { return (uint8_t)(0xc3 ^ i * 7); }

static int64_t room_bytes(const problem *p) { return p->to.bytes + 2 * SIDE; }

static uint8_t *aligned(int64_t bytes) { return system_alloc((size_t)bytes, SIDE); }

tesela_status trial_begin(tesela_request *q, const problem *p, trial *t) {
  const tesela_value *seed = tesela_request_get(q, "seed"), *max_bytes = tesela_request_get(q, "max_bytes");
  const int64_t most = max_bytes ? tesela_value_int(max_bytes) : TRIAL_BYTES;
  *t = (trial){.q = q, .p = p, .defined = convert_is_defined(&p->from.layout, &p->to.layout)};
  q->field = NULL;
  if (p->from.bytes > most || p->to.bytes > most - p->from.bytes)
    return ops_over(q->err, TESELA_REASON_MAX_BYTES,
                    "the two sides have %" PRId64 " and %" PRId64 " bytes; expected %" PRId64
                    " or fewer together",
                    p->from.bytes, p->to.bytes, most);
  int64_t both =
      p->from.bytes > p->to.bytes ? p->from.bytes : p->to.bytes; /* bench copies as much as moves */
  t->src = aligned(both + SIDE);
  t->room = aligned(both + 2 * SIDE);
  t->want = aligned(room_bytes(p));
  if (!t->src || !t->room || !t->want) {
    trial_end(t);
    return tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory for %" PRId64 " bytes",
                               p->from.bytes + 2 * p->to.bytes);
  }
  if (!t->defined)
    request_note(
        q, "the values of this conversion are not checked, only its padding and the bytes before and after");
  t->dst = t->room + SIDE;
  fill_random(t->src, both + SIDE, seed ? (uint64_t)tesela_value_int(seed) : 1);
  memset(t->room, 0, (size_t)(both + 2 * SIDE));
  return TESELA_OK;
}

void trial_end(trial *t) {
  for (int i = 0; i < t->n_ways; i++) tesela_plan_destroy(t->way[i].plan);
  system_free(t->src);
  system_free(t->room);
  system_free(t->want);
  *t = (trial){0};
}

/* ---- what must come out ----------------------------------------------------------------------------------- */

static void place_of(const tesela_layout *layout, const int64_t *index, int64_t *place) {
  int64_t places[TESELA_MAX_AXES] = {0};
  tesela_layout_place_of(layout, index, places, NULL); /* every index is inside */
  *place = places[0];
}

/* The expected element; also where it comes from and goes to. */
static void want_element(const trial *t, const int64_t *index, int64_t *to,
                         uint8_t want[TESELA_ELEMENT_BYTES]) {
  const tesela_layout *src = &t->p->from.layout, *dst = &t->p->to.layout;
  int64_t from;
  uint8_t value[TESELA_ELEMENT_BYTES];
  place_of(src, index, &from);
  place_of(dst, index, to);
  tesela_element_get(t->src, from, src->bits, value);
  convert_value(src, dst, value, want);
}

static bool is_empty(const tesela_layout *layout) {
  for (int32_t d = 0; d < layout->rank; d++)
    if (layout->shape[d] == 0) return true;
  return false;
}

/* Called now and then in loops over elements: is it time to stop? */
static bool stops(trial *t, int64_t i) {
  if (i % (1 << 16) == 0 && tesela_request_progress(t->q, i, i) != 0) t->stopped = true;
  return t->stopped;
}

/* What padding is filled with. */
static const uint8_t *fill_of(const tesela_plan_options *options) {
  static const uint8_t zero[TESELA_ELEMENT_BYTES] = {0};
  return options->fill == TESELA_FILL_VALUE ? options->fill_value : zero;
}

/* Padding: every place without an element; padding_right accepts gaps, which are not written. */
static void want_padding(trial *t, const tesela_plan_options *options) {
  const tesela_layout *dst = &t->p->to.layout;
  const uint8_t *value = fill_of(options);
  if (options->fill == TESELA_FILL_LEAVE) return;
  for (int64_t place = 0; place < dst->axis[0].extent && !stops(t, place); place++)
    tesela_element_put(t->want + SIDE, place, dst->bits, value);
}

static void put_together(trial *t, const tesela_plan_options *options) {
  const tesela_layout *dst = &t->p->to.layout;
  int64_t index[TESELA_MAX_RANK] = {0}, to;
  uint8_t want[TESELA_ELEMENT_BYTES];
  for (int64_t i = 0; i < room_bytes(t->p); i++) t->want[i] = pattern(i);
  want_padding(t, options);
  if (is_empty(dst)) return;
  int64_t done = 0;
  do {
    if (stops(t, done++)) return;
    want_element(t, index, &to, want);
    tesela_element_put(t->want + SIDE, to, dst->bits, want);
  } while (tesela_index_next(dst->rank, dst->shape, index));
}

/* ---- what came out ---------------------------------------------------------------------------------------- */

/* "0x3f800000 (1)", or the bits alone where they are not a number. */
static void show_value(const uint8_t *value, const tesela_layout *of, char into[TESELA_ELEMENT_TEXT]) {
  char number[TESELA_ELEMENT_TEXT];
  tesela_element_bits(value, of->bits, into);
  tesela_element_print(value, of->dtype, of->bits, number);
  size_t used = strlen(into);
  if (*number) snprintf(into + used, TESELA_ELEMENT_TEXT - used, " (%.30s)", number);
}

static void say_wrong(trial_way *way, const char *what, const uint8_t *got, const uint8_t *want,
                      const tesela_layout *dst) {
  char is[TESELA_ELEMENT_TEXT], should[TESELA_ELEMENT_TEXT];
  show_value(got, dst, is);
  show_value(want, dst, should);
  snprintf(way->wrong, sizeof way->wrong, "%.90s: expected %s, found %s", what, should, is);
  way->ok = false;
}

static void name_index(const char *text, int32_t rank, const int64_t *index, int64_t place, char into[90]) {
  int n = snprintf(into, 90, "%s", text);
  for (int32_t d = 0; d < rank && n < 64; d++)
    n += snprintf(into + n, (size_t)(90 - n), "%s%" PRId64, d ? "," : "[", index[d]);
  snprintf(into + n, (size_t)(90 - n), "%s at place %" PRId64, rank ? "]" : "", place);
}

/* The first element in row-major order that is wrong. Those that are right (a NaN with other bits) are copied into
   the expected bytes, so that the rest can be compared as bytes. */
static bool elements_right(trial *t, trial_way *way) {
  const tesela_layout *src = &t->p->from.layout, *dst = &t->p->to.layout;
  int64_t index[TESELA_MAX_RANK] = {0}, to;
  uint8_t got[TESELA_ELEMENT_BYTES], want[TESELA_ELEMENT_BYTES];
  if (is_empty(dst)) return true;
  int64_t done = 0;
  do {
    if (stops(t, done++)) return false;
    want_element(t, index, &to, want);
    tesela_element_get(t->dst, to, dst->bits, got);
    if (t->defined && !convert_same(src, dst, got, want)) {
      char name[90];
      name_index("element ", dst->rank, index, to, name);
      say_wrong(way, name, got, want, dst);
      return false;
    }
    tesela_element_put(t->dst, to, dst->bits, want);
  } while (tesela_index_next(dst->rank, dst->shape, index));
  return true;
}

/* Has the layout places before its offset, or gaps between its digits? */
static bool has_gaps(const tesela_layout *layout) {
  tesela_scan scan;
  return tesela_scan_begin(&scan, layout, NULL) == TESELA_OK && scan.general;
}

/* The element at a place before the copy. */
static void get_before(int64_t place, int32_t bits, uint8_t value[TESELA_ELEMENT_BYTES]) {
  uint8_t bytes[TESELA_ELEMENT_BYTES];
  const int64_t first = place * bits / 8;
  for (int64_t i = 0; i < (bits + 7) / 8; i++) bytes[i] = pattern(SIDE + first + i);
  tesela_element_get(bytes, bits < 8 ? place % (8 / bits) : 0, bits, value);
}

static bool padding_right(trial *t, trial_way *way) {
  const tesela_layout *dst = &t->p->to.layout;
  const bool gaps = way->options.fill != TESELA_FILL_LEAVE && has_gaps(dst);
  for (int64_t place = 0; place < dst->axis[0].extent; place++) {
    if (stops(t, place)) return false;
    uint8_t got[TESELA_ELEMENT_BYTES], want[TESELA_ELEMENT_BYTES];
    char name[90];
    tesela_element_get(t->dst, place, dst->bits, got);
    tesela_element_get(t->want + SIDE, place, dst->bits, want);
    if (memcmp(got, want, TESELA_ELEMENT_BYTES) == 0) continue;
    uint8_t before[TESELA_ELEMENT_BYTES];
    get_before(place, dst->bits, before);
    if (gaps && (memcmp(got, before, TESELA_ELEMENT_BYTES) == 0 ||
                 memcmp(got, fill_of(&way->options), (size_t)(dst->bits + 7) / 8) == 0)) {
      tesela_element_put(t->want + SIDE, place, dst->bits, got); /* for the bytes around the places */
      continue;
    }
    name_index("padding", 0, NULL, place, name);
    say_wrong(way, name, got, want, dst);
    return false;
  }
  return true;
}

static void compare(trial *t, trial_way *way) {
  int64_t size = room_bytes(t->p), i = 0;
  if (memcmp(t->room, t->want, (size_t)size) == 0) return;
  if (!elements_right(t, way) || !padding_right(t, way)) return;
  while (i < size && t->room[i] == t->want[i]) i++;
  if (i == size) return;
  way->ok = false;
  snprintf(way->wrong, sizeof way->wrong, "wrote byte %" PRId64 ", %s", i - SIDE,
           i < SIDE ? "before the destination" : "after its last place");
}

/* ---- running ---------------------------------------------------------------------------------------------- */

const char *trial_solver(const trial_way *way) { return tesela_solver_name(way->options.solver); }

const char *trial_isa(const trial_way *way) { return tesela_isa_name(way->options.isa); }

/* Add one way, if it applies. A solver that the request names and that does not apply is an error. */
static tesela_status add_way(tesela_request *q, trial *t, const tesela_plan_options *options, bool named) {
  trial_way *way = &t->way[t->n_ways];
  *way = (trial_way){.options = *options, .ok = true};
  tesela_status status =
      tesela_plan_create(&way->plan, &t->p->to.layout, &t->p->from.layout, options, q->err);
  if (status == TESELA_E_UNSUPPORTED && options->solver != TESELA_SOLVER_ANY && !named) return TESELA_OK;
  if (status != TESELA_OK) return status;
  tesela_buffer buffer = {way->line, sizeof way->line, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_plan_print(way->plan, &to, NULL);
  t->n_ways++;
  return TESELA_OK;
}

static bool is_all(tesela_request *q, const char *field, bool otherwise) {
  const char *value = tesela_value_text(tesela_request_get(q, field));
  return value ? strcmp(value, "all") == 0 : otherwise;
}

tesela_status trial_find_ways(tesela_request *q, bool all, trial *t) {
  tesela_plan_options options;
  tesela_status status = problem_options(q, t->p, &options);
  bool all_solvers = is_all(q, "solver", all), all_isas = is_all(q, "isa", all);
  int solver = (int)options.solver, isa = (int)options.isa;
  if (status == TESELA_OK) q->field = NULL;
  for (int s = all_solvers ? 0 : solver; tesela_solver_name((tesela_solver)s) && status == TESELA_OK; s++) {
    for (int i = all_isas ? TESELA_ISA_C : isa; tesela_isa_name((tesela_isa)i) && status == TESELA_OK; i++) {
      options.solver = (tesela_solver)s;
      options.isa = (tesela_isa)i;
      if (tesela_isa_available(options.isa)) status = add_way(q, t, &options, !all_solvers);
      if (!all_isas) break;
    }
    if (!all_solvers) break;
  }
  return status;
}

/* A way that does not work is an answer, a lack of memory and a stop are errors. A solver that does not apply with this fill is left out: some
 * apply only where they write padding with the elements. */
static tesela_status run_way(tesela_request *q, trial *t, trial_way *way, const tesela_plan_options *filled) {
  tesela_plan_options options = way->options;
  tesela_plan *plan = NULL;
  tesela_error err;
  options.fill = filled->fill;
  memcpy(options.fill_value, filled->fill_value, sizeof options.fill_value);
  for (int64_t i = 0; i < room_bytes(t->p); i++) t->room[i] = pattern(i);
  tesela_status status = tesela_plan_create(&plan, &t->p->to.layout, &t->p->from.layout, &options, &err);
  const tesela_run_options run = {.progress = tesela_request_progress, .progress_user = q};
  if (status == TESELA_OK) status = tesela_plan_run(plan, t->dst, t->src, &run, &err);
  tesela_plan_destroy(plan);
  if (status == TESELA_E_MEMORY || status == TESELA_E_STOPPED) *q->err = err;
  if (status == TESELA_E_MEMORY || status == TESELA_E_STOPPED) return status;
  if (status == TESELA_E_UNSUPPORTED && options.solver != TESELA_SOLVER_ANY) return TESELA_OK;
  if (status == TESELA_OK) {
    compare(t, way);
  } else {
    way->ok = false;
    snprintf(way->wrong, sizeof way->wrong, "%.190s", err.message);
  }
  return TESELA_OK;
}

tesela_status trial_stopped(tesela_request *q) {
  return tesela_request_fail(q, TESELA_E_STOPPED, -1, "the caller asked to stop");
}

tesela_status trial_check(tesela_request *q, trial *t, bool *right) {
  tesela_plan_options filled[] = {
      {.fill = TESELA_FILL_ZERO}, {.fill = TESELA_FILL_LEAVE}, {.fill = TESELA_FILL_VALUE}};
  int32_t bits = t->p->to.layout.bits;
  tesela_status status = TESELA_OK;
  for (int i = 0; i < TESELA_ELEMENT_BYTES && i * 8 < bits; i++)
    filled[2].fill_value[i] = (uint8_t)((0x9d - 5 * i) & (bits < 8 ? (1 << bits) - 1 : 255));
  for (size_t f = 0; status == TESELA_OK && f < sizeof filled / sizeof filled[0]; f++) {
    put_together(t, &filled[f]);
    for (int i = 0; i < t->n_ways && status == TESELA_OK; i++)
      if (t->way[i].ok && !stops(t, 0)) status = run_way(q, t, &t->way[i], &filled[f]);
    if (status == TESELA_OK && t->stopped) status = trial_stopped(q);
  }
  *right = true;
  for (int i = 0; i < t->n_ways; i++) *right = *right && t->way[i].ok;
  return status;
}

void trial_put_way(tesela_sink *out, const trial_way *way) {
  tesela_put_key_text(out, "solver", trial_solver(way));
  tesela_put_key_text(out, "isa", trial_isa(way));
  tesela_put_key_bool(out, "ok", way->ok);
  tesela_put_key_text(out, "plan", way->line);
  if (!way->ok) tesela_put_key_text(out, "wrong", way->wrong);
}
