/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_relayout_run.c - run one pair in one way between guard pages, and compare every byte with the oracle.
 *
 * Each buffer is in a region between inaccessible pages, at its end or near its start, so an access outside is a
 * SIGSEGV. With one thread that is an ordinary failure; with several the handler prints the pair and lets the process
 * die of the signal. Without POSIX signals it dies without a message.
 */
#include "support_pages.h"
#include "support_relayout.h"

#if !defined(_WIN32) && !defined(__wasi__)
#define SIGNALS 1
#include <setjmp.h>
#include <signal.h>
#endif

enum { REGION = 40 << 20, CANARY = 64, CANARY_BYTE = 0xc5 };

#define WRONG(...) (snprintf(reason, REASON, __VA_ARGS__), false)

/* ---- the current run, for the handler ------------------------------------------------------------------ */

#ifdef SIGNALS
static const bench *running_bench;
static const trial *running_trial;
static struct sigaction old_segv, old_bus;
static sigjmp_buf before_run;
static volatile sig_atomic_t may_jump;

static void print_running(int signal_number) {
  static char text[PAIR_TEXT];
  if (may_jump) siglongjmp(before_run, 1);
  if (running_bench && running_trial) {
    pair_text(&running_bench->p, text);
    fprintf(stderr, "\n*** memory outside the buffers is touched: %s\n", text);
    trial_text(running_trial, text);
    fprintf(stderr, "  %s\n", text);
  }
  sigaction(signal_number, signal_number == SIGSEGV ? &old_segv : &old_bus, NULL); /* and fault again */
}

static void now_runs(const bench *b, const trial *t) {
  running_bench = b;
  running_trial = t;
}

static void catch_faults(void) {
  struct sigaction handler = {.sa_handler = print_running};
  sigemptyset(&handler.sa_mask);
  sigaction(SIGSEGV, &handler, &old_segv);
  sigaction(SIGBUS, &handler, &old_bus);
}
#else
static void now_runs(const bench *b, const trial *t) { (void)b, (void)t; }
static void catch_faults(void) {}
#endif

/* ---- guarded regions ----------------------------------------------------------------------------------- */

static unsigned char *region_of(int which) {
  static unsigned char *regions[2];
  if (regions[which]) return regions[which];
  if (which == 0) catch_faults();
  return regions[which] = pages_new(REGION).data;
}

/* Place a buffer of `bytes` in its region, with canaries around it as far as the region extends. */
static unsigned char *lay_out(int which, int64_t bytes, const trial *t, const unsigned char *content) {
  unsigned char *region = region_of(which);
  int64_t from = t->at_end ? REGION - bytes : which == 0 ? t->dst_shift : t->src_shift;
  int64_t before = from < CANARY ? from : CANARY;
  int64_t behind = REGION - from - bytes < CANARY ? REGION - from - bytes : CANARY;
  memset(region + from - before, CANARY_BYTE, (size_t)before);
  memcpy(region + from, content, (size_t)bytes);
  memset(region + from + bytes, CANARY_BYTE, (size_t)behind);
  return region + from;
}

static bool canaries_live(int which, const unsigned char *buffer, int64_t bytes) {
  const unsigned char *region = region_of(which);
  for (int64_t i = -CANARY; i < bytes + CANARY; i++) {
    if (i == 0) i = bytes;
    if (buffer + i < region || buffer + i >= region + REGION || i >= bytes + CANARY) continue;
    if (buffer[i] != CANARY_BYTE) return false;
  }
  return true;
}

/* ---- expected values ----------------------------------------------------------------------------------- */

/* Random bytes with frequent zeros, ones, and special values of the floats. */
static void fill_random(unsigned char *bytes, int64_t n, uint64_t seed, bool special) {
  static const uint32_t specials[] = {0x7f800000, 0xff800001, 0x7fc00000, 0x477ff000, 0x477fefff, 0x38800001,
                                      0x00000001, 0x80000000, 0x3f808000, 0x3f818000, 0x7f7fffff, 0x33000000,
                                      0x7ff00000, 0xfff00000, 0x7ff80000, 0x47efffff, 0x36a00000, 0x33000001};
  for (int64_t i = 0; i < n; i += 8) {
    uint64_t x = mixed(&seed);
    if (special && (x & 3) == 1)
      x = (uint64_t)specials[(x >> 8) % 18] << (x & 16 ? 32 : 0) | (x & 32 ? x >> 40 : 0);
    if (special && (x & 15) == 2) x &= x >> 9 & x >> 23;
    memcpy(bytes + i, &x, n - i < 8 ? (size_t)(n - i) : 8);
  }
}

