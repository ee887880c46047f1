/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_sweep.c - relayout over random pairs of layouts, against a non-temporal (NT) copy and memcpy of the same bytes.
 *
 *   bench_sweep [--seed=N] [--minutes=M] [--pairs=N] [--class=NAME] [--least=BYTES] [--most=BYTES] [--threads=N]
 *               [--case=N] [--solver=NAME] [--isa=NAME] [--measure] [--no-regret] [--rounds=N] [--json] [--peers] [--slowest=N]
 *               [--classes]
 *
 * Without --seed the clock gives one, so that nothing is tuned to the pairs; it is printed. Each pair is checked once against the
 * definition, then timed in rounds with both yardsticks. Bytes are counted as 64 for each distinct cache line of src that is read and of
 * dst that is written, and each yardstick copies half of that, which is read and written; logical bytes stand beside.
 * With one thread times are those of the processor, so that other work on the machine counts less.
 * Every other solver that applies is timed, too: regret is the time of the plan over that of the fastest, at least 1. From 1 to 16 MB,
 * block moves and the other pairs by the width of their elements have a figure each.
 *
 * --peers times nothing and prints the pairs that numpy and torch can say as strides, for bench_peers.py.
 *
 * Printed: a line for each pair, geometric means, 5th percentiles and least ratios by class and by size, the slowest pairs.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "nt_copy.h"
#include "race.h"
#include "relayout/solve.h"
#include "sweep_draw.h"
#include "timing.h"

enum { ROOM = 640 << 20, CHECKED = 1 << 15, MOST_CASES = 20000, N_BANDS = 3, LINE_TEXT = 200 };
static const double IN_PLACE_NS = 5e9; /* pairs whose run in place takes longer are not timed */

/* Bytes of both sides, the upper end of each band. */
static const struct {
  const char *name;
  double below;
} bands[N_BANDS] = {{"below 1 MB", 1e6}, {"1 to 16 MB", 16e6}, {"above 16 MB", 1e18}};

/* Block moves keep runs of a line or more together; other pairs differ by their width. */
enum { MOVE_blocks, MOVE_wide, MOVE_2, MOVE_1, N_MOVES };

typedef struct sweep_options {
  uint64_t seed;
  double minutes;
  int64_t pairs, least, most, only; /* only: the number of one case; -1: all */
  sweep_class class;
  int threads, rounds, slowest;
  tesela_solver solver;
  tesela_isa isa;
  bool measure, regret, json, peers;
} sweep_options;

typedef struct sweep_row {
  int64_t number;
  sweep_class class;
  int band, move;
  double logical, counted; /* bytes */
  double ns, vs_nt, vs_memcpy, regret;
  tesela_solver solver, best;
  char plan[LINE_TEXT], text[SWEEP_TEXT];
} sweep_row;

static unsigned char *dst_buffer, *src_buffer;
static sweep_row *rows;
static int n_rows, n_wrong, n_stopped;

/* ---- one pair -------------------------------------------------------------------------------------------------- */

typedef struct contest {
  const sweep_pair *p;
  tesela_plan *plan;
  void *scratch; /* in place */
} contest;

static int stop_at(void *user, int64_t done, int64_t total) {
  (void)done, (void)total;
  return bench_now() > *(const double *)user;
}

static void run_in_place(void *data) {
  contest *c = data;
  tesela_error err;
  if (tesela_plan_run_in_place(c->plan, dst_buffer, c->scratch, NULL, &err) != TESELA_OK)
    race_fail("in place: %s", err.message);
}

static tesela_status make_plan(const sweep_pair *p, const sweep_options *o, tesela_solver solver,
                               tesela_plan **plan, tesela_error *err) {
  tesela_plan_options options = {.threads = o->threads,
                                 .solver = solver,
                                 .isa = o->isa,
                                 .effort = o->measure ? TESELA_EFFORT_MEASURE : TESELA_EFFORT_ESTIMATE};
  return tesela_plan_create(plan, &p->pair.dst.layout, &p->pair.src.layout, &options, err);
}

