/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_file.c - the ops about values of tensors in files: digest, cmp, verify.
 */
#include <string.h>

#include "request.h"
#include "tensor_native.h"

static const char *text_of(tesela_request *q, const char *field, const char *otherwise) {
  const char *text = tesela_value_text(tesela_request_get(q, field));
  return text || !otherwise ? text : text_of(q, otherwise, NULL);
}

/* ---- digest ----------------------------------------------------------------------------------------------- */

/* Members of an answer. `entry` as in tensor_read. */
static tesela_status put_digest(tesela_request *q, tensor_reading *r, const tensor_file *file,
                                const tesela_file_tensor *entry, const tensor_says *says) {
  tensor_native t;
  char hex[33];
  tesela_status status = tensor_native_read(r, file, entry, says, &t);
  if (status != TESELA_OK) return status;
  status = tensor_digest(r, file, &t, hex);
  if (status == TESELA_OK) {
    if (*t.tensor.entry->name) tesela_put_key_text(q->out, "tensor", t.tensor.entry->name);
    tesela_put_key_text(q->out, "digest", hex);
    tesela_put_key(q->out, "layout");
    tesela_writer to = tesela_put_text_begin(q->out);
    tensor_print(&t.tensor.any, &to);
    tesela_put_text_end(q->out);
  }
  tensor_native_free(&t);
  return status;
}

tesela_status op_digest(tesela_request *q) {
  const tensor_says says = {text_of(q, "layout", NULL), text_of(q, "dtype", NULL), text_of(q, "tensor", NULL),
                            "layout"};
  tensor_reading r = tensor_request_reading(q);
  tensor_file file;
  tesela_status status = tensor_request_open(q, "file", &file);
  if (status != TESELA_OK) return status;
  tesela_put_key_text(q->out, "file", file.name);
  if (tensor_goes_through(&file, &says)) {
    tesela_put_key(q->out, "tensors");
    tesela_put_list(q->out);
    for (int64_t i = 0; i < file.info.n_tensors && status == TESELA_OK; i++) {
      tesela_put_object(q->out);
      status = put_digest(q, &r, &file, &file.info.tensor[i], &says);
      tesela_put_end(q->out);
    }
    tesela_put_end(q->out);
  } else {
    status = put_digest(q, &r, &file, NULL, &says);
  }
  tensor_request_close(&file);
  return tensor_request_failed(q, &r, status);
}

/* ---- cmp -------------------------------------------------------------------------------------------------- */

/* {"place":17,"bits":"0x3f800000","value":"1"} */
static void put_side(tesela_sink *out, const char *name, const tensor *t, int64_t place,
                     const uint8_t *value) {
  char text[TESELA_ELEMENT_TEXT];
  tesela_put_key(out, name);
  tesela_put_object(out);
  tesela_put_key_int(out, "place", place);
  tesela_put_key_text(out, "bits", tesela_element_bits(value, t->layout.bits, text));
  tesela_element_print(value, t->layout.dtype, t->layout.bits, text);
  tesela_put_key_text(out, "value", *text ? text : NULL);
  tesela_put_end(out);
}

static void put_comparison(tesela_sink *out, const tensor_comparison *c) {
  tesela_put_key_bool(out, "same", c->d.same);
  tesela_put_key_int(out, "elements", c->elements);
  tesela_put_key_int(out, "n_different", c->d.n_different);
  if (c->d.same) return;
  tesela_put_key(out, "first_difference");
  tesela_put_object(out);
  tesela_put_key(out, "index");
  tesela_put_ints(out, c->a.tensor.layout.rank, c->d.index);
  put_side(out, "a", &c->a.tensor, c->d.place_a, c->d.a);
  put_side(out, "b", &c->b.tensor, c->d.place_b, c->d.b);
  tesela_put_end(out);
}

