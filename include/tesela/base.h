/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base.h - used by every other header: status, error, allocator, writer, version.
 *
 * Functions return a status; results are written to out parameters, which change only on success. A
 * `tesela_error *err` may always be NULL. The library never prints, aborts, or reads the environment.
 *
 * Any other NULL pointer is refused with TESELA_E_INVALID, and the message names it, unless the function defines NULL
 * or the pointer is a list of 0 items. Functions without a status return the value of an empty object: 0, false, NULL,
 * -1 for a number that is not found, a zeroed struct; destroying NULL does nothing.
 *
 * Option structs and the structs that receive facts end in `int64_t reserved[4]`: later versions add fields there, and
 * the size of the struct stays. Clear a struct before you fill it in (`{.threads = 1}` does): options with a nonzero
 * `reserved` are refused with TESELA_E_INVALID. Structs that are returned by pointer one at a time may become longer. A
 * field of 0 always has the meaning it had before the field existed.
 */
#ifndef TESELA_BASE_H
#define TESELA_BASE_H

#include <stdarg.h>
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

/* symbol, value, code in JSON, meaning: finer than a status, for modules whose errors a program distinguishes. Values
 * are part of the ABI: never changed, never reused. */
#define TESELA_REASON_MAP(X)                                                                                \
  X(TESELA_REASON_NONE, 0, "", "no finer reason than the status")                                           \
  X(TESELA_REASON_SHAPE_NOT_POSITIVE, 1, "SHAPE_NOT_POSITIVE", "an extent is below 1")                      \
  X(TESELA_REASON_MODE_NOT_POSITIVE, 2, "MODE_NOT_POSITIVE", "a mode is below 1, or a replica count")       \
  X(TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE, 3, "MODE_DOES_NOT_FIT_SHAPE",                                    \
    "modes do not multiply to the dims")                                                                    \
  X(TESELA_REASON_MODE_USED_TWICE, 4, "MODE_USED_TWICE", "a mode is placed twice")                          \
  X(TESELA_REASON_MODE_NOT_PLACED, 5, "MODE_NOT_PLACED", "a mode is neither spatial nor local")             \
  X(TESELA_REASON_SPATIAL_MODE_OUT_OF_RANGE, 6, "SPATIAL_MODE_OUT_OF_RANGE",                                \
    "spatial_modes names an unknown mode")                                                                  \
  X(TESELA_REASON_LOCAL_MODE_OUT_OF_RANGE, 7, "LOCAL_MODE_OUT_OF_RANGE",                                    \
    "local_modes names an unknown mode")                                                                    \
  X(TESELA_REASON_RANKS_LENGTH, 8, "RANKS_LENGTH", "ranks has another length than the shape")               \
  X(TESELA_REASON_RANKS_OUT_OF_RANGE, 9, "RANKS_OUT_OF_RANGE", "a rank is outside 0 .. n-1")                \
  X(TESELA_REASON_RANKS_DUPLICATE, 10, "RANKS_DUPLICATE", "a rank is repeated")                             \
  X(TESELA_REASON_WORKERS_NOT_POSITIVE, 11, "WORKERS_NOT_POSITIVE", "a number of threads below 1")          \
  X(TESELA_REASON_THREADS_DO_NOT_FIT, 12, "THREADS_DO_NOT_FIT",                                             \
    "neither the number of threads nor that of elements divides the other")                                 \
  X(TESELA_REASON_DIM_OUT_OF_RANGE, 13, "DIM_OUT_OF_RANGE", "a dim outside the rank")                       \
  X(TESELA_REASON_DIM_DUPLICATE, 14, "DIM_DUPLICATE", "a dim is repeated")                                  \
  X(TESELA_REASON_DIM_NOT_ONE, 15, "DIM_NOT_ONE", "a dim to drop has an extent above 1")                    \
  X(TESELA_REASON_DIMS_LENGTH, 16, "DIMS_LENGTH", "a permutation has another length than the shape")        \
  X(TESELA_REASON_RESHAPE_SIZE_MISMATCH, 17, "RESHAPE_SIZE_MISMATCH", "the numbers of elements differ")     \
  X(TESELA_REASON_RESHAPE_NOT_REPRESENTABLE, 18, "RESHAPE_NOT_REPRESENTABLE",                               \
    "no modes express the reshaped layout")                                                                 \
  X(TESELA_REASON_NOT_DIVISIBLE, 19, "NOT_DIVISIBLE", "no layout composed with the divisor gives this one") \
  X(TESELA_REASON_NOT_LEFT_DIVISIBLE, 20, "NOT_LEFT_DIVISIBLE",                                             \
    "the divisor composed with any layout does not give this one")                                          \
  X(TESELA_REASON_NOT_BROADCASTABLE, 21, "NOT_BROADCASTABLE", "a dim is neither 1 nor that of the layout")  \
  X(TESELA_REASON_NOT_REPEATABLE, 22, "NOT_REPEATABLE", "the tile does not divide the shape")               \
  X(TESELA_REASON_NOT_LINEAR, 23, "NOT_LINEAR",                                                             \
    "no sum over modes with one XOR stage expresses the offsets of the result")                             \
  X(TESELA_REASON_SWIZZLE, 24, "SWIZZLE", "no swizzle expresses the result")                                \
  X(TESELA_REASON_CONFLICT, 25, "CONFLICT", "the layouts of a kernel contradict each other")                \
  X(TESELA_REASON_PATH, 26, "PATH", "a file cannot be opened, or cannot be written under its name")         \
  X(TESELA_REASON_MAX_BYTES, 27, "MAX_BYTES", "more than max_bytes")                                        \
  X(TESELA_REASON_MAX_HEADER, 28, "MAX_HEADER", "more than max_header")                                     \
  X(TESELA_REASON_MAX_NESTS, 29, "MAX_NESTS", "more than max_nests, or its default")                        \
  X(TESELA_REASON_MAX_STEPS, 30, "MAX_STEPS", "more than max_steps")                                        \
  X(TESELA_REASON_MAX_ARRAYS, 31, "MAX_ARRAYS", "more than max_arrays")                                     \
  X(TESELA_REASON_NOT_SURJECTIVE, 32, "NOT_SURJECTIVE", "no input gives some output")                       \
  X(TESELA_REASON_NOT_INJECTIVE, 33, "NOT_INJECTIVE", "two inputs give one output")                         \
  X(TESELA_REASON_NOT_EXPRESSIBLE, 34, "NOT_EXPRESSIBLE", "no extents and strides have the values")         \
  X(TESELA_REASON_SIZE, 35, "SIZE", "a divisor reaches beyond the layout")