static const char too_slow[] = "stopped after 5 s";

/* Run once; NULL, or what is wrong. */
static const char *check(contest *c) {
  const bench_pair *pair = &c->p->pair;
  if (c->p->class == SWEEP_in_place) {
    memset(dst_buffer, SIDE_UNTOUCHED, (size_t)pair->dst.bytes);
    memcpy(dst_buffer, src_buffer, (size_t)pair->src.bytes);
    double end = bench_now() + IN_PLACE_NS;
    tesela_run_options run = {.progress = stop_at, .progress_user = &end};
    if (tesela_plan_run_in_place(c->plan, dst_buffer, c->scratch, &run, NULL) != TESELA_OK) return too_slow;
  } else {
    memset(dst_buffer, SIDE_UNTOUCHED, (size_t)pair->dst.bytes);
    race_run_plan(&(race_plan){c->plan, dst_buffer, src_buffer});
  }
  return pair_check(pair, dst_buffer, src_buffer, CHECKED);
}

/* Fewer rounds for pairs that take long. */
static int rounds_for(const sweep_options *o, double ns) {
  int fit = (int)(4e8 / (ns + 1));
  return fit >= o->rounds ? o->rounds : fit < 1 ? 1 : fit;
}

/* Does a run end within `ns`? */
static bool ends_within(const tesela_plan *plan, double ns) {
  double end = bench_now() + ns;
  tesela_run_options run = {.progress = stop_at, .progress_user = &end};
  return tesela_plan_run(plan, dst_buffer, src_buffer, &run, NULL) == TESELA_OK;
}

/* For fit_costs.py: the terms of the cost of a plan that one piece is nearly all of, and its time as times of memcpy. */
static void print_terms(const tesela_plan *plan, const sweep_row *row, double times) {
  static const char *const ways[] = {
#define TESELA__COST(way, ...) #way,
#include "relayout/costs.inc"
#undef TESELA__COST
  };
  const tesela__piece *piece = plan->irregular || plan->largest < 0 ? NULL : &plan->piece[plan->largest];
  const tesela__verdict *verdict = &plan->verdict[piece ? piece->solver : TESELA_SOLVER_GATHER];
  if (!verdict->applies || (plan->irregular && plan->stretches.n_groups == 0)) return;
  if (piece && (double)piece->bytes < 0.9 * (double)plan->total_bytes) return;
  printf("{\"case\": %" PRId64 ", \"way\": \"%s\", \"set\": %d, \"times\": %.4f, \"terms\": [", row->number,
         ways[verdict->way], (int)tesela__cost_set(plan), times);
  for (int i = 0; i < TESELA__COST_TERMS; i++) printf("%s%.5g", i ? ", " : "", (double)verdict->term[i]);
  printf("]}\n");
}

/* Do plans of these lines do the same? One run is memcpy's and a row alike. */
static bool is_same_plan(const char *a, const char *b) {
  static const char run[] = "memcpy ", row[] = "rows ";
  if (strncmp(a, run, strlen(run)) == 0 && strncmp(b, row, strlen(row)) == 0)
    return strcmp(a + strlen(run), b + strlen(row)) == 0;
  return strcmp(a, b) == 0;
}

