/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain.c - print a plan as one line, or explain it.
 */
#include "relayout/plan.h"

static void put_loops(tesela__sink *sink, const tesela_plan *plan) {
  for (int32_t i = 0; i < plan->shape.n_loops; i++)
    tesela__putf(sink, "%s%" PRId64, i ? "x" : " ", plan->shape.loop[i].n);
}

/* ", runs of 100 to runs of 256" */
static void put_bits_tile(tesela__sink *sink, const tesela__bits_tile *tile) {
  tesela__putf(sink, ", runs of %" PRId64 " to runs of %" PRId64, tile->in_run, tile->out_run);
}

static void put_extent_of_tile(tesela__sink *sink, const tesela_plan *plan, const tesela__piece *piece) {
  if (piece->bits_tile)
    put_bits_tile(sink, &plan->bits_tile[piece->bits_tile - 1]);
  else if (piece->transpose_fn)
    tesela__putf(sink, ", tile %dx%d", (int)piece->nb, (int)piece->na);
  else if (piece->solver == TESELA_SOLVER_INTERLEAVE || piece->solver == TESELA_SOLVER_DEINTERLEAVE)
    tesela__putf(sink, ", k %" PRId64 ", run %" PRId64, piece->rows.k, piece->run);
  else if (piece->convert_fn || piece->solver == TESELA_SOLVER_STRIDED)
    tesela__putf(sink, ", run %" PRId64, piece->run);
  else
    tesela__putf(sink, ", run %" PRId64 " %s", piece->run, piece->bitwise ? "bits" : "bytes");
}

static void put_count(tesela__sink *sink, int32_t n, const char *one) {
  if (n > 0) tesela__putf(sink, ", %" PRId32 " %s%s", n, one, n == 1 ? "" : "s");
}

static void put_line(tesela__sink *sink, const tesela_plan *plan) {
  const tesela_plan_info *info = &plan->info;
  const tesela__piece *piece = plan->irregular || plan->largest < 0 ? NULL : &plan->piece[plan->largest];
  const char *name = tesela_solver_name(info->solver);
  tesela__puts(sink, info->solver == TESELA_SOLVER_ANY ? "nothing to copy" : name);
  tesela__putf(sink, " x%" PRId32, plan->dst.bits);
  if (piece) {
    put_loops(sink, plan);
    put_extent_of_tile(sink, plan, piece);
    if (piece->stream) tesela__puts(sink, ", stream");
  }
  if (plan->conversion) tesela__putf(sink, ", %s", tesela__conversion_name(plan->conversion));
  tesela__putf(sink, ", %s", tesela_isa_name(info->isa));
  put_count(sink, info->threads, "thread");
  if (info->n_pieces > 1) put_count(sink, info->n_pieces, "piece");
  put_count(sink, info->n_fills, "fill");
}

tesela_status tesela_plan_print(const tesela_plan *plan, const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, plan, to);
  tesela__sink sink;
  tesela__sink_init(&sink, to);
  put_line(&sink, plan);
  return tesela__sink_finish(&sink, err);
}

/* Do the tiles of a transpose follow each other in rows of src, and not in those of dst? */
static bool goes_along_src(const tesela__piece *piece) {
  const int32_t n = piece->n_levels;
  return n >= 2 && piece->level[n - 1].kind == TESELA__TILE_A && piece->level[n - 2].kind == TESELA__TILE_B;
}

/* The content of a full tile: "of 32x1024 elements", "of 4 runs of 128 elements from 2 rows", "of 8 runs of 288 bytes +
 * 224 bytes of padding each". */
static void put_runs(tesela__sink *sink, const tesela_plan *plan, const tesela__piece *piece) {
  bool weaves = piece->solver == TESELA_SOLVER_INTERLEAVE || piece->solver == TESELA_SOLVER_DEINTERLEAVE;
  bool elements = weaves || piece->convert_fn || (piece->solver == TESELA_SOLVER_STRIDED && !piece->fill);
  int64_t runs = (int64_t)piece->na * piece->nb;
  if (piece->bits_tile) {
    const tesela__bits_tile *tile = &plan->bits_tile[piece->bits_tile - 1];
    tesela__putf(sink, "from runs of %" PRId64 " to runs of %" PRId64 " elements, ", tile->in_run,
                 tile->out_run);
    if (tile->slices > 1)
      tesela__putf(sink, "in slices for %d tiles", (int)tile->slices);
    else
      tesela__putf(sink, "as %s", plan->dst.bits < 8 ? "bits" : "bytes");
    if (tile->of_bands && tile->n_passes > 1)
      tesela__putf(sink, ", %" PRId32 " boxes together", tile->n_passes);
    else if (tile->n_passes > 1)
      tesela__puts(sink, ", in two passes");
    return;
  }
  if (piece->transpose_fn) {
    tesela__putf(sink, "of %dx%d elements%s", (int)piece->nb, (int)piece->na,
                 goes_along_src(piece) ? ", along src" : "");
    return;
  }
  tesela__putf(sink, "of %" PRId64 " run%s of %" PRId64 " %s%s", runs, runs == 1 ? "" : "s", piece->run,
               elements         ? "element"
               : piece->bitwise ? "bit"
                                : "byte",
               piece->run == 1 ? "" : "s");
  if (weaves)
    tesela__putf(sink, " %s %" PRId64 " rows", piece->solver == TESELA_SOLVER_INTERLEAVE ? "from" : "into",
                 piece->rows.k);
  if (piece->tail) tesela__putf(sink, " + %" PRId64 " bytes of padding each", piece->tail);
}

