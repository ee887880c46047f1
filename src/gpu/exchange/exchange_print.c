/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_print.c - a plan as text.
 *
 *   shuffle: 32 threads, 32-bit elements, 1 in a unit
 *   a thread has 2 units of src and 2 of dst; 1 at most stays in it
 *   2 rounds; the minimum for plans of 32-bit shuffles
 *   all warps:
 *     unit 0 = own unit 0 (lanes 0x00000001)
 *     round 0: from b0*2 ^ b1*4 ^ b2*8 ^ b3*16 ^ b4*1, a lane offers unit b0*1; into unit b4*1 (lanes 0x7ffffffe)
 *
 * A number that depends on the lane is printed as its pattern: the same for all, "lane ^ 1", "(lane + 4) mod 32", or
 * "2 ^ b0*1 ^ b3*4", where b3 is bit 3 of the lane and the sum is XOR; else as a table in lane order, "-" for an
 * irrelevant lane.
 */
#include "gpu/exchange/exchange.h"

static void print_count(tesela__sink *sink, int64_t n, const char *what) {
  tesela__put_int(sink, n);
  tesela__putf(sink, " %s%s", what, n == 1 ? "" : "s");
}

static void print_linear(tesela__sink *sink, const tesela__lane_pattern *p) {
  const char *sign = "";
  if (p->a != 0) {
    tesela__put_int(sink, p->a);
    sign = " ^ ";
  }
  for (int b = 0; b < p->bits; b++) {
    if (p->m[b] == 0) continue;
    tesela__putf(sink, "%sb%d*%" PRId32, sign, b, p->m[b]);
    sign = " ^ ";
  }
}

/* value[lane]; a value below 0 is irrelevant, "-" in a table. */
static void print_lanes(tesela__sink *sink, const char *what, const int32_t *value, int32_t warp) {
  tesela__lane_pattern p = tesela__lane_pattern_of(value, warp);
  tesela__puts(sink, what);
  tesela__putc(sink, ' ');
  switch (p.form) {
  case TESELA__LANE_ANY:
    tesela__puts(sink, "any");
    break;
  case TESELA__LANE_SAME:
    tesela__put_int(sink, p.a);
    break;
  case TESELA__LANE_XOR:
    tesela__putf(sink, p.a ? "lane ^ %" PRId32 : "lane", p.a);
    break;
  case TESELA__LANE_ADD:
    tesela__putf(sink, "(lane + %" PRId32 ") mod %" PRId32, p.a, warp);
    break;
  case TESELA__LANE_LINEAR:
    print_linear(sink, &p);
    break;
  case TESELA__LANE_TABLE:
    tesela__putc(sink, '[');
    for (int32_t lane = 0; lane < warp; lane++)
      tesela__putf(sink, value[lane] < 0 ? "%s-" : "%s%" PRId32, lane ? " " : "", value[lane]);
    tesela__putc(sink, ']');
  }
}

/* The lanes with a value; nothing if all of the first `lanes` have one. */
static void print_mask(tesela__sink *sink, const int32_t *value, int32_t warp, int32_t lanes) {
  uint64_t mask = 0;
  bool all = true;
  for (int32_t lane = 0; lane < warp; lane++) {
    if (value[lane] >= 0) mask |= UINT64_C(1) << lane;
    if (lane < lanes && value[lane] < 0) all = false;
  }
  if (!all) tesela__putf(sink, " (lanes 0x%0*" PRIx64 ")", warp > 32 ? 16 : 8, mask);
}

/* "unit 0 = own unit 1", or of words; `units` is their number at the end. */
static void print_moves(tesela__sink *sink, const tesela_exchange *plan, const tesela__warp_program *w,
                        int64_t units, const char *what) {
  for (int64_t into = 0; into < units; into++) {
    int32_t unit[TESELA__LANES];
    bool any = false;
    for (int32_t lane = 0; lane < plan->warp; lane++) {
      bool own = lane < w->dst_lanes && tesela__own(w, units, lane, into);
      unit[lane] = own ? w->need_unit[lane * units + into] : -1;
      any = any || own;
    }
    if (!any) continue;
    tesela__putf(sink, *what == 'u' ? "  %s %" PRId64 " = own" : "  into %s %" PRId64 ": own", what, into);
    print_lanes(sink, *what == 'u' ? " unit" : " word", unit, plan->warp);
    print_mask(sink, unit, plan->warp, w->dst_lanes);
    tesela__putc(sink, '\n');
  }
}