/* Time the other solvers beside the plan's own; plans that are the same are left out, as are those three times slower. */
static void time_regret(const contest *own, const sweep_options *o, sweep_row *row) {
  static racer racers[TESELA_SOLVER_PERMUTE + 1];
  racer *turns[TESELA_SOLVER_PERMUTE + 1];
  race_plan runs[TESELA_SOLVER_PERMUTE + 1];
  tesela_solver solver[TESELA_SOLVER_PERMUTE + 1];
  int n = 1, rounds = rounds_for(o, row->ns);
  runs[0] = (race_plan){own->plan, dst_buffer, src_buffer};
  for (int s = TESELA_SOLVER_MEMCPY; s <= TESELA_SOLVER_PERMUTE; s++) {
    tesela_plan *plan;
    tesela_error err;
    if (s == (int)row->solver || make_plan(own->p, o, (tesela_solver)s, &plan, &err) != TESELA_OK) continue;
    if (is_same_plan(row->plan, race_plan_line(plan)) || !ends_within(plan, 3 * row->ns + 1e5)) {
      tesela_plan_destroy(plan);
      continue;
    }
    solver[n] = (tesela_solver)s;
    runs[n++] = (race_plan){plan, dst_buffer, src_buffer};
  }
  solver[0] = row->solver;
  for (int i = 0; i < n; i++) {
    racers[i] = (racer){.run = race_run_plan, .data = &runs[i], .bytes = 1};
    turns[i] = &racers[i];
  }
  row->regret = 1;
  row->best = row->solver;
  if (n > 1) race(turns, n, rounds);
  for (int i = 1; i < n; i++) {
    double faster = race_ratio(&racers[i], &racers[0], rounds);
    if (faster > row->regret) row->regret = faster, row->best = solver[i];
    /* A plan does not choose the gather where loops describe the whole move. */
    if (o->json && (own->plan->irregular || !runs[i].plan->irregular))
      print_terms(runs[i].plan, row, 1 / faster / row->vs_memcpy);
  }
  if (o->json) print_terms(own->plan, row, 1 / row->vs_memcpy);
  for (int i = 1; i < n; i++) tesela_plan_destroy((tesela_plan *)(uintptr_t)runs[i].plan);
}

static void time_pair(contest *c, const sweep_options *o, sweep_row *row) {
  race_plan run = {c->plan, dst_buffer, src_buffer};
  race_copy half = {dst_buffer, src_buffer, (size_t)(row->counted / 2), o->threads};
  bool in_place = row->class == SWEEP_in_place;
  static racer own, nt, copy;
  own = (racer){.run = in_place ? run_in_place : race_run_plan, .data = in_place ? (void *)c : &run};
  nt = (racer){.run = race_nt_copy, .data = &half};
  copy = (racer){.run = race_memcpy, .data = &half};
  own.bytes = nt.bytes = copy.bytes = row->counted;
  double start = bench_now();
  own.run(own.data);
  int rounds = rounds_for(o, bench_now() - start);
  race((racer *[]){&copy, &nt, &own}, 3, rounds);
  row->ns = race_ns(&own, rounds);
  row->vs_nt = race_ratio(&own, &nt, rounds);
  row->vs_memcpy = race_ratio(&own, &copy, rounds);
}

static void print_row(const sweep_row *row, bool json) {
  const char *best = row->best == row->solver ? "" : tesela_solver_name(row->best);
  if (json)
    printf(
        "{\"case\": %" PRId64
        ", \"class\": \"%s\", \"logical_bytes\": %.0f, \"counted_bytes\": %.0f, \"ns\": %.0f, "
        "\"vs_nt_copy\": %.4f, \"vs_memcpy\": %.4f, \"regret\": %.3f, \"solver\": \"%s\", \"best\": \"%s\", "
        "\"plan\": \"%s\", \"pair\": \"%s\"}\n",
        row->number, sweep_class_name(row->class), row->logical, row->counted, row->ns, row->vs_nt,
        row->vs_memcpy, row->regret, tesela_solver_name(row->solver), tesela_solver_name(row->best),
        row->plan, row->text);
  else
    printf("%5" PRId64 " %-8s %9.3f %9.3f %7.1f %6.2f %6.2f  %5.2f %-10s %s | %s\n", row->number,
           sweep_class_name(row->class), row->logical * 1e-6, row->counted * 1e-6, row->counted / row->ns,
           row->vs_nt, row->vs_memcpy, row->regret, best, row->plan, row->text);
  fflush(stdout);
}

static int band_of(double bytes) {
  int i = 0;
  while (bytes >= bands[i].below) i++;
  return i;
}

