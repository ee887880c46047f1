/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_create.c - the nests of a transfer: from digits to boxes, from boxes to nests.
 *
 *   digits   dma_digits.c    device dims that move, and their host dims; merges loops
 *   boxes    dma_cut.c       few boxes per host dim; dma_padding.c: the other places
 *   nests    here            products of one box per host dim; host dim 0 varies slowest
 *   fewer    dma_reduce.c    joins nests, merged form only; for few elements tries all lists
 *   limits   dma_limits.c    cuts nests until the engine can run them
 *
 * Lower bounds: the sizes of sets of tuples of which no two fit into one box multiply over host dims. If a search over
 * all tilings gives the least count of one host dim, each tuple of the other sets needs that many boxes.
 */
#include "device/dma.h"

typedef struct dma_maker {
  tesela_dma *dma;
  const tesela_device_layout *layout;
  const tesela_dma_options *options;
  tesela__dma_digit_list digits;
  tesela__dma_boxes box[TESELA__DMA_CHAINS]; /* per chain */
  int32_t bound;                             /* lower bound for products of digit ranges */
  int32_t least;                             /* lower bound for any nests within the limits */
} dma_maker;

/* Refuse early if there are more nests than the engine's limit, and too many to be joined. Padding has other nests than
 * the elements. */
static tesela_status dma_check_count(const dma_maker *m, int64_t nests, tesela_error *err) {
  const tesela_dma_limits *limits = m->options->padding ? NULL : m->options->limits;
  if (limits && limits->max_nests && limits->max_nests < TESELA__DMA_NESTS && nests > limits->max_nests &&
      !tesela__dma_few((size_t)nests))
    return tesela__refuse(err, TESELA_E_UNSUPPORTED, TESELA_REASON_MAX_NESTS,
                          "max_nests is %" PRId64 "; the list found has %" PRId64
                          " nests even without the other limits",
                          limits->max_nests, nests);
  int64_t most = tesela__max(m->dma->list.most, TESELA_DMA_NESTS);
  return nests > most ? tesela__dma_too_many(most, err) : TESELA_OK;
}

static tesela_status dma_cut_chains(dma_maker *m, tesela_error *err) {
  tesela__dma_bounds bounds[TESELA__DMA_CHAINS];
  int64_t nests = 1, bound = 1;
  for (int32_t c = 0; c < m->digits.n_chains; c++) {
    const tesela__dma_chain *chain = &m->digits.chain[c];
    int64_t step[TESELA__DMA_DIGITS];
    for (int32_t k = 0; k < chain->n; k++) step[k] = m->digits.digit[chain->digit[k]].step;
    tesela_status status = tesela__dma_cut(&m->box[c], &bounds[c], chain->n, step, chain->lo, chain->hi,
                                           &m->dma->allocator, err);
    if (status != TESELA_OK) return status;
    nests *= (int64_t)m->box[c].n; /* both factors at most 2^20 */
    if (nests > TESELA__DMA_NESTS)
      return tesela__fail(err, TESELA_E_LIMIT, -1, "more than %d nests", TESELA__DMA_NESTS);
  }
  tesela_status status = dma_check_count(m, nests, err);
  if (status != TESELA_OK) return status;
  for (int32_t best = 0; best < m->digits.n_chains; best++) {
    int64_t product = 1;
    for (int32_t c = 0; c < m->digits.n_chains; c++) product *= c == best ? bounds[c].least : bounds[c].apart;
    bound = tesela__max(bound, product); /* at most `nests` */
  }
  m->bound = (int32_t)bound;
  return TESELA_OK;
}