static void print_rounds(tesela__sink *sink, const tesela_exchange *plan, const tesela__warp_program *w,
                         int64_t first, const char *what) {
  for (int64_t round = 0; round < w->rounds; round++) {
    const int32_t *into = w->into + round * plan->warp;
    int32_t from[TESELA__LANES];
    for (int32_t lane = 0; lane < plan->warp; lane++)
      from[lane] = into[lane] < 0 ? -1 : w->from[round * plan->warp + lane];
    tesela__puts(sink, "  round ");
    tesela__put_int(sink, first + round);
    print_lanes(sink, ": from", from, plan->warp);
    tesela__putf(sink, ", a lane offers %s", what);
    print_lanes(sink, "", w->offer + round * plan->warp, plan->warp);
    tesela__putf(sink, "; into %s", what);
    print_lanes(sink, "", into, plan->warp);
    print_mask(sink, into, plan->warp, w->dst_lanes);
    tesela__putc(sink, '\n');
  }
}

/* "word 0 = unit 2 | unit 4", low bits first; "word 1 part 0" of words of the previous phase; "-" for an empty part. */
static void print_parts(tesela__sink *sink, const tesela_exchange *plan, const tesela__warp_program *w,
                        int32_t phase, int64_t word, tesela__word_parts *made) {
  tesela__phase_word(made, plan, w, phase, word);
  if (made->n == 0) return;
  tesela__putf(sink, phase < w->n_phases ? "  word %" PRId64 " =" : "  unit %" PRId64 " =", word);
  for (int32_t k = 0; k < made->n; k++) {
    if (k) tesela__puts(sink, " |");
    if (made->source_of[k] < 0) {
      tesela__puts(sink, " -");
      continue;
    }
    int32_t source[TESELA__LANES];
    for (int32_t lane = 0; lane < TESELA__LANES; lane++)
      source[lane] = made->part[k][lane] < 0 ? -1 : made->source[made->source_of[k]][lane];
    print_lanes(sink, phase ? " word" : " unit", source, plan->warp);
    if (phase) print_lanes(sink, " part", made->part[k], plan->warp);
  }
  tesela__putc(sink, '\n');
}

static void print_phases(tesela__sink *sink, const tesela_exchange *plan, const tesela__warp_program *w) {
  tesela__word_parts made;
  int64_t first = 0;
  for (int32_t i = 0; i < w->n_phases; i++) {
    const tesela__exchange_phase *phase = &w->phase[i];
    tesela__putf(sink, " phase %" PRId32 ":\n", i);
    for (int64_t word = 0; word < phase->src_words; word++) print_parts(sink, plan, w, i, word, &made);
    print_moves(sink, plan, &phase->moves, phase->dst_words, "word");
    print_rounds(sink, plan, &phase->moves, first, "word");
    first += phase->moves.rounds;
  }
  tesela__puts(sink, " units of dst:\n");
  for (int64_t unit = 0; unit < plan->facts.dst_units; unit++)
    print_parts(sink, plan, w, w->n_phases, unit, &made);
}

static void print_program(tesela__sink *sink, const tesela_exchange *plan, const tesela__warp_program *w) {
  if (w->n_phases) {
    print_phases(sink, plan, w);
    return;
  }
  print_moves(sink, plan, w, plan->facts.dst_units, "unit");
  print_rounds(sink, plan, w, 0, "unit");
}

/* "warps 0 to 3, 6:", the warps that run program k. */
static void print_warps(tesela__sink *sink, const tesela_exchange *plan, int32_t k) {
  int64_t n = 0, printed = 0;
  for (int64_t w = 0; w < plan->n_warps; w++) n += plan->program_of[w] == k;
  if (n == plan->n_warps) {
    tesela__puts(sink, "all warps:\n");
    return;
  }
  for (int64_t w = 0; w < plan->n_warps; w++) {
    if (plan->program_of[w] != k) continue;
    int64_t first = w;
    while (w + 1 < plan->n_warps && plan->program_of[w + 1] == k) w++;
    tesela__puts(sink, printed ? ", " : n == 1 ? "warp " : "warps ");
    tesela__put_int(sink, first);
    if (w > first) tesela__putf(sink, " to %" PRId64, w);
    printed += w - first + 1;
  }
  tesela__puts(sink, ":\n");
}

