/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_reduce.c - fewer nests than boxes, and within the limits of an engine.
 *
 * In merged form, nests whose union is a nest are joined (dma_nest.c), and for few elements all lists are tried
 * (dma_fewest.c). Fewer nests may become more when they are cut, so both lists are cut and the shorter one is kept. In
 * plain form the nests are those of the boxes.
 */
#include "device/dma.h"

static void dma_list_swap(tesela__dma_list *a, tesela__dma_list *b) {
  tesela__dma_list other = *a;
  *a = *b, *b = other;
}

static tesela_status dma_copy(tesela__dma_list *out, const tesela__dma_list *list, tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (size_t i = 0; i < list->n && status == TESELA_OK; i++)
    status = tesela__dma_add(out, &list->nest[i], err);
  return status;
}

/* Cut all nests of a list to the limits; the result replaces `out` if that is empty or longer. */
static tesela_status dma_cut_all(tesela__dma_list *out, const tesela__dma_list *list,
                                 const tesela_dma_limits *limits, int64_t bytes, tesela_error *err) {
  tesela__dma_list cut = {.allocator = list->allocator, .most = tesela__dma_most(limits)};
  tesela_status status = TESELA_OK;
  for (size_t i = 0; i < list->n && status == TESELA_OK; i++)
    status = tesela__dma_legalise(&cut, &list->nest[i], limits, bytes, err);
  if (status == TESELA_OK && (out->n == 0 || cut.n < out->n)) dma_list_swap(out, &cut);
  tesela__release(cut.allocator, cut.nest);
  return status;
}

static tesela_status dma_too_many(const tesela_dma_limits *limits, size_t n, tesela_error *err) {
  return tesela__refuse(err, TESELA_E_UNSUPPORTED, TESELA_REASON_MAX_NESTS,
                        "max_nests is %" PRId64 "; the list found has %zu nests within the other limits",
                        limits->max_nests, n);
}

/* Fail for a known reason. */
static tesela_status dma_refuse(const tesela_error *why, tesela_error *err) {
  if (err) *err = *why;
  return why->status;
}

/* For few elements: any list that meets the limits, the given nests or others. `why`: why the given ones do not. */
static tesela_status dma_limited_few(tesela__dma_list *out, int32_t *least, const tesela__dma_list *boxes,
                                     const tesela_dma_limits *limits, int64_t bytes, const tesela_error *why,
                                     tesela_error *err) {
  bool kept = out->n > 0;
  tesela_status status = kept ? TESELA_OK : dma_copy(out, boxes, err);
  if (status == TESELA_OK) status = tesela__dma_fewest(out, &kept, least, limits, bytes, err);
  if (status == TESELA_OK && !kept) return dma_refuse(why, err);
  return status;
}

/* A list within the limits, from the nests of the boxes or from the joined ones. */
static tesela_status dma_limited(tesela__dma_list *out, int32_t *least, const tesela__dma_list *boxes,
                                 const tesela__dma_list *fewer, const tesela_dma_options *options,
                                 int64_t bytes, tesela_error *err) {
  tesela_dma_limits limits = *options->limits;
  tesela_error why = {.at = -1, .message = ""}, other = why;
  bool small = !options->plain && tesela__dma_is_small(boxes);
  if (!small && limits.max_nests && (int64_t)fewer->n > limits.max_nests)
    return dma_too_many(&limits, fewer->n, err);
  if (small) limits.max_nests = 0; /* lists are tried: the number of nests is known only at the end */
  tesela_status status = dma_cut_all(out, boxes, &limits, bytes, &why);
  if (fewer->n < boxes->n && (status == TESELA_OK || status == TESELA_E_UNSUPPORTED)) {
    tesela_status again = dma_cut_all(out, fewer, &limits, bytes, &other);
    if (again == TESELA_E_MEMORY) return dma_refuse(&other, err);
    if (again == TESELA_OK) status = TESELA_OK;
  }
  if (status != TESELA_OK && (!small || status != TESELA_E_UNSUPPORTED)) return dma_refuse(&why, err);
  if (!small) return TESELA_OK;
  status = dma_limited_few(out, least, boxes, &limits, bytes, &why, err);
  if (status == TESELA_OK && options->limits->max_nests && (int64_t)out->n > options->limits->max_nests)
    return dma_too_many(options->limits, out->n, err);
  return status;
}

tesela_status tesela__dma_reduce(tesela__dma_list *out, int32_t *least, const tesela__dma_list *boxes,
                                 const tesela_dma_options *options, int64_t bytes, tesela_error *err) {
  tesela__dma_list fewer = {.allocator = boxes->allocator, .most = boxes->most};
  bool kept = true;
  tesela_status status = dma_copy(&fewer, boxes, err);
  *least = tesela__dma_least(boxes);
  if (status == TESELA_OK && !options->plain) {
    tesela__dma_join_nests(&fewer);
    status = tesela__dma_fewest(&fewer, &kept, least, NULL, bytes, err);
  }
  if (status == TESELA_OK && options->limits)
    status = dma_limited(out, least, boxes, &fewer, options, bytes, err);
  else if (status == TESELA_OK)
    dma_list_swap(out, &fewer);
  tesela__release(fewer.allocator, fewer.nest);
  return status;
}