/* All products of one box per chain, chain 0 slowest. */
static tesela_status dma_products(dma_maker *m, tesela__dma_boxes *all, tesela_error *err) {
  size_t at[TESELA__DMA_CHAINS] = {0};
  int32_t n = m->digits.n;
  all->width = n;
  for (bool more = !m->digits.empty; more;) {
    int64_t start[TESELA__DMA_DIGITS], count[TESELA__DMA_DIGITS];
    for (int32_t c = 0; c < m->digits.n_chains; c++) {
      const tesela__dma_chain *chain = &m->digits.chain[c];
      const int64_t *box = tesela__dma_box(&m->box[c], at[c]);
      for (int32_t k = 0; k < chain->n; k++) {
        start[chain->digit[k]] = box[k];
        count[chain->digit[k]] = box[chain->n + k];
      }
    }
    if (!tesela__dma_box_add(all, start, count, &m->dma->allocator))
      return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for %zu nests", all->n + 1);
    int32_t c = m->digits.n_chains - 1;
    while (c >= 0 && ++at[c] == m->box[c].n) at[c--] = 0;
    more = c >= 0;
  }
  return TESELA_OK;
}

/* The loops that run more than once, by decreasing device stride. */
static void dma_merged(const dma_maker *m, tesela_nest *nest, const int64_t *box) {
  for (int32_t k = 0; k < m->digits.n; k++) {
    const tesela__dma_digit *digit = &m->digits.digit[k];
    if (box[m->digits.n + k] > 1)
      tesela__dma_sort_loop(nest, box[m->digits.n + k], digit->device, digit->host);
  }
  tesela__dma_coalesce(nest);
}

/* One loop per device dim; single places of padding between them get their own loop. */
static tesela_status dma_plain(const dma_maker *m, tesela_nest *nest, const int64_t *box,
                               const int64_t *host_stride, tesela_error *err) {
  const tesela_device_layout *layout = m->layout;
  for (int32_t j = 0; j < layout->n_dims; j++)
    tesela__dma_add_loop(nest, j, 1, layout->dim[j].stride, host_stride[j]);
  for (int32_t k = 0; k < m->digits.n; k++) {
    const tesela__dma_digit *digit = &m->digits.digit[k];
    int64_t count = box[m->digits.n + k];
    if (digit->dim >= 0) {
      nest->range[digit->dim] = count;
    } else if (count > 1) {
      if (nest->n == TESELA_DEVICE_DIMS)
        return tesela__fail(err, TESELA_E_LIMIT, -1, "nests over padding need more than %d loops",
                            TESELA_DEVICE_DIMS);
      tesela__dma_add_loop(nest, nest->n, count, digit->device, 0);
    }
  }
  return TESELA_OK;
}

/* Host strides of the loops in plain form: step times the stride of the host dim. */
static void dma_plain_strides(const dma_maker *m, const int64_t *strides, int64_t *out) {
  const tesela_device_host *host = &m->layout->host;
  int64_t unit[TESELA_MAX_RANK], pitch = 1;
  for (int32_t d = host->rank - 1; d >= 0; d--) {
    unit[d] = strides ? strides[d] : pitch;
    if (!tesela__mul(pitch, host->shape[d], &pitch)) pitch = 0; /* only without elements */
  }
  for (int32_t j = 0; j < m->layout->n_dims; j++) {
    const tesela_device_dim *dim = &m->layout->dim[j];
    out[j] = 0;
    if (dim->dim < 0 || m->options->padding) continue;
    if (!tesela__mul(dim->step, unit[dim->dim], &out[j])) out[j] = 0; /* a loop that runs once */
  }
}

/* The nest of a box, without limits. */
static tesela_status dma_nest_of(const dma_maker *m, tesela_nest *nest, const int64_t *box,
                                 const int64_t *host_stride, tesela_error *err) {
  *nest = (tesela_nest){.device_offset = m->digits.device_offset, .host_offset = m->digits.host_offset};
  for (int32_t k = 0; k < m->digits.n; k++) {
    nest->device_offset += box[k] * m->digits.digit[k].device;
    nest->host_offset += box[k] * m->digits.digit[k].host;
  }
  int64_t last = nest->device_offset;
  for (int32_t k = 0; k < m->digits.n; k++) last += (box[m->digits.n + k] - 1) * m->digits.digit[k].device;
  if (last >= m->layout->places)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "an element is at place %" PRId64 "; the layout has %" PRId64 " places", last,
                        m->layout->places);
  if (m->options->plain) return dma_plain(m, nest, box, host_stride, err);
  dma_merged(m, nest, box);
  return TESELA_OK;
}

