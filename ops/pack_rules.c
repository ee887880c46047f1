/* SPDX-License-Identifier: Apache-2.0 */
/* pack_rules.c - see pack_rules.h. */
#include "pack_rules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"
#include "quote.h"

static tesela_status add_rule(pack_rules *rules, tesela_request *q, const char *pattern, size_t length,
                              const char *layout) {
  pack_rule *rule = &rules->rule[rules->n++];
  *rule = (pack_rule){.pattern = malloc(length + 1), .layout = layout};
  if (!rule->pattern) return tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory");
  memcpy(rule->pattern, pattern, length);
  rule->pattern[length] = '\0';
  return TESELA_OK;
}

tesela_status pack_rules_read(pack_rules *rules, tensor_reading *r) {
  const tesela_value *given = tesela_request_get(r->q, "rules");
  const size_t n = tesela_value_size(given);
  const char *to = tesela_value_text(tesela_request_get(r->q, "to"));
  char quote[SAY_QUOTE];
  tesela_status status = TESELA_OK;
  r->q->field = "rules";
  rules->has_to = to != NULL;
  if (n == 0 && !to)
    return tensor_usage(
        r, "missing layout; %sto='{1,0:T(8,128)}' gives one for all tensors, PATTERN={...} for some",
        r->dash);
  rules->rule = calloc(n + 1, sizeof *rules->rule);
  if (!rules->rule) return tesela_request_fail(r->q, TESELA_E_MEMORY, -1, "no memory");
  for (size_t i = 0; i < n && status == TESELA_OK; i++) {
    const char *text = tesela_value_text(tesela_value_at(given, i)), *equals = strstr(text, "={");
    if (!equals || equals == text)
      return tensor_usage(r, "invalid rule %s; expected PATTERN={...}, as in '*weight={1,0:T(8,128)}'",
                          say_quote(text, quote));
    if (pattern_has_class(text))
      return tensor_usage(r,
                          "invalid rule %s; expected [0-9] or [a-z] instead of a class such as [[:digit:]]",
                          say_quote(text, quote));
    status = add_rule(rules, r->q, text, (size_t)(equals - text), equals + 1);
  }
  if (status == TESELA_OK && to) status = add_rule(rules, r->q, "*", 1, to);
  if (status == TESELA_OK) r->q->field = NULL;
  return status;
}

void pack_rules_free(pack_rules *rules) {
  for (size_t i = 0; i < rules->n; i++) free(rules->rule[i].pattern);
  free(rules->rule);
}

/* The number of dims that a layout or its braces list, `rank` for one without a list. */
static tesela_status rank_of(tensor_reading *r, const char *text, int32_t rank, int32_t *listed) {
  tesela_xla_layout braces;
  tesela_xla_shape shape;
  tesela_status status = TESELA_OK;
  *listed = rank;
  if (strncmp(text, "stick(", 6) == 0) return TESELA_OK;
  if (*text == '{') {
    r->text = text;
    status = tesela_xla_parse_layout(text, strlen(text), TESELA_XLA_LENIENT, &braces, NULL, r->err);
    *listed = braces.rank;
  } else {
    status = tensor_text(r, text, NULL, &shape, NULL);
    *listed = shape.rank;
  }
  return status;
}

tesela_status pack_rules_find(pack_rules *rules, tensor_reading *r, const char *name, int32_t rank,
                              const char **layout) {
  *layout = NULL;
  for (size_t i = 0; i < rules->n; i++) {
    pack_rule *rule = &rules->rule[i];
    int32_t listed;
    if (!pattern_matches(rule->pattern, name)) continue;
    rule->n_names++;
    tesela_status status = rank_of(r, rule->layout, rank, &listed);
    if (status != TESELA_OK) return status;
    if (listed != rank) continue;
    rule->n_taken++;
    *layout = rule->layout;
    return TESELA_OK;
  }
  return TESELA_OK;
}

/* No tensor came to this rule: none matches, or earlier rules apply to those that do. */
static tesela_status fail_without_names(const pack_rule *rule, tensor_reading *r, const char *file,
                                        const char *(*name)(const void *user, int32_t i), const void *user) {
  char quote[SAY_QUOTE], names[TENSOR_NAMES_TEXT];
  const char *each;
  int64_t n = 0;
  for (int32_t i = 0; (each = name(user, i)); i++) n += pattern_matches(rule->pattern, each);
  say_quote(rule->pattern, quote);
  if (n > 0)
    return tensor_wrong(r, file,
                        "no tensor is left for '%s': earlier rules apply to all %" PRId64 " that it matches",
                        quote, n);
  return tensor_wrong(r, file, "no tensor matches '%s'%s", quote,
                      tensor_names(rule->pattern, "the file has", name, user, names));
}

tesela_status pack_rules_check(const pack_rules *rules, tensor_reading *r, const char *file,
                               const char *(*name)(const void *user, int32_t i), const void *user) {
  char quotes[2][SAY_QUOTE];
  int64_t n_taken = 0;
  for (size_t i = 0; i < rules->n; i++) n_taken += rules->rule[i].n_taken;
  for (size_t i = 0; i < rules->n; i++) {
    const pack_rule *rule = &rules->rule[i];
    if (rule->n_taken > 0 || (i == rules->n - 1 && rules->has_to && n_taken > 0)) continue;
    if (rule->n_names == 0) return fail_without_names(rule, r, file, name, user);
    return tensor_wrong(r, file, "no tensor that %s matches has the dims of %s",
                        say_quote(rule->pattern, quotes[0]), say_quote(rule->layout, quotes[1]));
  }
  return TESELA_OK;
}
