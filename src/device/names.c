/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - names of the enumerations of device.h, and back. */
#include <string.h>

#include <tesela/device.h>

static const char *const order_names[] = {
#define TESELA__ROW(symbol, value, name, text) [value] = name,
    TESELA_ORDER_MAP(TESELA__ROW)
#undef TESELA__ROW
};

static const char *const op_names[] = {
#define TESELA__ROW(symbol, value, name, text) [value] = name,
    TESELA_OP_MAP(TESELA__ROW)
#undef TESELA__ROW
};

static const char *const need_names[] = {
#define TESELA__ROW(symbol, value, name, text) [value] = name,
    TESELA_NEED_MAP(TESELA__ROW)
#undef TESELA__ROW
};

static const char *const yield_names[] = {
#define TESELA__ROW(symbol, value, name, text) [value] = name,
    TESELA_YIELD_MAP(TESELA__ROW)
#undef TESELA__ROW
};

static const char *const fn_names[] = {
#define TESELA__ROW(symbol, value, name, operands, text) [value] = name,
    TESELA_FN_MAP(TESELA__ROW)
#undef TESELA__ROW
};

static const int8_t fn_operands[] = {
#define TESELA__ROW(symbol, value, name, operands, text) [value] = operands,
    TESELA_FN_MAP(TESELA__ROW)
#undef TESELA__ROW
};

#define NAMES(table) table, (int32_t)(sizeof(table) / sizeof *(table))

static const char *name_at(const char *const *names, int32_t n, int32_t k) {
  return k >= 0 && k < n ? names[k] : NULL;
}

static int32_t name_find(const char *const *names, int32_t n, const char *name, size_t length) {
  for (int32_t k = 0; k < n; k++)
    if (strlen(names[k]) == length && memcmp(names[k], name, length) == 0) return k;
  return -1;
}

const char *tesela_order_name(tesela_order order) { return name_at(NAMES(order_names), (int32_t)order); }
const char *tesela_op_name(tesela_op op) { return name_at(NAMES(op_names), (int32_t)op); }
const char *tesela_fn_name(tesela_fn fn) { return name_at(NAMES(fn_names), (int32_t)fn); }
const char *tesela_need_name(tesela_need need) { return name_at(NAMES(need_names), (int32_t)need); }
const char *tesela_yield_name(tesela_yield yield) { return name_at(NAMES(yield_names), (int32_t)yield); }

int32_t tesela_order_find(const char *name, size_t length) {
  return name ? name_find(NAMES(order_names), name, length) : -1;
}

int32_t tesela_op_find(const char *name, size_t length) {
  return name ? name_find(NAMES(op_names), name, length) : -1;
}
int32_t tesela_fn_find(const char *name, size_t length) {
  return name ? name_find(NAMES(fn_names), name, length) : -1;
}

int32_t tesela_need_find(const char *name, size_t length) {
  return name ? name_find(NAMES(need_names), name, length) : -1;
}

int32_t tesela_yield_find(const char *name, size_t length) {
  return name ? name_find(NAMES(yield_names), name, length) : -1;
}

int32_t tesela_fn_operands(tesela_fn fn) {
  return tesela_fn_name(fn) == NULL ? -1 : fn_operands[(int32_t)fn];
}
