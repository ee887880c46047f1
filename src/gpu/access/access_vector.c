/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_vector.c - the widest vectors that all threads of a tile can use.
 *
 * A vector of v elements needs, for every thread and every k, local ids v*k .. v*k + v-1 at consecutive places that
 * start at a multiple of v. Mostly the digits decide: those of the local id below v must count 0 .. v-1, all others and
 * the offset must move by multiples of v. A swizzle that neither reads nor writes bits below log2(v) does not matter,
 * since it maps aligned runs of v to aligned runs of v in order, and so does its inverse. The other cases - swizzles
 * inside a vector, vectors along a rough dim or across a digit - are checked register by register up to the first
 * fault.
 *
 * If registers may be renamed, only the set of a thread's places counts; see access_renamed below.
 */
#include "gpu/access/access.h"

/* ---- possible vectors ------------------------------------------------------------------------------------------- */

static int32_t access_log2(int64_t power) {
  int32_t log = 0;
  while (power > 1) power /= 2, log++;
  return log;
}

int32_t tesela__access_vector_bytes(const tesela__access *access, int64_t v) {
  if (v < 1 || v > 8 * 64 || access->locals % v != 0) return 0;
  int64_t bits = v * access->bits;
  if (bits % 8 != 0) return 0;
  if (v == 1) return access->bits / 8;
  int64_t bytes = bits / 8;
  bool power = (bytes & (bytes - 1)) == 0;
  return power && bytes <= access->max_vector_bytes ? (int32_t)bytes : 0;
}

/* The narrowest vector of whole bytes: 1, or 8 / bits for 1, 2 and 4 bits; 0 for other bits. */
static int64_t access_narrowest(const tesela__access *access) {
  int64_t v = access->bits % 8 == 0 ? 1 : 8 / access->bits;
  return tesela__access_vector_bytes(access, v) > 0 ? v : 0;
}

/* ---- one width ----------------------------------------------------------------------------------------------- */

static bool access_swizzle_above(const tesela__access *access, int64_t v) {
  const tesela__access_swizzle *s = &access->swizzle;
  return s->mask == 0 || tesela__min(s->from, s->to) >= access_log2(v);
}

/* Cut the digits of the local id at v: the first `*n` digits are below it, and `*inside` steps of the next one. False
 * if v falls into a digit that it does not divide. */
static bool access_cut_at(const tesela__access_digits *digits, int64_t v, int32_t *n, int64_t *inside) {
  int64_t weight = 1;
  int32_t i = 0;
  while (i < digits->n && weight * digits->digit[i].extent <= v) weight *= digits->digit[i++].extent;
  *n = i;
  *inside = v / weight;
  return v % weight == 0 && (*inside == 1 || (i < digits->n && digits->digit[i].extent % *inside == 0));
}

/* Do vectors fit by the digits? The swizzle must be above them. 1: yes, 0: no, -1: v cuts a digit, or goes along a
 * rough dim.
 * */
static int32_t access_fits_digits(const tesela__access *access, int64_t v) {
  const tesela__access_digits *thread = &access->thread, *local = &access->local;
  int32_t n;
  int64_t inside, weight = 1;
  if (access->offset % v != 0) return 0;
  for (int32_t i = 0; i < thread->n; i++)
    if (thread->digit[i].part < 0 && thread->digit[i].stride % v != 0) return 0;
  if (!access_cut_at(local, v, &n, &inside)) return -1;
  for (int32_t i = 0; i < n + (inside > 1); weight *= local->digit[i++].extent) {
    if (local->digit[i].part >= 0) return -1;
    if (local->digit[i].stride != weight) return 0;
  }
  for (int32_t r = 0; r < access->n_rough; r++) /* every index occurs at the start of a vector */
    for (int32_t k = 0; k < access->rough[r].n; k++)
      if (access->mode_stride[access->rough[r].first + k] % v != 0) return 0;
  for (int32_t i = n; i < local->n; i++)
    if (local->digit[i].part < 0 && local->digit[i].stride * (i == n ? inside : 1) % v != 0) return 0;
  return 1;
}

bool tesela__access_follow(const tesela__access *access, int64_t v, int64_t *bad_thread, int64_t *bad_local) {
  tesela__access_walk thread, local;
  tesela__access_start(&thread, &access->thread, 0);
  for (int64_t t = 0; t < access->threads; t++, tesela__access_next(&thread)) {
    tesela__access_start(&local, &access->local, 0);
    for (int64_t l = 0, start = 0, j = 0; l < access->locals; l++, tesela__access_next(&local)) {
      int64_t place = tesela__access_place(access, thread.place, thread.part, &local);
      if (j == 0) start = place;
      if (place - start != j || (j == 0 && place % v != 0)) {
        *bad_thread = t;
        *bad_local = l;
        return false;
      }
      if (++j == v) j = 0;
    }
  }
  return true;
}

