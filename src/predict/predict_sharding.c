/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict_sharding.c - the part of an array that one device has, from the shardings of HLO and of Shardy.
 *
 *   {devices=[2,1,2]<=[4] last_tile_dim_replicate}     dim 0 over 2 devices, twice
 *   #sdy.sharding<@mesh, [{"x", "y"}, {}]>             dim 0 over the axes x and y
 *
 * A dim of n elements over d devices is ceil(n / d) on each.
 */
#include <string.h>

#include "base/base.h"
#include "predict/predict.h"

const char tesela__no_sharding[] = "no sharding in a program for several devices: the compiler chooses one";

static bool undecided(const char **why, const char *reason) {
  *why = reason;
  return false;
}

static void divide(tesela_xla_shape *shape, int32_t dim, int64_t devices) {
  shape->dim[dim] = tesela__ceil_div(shape->dim[dim], devices);
}

/* The trailing dims of devices that divide no dim. False: not known how many. */
static bool trailing(tesela__words rest, int64_t *n) {
  *n = tesela__words_find(rest, "last_tile_dim_replicate") != NULL;
  const char *dims = tesela__words_find(rest, "last_tile_dims={");
  if (!dims) return true;
  tesela__words list = {dims + strlen("last_tile_dims={"), rest.end};
  do {
    tesela__words kind = tesela__words_name(&list);
    if (!tesela__words_is(kind, "replicated") && !tesela__words_is(kind, "manual")) return false;
    ++*n;
  } while (tesela__words_take(&list, ","));
  return tesela__words_take(&list, "}");
}

bool tesela__sharding_hlo(tesela__words text, tesela_xla_shape *shape, int64_t *devices, const char **why) {
  int64_t tile[TESELA_MAX_RANK * 2], n_trailing = 0;
  int32_t n = 0;
  *devices = 1;
  if (!tesela__words_take(&text, "{")) return undecided(why, "a sharding begins with {");
  if (tesela__words_take(&text, "replicated") || tesela__words_take(&text, "manual") ||
      tesela__words_take(&text, "maximal device="))
    return true;
  if (!tesela__words_take(&text, "devices=["))
    return undecided(why, "a sharding other than replicated, manual, maximal or devices");
  do {
    if (n == TESELA_MAX_RANK * 2 || !tesela__words_int(&text, &tile[n]) || tile[n] < 1 ||
        !tesela__mul(*devices, tile[n], devices))
      return undecided(why, "a sharding whose devices are not numbers");
    n++;
  } while (tesela__words_take(&text, ","));
  if (!tesela__words_take(&text, "]") || !trailing(text, &n_trailing) || n - n_trailing != shape->rank)
    return undecided(why, "a sharding of another rank");
  for (int32_t d = 0; d < shape->rank; d++) divide(shape, d, tile[d]);
  return true;
}

/* ---- Shardy ------------------------------------------------------------------------------------------------ */

/* The axes of a mesh, `"x"=2, "y"=2`, up to the bracket; false: no mesh of that name. */
static bool find_mesh(tesela__words program, tesela__words *sharding, tesela__words *axes) {
  if (tesela__words_take(sharding, "mesh<[")) { /* written where it is used */
    *axes = tesela__words_until(sharding, "]");
    tesela__words_until(sharding, ">");
    return tesela__words_take(sharding, "]") &&
           (tesela__words_until(sharding, ""), tesela__words_take(sharding, ">"));
  }
  if (!tesela__words_take(sharding, "@")) return false;
  const tesela__words name = tesela__words_name(sharding);
  while ((program.at = tesela__words_find(program, "sdy.mesh @")) != NULL) {
    program.at += strlen("sdy.mesh @");
    const tesela__words other = tesela__words_name(&program);
    const size_t n = (size_t)(name.end - name.at);
    if ((size_t)(other.end - other.at) != n || memcmp(name.at, other.at, n) != 0) continue;
    if (!tesela__words_take(&program, "=") || !tesela__words_take(&program, "<") ||
        !tesela__words_take(&program, "["))
      return false;
    *axes = tesela__words_until(&program, "]");
    return true;
  }
  return false;
}

/* Devices along an axis, whose name is with its quotes; of all axes, for NULL. 0: none of that name. */
static int64_t axis_size(tesela__words axes, const tesela__words *name) {
  int64_t product = 1, size;
  while (tesela__words_skip(axes).at < axes.end) {
    const tesela__words axis = tesela__words_until(&axes, "=");
    if (!tesela__words_take(&axes, "=") || !tesela__words_int(&axes, &size) || size < 1) return 0;
    const size_t n = (size_t)(axis.end - axis.at);
    if (name && (size_t)(name->end - name->at) == n && memcmp(name->at, axis.at, n) == 0) return size;
    if (!tesela__mul(product, size, &product)) return 0;
    tesela__words_take(&axes, ",");
  }
  return name ? 0 : product;
}

/* One dim: {"x", "y":(1)2}p0. */
static bool read_dim(tesela__words *list, tesela__words axes, int64_t *devices, const char **why) {
  static const char unreadable[] = "a sharding that cannot be read";
  *devices = 1;
  if (!tesela__words_take(list, "{")) return undecided(why, unreadable);
  while (!tesela__words_take(list, "}")) {
    int64_t size, before;
    if (tesela__words_take(list, "?"))
      return undecided(why, "a sharding that the compiler may divide further");
    const tesela__words name = tesela__words_until(list, ",:");
    size = axis_size(axes, &name);
    if (tesela__words_take(list, ":(") && (!tesela__words_int(list, &before) ||
                                           !tesela__words_take(list, ")") || !tesela__words_int(list, &size)))
      return undecided(why, unreadable);
    if (size < 1 || !tesela__mul(*devices, size, devices))
      return undecided(why, "a sharding over an axis that its mesh does not have");
    tesela__words_take(list, ",");
  }
  if (tesela__words_take(list, "p")) (void)tesela__words_int(list, &(int64_t){0});
  return true;
}

bool tesela__sharding_sdy(tesela__words program, tesela__words text, tesela_xla_shape *shape,
                          int64_t *devices, const char **why) {
  tesela__words axes;
  int64_t parts;
  *devices = 1;
  if (!tesela__words_take(&text, "#sdy.sharding<") || !find_mesh(program, &text, &axes) ||
      !tesela__words_take(&text, ",") || !tesela__words_take(&text, "["))
    return undecided(why, "a sharding over a mesh that the text does not have");
  *devices = axis_size(axes, NULL);
  if (*devices < 1) return undecided(why, "a mesh that cannot be read");
  for (int32_t d = 0; d < shape->rank; d++) {
    if (!read_dim(&text, axes, &parts, why)) return false;
    divide(shape, d, parts);
    tesela__words_take(&text, ",");
  }
  return tesela__words_take(&text, "]") || undecided(why, "a sharding of another rank");
}
