/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remedies_put.c - what to change, as members of an answer: the arrays with most padding and what can be done about each.
 */
#include "report_ask.h"

static const char *const role_names[] = {
    [TESELA_REPORT_BUFFER_ARGUMENT] = "argument", [TESELA_REPORT_BUFFER_OUTPUT] = "output",
    [TESELA_REPORT_BUFFER_DONATED] = "donated",   [TESELA_REPORT_BUFFER_CONSTANT] = "constant",
    [TESELA_REPORT_BUFFER_TABLE] = "table",       [TESELA_REPORT_BUFFER_TEMPORARY] = "temporary",
};

const char *report_buffer_role(tesela_report_buffer_role role) { return role_names[role]; }

static const char *or_null(const char *text) { return text[0] ? text : NULL; }

static void put_remedy(tesela_sink *j, const tesela_report_culprit *culprit,
                       const tesela_report_remedy *remedy) {
  const char class[2] = {tesela_remedy_class(remedy->kind), '\0'};
  tesela_put_object(j);
  tesela_put_key_text(j, "kind", tesela_remedy_name(remedy->kind));
  tesela_put_key_text(j, "class", class);
  tesela_put_key_text(j, "words", tesela_remedy_words(remedy->kind));
  tesela_writer to = tesela_put_key_begin(j, "shape");
  tesela_xla_print(&remedy->to, true, &to, NULL);
  tesela_put_text_end(j);
  tesela_put_key_int(j, "arrays", remedy->arrays);
  tesela_put_key_int(j, "bytes", remedy->bytes);
  tesela_put_key_int(j, "saved_bytes", culprit->bytes - remedy->bytes);
  report_put_known(j, "peak_bytes", remedy->peak_bytes >= 0, remedy->peak_bytes);
  to = tesela_put_key_begin(j, "code");
  tesela_report_remedy_code(culprit, remedy, &to, NULL);
  tesela_put_text_end(j);
  tesela_put_end(j);
}

/* *helps becomes true if there is a remedy. Of the vector memory only what has one is put. */
static tesela_status put_culprit(tesela_sink *j, const report_ask *ask, const tesela_report_culprit *culprit,
                                 bool *helps) {
  tesela_report_remedy remedy[TESELA_REPORT_MAX_REMEDIES];
  int32_t n = 0;
  if (tesela_report_remedies(ask->report, culprit, remedy, &n, NULL) != TESELA_OK) return TESELA_E_MEMORY;
  const bool is = n > 0 && remedy[0].kind != TESELA_REMEDY_NONE;
  *helps = *helps || is;
  if (culprit->space != 0 && !is) return TESELA_OK;
  tesela_put_object(j);
  tesela_put_key(j, "shape");
  tesela_put_text_n(j, culprit->shape, (size_t)culprit->shape_bytes);
  tesela_put_key_text(j, "role", role_names[culprit->role]);
  tesela_put_key_text(j, "name", or_null(culprit->name));
  tesela_put_key_text(j, "op_name", or_null(culprit->op_name));
  tesela_put_key_text(j, "location", or_null(culprit->location));
  tesela_put_key_int(j, "count", culprit->count);
  tesela_put_key_int(j, "bytes", culprit->bytes);
  tesela_put_key_int(j, "data_bytes", culprit->data_bytes);
  tesela_put_key_list(j, "remedies");
  for (int32_t i = 0; i < n; i++) put_remedy(j, culprit, &remedy[i]);
  tesela_put_end(j);
  tesela_put_end(j);
  return TESELA_OK;
}

tesela_status report_put_culprits(tesela_sink *j, const report_ask *ask) {
  tesela_report_culprit culprit[REPORT_CULPRITS];
  int64_t n = 0;
  tesela_status status = TESELA_OK;
  bool helps = false;
  tesela_put_key_list(j, "culprits");
  for (int32_t space = 0; space <= 1 && !helps; space++) {
    (void)tesela_report_culprits(ask->report, space, REPORT_CULPRITS, culprit, &n, NULL);
    for (int64_t i = 0; i < n && status == TESELA_OK; i++) status = put_culprit(j, ask, &culprit[i], &helps);
  }
  tesela_put_end(j);
  return status;
}