/* The most informative registers first: one vector of each thread, all vectors of the first thread. A fault is almost
 * always among them. */
static bool access_fits_glance(const tesela__access *access, int64_t v) {
  tesela__access_walk thread, local;
  tesela__access_start(&thread, &access->thread, 0);
  tesela__access_start(&local, &access->local, 0);
  for (int64_t t = 0; t < access->threads; t++, tesela__access_next(&thread))
    if (tesela__access_place(access, thread.place, thread.part, &local) % v != 0) return false;
  /* thread is at 0 again */
  for (int64_t l = 0, start = 0; l < access->locals; l++, tesela__access_next(&local)) {
    int64_t place = tesela__access_place(access, thread.place, thread.part, &local);
    if (l % v == 0) start = place;
    if (place - start != l % v || start % v != 0) return false;
  }
  return true;
}

bool tesela__access_fits(const tesela__access *access, int64_t v) {
  int64_t thread, local;
  if (v == 1) return true;
  if (access_swizzle_above(access, v)) {
    int32_t known = access_fits_digits(access, v);
    if (known >= 0) return known == 1;
  }
  return access_fits_glance(access, v) && tesela__access_follow(access, v, &thread, &local);
}

/* What fits at 2v fits at v. */
int64_t tesela__access_widest(const tesela__access *access) {
  int64_t v = access_narrowest(access);
  if (v == 0 || !tesela__access_fits(access, v)) return 0;
  while (tesela__access_vector_bytes(access, 2 * v) > 0 && tesela__access_fits(access, 2 * v)) v *= 2;
  return v;
}

tesela_status tesela__access_choose(const tesela__access *access, int64_t asked, int64_t *vector,
                                    tesela_error *err) {
  int64_t thread = 0, local = 0;
  if (asked < 0)
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "a vector of %" PRId64 " elements; expected 1 or more, or 0 (the widest)", asked);
  if (asked == 0) {
    int64_t widest = tesela__access_widest(access);
    if (widest > 0) {
      *vector = widest;
      return TESELA_OK;
    }
    asked = access_narrowest(access);
    if (asked == 0)
      return tesela__fail(err, TESELA_E_INVALID, -1,
                          "no vector of %" PRId64 " registers of %" PRId32
                          " bits has 1, 2, 4, ... whole bytes",
                          access->locals, access->bits);
  } else if (tesela__access_vector_bytes(access, asked) == 0) {
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "no vector of %" PRId64 " elements of %" PRId32 " bits: it must divide %" PRId64
                        " registers and have 1, 2, 4, ... %" PRId32
                        " bytes, or be one element of whole bytes",
                        asked, access->bits, access->locals, access->max_vector_bytes);
  }
  if (!tesela__access_fits(access, asked)) {
    tesela__access_follow(access, asked, &thread, &local);
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "no vector of %" PRId64 " elements: thread %" PRId64 " has local id %" PRId64 " %s",
                        asked, thread, local,
                        local % asked == 0 ? "at a place that is not a multiple of the vector"
                                           : "not adjacent to the previous one");
  }
  *vector = asked;
  return TESELA_OK;
}

tesela_status tesela__access_possible(const tesela_register *registers, const tesela_tile_memory *memory,
                                      int32_t bits, int64_t *vector, tesela_error *err) {
  tesela_access_machine full;
  tesela__access access;
  (void)tesela__access_machine(NULL, &full, NULL);
  tesela_status status = tesela__access_make(&access, registers, memory, bits, &full, err);
  if (status == TESELA_E_LIMIT && bits % 8 == 0) {
    *vector = 1;
    return TESELA_OK;
  }
  return status != TESELA_OK ? status : tesela__access_choose(&access, 0, vector, err);
}

/* ---- renamed registers ------------------------------------------------------------------------------------------ */

/* Without a swizzle, and with digits that do not overlap (sorted by stride, each steps over all smaller ones), the
 * places of a thread are runs over the digits of strides 1, e1, e1*e2, and so on. The lowest run ends in a gap, so v
 * must divide its length, and every other digit must move by multiples of v. 1: yes, 0: no, -1: digits overlap. */
static int32_t access_renamed_by_digits(const tesela__access *access, int64_t v) {
  tesela__access_digit sorted[TESELA__ACCESS_DIGITS];
  const tesela__access_digits *local = &access->local;
  for (int32_t i = 0; i < local->n; i++) {
    int32_t at = i;
    for (; at > 0 && sorted[at - 1].stride > local->digit[i].stride; at--) sorted[at] = sorted[at - 1];
    sorted[at] = local->digit[i];
  }
  int64_t reach = 0, run = 1;
  for (int32_t i = 0; i < local->n; reach += sorted[i].stride * (sorted[i].extent - 1), i++)
    if (sorted[i].stride <= reach) return -1;
  int32_t k = 0;
  while (k < local->n && sorted[k].stride == run) run *= sorted[k++].extent;
  if (run % v != 0 || access->offset % v != 0) return 0;
  for (; k < local->n; k++)
    if (sorted[k].stride % v != 0) return 0;
  for (int32_t i = 0; i < access->thread.n; i++)
    if (access->thread.digit[i].stride % v != 0) return 0;
  return 1;
}