/* The digit whose values are next to each other. */
static const side_digit *run_of(const bench_side *side) {
  for (int i = side->n - 1; i >= 0; i--)
    if (side->digit[i].stride == 1 && side->digit[i].extent > 1) return &side->digit[i];
  return NULL;
}

static int move_of(const bench_pair *pair) {
  const side_digit *to = run_of(&pair->dst), *from = run_of(&pair->src);
  if (to && from && to->dim == from->dim && to->step == from->step &&
      (to->extent < from->extent ? to->extent : from->extent) * pair->bits >= 64 * 8)
    return MOVE_blocks;
  return pair->bits > 16 ? MOVE_wide : pair->bits > 8 ? MOVE_2 : MOVE_1;
}

static void fail_pair(const sweep_pair *p, int64_t number, const char *why) {
  printf("%5" PRId64 " %-8s %s%s | %s\n", number, sweep_class_name(p->class),
         why == too_slow ? "" : "WRONG: ", why, p->text);
  *(why == too_slow ? &n_stopped : &n_wrong) += 1;
}

/* Mixed, so that no pair has the numbers of another one, shifted. */
static uint64_t seed_of(const sweep_options *o, int64_t number) {
  uint64_t seed = o->seed, mixed = tesela__random(&seed) + (uint64_t)number;
  return tesela__random(&mixed);
}

static void run_pair(const sweep_options *o, int64_t number) {
  static sweep_pair p;
  contest c = {.p = &p};
  tesela_error err;
  tesela_plan_info info;
  sweep_draw(seed_of(o, number), o->class, o->least, o->most, ROOM, &p);
  if (make_plan(&p, o, o->solver, &c.plan, &err) != TESELA_OK) {
    if (o->solver == TESELA_SOLVER_ANY) fail_pair(&p, number, err.message);
    return; /* another solver is requested, which does not apply */
  }
  tesela_plan_describe(c.plan, &info);
  if (p.class == SWEEP_in_place && info.in_place_scratch_bytes)
    c.scratch = malloc((size_t)info.in_place_scratch_bytes);
  const char *wrong = p.class == SWEEP_in_place && !info.in_place ? "not possible in place" : check(&c);
  if (wrong) {
    fail_pair(&p, number, wrong);
  } else {
    sweep_row *row = &rows[n_rows];
    const bench_pair *pair = &p.pair;
    int64_t elements = 1, lines = side_lines(pair, &pair->src, false) + side_lines(pair, &pair->dst, true);
    for (int32_t d = 0; d < pair->rank; d++) elements *= pair->shape[d];
    *row = (sweep_row){
        .number = number, .class = p.class, .solver = info.solver, .best = info.solver, .regret = 1};
    row->logical = (double)elements * pair->bits / 8;
    row->counted = 64.0 * (double)lines;
    row->band = band_of(row->counted);
    row->move = move_of(pair);
    snprintf(row->plan, sizeof row->plan, "%s", race_plan_line(c.plan));
    memcpy(row->text, p.text, sizeof row->text);
    time_pair(&c, o, row);
    if (o->regret && p.class != SWEEP_in_place) time_regret(&c, o, row);
    print_row(row, o->json);
    n_rows++;
  }
  free(c.scratch);
  tesela_plan_destroy(c.plan);
}

/* A pair whose sides have a stride for each dim, for bench_peers.py. */
static void print_strided(const char *key, const bench_pair *pair, const bench_side *side) {
  printf(", \"%s_offset\": %" PRId64 ", \"%s_strides\": [", key, side->offset, key);
  for (int32_t d = 0; d < pair->rank; d++)
    for (int i = 0; i < side->n; i++)
      if (side->digit[i].dim == d) printf("%s%" PRId64, d ? ", " : "", side->digit[i].stride);
  printf("]");
}

