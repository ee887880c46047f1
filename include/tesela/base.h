/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base.h - what every other header uses: status, error, allocator, writer, version.
 *
 * Functions return a status; what they compute goes to out parameters, which change only on success. A
 * `tesela_error *err` may always be NULL. The library never prints, aborts, or reads the environment.
 */
#ifndef TESELA_BASE_H
#define TESELA_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_VERSION_MAJOR 0
#define TESELA_VERSION_MINOR 1
#define TESELA_VERSION_PATCH 0

#if defined(__GNUC__) || defined(__clang__)
#define TESELA_API __attribute__((visibility("default")))
#define TESELA_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TESELA_API
#define TESELA_PRINTF(fmt, args)
#endif

/* symbol, value, code in JSON, meaning. Values are part of the ABI: never changed, never reused. */
#define TESELA_STATUS_MAP(X)                                                                \
  X(TESELA_OK, 0, "OK", "done")                                                             \
  X(TESELA_E_SYNTAX, -1, "SYNTAX", "the text is not in the notation")                       \
  X(TESELA_E_RANGE, -2, "RANGE", "a number is outside its range")                           \
  X(TESELA_E_OVERFLOW, -3, "OVERFLOW", "a result does not fit in 64 bits")                  \
  X(TESELA_E_INVALID, -4, "INVALID", "the parts are readable but contradict each other")    \
  X(TESELA_E_LIMIT, -5, "LIMIT", "more than a stated limit allows")                         \
  X(TESELA_E_MEMORY, -6, "MEMORY", "an allocation failed")                                  \
  X(TESELA_E_UNSUPPORTED, -7, "UNSUPPORTED", "this cannot be said or done for this layout") \
  X(TESELA_E_MISMATCH, -8, "MISMATCH", "two inputs do not fit together")                    \
  X(TESELA_E_IO, -9, "IO", "reading or writing failed")                                     \
  X(TESELA_E_STOPPED, -10, "STOPPED", "the caller's writer or callback asked to stop")

typedef enum tesela_status {
#define TESELA__ROW(symbol, value, code, text) symbol = value,
  TESELA_STATUS_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela_status;

/// What went wrong: one line for people (what, where, found, allowed) and the place in the text.
typedef struct tesela_error {
  tesela_status status;
  int64_t at;        ///< byte in the text that was read, counted from 0; -1 when there is no text
  char message[248]; ///< one line, no newline, NUL-terminated UTF-8, cut at a character if too long
} tesela_error;

/// The code of a status as it stands in JSON: tesela_status_code(TESELA_E_SYNTAX) is "SYNTAX".
/// "UNKNOWN" for a number that is no status. Static text; any thread.
TESELA_API const char *tesela_status_code(tesela_status status);

/// The meaning of a status: tesela_status_text(TESELA_E_MEMORY) is "an allocation failed".
/// Static text; any thread.
TESELA_API const char *tesela_status_text(tesela_status status);

/// The version of the library that runs, "0.1.0". Static text; any thread.
TESELA_API const char *tesela_version(void);

/// Where memory comes from. `alloc` returns at least `size` bytes (size >= 1) aligned to `align` (a power of
/// two), or NULL; `release` takes what `alloc` returned, never NULL. NULL for a `const tesela_allocator *`
/// means malloc and free.
typedef struct tesela_allocator {
  void *user;
  void *(*alloc)(void *user, size_t size, size_t align);
  void (*release)(void *user, void *memory);
} tesela_allocator;

/// Where printed text goes. `write` returns 0 to go on, anything else to stop (TESELA_E_STOPPED).
typedef struct tesela_writer {
  int (*write)(void *user, const char *text, size_t length);
  void *user;
} tesela_writer;

/// A writer into a caller's buffer; the text in it is always NUL-terminated and `length` is what the whole
/// text needs, so `length >= capacity` says that it was cut (snprintf's rule).
typedef struct tesela_buffer {
  char *text;      ///< the caller's memory, NULL if capacity is 0
  size_t capacity; ///< bytes of it, the NUL included
  size_t length;   ///< bytes the whole text has so far, the NUL not counted
} tesela_buffer;

/// A writer that appends to `buffer`, which must outlive it. Never asks to stop. O(1).
///
/// Example: char text[8]; tesela_buffer b = {text, sizeof text, 0};
/// printing "f32[3,5]{1,0}" leaves "f32[3,5" in text and 13 in b.length.
TESELA_API tesela_writer tesela_buffer_writer(tesela_buffer *buffer);

#ifdef __cplusplus
}
#endif
#endif