enum { ACCESS_WINDOW = 4096 };

/* Count the registers of one thread: is each aligned run of v places used completely, with equal counts? Counts in
 * windows of ACCESS_WINDOW places, from the lowest place up, with one pass over the thread's registers for each. */
static bool access_renamed_thread(const tesela__access *access, const tesela__access_walk *thread,
                                  int64_t v) {
  uint32_t counts[ACCESS_WINDOW];
  int64_t from = -1, next = 0; /* window of the last pass; lowest run after it */
  do {
    int64_t end = from < 0 ? 0 : next + ACCESS_WINDOW, beyond = -1;
    from = next;
    memset(counts, 0, sizeof counts);
    tesela__access_walk local;
    tesela__access_start(&local, &access->local, 0);
    for (int64_t l = 0; l < access->locals; l++, tesela__access_next(&local)) {
      int64_t place = tesela__access_place(access, thread->place, thread->part, &local);
      if (place >= from && place < end)
        counts[place - from]++;
      else if (place >= end && (beyond < 0 || place < beyond))
        beyond = place;
    }
    for (int64_t i = 0; i < end - from; i++)
      if (counts[i] != counts[i - i % v]) return false;
    next = beyond < 0 ? -1 : beyond - beyond % v;
  } while (next >= 0);
  return true;
}

/* Can each thread use vectors of v if its registers may be renamed? Registers of 32 bits stay whole: aligned groups of
 * 32 / bits local ids must be a vector themselves. */
static bool access_renamed(const tesela__access *access, int64_t v) {
  int64_t group = tesela__min(v, access->bits < 32 ? 32 / access->bits : 1);
  if (!tesela__access_fits(access, group)) return false;
  if (v == group) return true;
  if (access->n_rough == 0 && (access->swizzle.mask == 0 || access->swizzle.from >= access_log2(v))) {
    int32_t known = access_renamed_by_digits(access, v);
    if (known >= 0) return known == 1;
  }
  tesela__access_walk thread;
  tesela__access_start(&thread, &access->thread, 0);
  for (int64_t t = 0; t < access->threads; t++, tesela__access_next(&thread))
    if (!access_renamed_thread(access, &thread, v)) return false;
  return true;
}

/* ---- the public query -------------------------------------------------------------------------------------------- */

/* The one dim along which local ids v*k .. v*k + v-1 advance: that of the modes that change within a vector. */
static int32_t access_vector_dim(const tesela_register *registers, int64_t v) {
  int32_t dim_of[TESELA_REGISTER_MODES] = {0}, found = -1;
  for (int32_t d = 0, m = 0; d < registers->rank; d++)
    for (int64_t have = 1; have < registers->shape[d]; have *= registers->mode_shape[m++]) dim_of[m] = d;
  int64_t weight = 1;
  for (int32_t i = registers->n_local - 1; i >= 0; i--) {
    int32_t m = registers->local_modes[i];
    if (registers->mode_shape[m] > 1 && weight % v != 0) {
      if (found >= 0 && found != dim_of[m]) return -1;
      found = dim_of[m];
    }
    weight *= registers->mode_shape[m];
  }
  return found;
}

tesela_status tesela_vector_width_of(const tesela_register *registers, const tesela_tile_memory *memory,
                                     int32_t bits, const tesela_access_machine *machine,
                                     tesela_vector_width *width, tesela_error *err) {
  TESELA__NEED(err, registers, memory, width);
  TESELA__NEED_CLEAR(err, machine);
  tesela_access_machine full;
  tesela__access access;
  tesela_status status = tesela__access_machine(machine, &full, err);
  if (status == TESELA_OK) status = tesela__access_make(&access, registers, memory, bits, &full, err);
  if (status != TESELA_OK) return status;
  int64_t v = tesela__access_widest(&access), renamed = tesela__max(v, 1);
  if (v > 0)
    while (tesela__access_vector_bytes(&access, 2 * renamed) > 0 && access_renamed(&access, 2 * renamed))
      renamed *= 2;
  *width = (tesela_vector_width){
      .elements = tesela__max(v, 1),
      .bytes = tesela__access_vector_bytes(&access, v),
      .per_thread = registers->local_size / tesela__max(v, 1),
      .dim = v > 1 ? access_vector_dim(registers, v) : -1,
      .renamed_elements = renamed,
  };
  return TESELA_OK;
}