typedef enum tesela_reason {
#define TESELA__ROW(symbol, value, code, text) symbol = value,
  TESELA_REASON_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela_reason;

/// What went wrong: one line for people (what, where, found, allowed) and the place in the text.
typedef struct tesela_error {
  tesela_status status;
  tesela_reason reason; ///< finer than the status, from modules that give one; else TESELA_REASON_NONE
  int64_t at;           ///< byte in the text that was read, counted from 0; -1 without a text
  char message
      [248]; ///< one line, no newline, NUL-terminated UTF-8; a long one is cut after a word and ends in "..."
} tesela_error;

/// The code of a status in JSON: tesela_status_code(TESELA_E_SYNTAX) is "SYNTAX".
/// "UNKNOWN" for any other number. Static text; any thread.
TESELA_API const char *tesela_status_code(tesela_status status);

/// The meaning of a status: tesela_status_text(TESELA_E_MEMORY) is "an allocation failed".
/// Static text; any thread.
TESELA_API const char *tesela_status_text(tesela_status status);

/// The code of a reason in JSON: tesela_reason_code(TESELA_REASON_DIM_NOT_ONE) is "DIM_NOT_ONE"; "" for
/// TESELA_REASON_NONE and unknown numbers. Static text; any thread.
TESELA_API const char *tesela_reason_code(tesela_reason reason);

/// The meaning of a reason, one line; "" for an unknown number. Static text; any thread.
TESELA_API const char *tesela_reason_text(tesela_reason reason);

/// Called now and then by what may take long, from the thread that called it and only from that one. done of total: bytes copied,
/// or steps of a search out of those that it may take. Return 0 to go on; anything else, and the call ends soon with
/// TESELA_E_STOPPED.
typedef int tesela_progress(void *user, int64_t done, int64_t total);

/// Where printed text goes. `write` returns 0 to go on, anything else to stop (TESELA_E_STOPPED).
typedef struct tesela_writer {
  int (*write)(void *user, const char *text, size_t length);
  void *user;
} tesela_writer;

/// Fill an error as the library does, for readers and callbacks of your own: the status, TESELA_REASON_NONE, the byte and the
/// message; a message that is too long is cut after a word and ends in "...". `err` may be NULL. Returns `status`. O(length).
///
/// Example: in a function with `const char *format, ...`, after va_start(args, format):
/// status = tesela_error_fill(err, TESELA_E_INVALID, -1, format, args);
TESELA_API tesela_status tesela_error_fill(tesela_error *err, tesela_status status, int64_t at,
                                           const char *format, va_list args) TESELA_PRINTF(4, 0);

/// Fill an error about a number outside its range, worded as in the library. Returns TESELA_E_RANGE.
///
/// Example: name "index", k = 1, value 7, 0 to 4: "index[1] is 7; expected 0 to 4". With k = -1: "index is 7; ...".
///
/// @param err   may be NULL
/// @param at    the byte in the text, -1 without a text
/// @param most  less than `least` if no number is allowed: "index[1] is 7; the extent is 0, so there is nothing"
TESELA_API tesela_status tesela_error_outside(tesela_error *err, int64_t at, const char *name, int32_t k,
                                              int64_t value, int64_t least, int64_t most);

/// Print an error: the message, and under it the line of the text with a caret under byte err->at.
///
/// Example: for "f32[3,5]{1,0:T(0,2)}", which tesela_xla_parse refuses,
///
///     tile extent is 0; a tile extent is 1 or more
///       f32[3,5]{1,0:T(0,2)}
///                      ^
///
/// A line of more than 80 columns is cut around the caret, with "...". Tabs, control characters and bytes that are not
/// UTF-8 are shown escaped (\t, \x1b, \u{85}); the caret allows for that. With at >= length the caret is after the last
/// line; with at < 0 or text NULL only the message is printed.
///
/// @param err    an error that a function filled in
/// @param text   `length` bytes: the text that the function read
/// @param to     receives the lines; every line ends with a newline
/// @return TESELA_OK, or TESELA_E_STOPPED if the writer refused, TESELA_E_INVALID for err or to NULL. O(length);
///         no memory; any thread.
TESELA_API tesela_status tesela_error_print(const tesela_error *err, const char *text, size_t length,
                                            const tesela_writer *to);

/// Print only the two lines under the message of tesela_error_print, at most `width` columns (20 or more) wide; `ascii`
/// escapes all non-ASCII characters. Prints nothing for at < 0. TESELA_OK or TESELA_E_STOPPED; O(length); any thread.
TESELA_API tesela_status tesela_error_caret(int64_t at, const char *text, size_t length, int32_t width,
                                            bool ascii, const tesela_writer *to);

/// The known name nearest to a misspelt word, ignoring case; NULL if no name is near. A name is near if at most two letters are
/// inserted, dropped, changed or swapped (one in words of up to three letters), or if the word is its beginning.
///
/// Example: among "show", "same", "size" the nearest to "shwo" is "show"; "print" has no near name.
///
/// @param word       `length` bytes; for 0 and for more than 48 the result is NULL
/// @param candidate  gives name i = 0, 1, ... and NULL after the last
/// @param user       for `candidate`
/// Any thread. O(names * length).
TESELA_API const char *tesela_nearest(const char *word, size_t length,
                                      const char *(*candidate)(const void *user, int32_t i),
                                      const void *user);

/// Fill an error about a name that is not one of the known ones, worded as in the library. Returns TESELA_E_INVALID.
///
/// Example: what "verb", name "shwo", among "show" and "size": "unknown verb 'shwo'; did you mean show?"; with the name "print", which
/// has no near one: "unknown verb 'print'; expected show, size".
///
/// @param err        may be NULL; its byte is -1
/// @param candidate  as for tesela_nearest; "" is a gap
/// Any thread. O(names * length).
TESELA_API tesela_status tesela_error_unknown(tesela_error *err, const char *what, const char *name,
                                              const char *(*candidate)(const void *user, int32_t i),
                                              const void *user);

/// Decode the first character of `length` >= 1 bytes into *character, which is unspecified on failure. Returns its number of
/// bytes, 1 to 4; 0 for invalid UTF-8 (truncated, overlong, a surrogate, beyond U+10FFFF).
///
/// Example: for "\xc3\x97" it returns 2 and the code is 0xD7.
TESELA_API size_t tesela_utf8_character(const char *text, size_t length, uint32_t *character);

/// Terminal columns of a character, 0 to 2; -1 for characters that must be escaped (control characters, and those that
/// change the direction of the surrounding text): 1 for 'a', 2 for U+4E00, -1 for a tab.
TESELA_API int32_t tesela_utf8_columns(uint32_t character);

/// Make the first character of `length` >= 1 bytes printable on one line: copied, or escaped if it must not reach a
/// terminal (\t, \x1b, \u{85}, \xff for a byte that is not UTF-8) or, with `ascii`, if it is not ASCII.
///
/// @param shown    receives the text, NUL-terminated
/// @param columns  receives its terminal columns
/// @return the number of bytes read, 1 to 4; O(1); any thread.
TESELA_API size_t tesela_utf8_show(const char *text, size_t length, bool ascii, char shown[12],
                                   int32_t *columns);

/// The version of the library at run time, "0.1.0". Static text; any thread.
TESELA_API const char *tesela_version(void);

/// Where memory comes from. `alloc` returns at least `size` bytes (size >= 1) aligned to `align` (a power of
/// two), or NULL; `release` receives a pointer that `alloc` returned, never NULL. A NULL `const tesela_allocator *`
/// means malloc and free.
typedef struct tesela_allocator {
  void *user;
  void *(*alloc)(void *user, size_t size, size_t align);
  void (*release)(void *user, void *memory);
} tesela_allocator;

/// A text buffer of the caller. The text is always NUL-terminated, and `length` counts the whole text: with
/// `length >= capacity` it was cut (snprintf's rule).
typedef struct tesela_buffer {
  char *text;      ///< the caller's memory, NULL if capacity is 0
  size_t capacity; ///< bytes of it, the NUL included
  size_t length;   ///< bytes of the whole text so far, without the NUL
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