static void print_peers_case(const sweep_options *o, int64_t number) {
  static sweep_pair p;
  sweep_draw(seed_of(o, number), o->class, o->least, o->most, ROOM, &p);
  const bench_pair *pair = &p.pair;
  if (pair->dst.n != pair->rank || pair->src.n != pair->rank || pair->bits < 8 || p.class == SWEEP_in_place)
    return;
  int64_t lines = side_lines(pair, &pair->src, false) + side_lines(pair, &pair->dst, true);
  printf("{\"name\": \"%s %" PRId64 "\", \"bits\": %d, \"to_bytes\": %" PRId64 ", \"counted_bytes\": %" PRId64
         ", \"shape\": [",
         sweep_class_name(p.class), number, (int)pair->bits, pair->dst.bytes, 64 * lines);
  for (int32_t d = 0; d < pair->rank; d++) printf("%s%" PRId64, d ? ", " : "", pair->shape[d]);
  printf("]");
  print_strided("to", pair, &pair->dst);
  print_strided("from", pair, &pair->src);
  printf("}\n");
}

/* ---- all of them ----------------------------------------------------------------------------------------------- */

typedef double measure_fn(const sweep_row *row);
static double nt_of(const sweep_row *row) { return row->vs_nt; }
static double memcpy_of(const sweep_row *row) { return row->vs_memcpy; }
static double regret_of(const sweep_row *row) { return row->regret; }

typedef struct sweep_summary {
  int n;
  double mean, least, low, high, most; /* low, high: 5th and 95th percentile */
} sweep_summary;

/* class or band -1: all; in place is a class of its own. */
static bool belongs(const sweep_row *row, int class, int band) {
  if (class < 0 ? row->class == SWEEP_in_place : (int)row->class != class) return false;
  return band < 0 || row->band == band;
}

static sweep_summary summarise(measure_fn *of, int class, int band) {
  static double values[MOST_CASES];
  sweep_summary s = {0};
  double sum = 0;
  for (int i = 0; i < n_rows; i++)
    if (belongs(&rows[i], class, band)) sum += log(values[s.n++] = of(&rows[i]));
  if (s.n == 0) return s;
  qsort(values, (size_t)s.n, sizeof *values, bench_order);
  s.mean = exp(sum / s.n);
  s.least = values[0];
  s.low = values[(s.n - 1) * 5 / 100];
  s.high = values[(s.n - 1) - (s.n - 1) * 5 / 100];
  s.most = values[s.n - 1];
  return s;
}

static void print_group(const char *name, int class, int band, bool regret) {
  sweep_summary nt = summarise(nt_of, class, band), copy = summarise(memcpy_of, class, band);
  if (nt.n == 0) return;
  printf("%-10s %-12s %5d  %6.3f %6.3f %6.3f  %6.3f %6.3f %6.3f", name, band < 0 ? "all" : bands[band].name,
         nt.n, nt.mean, nt.low, nt.least, copy.mean, copy.low, copy.least);
  sweep_summary r = summarise(regret_of, class, band);
  if (regret && class != SWEEP_in_place) printf("  %6.3f %6.3f %6.3f", r.mean, r.high, r.most);
  printf("\n");
}

static double yardstick(const sweep_row *row) {
  return row->band == N_BANDS - 1 ? row->vs_nt : row->vs_memcpy;
}

static int slowest_first(const void *a, const void *b) {
  double x = yardstick(*(const sweep_row *const *)a), y = yardstick(*(const sweep_row *const *)b);
  return (x > y) - (x < y);
}

static void print_slowest(int most) {
  static const sweep_row *sorted[MOST_CASES];
  for (int i = 0; i < n_rows; i++) sorted[i] = &rows[i];
  qsort(sorted, (size_t)n_rows, sizeof sorted[0], slowest_first);
  printf("\nthe slowest: above 16 MB by the NT copy, else by memcpy\n");
  for (int i = 0; i < n_rows && i < most; i++) print_row(sorted[i], false);
}

