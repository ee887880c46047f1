/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.c - finds the first difference of two one-dimensional digit profiles.
 *
 * A profile is f(x) = sum of q_k * stride_k, the digits q_k of x by decreasing step. Its period is its first step s:
 * f(x+s) = f(x) + stride. If two such functions with periods s and t have equal increments over s + t places, they have
 * them everywhere (Fine and Wilf's theorem for words with two periods), so a longer window is cut to that length. It is
 * then cut at the multiples of the longer step into at most three pieces; in each piece that digit is constant and
 * drops out. The recursion depth is the number of digits.
 *
 * All numbers wrap mod 2^64: places are below 2^63, so two differ if and only if they differ mod 2^64.
 */
#include "layout/profile.h"

typedef struct side {
  const tesela__profile *profile;
  int32_t first; /* digits before it are constant in the window */
  int64_t start; /* x at the start of the window, minus the part of those digits */
} side;

static int64_t step_of(const side *s) { return s->profile->step[s->first]; }

/* Is f a straight line: no digit remains, or one of step 1? */
static bool is_line(const side *s) { return s->first >= s->profile->n || step_of(s) == 1; }

static uint64_t slope(const side *s) {
  return s->first < s->profile->n ? (uint64_t)s->profile->stride[s->first] : 0;
}

/* Drop the digits that are constant over the window of n places; *base grows by what they add. */
static side narrow(side s, int64_t n, uint64_t *base) {
  while (!is_line(&s)) {
    int64_t step = step_of(&s), q = s.start / step;
    if (s.start + (n - 1) - q * step >= step) break;
    *base += (uint64_t)q * slope(&s);
    s.start -= q * step;
    s.first++;
  }
  if (is_line(&s)) *base += (uint64_t)s.start * slope(&s);
  return s;
}

static int64_t first_difference(side a, side b, int64_t n, uint64_t offset, int32_t *effort);

/* Cut the window at the multiples of a's step and compare piece by piece. */
static int64_t piecewise(side a, side b, int64_t n, uint64_t offset, int32_t *effort) {
  int64_t step = step_of(&a);
  for (int64_t done = 0; done < n;) {
    int64_t size = tesela__min(n - done, step - (a.start + done) % step);
    side pa = a, pb = b;
    pa.start += done;
    pb.start += done;
    int64_t at = first_difference(pa, pb, size, offset, effort);
    if (at != TESELA__EQUAL) return at < 0 ? at : done + at;
    done += size;
  }
  return TESELA__EQUAL;
}

/* First x in [0, n) with fa(x) != fb(x) + offset. */
static int64_t first_difference(side a, side b, int64_t n, uint64_t offset, int32_t *effort) {
  if (--*effort < 0) return TESELA__UNDECIDED;
  if (n <= 0) return TESELA__EQUAL;
  uint64_t base_a = 0, base_b = offset;
  a = narrow(a, n, &base_a);
  b = narrow(b, n, &base_b);
  if (is_line(&a) && is_line(&b)) {
    if (base_a != base_b) return 0;
    return n > 1 && slope(&a) != slope(&b) ? 1 : TESELA__EQUAL;
  }
  /* The base of a line includes its start, which the pieces add again: remove it. */
  int64_t step_a = is_line(&a) ? 1 : step_of(&a), step_b = is_line(&b) ? 1 : step_of(&b), window;
  if (tesela__add(step_a, step_b, &window)) n = tesela__min(n, window);
  if (is_line(&a)) base_a -= (uint64_t)a.start * slope(&a);
  if (is_line(&b)) base_b -= (uint64_t)b.start * slope(&b);
  if (step_a >= step_b) return piecewise(a, b, n, base_b - base_a, effort);
  return piecewise(b, a, n, base_a - base_b, effort);
}

int64_t tesela__profile_difference(const tesela__profile *a, const tesela__profile *b, int64_t n,
                                   uint64_t offset) {
  int32_t effort = 200000;
  return first_difference((side){a, 0, 0}, (side){b, 0, 0}, n, offset, &effort);
}
