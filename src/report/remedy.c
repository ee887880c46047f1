/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remedy.c - what can be done about an array, by the catalogue of TESELA_REMEDY_MAP; each with its bytes and, of a schedule, the peak
 * with it. remedy_code.c prints the code.
 *
 * All shapes that a remedy makes are placed as a TPU compiler would place them, and measured; none is guessed. What compilers then make
 * of each is in tests/tpu/doctor/advice.tsv: that the small dim comes first changes nothing for them, so it is not advised.
 */
#include "report/report_state.h"

enum {
  REMEDY_LANES = 128,
  REMEDY_PIXELS = 32, /* of a line, as channels */
  REMEDY_WORTH = 20,  /* it saves a twentieth or more, of a schedule a twentieth of the peak */
  REMEDY_VECTORS = 8, /* of the vector memory an eighth: for less its cost elsewhere is more */
  REMEDY_PIECE = 512  /* bytes: arrays take whole pieces */
};

static const double REMEDY_CLOSE = 0.9;

#define TESELA__ROW(symbol, class, name, words) {class, name, words},
static const struct {
  char class;
  const char *name, *words;
} remedy_rows[] = {TESELA_REMEDY_MAP(TESELA__ROW)};
#undef TESELA__ROW

static bool remedy_is_kind(tesela_remedy_kind kind) { return (unsigned)kind < TESELA_REMEDY_N_KINDS; }

const char *tesela_remedy_name(tesela_remedy_kind kind) {
  return remedy_is_kind(kind) ? remedy_rows[kind].name : NULL;
}

const char *tesela_remedy_words(tesela_remedy_kind kind) {
  return remedy_is_kind(kind) ? remedy_rows[kind].words : NULL;
}

char tesela_remedy_class(tesela_remedy_kind kind) {
  return (char)(remedy_is_kind(kind) ? remedy_rows[kind].class : 0);
}

/* ---- the shapes ------------------------------------------------------------------------------------------- */

static bool remedy_is_set(const tesela_report_culprit *culprit) {
  return culprit->role == TESELA_REPORT_BUFFER_ARGUMENT || culprit->role == TESELA_REPORT_BUFFER_OUTPUT ||
         culprit->role == TESELA_REPORT_BUFFER_DONATED;
}

/* As a compiler places it, in its order or in the one there is; its bytes, or -1. */
static int64_t remedy_place(tesela_xla_shape *shape, uint32_t options) {
  tesela_xla_sizes sizes;
  if (tesela_xla_choose(shape, options, NULL) != TESELA_OK ||
      tesela_xla_size(shape, &sizes, NULL) != TESELA_OK)
    return -1;
  return sizes.allocated_bytes;
}

/* The order that takes fewest bytes. */
static int64_t remedy_order(const tesela_xla_shape *from, uint32_t options, tesela_xla_shape *best) {
  int64_t least = -1;
  for (int32_t minor = from->rank - 1; minor >= 0; minor--)
    for (int32_t second = from->rank - 1; second >= 0; second--) {
      tesela_xla_shape shape = *from;
      if (minor == second) continue;
      tesela__report_set_order(&shape.layout, minor, second);
      const int64_t bytes = remedy_place(&shape, options);
      if (bytes < 0 || (least >= 0 && bytes >= least)) continue;
      least = bytes;
      *best = shape;
    }
  return least;
}

static void remedy_drop_dim(tesela_xla_shape *shape, int32_t dim) {
  for (int32_t d = dim; d + 1 < shape->rank; d++) shape->dim[d] = shape->dim[d + 1];
  shape->rank--;
  shape->layout.rank = shape->rank;
  for (int32_t i = 0; i < shape->rank; i++) shape->layout.minor_to_major[i] = shape->rank - 1 - i;
}

uint64_t tesela__remedy_few(const tesela_xla_shape *shape, tesela__remedy_apart apart, int64_t *arrays) {
  const int64_t indices = apart == TESELA__REMEDY_SMALL ? 4 : 64,
                most = apart == TESELA__REMEDY_SMALL ? 16 : 64;
  uint64_t few = 0;
  *arrays = 1;
  for (int32_t d = shape->rank - 1; d >= 0; d--) {
    if (shape->dim[d] < 2 || shape->dim[d] > indices || *arrays * shape->dim[d] > most) continue;
    *arrays *= shape->dim[d];
    few |= (uint64_t)1 << d;
  }
  return few;
}

