/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_rules.h - which tensor gets which layout: the fields rules and to of the op pack.
 *
 * A rule is PATTERN=LAYOUT. It applies to a tensor whose name matches and that has as many dims as the layout; the first that
 * applies wins. The field to is one more rule, for all names.
 */
#ifndef TESELA_OPS_PACK_RULES_H
#define TESELA_OPS_PACK_RULES_H

#include "tensor.h"

typedef struct pack_rule {
  char *pattern;
  const char *layout;
  int64_t n_names, n_taken; /* tensors whose name matches; that have the right number of dims, too */
} pack_rule;

typedef struct pack_rules {
  pack_rule *rule;
  size_t n;
  bool has_to; /* the last rule is that of the field to */
} pack_rules;

/* Read them from the request of r. To be freed in any case. */
tesela_status pack_rules_read(pack_rules *rules, tensor_reading *r);
void pack_rules_free(pack_rules *rules);

/* The layout of the rule that applies to a tensor of a name, type and dims, or NULL. */
tesela_status pack_rules_find(pack_rules *rules, tensor_reading *r, const char *name,
                              const tesela_xla_shape *array, const char **layout);

/* After all tensors: a rule without any is most likely misspelt; that of the field to may find none left. `name` gives their names, as for
 * tensor_names. */
tesela_status pack_rules_check(const pack_rules *rules, tensor_reading *r, const char *file,
                               const char *(*name)(const void *user, int32_t i), const void *user);

#endif