static void print_middle(const char *name, int move) {
  double sum = 0;
  int n = 0;
  for (int i = 0; i < n_rows; i++)
    if (belongs(&rows[i], -1, 1) && rows[i].move == move) sum += log(rows[i].vs_memcpy), n++;
  if (n) bench_figure(name, exp(sum / n));
}

static void print_figures(bool regret) {
  static const char *const middle[N_MOVES] = {"sweep.middle_blocks", "sweep.middle_wide", "sweep.middle_2",
                                              "sweep.middle_1"};
  sweep_summary dram = summarise(nt_of, -1, 2);
  if (dram.n) {
    bench_figure("sweep.dram_nt", dram.mean);
    bench_figure("sweep.dram_nt_low", dram.low);
    bench_figure("sweep.dram_nt_least", dram.least);
  }
  for (int move = 0; move < N_MOVES; move++) print_middle(middle[move], move);
  sweep_summary r = summarise(regret_of, -1, -1);
  if (regret && r.n) {
    bench_figure("sweep.regret", r.mean);
    bench_figure("sweep.regret_high", r.high);
  }
}

static void print_summary(const sweep_options *o) {
  printf("\n%-10s %-12s %5s  %6s %6s %6s  %6s %6s %6s", "class", "counted", "pairs", "x NT", "5th", "least",
         "memcpy", "5th", "least");
  printf(o->regret ? "  %6s %6s %6s\n" : "\n", "regret", "95th", "most");
  for (int class = 0; class < SWEEP_N_CLASSES; class ++)
    for (int band = 0; band < N_BANDS; band++)
      print_group(sweep_class_name((sweep_class) class), class, band, o->regret);
  for (int band = 0; band < N_BANDS; band++) print_group("all others", -1, band, o->regret);
  print_group("all others", -1, -1, o->regret);
  if (o->slowest) print_slowest(o->slowest);
  printf("\n%d pairs, %d wrong, %d stopped, seed %" PRIu64 ": --seed=%" PRIu64 " --case=N repeats one\n",
         n_rows + n_wrong + n_stopped, n_wrong, n_stopped, o->seed, o->seed);
  print_figures(o->regret);
}

/* ---- the command line ------------------------------------------------------------------------------------------ */

static const char usage[] =
    "usage: bench_sweep [--seed=N] [--minutes=M] [--pairs=N] [--class=NAME] "
    "[--least=BYTES] [--most=BYTES] [--threads=N]\n"
    "                   [--case=N] [--solver=NAME] [--isa=NAME] [--measure] [--no-regret]\n"
    "                   [--rounds=N] [--json] [--peers] [--slowest=N] [--classes]";

static const char *value_of(const char *argument, const char *name) {
  size_t n = strlen(name);
  return strncmp(argument, name, n) == 0 && argument[n] == '=' ? argument + n + 1 : NULL;
}

static double number_of(const char *text, double least, double most) {
  char *end;
  double x = strtod(text, &end);
  if (end == text || *end || x < least || x > most)
    race_fail("%s: expected a number from %g to %g", text, least, most);
  return x;
}

static const char *class_name(const void *user, int32_t i) {
  (void)user;
  return i < SWEEP_N_CLASSES ? sweep_class_name((sweep_class)i) : NULL;
}

static const char *solver_name(const void *user, int32_t i) {
  (void)user;
  return tesela_solver_name((tesela_solver)i);
}

static const char *isa_name(const void *user, int32_t i) {
  (void)user;
  return i <= TESELA_ISA_AVX512 ? tesela_isa_name((tesela_isa)i) : NULL;
}

/* The number of a name, as `name` gives them. */
static int32_t named(const char *what, const char *text, const char *(*name)(const void *user, int32_t i)) {
  tesela_error err;
  for (int32_t i = 0; name(NULL, i); i++)
    if (strcmp(text, name(NULL, i)) == 0) return i;
  tesela_error_unknown(&err, what, text, name, NULL);
  race_fail("%s", err.message);
  return 0;
}

