/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_seed.c - see support_seed.h.
 */
#include "support_seed.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature) /* clang's spelling */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

/* Decimal or hexadecimal only: strtoull also accepts blanks, signs, octal numbers and trailing text. */
static bool seed_of(const char *text, uint64_t *seed) {
  const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const char *digits = hex ? text + 2 : text;
  if (!isxdigit((unsigned char)digits[0])) return false;
  char *end;
  errno = 0;
  const unsigned long long number = strtoull(digits, &end, hex ? 16 : 10);
  if (errno != 0 || number > INT64_MAX || end == digits || *end != '\0') return false;
  *seed = number;
  return true;
}

uint64_t test_seed(uint64_t fallback) {
  static bool printed;
  static uint64_t last;
  const char *text = getenv("TESELA_SEED");
  uint64_t seed = fallback;
  if (text && !seed_of(text, &seed)) {
    fprintf(stderr,
            "TESELA_SEED is \"%s\"; a seed is a number below 2^63, decimal or 0x and hexadecimal digits\n",
            text);
    exit(EXIT_FAILURE);
  }
  if (!printed || seed != last) printf("TESELA_SEED=%" PRIu64 "\n", seed);
  printed = true;
  last = seed;
  return seed;
}

uint64_t first_seed(void) { return test_seed(20261121); }

bool slow_run(void) {
#ifdef SANITIZED
  return true;
#else
  if (getenv("TESELA_SLOW")) return true;     /* emulated */
  const char *preload = getenv("LD_PRELOAD"); /* valgrind preloads a library */
  return preload && strstr(preload, "vgpreload");
#endif
}