static void print_list(tesela__sink *sink, const char *what, const int64_t *list, int32_t n) {
  tesela__puts(sink, what);
  for (int32_t i = 0; i < n; i++) {
    if (i) tesela__putc(sink, ',');
    tesela__put_int(sink, list[i]);
  }
  tesela__putc(sink, ']');
}

static void print_memory(tesela__sink *sink, const tesela_exchange *plan) {
  const tesela_tile_memory *m = &plan->memory;
  print_count(sink, plan->facts.shared_bytes, "byte");
  tesela__puts(sink, " of shared memory, ");
  print_count(sink, plan->facts.wavefronts, "wavefront");
  tesela__puts(sink, " of writing and reading\n");
  print_list(sink, "memory modes [", m->mode_shape, m->n_modes);
  print_list(sink, ", strides [", m->mode_strides, m->n_modes);
  if (m->swizzle.bits)
    tesela__putf(sink, ", swizzle base %" PRId32 " bits %" PRId32 " shift %" PRId32, m->swizzle.base,
                 m->swizzle.bits, m->swizzle.shift);
  tesela__puts(sink, "\nwrite vectors of ");
  print_count(sink, plan->write_vector, "element");
  tesela__puts(sink, ", barrier, read vectors of ");
  print_count(sink, plan->read_vector, "element");
  tesela__putc(sink, '\n');
}

/* The registers of unit 0; those of other units have the same distances. */
static void print_unit(tesela__sink *sink, const tesela_exchange *plan) {
  for (int of_src = 1; of_src >= 0; of_src--) {
    tesela__puts(sink, of_src ? "unit 0 is registers " : " of src, ");
    for (int64_t k = 0; k < plan->facts.unit; k++) {
      if (k) tesela__putc(sink, ' ');
      tesela__put_int(sink,
                      tesela__unit_register(of_src ? plan->units.src : plan->units.dst, plan->units.n, 0, k));
    }
  }
  tesela__puts(sink, " of dst\n");
}

static void print_counts(tesela__sink *sink, const tesela_exchange_facts *facts) {
  tesela__puts(sink, "a thread has ");
  print_count(sink, facts->src_units, "unit");
  tesela__putf(sink, " of src and %" PRId64 " of dst; %" PRId64 " at most stay%s in it\n", facts->dst_units,
               facts->moves, facts->moves == 1 ? "s" : "");
  if (facts->kind != TESELA_EXCHANGE_SHUFFLE) return;
  print_count(sink, facts->rounds, "round");
  if (facts->words > 1) tesela__putf(sink, " of %" PRId64 " words", facts->words);
  if (facts->phases > 1) tesela__putf(sink, " in %" PRId64 " phases", facts->phases);
  if (facts->rounds == facts->least_rounds)
    tesela__puts(sink, "; the minimum for plans of 32-bit shuffles\n");
  else
    tesela__putf(sink, "; every plan of 32-bit shuffles needs at least %" PRId64 "\n", facts->least_rounds);
  if (facts->parts == 1) return;
  tesela__putf(sink, "a word has at most %" PRId64 " units; a lane does at most ", facts->parts);
  print_count(sink, facts->permutes, facts->unit * facts->bits % 8 == 0 ? "byte permute" : "permute");
  tesela__putc(sink, '\n');
}

tesela_status tesela_exchange_print(const tesela_exchange *plan, const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, plan, to);
  static const char *const kinds[] = {"nothing", "permute", "shuffle", "shared"};
  const tesela_exchange_facts *facts = &plan->facts;
  tesela__sink sink;
  tesela__sink_init(&sink, to);
  tesela__puts(&sink, kinds[facts->kind]);
  tesela__puts(&sink, ": ");
  print_count(&sink, facts->threads, "thread");
  tesela__putf(&sink, ", %" PRId32 "-bit elements, %" PRId64 " in a unit\n", facts->bits, facts->unit);
  if (facts->kind == TESELA_EXCHANGE_SHARED) print_memory(&sink, plan);
  if (facts->kind == TESELA_EXCHANGE_PERMUTE || facts->kind == TESELA_EXCHANGE_SHUFFLE) {
    print_counts(&sink, facts);
    if (facts->unit > 1) print_unit(&sink, plan);
    for (size_t k = 0; k < plan->n_programs; k++) {
      print_warps(&sink, plan, (int32_t)k);
      print_program(&sink, plan, &plan->program[k]);
    }
  }
  return tesela__sink_finish(&sink, err);
}