/* Entries as in tensor_compare. */
static tesela_status put_compared(tesela_request *q, tensor_reading *r, const tensor_pair *p,
                                  const tesela_file_tensor *a, const tesela_file_tensor *b, bool *same) {
  tensor_comparison c;
  tesela_status status = tensor_compare(r, p, a, b, &c);
  if (status != TESELA_OK) return status;
  put_comparison(q->out, &c);
  *same = *same && c.d.same;
  tensor_comparison_free(&c);
  return TESELA_OK;
}

static tesela_status put_all(tesela_request *q, tensor_reading *r, const tensor_pair *p) {
  const tesela_file_tensor *a, *b;
  tesela_status status = TESELA_OK;
  bool same = true;
  tesela_put_key(q->out, "tensors");
  tesela_put_list(q->out);
  for (int64_t i = 0; status == TESELA_OK && tensor_pair_next(p, &i, &a, &b);) {
    tesela_put_object(q->out);
    tesela_put_key_text(q->out, "name", a ? a->name : b->name);
    if (a && b) {
      status = put_compared(q, r, p, a, b, &same);
    } else {
      same = false;
      tesela_put_key_bool(q->out, "same", false);
      tesela_put_key_text(q->out, "only_in", a ? "a" : "b");
    }
    tesela_put_end(q->out);
  }
  tesela_put_end(q->out);
  tesela_put_key_bool(q->out, "same", same);
  return status;
}

tesela_status op_cmp(tesela_request *q) {
  const char *dtype = text_of(q, "dtype", NULL);
  tensor_file a = {.name = NULL}, b = {.name = NULL};
  tensor_pair p = {&a,
                   &b,
                   {text_of(q, "a", "layout"), dtype, text_of(q, "tensor_a", "tensor"), "a"},
                   {text_of(q, "b", "layout"), dtype, text_of(q, "tensor_b", "tensor"), "b"}};
  tensor_reading r = tensor_request_reading(q);
  bool same = true;
  tesela_status status = tensor_request_open(q, "file_a", &a);
  if (status == TESELA_OK) {
    status = tensor_request_open(q, "file_b", &b);
    if (status == TESELA_OK) {
      status = tensor_pair_all(&p) ? put_all(q, &r, &p) : put_compared(q, &r, &p, NULL, NULL, &same);
      status = tensor_request_failed(q, &r, status);
    }
  }
  tensor_request_close(&a);
  tensor_request_close(&b);
  return status;
}

/* ---- verify ----------------------------------------------------------------------------------------------- */

static void put_misplaced(tesela_sink *out, const tesela_device_layout *layout, const tesela_misplaced *m) {
  char text[TESELA_ELEMENT_TEXT];
  tesela_put_key_bool(out, "same", m->same);
  tesela_put_key_int(out, "n_different", m->n_different);
  if (m->same) return;
  tesela_put_key(out, "index");
  tesela_put_ints(out, layout->host.rank, m->index);
  tesela_put_key_int(out, "place", m->place);
  tesela_put_key_text(out, "expected", tesela_element_bits(m->expected, layout->host.device_bits, text));
  tesela_put_key_text(out, "found", tesela_element_bits(m->found, layout->host.device_bits, text));
  tesela_put_key(out, "source");
  if (m->have_source)
    tesela_put_ints(out, layout->host.rank, m->source);
  else
    tesela_put_null(out);
}

tesela_status op_verify(tesela_request *q) {
  tesela_any_layout any;
  tensor_file dump = {.name = NULL}, host = {.name = NULL};
  tesela_misplaced misplaced;
  tensor_reading r = tensor_request_reading(q);
  tesela_status status = request_read(q, tesela_request_get(q, "layout"), "device", &any);
  if (status == TESELA_OK) status = tensor_request_open(q, "dump", &dump);
  if (status == TESELA_OK) status = tensor_request_open(q, "file", &host);
  if (status == TESELA_OK) {
    status = tensor_verify(&r, &any.device, &dump, &host, &misplaced);
    if (status == TESELA_OK) put_misplaced(q->out, &any.device, &misplaced);
    status = tensor_request_failed(q, &r, status);
  }
  tensor_request_close(&dump);
  tensor_request_close(&host);
  return status;
}