static int64_t written_end(const bench *b) {
  return b->p.fill == TESELA_FILL_LEAVE ? b->dst.end : b->dst.end_padded;
}

/* Give all places of an element of src the same value. */
static void make_copies_equal(bench *b) {
  unsigned char x[16];
  if (b->src.n_copies > 1 && b->src.collide) memset(b->data, 0xff, (size_t)b->src_bytes);
  for (int64_t i = 0; b->src.n_copies > 1 && i < b->src.n_elements * b->src.n_copies; i++) {
    relayout_get(b->data, b->src.place[i / b->src.n_copies * b->src.n_copies], b->p.src.bits, x);
    relayout_put(b->data, b->src.place[i], b->p.src.bits, x);
  }
}

bool make_bench(bench *b, const pair *p, uint64_t seed) {
  *b = (bench){.p = *p};
  if (!relayout_map_make(&b->dst, &p->dst, true)) return false;
  if (!relayout_map_make(&b->src, &p->src, true)) {
    relayout_map_free(&b->dst);
    return false;
  }
  b->dst_bytes = relayout_bytes(written_end(b), p->dst.bits);
  b->src_bytes = relayout_bytes(b->src.end, p->src.bits);
  bool fits = b->dst_bytes <= REGION - 4096 && b->src_bytes <= REGION - 4096;
  if (fits) {
    b->before = malloc((size_t)b->dst_bytes + 1);
    b->expected = malloc((size_t)b->dst_bytes + 1);
    b->data = malloc((size_t)b->src_bytes + 1);
  }
  if (!b->before || !b->expected || !b->data) {
    free_bench(b);
    return false;
  }
  fill_random(b->before, b->dst_bytes, seed + 1, false);
  fill_random(b->data, b->src_bytes, seed, p->transform != TESELA_TRANSFORM_NONE);
  make_copies_equal(b);
  memcpy(b->expected, b->before, (size_t)b->dst_bytes);
  tesela_plan_options options = {.fill = p->fill, .transform = p->transform};
  memcpy(options.fill_value, p->fill_value, sizeof options.fill_value);
  relayout_image(&b->dst, &p->dst, &b->src, &p->src, &options, b->expected, b->data);
  return true;
}

void free_bench(bench *b) {
  relayout_map_free(&b->dst);
  relayout_map_free(&b->src);
  free(b->before);
  free(b->expected);
  free(b->data);
  *b = (bench){.dst_bytes = 0};
}

int expected_support(const bench *b) {
  if (b->dst.collide) return -1;
  bool may_overlap =
      b->p.dst.axis[0].overlap || (b->p.dst.axis[0].interleaved && b->p.fill != TESELA_FILL_LEAVE);
  for (int32_t j = 0; j < b->p.dst.n_joins; j++) may_overlap |= b->p.dst.join[j].overlap;
  return may_overlap ? 0 : 1;
}

/* ---- facts --------------------------------------------------------------------------------------------- */

static bool check_info(const bench *b, const trial *t, const tesela_plan_info *info, char reason[REASON]) {
  const tesela_layout *dst = &b->p.dst, *src = &b->p.src;
  int64_t written = b->dst.n_elements * b->dst.n_copies;
  if (b->p.fill != TESELA_FILL_LEAVE) written += b->dst.n_padding;
  int64_t bytes_read = relayout_bytes(b->dst.n_elements, src->bits);
  int64_t bytes_written = relayout_bytes(written, dst->bits);
  if (info->bytes_read != bytes_read)
    return WRONG("info.bytes_read is %" PRId64 ", not %" PRId64, info->bytes_read, bytes_read);
  bool may_be_less = dst->swizzle.n > 0; /* finding the end of a swizzled layout takes a look at each place */
  if (may_be_less ? info->bytes_written > bytes_written : info->bytes_written != bytes_written)
    return WRONG("info.bytes_written is %" PRId64 ", not %" PRId64, info->bytes_written, bytes_written);
  if (info->dst_bytes < b->dst_bytes || info->dst_bytes > relayout_bytes(dst->axis[0].extent, dst->bits) ||
      (b->p.fill != TESELA_FILL_LEAVE && b->dst.n_elements > 0 && info->dst_bytes != b->dst_bytes))
    return WRONG("info.dst_bytes is %" PRId64 "; the last byte written is %" PRId64, info->dst_bytes,
                 b->dst_bytes - 1);
  if (info->src_bytes < b->src_bytes || info->src_bytes > relayout_bytes(src->axis[0].extent, src->bits))
    return WRONG("info.src_bytes is %" PRId64 "; the last byte read is %" PRId64, info->src_bytes,
                 b->src_bytes - 1);
  if (info->scratch_bytes < 0 || info->scratch_bytes > TESELA_PLAN_STACK)
    return WRONG("info.scratch_bytes is %" PRId64, info->scratch_bytes);
  if (info->threads < 1 || (t->options.threads > 0 && info->threads > t->options.threads))
    return WRONG("info.threads is %d of %d", info->threads, t->options.threads);
  if ((b->dst.n_elements > 0 && info->n_pieces < 1) || info->n_pieces < 0 || info->n_fills < 0)
    return WRONG("info: %d pieces, %d fills", info->n_pieces, info->n_fills);
  if (!tesela_solver_name(info->solver) || !tesela_isa_name(info->isa) || !tesela_isa_available(info->isa))
    return WRONG("info: solver %d, isa %d", (int)info->solver, (int)info->isa);
  if (t->options.isa != TESELA_ISA_BEST && info->isa > t->options.isa)
    return WRONG("info.isa is %s, the cap %s", tesela_isa_name(info->isa), tesela_isa_name(t->options.isa));
  if (info->in_place && b->dst.n_elements > 0 &&
      (dst->bits != src->bits || b->dst.n_copies > 1 || b->src.collide))
    return WRONG("info.in_place is true");
  return true;
}

