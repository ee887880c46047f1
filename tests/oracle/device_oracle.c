/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_oracle.c - see device_oracle.h.
 */
#include "device_oracle.h"

/* The device dim of host dim `host` with the largest step that is not done, the outermost of equal ones; or -1. A
 * device dim of extent 1 has no digit. */
static int largest_step(const struct oracle_device *d, int host, const char *done) {
  int best = -1;
  for (int j = 0; j < d->n; j++)
    if (d->dim[j].dim == host && d->dim[j].extent != 1 && !done[j] &&
        (best < 0 || d->dim[j].step > d->dim[best].step))
      best = j;
  return best;
}

int oracle_device_digits(const struct oracle_device *d, const int64_t *index, int64_t *digit) {
  char done[ORACLE_DEVICE_DIMS] = {0};
  for (int j = 0; j < d->n; j++) digit[j] = 0;
  for (int host = 0; host < d->rank; host++) {
    int64_t rest = index[host];
    for (int j = largest_step(d, host, done); j >= 0; j = largest_step(d, host, done)) {
      digit[j] = rest / d->dim[j].step;
      rest = rest % d->dim[j].step;
      done[j] = 1;
      if (digit[j] >= d->dim[j].extent) return -1;
    }
    if (rest != 0) return -1;
  }
  return 0;
}

int64_t oracle_device_copies(const struct oracle_device *d) {
  int64_t copies = 1;
  for (int j = 0; j < d->n; j++)
    if (d->dim[j].dim == ORACLE_REPLICATED) copies *= d->dim[j].extent;
  return copies;
}

int64_t oracle_device_place(const struct oracle_device *d, const int64_t *index, int64_t copy) {
  int64_t digit[ORACLE_DEVICE_DIMS], place = 0;
  if (oracle_device_digits(d, index, digit) != 0) return -1;
  for (int j = d->n - 1; j >= 0; j--) {
    if (d->dim[j].dim == ORACLE_REPLICATED) {
      digit[j] = copy % d->dim[j].extent;
      copy /= d->dim[j].extent;
    }
    place += digit[j] * d->dim[j].stride;
  }
  return place;
}

int oracle_device_next(int rank, const int64_t *start, const int64_t *size, int64_t *index) {
  for (int k = rank - 1; k >= 0; k--) {
    if (++index[k] < start[k] + size[k]) return 1;
    index[k] = start[k];
  }
  return 0;
}
