/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_translate.c - the op translate: a layout in one other notation, or in all.
 */
#include <string.h>

#include "request.h"

/* ---- one notation ------------------------------------------------------------------------------------------ */

/* {"index":[2,0],"place":8,"expected":2}, null without a contradiction. */
static void put_contradiction(tesela_sink *out, const tesela_translation *t) {
  tesela_put_key(out, "counter_example");
  if (t->contradiction == TESELA_CONTRADICTION_NONE) {
    tesela_put_null(out);
    return;
  }
  tesela_put_object(out);
  tesela_put_key_ints(out, t->contradiction == TESELA_CONTRADICTION_BIT ? "bit" : "index", t->rank, t->index);
  if (t->contradiction == TESELA_CONTRADICTION_SHARED) tesela_put_key_ints(out, "index2", t->rank, t->index2);
  if (t->contradiction != TESELA_CONTRADICTION_BIT) tesela_put_key_int(out, "place", t->place);
  if (t->contradiction == TESELA_CONTRADICTION_PLACE) tesela_put_key_int(out, "expected", t->expected);
  tesela_put_end(out);
}

static tesela_status put_text(tesela_request *q, const tesela_any_layout *any, const char *to) {
  tesela_translation unused;
  tesela_writer text = tesela_put_key_begin(q->out, "text");
  tesela_status status = tesela_translate(any, to, &text, &unused, q->err);
  tesela_put_text_end(q->out);
  return status;
}

/* {"text":..,"shape":[4,8],"places":32}: the text of a larger array. */
static tesela_status put_nearest(tesela_request *q, const tesela_any_layout *any, const char *to,
                                 const tesela_translation *t) {
  tesela_put_key(q->out, "nearest");
  tesela_put_object(q->out);
  tesela_status status = put_text(q, any, to);
  tesela_put_key_ints(q->out, "shape", t->rank, t->shape);
  tesela_put_key_int(q->out, "places", t->text_places);
  tesela_put_end(q->out);
  return status;
}

/* The members of an answer, into the object that is open. */
static tesela_status put_translation(tesela_request *q, const tesela_any_layout *any, const char *to) {
  tesela_translation t;
  tesela_layout layout;
  tesela_buffer nothing = {NULL, 0, 0};
  tesela_writer measure = tesela_buffer_writer(&nothing);
  tesela_status status = tesela_translate(any, to, &measure, &t, q->err);
  if (status == TESELA_OK) status = tesela_any_to_layout(any, &layout, q->err);
  if (status != TESELA_OK) return status;
  tesela_put_key_text(q->out, "verdict", tesela_verdict_name(t.verdict));
  if (t.verdict == TESELA_EXACT || t.verdict == TESELA_VALID_PART)
    status = put_text(q, any, to);
  else
    tesela_put_key_text(q->out, "text", NULL);
  if (t.as[0]) tesela_put_key_text(q->out, "as", t.as);
  if (t.verdict == TESELA_VALID_PART) tesela_put_key_ints(q->out, "valid", layout.rank, layout.shape);
  if (status == TESELA_OK && t.verdict == TESELA_NEEDS_PADDING) status = put_nearest(q, any, to, &t);
  tesela_put_key_int(q->out, "buffer", t.places);
  tesela_put_key_text(q->out, "reason", t.reason);
  if (t.verdict != TESELA_EXACT && t.verdict != TESELA_VALID_PART) put_contradiction(q->out, &t);
  return status;
}

/* ---- all notations ----------------------------------------------------------------------------------------- */

/* Those that are written, except the layout's own. A notation that asks for more than the layout has, such as a type, is listed
 * with its reason. */
static tesela_status put_all(tesela_request *q, const tesela_any_layout *any) {
  const tesela_notation *notation;
  tesela_put_key_list(q->out, "translations");
  for (int32_t i = 0; (notation = tesela_notation_at(i)) != NULL; i++) {
    if (!notation->written || notation == any->notation) continue;
    tesela_put_object(q->out);
    tesela_put_key_text(q->out, "to", notation->name);
    tesela_status status = put_translation(q, any, notation->name);
    if (status == TESELA_E_MEMORY || status == TESELA_E_STOPPED) return status;
    if (status != TESELA_OK) {
      tesela_put_key_text(q->out, "verdict", NULL);
      tesela_put_key_text(q->out, "reason", q->err->message);
    }
    tesela_put_end(q->out);
  }
  tesela_put_end(q->out);
  *q->err = (tesela_error){.at = -1};
  return TESELA_OK;
}

tesela_status op_translate(tesela_request *q) {
  tesela_any_layout any;
  const char *notation = tesela_value_text(tesela_request_get(q, "from_notation"));
  const char *to = tesela_value_text(tesela_request_get(q, "to"));
  const tesela_value *from = tesela_request_get(q, "from");
  tesela_status status = notation ? request_check_notation(q, "from_notation") : TESELA_OK;
  if (status != TESELA_OK) return status;
  q->field = "from";
  status = request_read(q, from, notation, &any);
  if (status != TESELA_OK) return status;
  q->field = "to";
  return strcmp(to, "all") == 0 ? put_all(q, &any) : put_translation(q, &any, to);
}