/* One array for each index of the few; their number, or 0. */
static int64_t remedy_components(const tesela_xla_shape *from, tesela__remedy_apart apart,
                                 tesela_xla_shape *shape) {
  int64_t arrays;
  const uint64_t few = tesela__remedy_few(from, apart, &arrays);
  *shape = *from;
  for (int32_t d = from->rank - 1; d >= 0; d--)
    if (few >> d & 1) remedy_drop_dim(shape, d);
  return few && shape->rank > 0 ? arrays : 0;
}

/* 128 / n rows of n elements as one. */
static bool remedy_pack(const tesela_xla_shape *from, tesela_xla_shape *shape) {
  *shape = *from;
  if (shape->rank != 2 || shape->dim[1] < 2 || shape->dim[1] >= REMEDY_LANES ||
      REMEDY_LANES % shape->dim[1] != 0)
    return false;
  const int64_t rows = REMEDY_LANES / shape->dim[1];
  if (shape->dim[0] % rows != 0 || shape->dim[0] == rows) return false;
  shape->dim[0] /= rows;
  shape->dim[1] = REMEDY_LANES;
  return true;
}

/* The channels of an array of a convolution, pictures first: second in the compiler's order for convolutions, whose lanes are a few
 * pictures; in another the last dim or the one after the pictures, the shorter of both. -1: not such an array. */
static int32_t remedy_channel(const tesela_xla_shape *from) {
  const int32_t last = from->rank - 1;
  if (from->rank < 3 || from->dim[0] >= REMEDY_LANES) return -1;
  if (from->layout.minor_to_major[0] == 0) return from->layout.minor_to_major[1];
  return from->dim[1] < from->dim[last] ? 1 : last;
}

/* Pixels of a line as channels, which are then up to 128. */
static bool remedy_channels(const tesela_xla_shape *from, tesela_xla_shape *shape) {
  *shape = *from;
  const int32_t channel = remedy_channel(from),
                line = channel == from->rank - 1 ? channel - 1 : from->rank - 1;
  if (channel < 1 || line < 1 || from->dim[channel] < 1) return false;
  const int64_t pixels = tesela__min(REMEDY_PIXELS, REMEDY_LANES / from->dim[channel]);
  if (pixels < 2 || from->dim[line] < 2 * pixels) return false;
  shape->dim[channel] *= pixels;
  shape->dim[line] = tesela__ceil_div(from->dim[line], pixels);
  return true;
}

/* Two neighbouring dims as one, those that leave fewest bytes; their bytes, or -1. Two dims stay: all as one row is of no use. */
static int64_t remedy_merge(const tesela_xla_shape *from, tesela_xla_shape *best) {
  int64_t least = -1;
  for (int32_t d = from->rank - 2; from->rank > 2 && d >= 0; d--) {
    tesela_xla_shape shape = *from;
    if (!tesela__mul(from->dim[d], from->dim[d + 1], &shape.dim[d + 1])) continue;
    remedy_drop_dim(&shape, d);
    const int64_t bytes = remedy_place(&shape, TESELA_XLA_CHOOSE_ORDER);
    if (bytes < 0 || (least >= 0 && bytes >= least)) continue;
    least = bytes;
    *best = shape;
  }
  return least;
}

/* ---- the catalogue ---------------------------------------------------------------------------------------- */

typedef struct remedy_list {
  const tesela_report *report;
  const tesela_report_culprit *culprit;
  tesela_xla_shape from;
  int64_t bytes; /* of one */
  tesela_report_remedy *remedy;
  int32_t n;
  int64_t few; /* of the remedy that is put next */
} remedy_list;

static bool remedy_made_by(const remedy_list *list, const char *word) {
  return strstr(list->culprit->op_name, word) || strstr(list->culprit->name, word);
}

/* `each`: bytes of one array of the new shape. The first in the catalogue is the first of those that are close. */
static void remedy_put(remedy_list *list, tesela_remedy_kind kind, const tesela_xla_shape *to, int64_t arrays,
                       int64_t each) {
  int64_t bytes;
  const bool dims =
      remedy_rows[kind].class == 'b' && kind != TESELA_REMEDY_PACK && kind != TESELA_REMEDY_MERGE;
  if (list->culprit->space != 0 && !dims) return; /* the compiler chooses what is there, and in which order */
  if (each < 0 || !tesela__mul(tesela__ceil_div(each, REMEDY_PIECE), arrays * REMEDY_PIECE, &bytes) ||
      bytes > list->bytes - list->bytes / REMEDY_WORTH)
    return;
  int32_t at = list->n++;
  for (; at > 0 && (double)list->remedy[at - 1].bytes * REMEDY_CLOSE > (double)(bytes * list->culprit->count);
       at--)
    list->remedy[at] = list->remedy[at - 1];
  list->remedy[at] = (tesela_report_remedy){.kind = kind,
                                            .from = list->from,
                                            .to = *to,
                                            .arrays = arrays,
                                            .bytes = bytes * list->culprit->count,
                                            .peak_bytes = -1,
                                            .few = list->few};
}