static bool check_texts(const tesela_plan *plan, char reason[REASON]) {
  static char text[1 << 16];
  tesela_buffer line = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&line);
  if (tesela_plan_print(plan, &to, NULL) != TESELA_OK || line.length == 0 || strchr(text, '\n'))
    return WRONG("the plan prints as \"%.200s\"", text);
  tesela_buffer words = {text, sizeof text, 0};
  to = tesela_buffer_writer(&words);
  if (tesela_plan_explain(plan, &to, NULL) != TESELA_OK || !strchr(text, '\n'))
    return WRONG("the plan explains itself as \"%.200s\"", text);
  return true;
}

/* ---- the run ------------------------------------------------------------------------------------------- */

/* Runs the chunks in reverse order and counts the calls. */
typedef struct backwards {
  int32_t calls;
} backwards;

static void run_backwards(void *user, int32_t n, void (*chunk)(void *data, int32_t i), void *data) {
  backwards *b = user;
  b->calls++;
  for (int32_t i = n - 1; i >= 0; i--) chunk(data, i);
}

/* If arithmetic may make any NaN, accept the one that was made. */
static void accept_nans(const bench *b, const unsigned char *got, unsigned char *expected) {
  unsigned char x[16], y[16];
  for (int64_t i = 0; i < b->dst.n_elements * b->dst.n_copies; i++) {
    relayout_get(got, b->dst.place[i], b->p.dst.bits, x);
    relayout_get(expected, b->dst.place[i], b->p.dst.bits, y);
    if (relayout_same(b->p.transform, &b->p.dst, x, y))
      relayout_put(expected, b->dst.place[i], b->p.dst.bits, x);
  }
}

static bool check_image(const bench *b, const unsigned char *got, char reason[REASON]) {
  static const char *const names[] = {"a gap", "padding", "an element"};
  if (memcmp(got, b->expected, (size_t)b->dst_bytes) == 0) return true;
  if (b->p.transform != TESELA_TRANSFORM_NONE) {
    accept_nans(b, got, b->expected);
    if (memcmp(got, b->expected, (size_t)b->dst_bytes) == 0) return true;
  }
  int64_t at = 0, n_wrong = 0;
  for (int64_t i = b->dst_bytes - 1; i >= 0; i--)
    if (got[i] != b->expected[i]) at = i, n_wrong++;
  int64_t place = at * 8 / b->p.dst.bits;
  const char *kind = names[place < b->dst.n_places ? b->dst.kind[place] : RELAYOUT_GAP];
  return WRONG("%s of dst is wrong: byte %" PRId64 " (place %" PRId64
               ") is %02x, not %02x, it was %02x; %" PRId64 " bytes of %" PRId64 " are wrong",
               kind, at, place, got[at], b->expected[at], b->before[at], n_wrong, b->dst_bytes);
}

/* False if it touched memory outside its buffers. */
static bool run_guarded(const tesela_plan *plan, bool one_thread, void *dst, const void *src,
                        const tesela_run_options *how, tesela_status *status, tesela_error *err) {
#ifdef SIGNALS
  may_jump = 0;
  if (one_thread) {
    if (sigsetjmp(before_run, 1) != 0) {
      may_jump = 0;
      return false;
    }
    may_jump = 1;
  }
#else
  (void)one_thread;
#endif
  *status = tesela_plan_run(plan, dst, src, how, err);
#ifdef SIGNALS
  may_jump = 0;
#endif
  return true;
}