/* "transpose x32 avx512" of tesela__k_transpose_x32_avx512 */
static void put_kernel(tesela__sink *sink, const char *name) {
  static const char prefix[] = "tesela__k_";
  if (strncmp(name, prefix, sizeof prefix - 1) == 0) name += sizeof prefix - 1;
  tesela__puts(sink, "  (");
  for (; *name; name++) tesela__putc(sink, *name == '_' ? ' ' : *name);
  tesela__putc(sink, ')');
}

static void put_piece(tesela__sink *sink, const tesela_plan *plan, const tesela__piece *piece) {
  tesela__putf(sink, "  %-12s %12" PRId64 " bytes %9" PRId64 " tile%s ",
               piece->fill ? "fill" : tesela_solver_name(piece->solver), piece->bytes, piece->n_tiles,
               piece->n_tiles == 1 ? " " : "s");
  put_runs(sink, plan, piece);
  if (piece->stream)
    tesela__puts(sink, piece->lines && !piece->fine ? ", streamed lines"
                       : piece->stage               ? ", streamed through a buffer"
                                                    : ", streamed");
  if (piece->kernel) put_kernel(sink, piece->kernel);
  tesela__putc(sink, '\n');
}

/* The loops of the largest piece. Their product is its elements, each of which may be several adjacent ones of dst. */
static void put_shape(tesela__sink *sink, const tesela_plan *plan) {
  const tesela__box *shape = &plan->shape;
  bool bits = plan->unit_bytes == 0;
  if (shape->n_loops == 0) return;
  tesela__puts(sink, "loops of the largest piece, over elements of ");
  if (plan->src.bits != plan->dst.bits)
    tesela__putf(sink, "%" PRId32 " bits that become %" PRId32, plan->src.bits, plan->dst.bits);
  else
    tesela__putf(sink, "%" PRId32 " %s%s", bits ? plan->dst.bits : plan->unit_bytes, bits ? "bit" : "byte",
                 (bits ? plan->dst.bits : plan->unit_bytes) == 1 ? "" : "s");
  tesela__putf(sink, ": steps, src stride, dst stride (%s)\n", bits ? "bits" : "bytes");
  for (int32_t i = 0; i < shape->n_loops; i++)
    tesela__putf(sink, "  %10" PRId64 " %12" PRId64 " %12" PRId64 "\n", shape->loop[i].n, shape->loop[i].ss,
                 shape->loop[i].ds);
}

static void put_verdicts(tesela__sink *sink, const tesela_plan *plan) {
  tesela__puts(sink, "solvers, for the largest piece (cost: times of memcpy)\n");
  for (int32_t i = TESELA_SOLVER_MEMCPY; i < TESELA__N_SOLVERS; i++) {
    const tesela__verdict *verdict = &plan->verdict[i];
    bool chosen = plan->info.solver == (tesela_solver)i;
    tesela__putf(sink, "%s %-12s ", chosen ? "->" : "  ", tesela_solver_name((tesela_solver)i));
    if (verdict->applies)
      tesela__putf(sink, "cost %.2f\n", (double)verdict->cost);
    else
      tesela__putf(sink, "no: %s\n", verdict->why);
  }
}

tesela_status tesela_plan_explain(const tesela_plan *plan, const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, plan, to);
  tesela__sink sink;
  tesela__sink_init(&sink, to);
  put_line(&sink, plan);
  tesela__putf(&sink,
               "\nreads %" PRId64 " bytes, writes %" PRId64 "; %" PRId64 " bytes of stack for staging\n",
               plan->info.bytes_read, plan->info.bytes_written, plan->info.scratch_bytes);
  bool solved = !plan->irregular && plan->largest >= 0; /* else by the gather, or nothing to copy */
  if (plan->irregular)
    tesela__putf(&sink, "the gather moves everything, %s: %s\n",
                 plan->by_sums ? "by tables of offsets" : "by a walk through both layouts", plan->irregular);
  if (solved) put_shape(&sink, plan);
  if (plan->n_pieces > 0) tesela__puts(&sink, "pieces\n");
  for (int32_t i = 0; i < plan->n_pieces; i++) put_piece(&sink, plan, &plan->piece[i]);
  if (plan->window > 0)
    tesela__putf(&sink, "run by windows of %" PRId64 " bytes of dst, each assembled by all pieces%s\n",
                 plan->window, plan->window_filled ? ", with its padding" : "");
  if (solved) put_verdicts(&sink, plan);
  tesela__in_place_explain(plan, &sink);
  return tesela__sink_finish(&sink, err);
}