static bool remedy_is_indexed(const remedy_list *list) {
  return remedy_made_by(list, "gather") || remedy_made_by(list, "scatter");
}

/* Made by a convolution, or in the order in which one takes its pictures: these are the lanes, the channels come next. */
static bool remedy_is_convolved(const remedy_list *list) {
  const tesela_xla_shape *from = &list->from;
  const bool lanes = from->rank >= 4 && from->layout.minor_to_major[0] == 0 &&
                     from->dim[from->layout.minor_to_major[1]] <= 4;
  return remedy_made_by(list, "conv_general_dilated") || remedy_made_by(list, "convolution") ||
         (lanes && !remedy_is_set(list->culprit));
}

static void remedy_put_components(remedy_list *list, tesela__remedy_apart apart) {
  tesela_xla_shape to;
  const int64_t arrays = remedy_components(&list->from, apart, &to);
  if (arrays == 0) return;
  const bool small = list->from.rank > 2 && list->from.dim[list->from.rank - 1] <= 4 &&
                     list->from.dim[list->from.rank - 2] <= 4;
  const bool integers =
      list->from.dtype == TESELA_S32 || list->from.dtype == TESELA_U32 || list->from.dtype == TESELA_S64;
  tesela_remedy_kind kind = TESELA_REMEDY_COMPONENTS;
  if (small && (remedy_made_by(list, "dot_general") || remedy_made_by(list, "aten__mm")))
    kind = TESELA_REMEDY_PRODUCTS;
  else if (integers && remedy_is_indexed(list))
    kind = TESELA_REMEDY_INDICES;
  if (kind == TESELA_REMEDY_COMPONENTS && remedy_made_by(list, "gather"))
    list->few = tesela__remedy_taken(list->report, &list->from);
  remedy_put(list, kind, &to, arrays, remedy_place(&to, TESELA_XLA_CHOOSE_ORDER));
  list->few = 0;
}

/* "jit(f)/mul" is an operation of JAX; the name of an argument is that of its copies, too. */
static bool remedy_is_of_argument(const tesela_report_culprit *culprit) {
  return culprit->op_name[0] && !strchr(culprit->op_name, '/') && !tesela__culprit_is_torch(culprit);
}

/*
 * Is it made by moving data within the program? Then a constraint moves it so that it is as wanted. What a gather, a product or a custom
 * call makes comes in the order that this has: a constraint adds a copy.
 */
static bool remedy_is_moved(const tesela_report_culprit *culprit) {
  static const char *const makers[] = {"copy",      "reshape",     "slice", "transpose",
                                       "broadcast", "concatenate", "pad"};
  bool moved = false;
  for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
    moved = moved || strncmp(culprit->name, makers[i], strlen(makers[i])) == 0;
  return moved && culprit->op_name[0];
}

/* The copy of an argument is in the order of the operation that reads it, and custom calls have orders of their own: a constraint changes
 * nothing about these. */
static void remedy_put_orders(remedy_list *list) {
  const tesela_report_culprit *culprit = list->culprit;
  const bool set = remedy_is_set(culprit), given = remedy_is_of_argument(culprit),
             called = strncmp(culprit->name, "custom-call", 11) == 0 ||
                      (!set && tesela__remedy_is_called(list->report, &list->from));
  tesela_xla_shape to;
  if (!set && (given || called || (culprit->count == 1 && !remedy_is_moved(culprit)))) return;
  remedy_put(list, set ? TESELA_REMEDY_ORDER : TESELA_REMEDY_CONSTRAIN, &to, 1,
             remedy_order(&list->from, set ? TESELA_XLA_CHOOSE_ARGUMENT : 0, &to));
}