/* A nest per box, cut to the limits if given. */
static tesela_status dma_nests(const dma_maker *m, tesela__dma_list *list, const tesela__dma_boxes *all,
                               const int64_t *strides, const tesela_dma_limits *limits, tesela_error *err) {
  int64_t host_stride[TESELA_DEVICE_DIMS];
  tesela_status status = TESELA_OK;
  if (m->options->plain) dma_plain_strides(m, strides, host_stride);
  for (size_t i = 0; i < all->n && status == TESELA_OK; i++) {
    tesela_nest nest;
    status = dma_nest_of(m, &nest, tesela__dma_box(all, i), host_stride, err);
    if (status != TESELA_OK) return status;
    status = limits ? tesela__dma_legalise(list, &nest, limits, m->layout->host.device_bits / 8, err)
                    : tesela__dma_add(list, &nest, err);
  }
  return status;
}

/* Few nests are reduced; many are created and cut one by one. */
static tesela_status dma_all_nests(dma_maker *m, const tesela__dma_boxes *all, const int64_t *strides,
                                   tesela_error *err) {
  if (!tesela__dma_few(all->n)) {
    m->least = 1;
    return dma_nests(m, &m->dma->list, all, strides, m->options->limits, err);
  }
  tesela__dma_list boxes = {.allocator = m->dma->list.allocator, .most = m->dma->list.most};
  tesela_status status = dma_nests(m, &boxes, all, strides, NULL, err);
  if (status == TESELA_OK)
    status = tesela__dma_reduce(&m->dma->list, &m->least, &boxes, m->options, m->layout->host.device_bits / 8,
                                err);
  tesela__release(boxes.allocator, boxes.nest);
  return status;
}

/* Move the largest nest to the front; the others keep their order. */
static void dma_main_first(tesela__dma_list *list) {
  size_t best = 0;
  for (size_t i = 1; i < list->n; i++)
    if (tesela__dma_elements(&list->nest[i]) > tesela__dma_elements(&list->nest[best])) best = i;
  if (best == 0) return;
  tesela_nest first = list->nest[best];
  memmove(&list->nest[1], &list->nest[0], best * sizeof first);
  list->nest[0] = first;
}

static void dma_swap(int64_t *number, int32_t n) {
  for (int32_t i = 0; i < n / 2; i++) {
    int64_t other = number[i];
    number[i] = number[n - 1 - i], number[n - 1 - i] = other;
  }
}

static void dma_finish(dma_maker *m) {
  tesela_dma *dma = m->dma;
  tesela_dma_facts *facts = &dma->facts;
  const tesela_dma_limits *limits = m->options->limits;
  int64_t bytes = m->layout->host.device_bits / 8, most = limits ? limits->max_burst / bytes : 0;
  dma_main_first(&dma->list);
  facts->n_nests = (int32_t)dma->list.n;
  facts->bound = m->least;
  facts->digit_bound = m->bound;
  for (size_t i = 0; i < dma->list.n; i++) {
    tesela_nest *nest = &dma->list.nest[i];
    int64_t elements = tesela__dma_elements(nest), run = tesela__dma_burst(nest, most), run_bytes;
    if (!tesela__mul(run, bytes, &run_bytes)) run_bytes = INT64_MAX;
    facts->elements += elements;
    facts->bursts += elements / run;
    facts->most_burst_bytes = tesela__max(facts->most_burst_bytes, run_bytes);
    facts->least_burst_bytes = i ? tesela__min(facts->least_burst_bytes, run_bytes) : run_bytes;
    if (!m->options->innermost_first) continue;
    dma_swap(nest->range, nest->n);
    dma_swap(nest->device_stride, nest->n);
    dma_swap(nest->host_stride, nest->n);
  }
  if (facts->bursts == 0) return;
  int64_t whole = facts->elements / facts->bursts, rest = facts->elements % facts->bursts, part;
  if (!tesela__mul(whole, bytes, &whole)) whole = INT64_MAX;
  if (!tesela__mul(rest, bytes, &part)) part = 0;
  facts->burst_bytes = tesela__add(whole, part / facts->bursts, &whole) ? whole : INT64_MAX;
}

