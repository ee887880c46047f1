/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear_value.h - linear layouts as values: {"bases": {"lane": [[0,1],[0,2]]}, "outs": [["dim0",16],["dim1",8]]}.
 */
#ifndef TESELA_OPS_LINEAR_VALUE_H
#define TESELA_OPS_LINEAR_VALUE_H

#include <tesela/linear.h>

#include "request.h"

/* A layout: an object as above, or a text that tesela_linear_parse reads. `field` is for messages. */
tesela_status linear_value_read(tesela_request *q, const char *field, tesela_linear *a);
/* [["dim0",16],["dim1",8]], or names alone, whose bits become -1. */
tesela_status linear_value_dims(tesela_request *q, const tesela_value *list, tesela_linear_dim *dims,
                                int32_t *n);
/* {"lane": 3, "warp": 0}: each input of the layout once. */
tesela_status linear_value_inputs(tesela_request *q, const tesela_linear *a, const tesela_value *object,
                                  int64_t *values);

/* Members of the object that is open. */
void linear_value_put(tesela_sink *out, const char *key, const tesela_linear *a);
void linear_value_put_values(tesela_sink *out, const char *key, const tesela_linear_dim *dims, int32_t n,
                             const int64_t *values);

/* The example of a failure, {"in": {..}, "out": {..}}, into the response. */
void linear_value_example(tesela_request *q, const tesela_linear *a, const tesela_linear_example *example);

#endif