static void print_classes(void) {
  for (int i = 0; i < SWEEP_N_CLASSES; i++)
    printf("%-9s %3d %%  %s\n", sweep_class_name((sweep_class)i), sweep_class_weight((sweep_class)i),
           sweep_class_says((sweep_class)i));
}

static bool read_option(const char *a, sweep_options *o) {
  const char *v;
  if ((v = value_of(a, "--seed")))
    o->seed = strtoull(v, NULL, 10);
  else if ((v = value_of(a, "--minutes")))
    o->minutes = number_of(v, 0.01, 1000);
  else if ((v = value_of(a, "--pairs")))
    o->pairs = (int64_t)number_of(v, 1, MOST_CASES);
  else if ((v = value_of(a, "--class")))
    o->class = (sweep_class)named("class", v, class_name);
  else if ((v = value_of(a, "--least")))
    o->least = (int64_t)number_of(v, 64, ROOM / 2);
  else if ((v = value_of(a, "--most")))
    o->most = (int64_t)number_of(v, 64, ROOM / 2);
  else if ((v = value_of(a, "--threads")))
    o->threads = (int)number_of(v, 1, 64);
  else if ((v = value_of(a, "--case")))
    o->only = (int64_t)number_of(v, 0, 1e15);
  else if ((v = value_of(a, "--solver")))
    o->solver = (tesela_solver)named("solver", v, solver_name);
  else if ((v = value_of(a, "--isa")))
    o->isa = (tesela_isa)named("instruction set", v, isa_name);
  else if ((v = value_of(a, "--rounds")))
    o->rounds = (int)number_of(v, 1, RACE_MOST_ROUNDS);
  else if ((v = value_of(a, "--slowest")))
    o->slowest = (int)number_of(v, 0, MOST_CASES);
  else if (strcmp(a, "--measure") == 0)
    o->measure = true;
  else if (strcmp(a, "--no-regret") == 0)
    o->regret = false;
  else if (strcmp(a, "--json") == 0)
    o->json = true;
  else if (strcmp(a, "--peers") == 0)
    o->peers = true;
  else
    return false;
  return true;
}

int main(int argc, char **argv) {
  sweep_options o = {.seed = (uint64_t)time(NULL) * 1000003,
                     .minutes = 4,
                     .pairs = MOST_CASES,
                     .least = 1 << 10,
                     .most = 256 << 20,
                     .only = -1,
                     .class = SWEEP_N_CLASSES,
                     .threads = 1,
                     .rounds = 5,
                     .regret = true,
                     .slowest = 20};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--classes") == 0) {
      print_classes();
      return 0;
    }
    if (!read_option(argv[i], &o)) race_fail("%s", usage);
  }
  if (o.least > o.most) race_fail("--least is more than --most");
  for (int64_t i = 0; i < o.pairs && o.peers; i++) print_peers_case(&o, i);
  if (o.peers) return 0;
  rows = calloc(MOST_CASES, sizeof *rows);
  if (!rows) race_fail("no memory for the rows");
  dst_buffer = race_buffer(ROOM);
  src_buffer = race_buffer(ROOM);
  race_fill(src_buffer, ROOM);
  if (!o.json)
    printf("NT copy: %s, %d thread%s, seed %" PRIu64 "\n%5s %-8s %9s %9s %7s %6s %6s  %5s %-10s %s\n",
           nt_copy_name() ? nt_copy_name() : "none, memcpy stands in", o.threads, o.threads > 1 ? "s" : "",
           o.seed, "case", "class", "MB", "counted", "GB/s", "x NT", "memcpy", "of", "best", "plan | pair");
  if (o.threads == 1) race_by_processor();
  double end = bench_now() + o.minutes * 60e9;
  int64_t first = o.only < 0 ? 0 : o.only, n = o.only < 0 ? o.pairs : 1;
  for (int64_t i = first; i < first + n && bench_now() < end; i++) run_pair(&o, i);
  if (!o.json) print_summary(&o);
  return n_wrong ? 1 : 0;
}