static tesela_status dma_make(dma_maker *m, const int64_t *strides, int64_t offset, tesela_error *err) {
  static const int64_t zeros[TESELA_MAX_RANK];
  const tesela_dma_options *options = m->options;
  if (options->padding) strides = zeros, offset = 0;
  tesela_status status =
      tesela__dma_digits(&m->digits, m->layout, strides, offset, options, !options->plain, err);
  if (status != TESELA_OK) return status;
  tesela__dma_boxes all = {0}, left = {0};
  m->bound = 0;
  if (m->digits.empty) {
    m->digits.n = m->digits.n_chains = 0;
  } else {
    if (options->direction == TESELA_DMA_TO_HOST && !options->padding)
      status = tesela__dma_check_host(&m->digits, err);
    if (status == TESELA_OK) status = dma_cut_chains(m, err);
    if (status == TESELA_OK) status = dma_products(m, &all, err);
    if (status == TESELA_OK) status = tesela__dma_check_device(&m->digits, &all, err);
  }
  if (status == TESELA_OK && options->padding) {
    status = tesela__dma_padding(&left, &m->bound, &m->digits, &all, m->layout, options->plain,
                                 &m->dma->allocator, err);
    tesela__dma_boxes elements = all;
    all = left, left = elements;
  }
  if (status == TESELA_OK) status = dma_all_nests(m, &all, strides, err);
  tesela__release(&m->dma->allocator, all.at);
  tesela__release(&m->dma->allocator, left.at);
  for (int32_t c = 0; c < TESELA__DMA_CHAINS; c++) tesela__release(&m->dma->allocator, m->box[c].at);
  if (status == TESELA_OK) dma_finish(m);
  return status;
}

tesela_status tesela_dma_create(tesela_dma **out, const tesela_device_layout *layout,
                                const int64_t *host_strides, int64_t host_offset,
                                const tesela_dma_options *options, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  TESELA__NEED_CLEAR(err, options);
  static const tesela_dma_options none;
  if (!options) options = &none;
  if (options->direction != TESELA_DMA_TO_DEVICE && options->direction != TESELA_DMA_TO_HOST)
    return tesela__fail(err, TESELA_E_RANGE, -1, "direction is %d; expected 0 or 1", (int)options->direction);
  if (options->padding && (options->box_start || options->box_size))
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "padding belongs to the whole layout, not to a box");
  tesela_status status = options->limits ? tesela__dma_check_limits(options->limits, err) : TESELA_OK;
  if (status != TESELA_OK) return status;
  tesela_allocator allocator = tesela__allocator(options->allocator);
  tesela_dma *dma = tesela__alloc(&allocator, sizeof *dma, alignof(tesela_dma));
  dma_maker *maker = dma ? tesela__alloc(&allocator, sizeof *maker, alignof(dma_maker)) : NULL;
  if (!maker) {
    tesela__release(&allocator, dma);
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a list of nests");
  }
  memset(dma, 0, sizeof *dma);
  memset(maker, 0, sizeof *maker);
  dma->allocator = allocator;
  dma->list.allocator = &dma->allocator;
  dma->list.most = tesela__dma_most(options->limits);
  dma->direction = options->direction;
  dma->innermost_first = options->innermost_first;
  dma->padding = options->padding;
  maker->dma = dma, maker->layout = layout, maker->options = options;
  status = dma_make(maker, host_strides, host_offset, err);
  tesela__release(&allocator, maker);
  if (status != TESELA_OK) {
    tesela_dma_destroy(dma);
    return status;
  }
  *out = dma;
  return TESELA_OK;
}

void tesela_dma_destroy(tesela_dma *dma) {
  if (!dma) return;
  tesela_allocator allocator = dma->allocator;
  tesela__release(&allocator, dma->list.nest);
  tesela__release(&allocator, dma);
}

tesela_dma_facts tesela_dma_facts_of(const tesela_dma *dma) {
  if (!dma) return (tesela_dma_facts){0};
  return dma->facts;
}

const tesela_nest *tesela_dma_nest(const tesela_dma *dma, int32_t k) {
  return dma && k >= 0 && (size_t)k < dma->list.n ? &dma->list.nest[k] : NULL;
}