static void remedy_put_all(remedy_list *list) {
  int64_t small, wide;
  tesela_xla_shape to;
  if (!remedy_is_set(list->culprit) && (remedy_made_by(list, "one_hot") || remedy_made_by(list, "OneHot")))
    remedy_put(list, TESELA_REMEDY_TAKE, &list->from, 0, 0);
  const bool convolved = remedy_is_convolved(list) && !tesela__culprit_is_torch(list->culprit) &&
                         remedy_channels(&list->from, &to);
  if (convolved)
    remedy_put(list, TESELA_REMEDY_CHANNELS, &to, 1, remedy_place(&to, TESELA_XLA_CHOOSE_ORDER));
  else
    remedy_put_components(list, TESELA__REMEDY_SMALL);
  if (!convolved && !remedy_is_indexed(list) && remedy_pack(&list->from, &to))
    remedy_put(list, TESELA_REMEDY_PACK, &to, 1, remedy_place(&to, TESELA_XLA_CHOOSE_ORDER));
  const bool rows =
      remedy_is_indexed(list) && !remedy_is_moved(list->culprit); /* that are taken come as rows */
  if (!rows && list->n == 0) remedy_put(list, TESELA_REMEDY_MERGE, &to, 1, remedy_merge(&list->from, &to));
  (void)tesela__remedy_few(&list->from, TESELA__REMEDY_SMALL, &small);
  (void)tesela__remedy_few(&list->from, TESELA__REMEDY_WIDE, &wide);
  if (small == 1 && wide > 1 && !remedy_is_set(list->culprit) && !remedy_is_convolved(list))
    remedy_put_components(list, TESELA__REMEDY_WIDE);
  remedy_put_orders(list);
}

/* The shape alone: what placing adds is left out. */
static tesela_xla_shape remedy_plain(const tesela_xla_shape *shape) {
  tesela_xla_shape plain = *shape;
  plain.dynamic = 0;
  plain.layout.tail = 1;
  plain.layout.metadata_bytes = 0;
  if (plain.layout.element_bits > 8 * tesela_dtype_bytes(plain.dtype)) plain.layout.element_bits = 0;
  return plain;
}

/* ---- the peak with each ----------------------------------------------------------------------------------- */

/*
 * The peak with each remedy, for the buffers that are alike; those that leave it as high are dropped. A constraint on what is not moved
 * leaves one of them as it is, while it is copied.
 */
static tesela_status remedy_replay(const tesela_report *report, remedy_list *of, int64_t *list,
                                   int64_t n_buffers, tesela_error *err) {
  const int64_t worth = of->culprit->space == 0 ? REMEDY_WORTH : REMEDY_VECTORS;
  int64_t alike = 0, peak, *bytes = list + n_buffers;
  for (int64_t i = 0; i < n_buffers; i++) {
    tesela_report_buffer buffer;
    if (tesela_report_buffer_at(report, i, &buffer, NULL) == TESELA_OK &&
        tesela__culprit_is(of->culprit, &buffer))
      list[alike++] = i;
  }
  tesela_status status = tesela_report_replay(report, of->culprit->space, 0, NULL, NULL, &peak, err);
  int32_t kept = 0;
  for (int32_t k = 0; k < of->n && status == TESELA_OK; k++) {
    tesela_report_remedy remedy = of->remedy[k];
    for (int64_t i = 0; i < alike; i++) bytes[i] = remedy.bytes / of->culprit->count;
    status = tesela_report_replay(report, of->culprit->space, alike, list, bytes, &remedy.peak_bytes, err);
    if (remedy.kind == TESELA_REMEDY_CONSTRAIN && !remedy_is_moved(of->culprit))
      remedy.peak_bytes += of->bytes;
    if (remedy.peak_bytes < peak - peak / worth) of->remedy[kept++] = remedy;
  }
  of->n = kept;
  return status;
}

tesela_status tesela_report_remedies(const tesela_report *report, const tesela_report_culprit *culprit,
                                     tesela_report_remedy remedy[TESELA_REPORT_MAX_REMEDIES], int32_t *n,
                                     tesela_error *err) {
  TESELA__NEED(err, report, culprit, remedy, n);
  remedy_list list = {.report = report, .culprit = culprit, .remedy = remedy};
  tesela_status status = TESELA_OK;
  *n = 0;
  if (!tesela__culprit_shape(culprit, &list.from)) return TESELA_OK;
  list.bytes = culprit->bytes / culprit->count;
  list.from = remedy_plain(&list.from);
  if (list.from.rank > 0 && list.from.layout.n_splits == 0) remedy_put_all(&list);
  if (culprit->lives && report->lives && list.n > 0) {
    const int64_t n_buffers = tesela_report_n_buffers(report);
    int64_t *room =
        tesela__alloc(&report->allocator, (uint64_t)n_buffers * 2 * sizeof *room + 1, alignof(int64_t));
    if (!room) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for %" PRId64 " buffers", n_buffers);
    status = remedy_replay(report, &list, room, n_buffers, err);
    tesela__release(&report->allocator, room);
  }
  if (list.n == 0)
    remedy[list.n++] = (tesela_report_remedy){.kind = TESELA_REMEDY_NONE,
                                              .from = list.from,
                                              .to = list.from,
                                              .arrays = 1,
                                              .bytes = culprit->bytes,
                                              .peak_bytes = -1};
  if (status == TESELA_OK) *n = list.n;
  return status;
}
