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

/* The "=" between pattern and layout: that of the first "={" if the rule ends with its braces, else the first one; NULL without any. A
 * pattern may have a "=", and so may layouts such as stick(pad_to={0:96}). */
static const char *find_equals(const char *rule) {
  const char *braces = strstr(rule, "={"), *equals = braces ? braces : strchr(rule, '=');
  if (braces && rule[strlen(rule) - 1] != '}') equals = strchr(rule, '=');
  return equals && equals != rule && equals[1] ? equals : NULL;
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
        r, "missing layout; %sto='{1,0:T(8,128)}' gives one for all tensors, PATTERN=LAYOUT for some",
        r->dash);
  rules->rule = calloc(n + 1, sizeof *rules->rule);
  if (!rules->rule) return tesela_request_fail(r->q, TESELA_E_MEMORY, -1, "no memory");
  for (size_t i = 0; i < n && status == TESELA_OK; i++) {
    const char *text = tesela_value_text(tesela_value_at(given, i)), *equals = find_equals(text);
    if (!equals)
      return tensor_usage(r, "invalid rule %s; expected PATTERN=LAYOUT, as in '*weight={1,0:T(8,128)}'",
                          say_quote(text, quote));
    status = add_rule(rules, r->q, text, (size_t)(equals - text), equals + 1);
    if (status == TESELA_OK && pattern_has_class(rules->rule[rules->n - 1].pattern))
      return tensor_usage(r,
                          "invalid rule %s; expected [0-9] or [a-z] instead of a class such as [[:digit:]]",
                          say_quote(text, quote));
  }
  if (status == TESELA_OK && to) status = add_rule(rules, r->q, "*", 1, to);
  if (status == TESELA_OK) r->q->field = NULL;
  return status;
}

void pack_rules_free(pack_rules *rules) {
  for (size_t i = 0; i < rules->n; i++) free(rules->rule[i].pattern);
  free(rules->rule);
}

/* The number of dims that a layout or its braces list; of one without a list that of the array, or -1 if it is not one of such an
 * array. */
static tesela_status rank_of(tensor_reading *r, const char *text, const tesela_xla_shape *array,
                             int32_t *listed) {
  tesela_xla_layout braces;
  problem_side side;
  tesela_error err;
  tesela_status status = TESELA_OK;
  *listed = array->rank;
  if (strncmp(text, "stick(", 6) == 0) return TESELA_OK;
  if (*text == '{') {
    r->text = text;
    status = tesela_xla_parse_layout(text, strlen(text), TESELA_XLA_LENIENT, &braces, NULL, r->err);
    *listed = braces.rank;
    return status;
  }
  if (problem_read_side(text, strlen(text), &r->options, NULL, &side, NULL, &err) == TESELA_OK) {
    *listed = side.layout.rank;
    return TESELA_OK;
  }
  status = tensor_text(r, text, array, &side);
  if (status != TESELA_E_MISMATCH) return status;
  *listed = -1;
  return TESELA_OK;
}

tesela_status pack_rules_find(pack_rules *rules, tensor_reading *r, const char *name,
                              const tesela_xla_shape *array, const char **layout) {
  *layout = NULL;
  for (size_t i = 0; i < rules->n; i++) {
    pack_rule *rule = &rules->rule[i];
    int32_t listed;
    if (!pattern_matches(rule->pattern, name)) continue;
    rule->n_names++;
    tesela_status status = rank_of(r, rule->layout, array, &listed);
    if (status != TESELA_OK) return status;
    if (listed != array->rank) continue;
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