static bool run_plan(const bench *b, const trial *t, const tesela_plan *plan, bool one_thread,
                     char reason[REASON]) {
  unsigned char *dst = lay_out(0, b->dst_bytes, t, b->before);
  unsigned char *src = lay_out(1, b->src_bytes, t, b->data);
  backwards counted = {0};
  tesela_executor executor = {run_backwards, &counted};
  tesela_run_options how = {.executor = &executor};
  tesela_error err = {.message = ""};
  now_runs(b, t);
  tesela_status status;
  if (!run_guarded(plan, one_thread, dst, src, t->executor ? &how : NULL, &status, &err))
    return WRONG("memory outside the buffers is touched");
  now_runs(NULL, NULL);
  if (status != TESELA_OK) return WRONG("run: %s: %s", tesela_status_code(status), err.message);
  if (memcmp(src, b->data, (size_t)b->src_bytes) != 0) return WRONG("src is changed");
  if (!canaries_live(0, dst, b->dst_bytes)) return WRONG("bytes around dst are changed");
  if (!canaries_live(1, src, b->src_bytes)) return WRONG("bytes around src are changed");
  return check_image(b, dst, reason);
}

static tesela_plan_options options_of(const bench *b, const trial *t) {
  tesela_plan_options options = t->options;
  options.fill = b->p.fill;
  options.transform = b->p.transform;
  memcpy(options.fill_value, b->p.fill_value, sizeof options.fill_value);
  return options;
}

bool run_bench(const bench *b, const trial *t, tesela_plan_info *used, char reason[REASON]) {
  tesela_plan_options options = options_of(b, t);
  tesela_plan *plan = NULL;
  tesela_error err = {.message = ""};
  tesela_plan_info info = {.solver = TESELA_SOLVER_ANY};
  if (used) *used = info;
  tesela_status status = tesela_plan_create(&plan, &b->p.dst, &b->p.src, &options, &err);
  int support = expected_support(b);
  bool free_choice = options.solver == TESELA_SOLVER_ANY || options.solver == TESELA_SOLVER_GATHER;
  if (status == TESELA_E_UNSUPPORTED && (support < 1 || !free_choice))
    return plan == NULL || WRONG("a plan and a refusal");
  if (status != TESELA_OK) return WRONG("create: %s: %s", tesela_status_code(status), err.message);
  if (support < 0) {
    tesela_plan_destroy(plan);
    return WRONG("two elements at one place of dst are not refused");
  }
  tesela_plan_describe(plan, &info);
  if (used) *used = info;
  bool ok = check_info(b, t, &info, reason) && (t->options.shuffle || check_texts(plan, reason)) &&
            run_plan(b, t, plan, info.threads == 1, reason);
  tesela_plan_destroy(plan);
  return ok;
}

/* Does every place of src hold its element again? */
static bool check_back(const bench *b, const unsigned char *again, char reason[REASON]) {
  unsigned char x[16], y[16];
  for (int64_t i = 0; i < b->src.n_elements * b->src.n_copies; i++) {
    int64_t first = i / b->src.n_copies * b->src.n_copies;
    relayout_get(again, b->src.place[i], b->p.src.bits, x);
    relayout_get(b->data, b->src.place[first], b->p.src.bits, y);
    if (memcmp(x, y, 16) != 0)
      return WRONG("the way back: element %" PRId64 " at place %" PRId64 " is another", i / b->src.n_copies,
                   b->src.place[i]);
  }
  return true;
}

bool run_round_trip(const bench *b, const trial *t, char reason[REASON]) {
  if (b->p.transform != TESELA_TRANSFORM_NONE || expected_support(b) < 0) return true;
  tesela_plan *back = NULL;
  tesela_plan_options options = t->options;
  options.fill = TESELA_FILL_LEAVE;
  if (tesela_plan_create(&back, &b->p.src, &b->p.dst, &options, NULL) != TESELA_OK) return true;
  tesela_plan_info info;
  tesela_plan_describe(back, &info);
  unsigned char *again = malloc((size_t)info.dst_bytes + 1), *there = malloc((size_t)info.src_bytes + 1);
  int64_t filled = relayout_bytes(b->dst.end, b->p.dst.bits);
  if (!again || !there || info.src_bytes < filled) abort();
  memset(again, 0x5a, (size_t)info.dst_bytes);
  memset(there, 0xa5, (size_t)info.src_bytes);
  memcpy(there, b->expected, (size_t)filled);
  tesela_status status = tesela_plan_run(back, again, there, NULL, NULL);
  bool ok = status == TESELA_OK ? check_back(b, again, reason)
                                : WRONG("the way back: %s", tesela_status_code(status));
  tesela_plan_destroy(back);
  free(again);
  free(there);
  return ok;
}
