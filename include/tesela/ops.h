/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tesela/ops.h - the table of operations: everything tesela answers, by name, for any host. Needs libtesela_ops.
 *
 * An operation reads its fields from a tree of plain values and writes its answer, event by event, into a sink. Neither
 * side depends on JSON: a host may use Python's dicts, a browser's JSON.parse, an array in C or a line of text:
 *
 *   const int64_t index[] = {2, 3};
 *   tesela_value numbers[2];
 *   tesela_value list = tesela_value_of_ints(NULL, 2, numbers, index);            // [2, 3]
 *   tesela_value fields[] = {tesela_value_of_text("op", "where"),
 *                            tesela_value_of_text("layout", "f32[3,5]{1,0:T(2,2)}"),
 *                            tesela_value_of_list("indices", 1, &list)};
 *   tesela_value request = tesela_value_of_object(NULL, 3, fields);
 *   tesela_error err;
 *   tesela_request r = {.value = &request, .out = &sink, .err = &err};
 *   tesela_put_object(&sink);
 *   tesela_status status = tesela_request_answer(&r);                              // "places": [17]
 *   tesela_put_end(&sink);
 *   tesela_request_free(&r);
 *
 * docs/query.md lists the operations with their fields and answers; so does the operation `ops`.
 *
 * Functions may be called from several threads at once, each with its own request and sink, except the readers of JSON.
 * NULL (base.h): a NULL sink takes nothing, a NULL value is null, functions with a status refuse NULL with
 * TESELA_E_INVALID.
 */
#ifndef TESELA_OPS_H
#define TESELA_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tesela/device.h>
#include <tesela/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

// ==== Values: the parts of a request

typedef enum tesela_value_kind {
  TESELA_VALUE_NULL,
  TESELA_VALUE_BOOL,
  TESELA_VALUE_INT,
  TESELA_VALUE_REAL,
  TESELA_VALUE_TEXT,
  TESELA_VALUE_LIST,
  TESELA_VALUE_OBJECT,
} tesela_value_kind;

/// A value: a tree that the caller owns and does not change while a request is answered. Of two members with the same name the
/// first counts.
typedef struct tesela_value {
  const char *name; ///< of a member of an object, UTF-8, ends with NUL; else unused, or NULL
  tesela_value_kind kind;
  size_t n; ///< TEXT: bytes; LIST, OBJECT: items
  union {
    bool flag;                       ///< BOOL
    int64_t integer;                 ///< INT
    double real;                     ///< REAL
    const char *text;                ///< TEXT: n bytes and a NUL
    const struct tesela_value *item; ///< LIST, OBJECT: n items
  } as;
} tesela_value;

/// Make a text.
///
/// Example: ("op", "where") is the member "op": "where".
///
/// @param name  as in tesela_value; NULL outside an object
/// @param text  ends with NUL; NULL gives null
/// Any thread; O(length). The value points to `name` and `text`, which must live as long as it.
TESELA_API tesela_value tesela_value_of_text(const char *name, const char *text);
/// The same for an integer, any int64_t. O(1).
TESELA_API tesela_value tesela_value_of_int(const char *name, int64_t number);
/// The same for a flag. O(1).
TESELA_API tesela_value tesela_value_of_bool(const char *name, bool flag);
/// The same for a list: n values, whose names are unused. The value points to them. NULL gives an empty list. O(1).
TESELA_API tesela_value tesela_value_of_list(const char *name, size_t n, const tesela_value *items);
/// The same for an object: n values with names. O(1).
TESELA_API tesela_value tesela_value_of_object(const char *name, size_t n, const tesela_value *members);
/// The same for a list of integers.
///
/// Example: n 2 and {2, 3} give [2, 3].
///
/// @param room  receives the n items, to which the list points; NULL gives an empty list, as does `numbers` NULL
/// Any thread; O(n).
TESELA_API tesela_value tesela_value_of_ints(const char *name, size_t n, tesela_value *room,
                                             const int64_t *numbers);

/// Is a value of that kind? NULL is of no kind: false. Any thread; O(1), as the functions below unless they give another cost.
TESELA_API bool tesela_value_is(const tesela_value *value, tesela_value_kind kind);
/// The first member of that name, which the object owns; NULL if it lacks one, is not an object, or an argument is NULL.
/// O(members).
TESELA_API const tesela_value *tesela_value_get(const tesela_value *object, const char *name);
/// The number of items of a list or an object; 0 of other values and of NULL.
TESELA_API size_t tesela_value_size(const tesela_value *value);
/// Item i of a list or an object, which it owns; NULL if i is not below its size.
TESELA_API const tesela_value *tesela_value_at(const tesela_value *value, size_t i);
/// The number of an INT; 0 of other values and of NULL.
TESELA_API int64_t tesela_value_int(const tesela_value *value);
/// The number of an INT or a REAL; 0 of other values and of NULL.
TESELA_API double tesela_value_number(const tesela_value *value);
/// The flag of a BOOL; false of other values and of NULL.
TESELA_API bool tesela_value_bool(const tesela_value *value);
/// The text of a TEXT, with a NUL after it; NULL of other values and of NULL.
TESELA_API const char *tesela_value_text(const tesela_value *value);
/// The bytes of a TEXT; 0 of other values and of NULL.
TESELA_API size_t tesela_value_length(const tesela_value *value);

// ==== Sinks: receivers of answers

typedef enum tesela_event_kind {
  TESELA_EVENT_OBJECT, ///< an object begins: keys and values follow, then END
  TESELA_EVENT_LIST,   ///< a list begins: values follow, then END
  TESELA_EVENT_END,    ///< the innermost object or list ends
  TESELA_EVENT_KEY,    ///< text: the name of the next value
  TESELA_EVENT_PART,   ///< text: a piece of the next TEXT, which may end inside a character
  TESELA_EVENT_TEXT,   ///< text: a whole text, or the end of one whose PARTs came before
  TESELA_EVENT_INT,    ///< integer
  TESELA_EVENT_REAL,   ///< real, finite
  TESELA_EVENT_BOOL,   ///< integer: 0 or 1
  TESELA_EVENT_NULL,
} tesela_event_kind;

typedef struct tesela_event {
  tesela_event_kind kind;
  const char *text; ///< `length` bytes, valid until the callback returns; without a NUL; any bytes
  size_t length;
  int64_t integer;
  double real;
} tesela_event;

/// Where an answer goes. One thread at a time.
typedef struct tesela_sink {
  int (*take)(struct tesela_sink *sink,
              const tesela_event *event); ///< receives every event in order; 0: continue
  void *user;                             ///< the caller's
  bool stopped; ///< set after `take` returned other than 0; then it is not called again
} tesela_sink;

/// Begin an object.
///
/// Example: object, key "rank", int 2, end is {"rank":2}.
///
/// @param sink  NULL, or one that has stopped, takes nothing, here and below
/// The order of events is the caller's: a key before each value of an object, an end for each object and list. A refusal of the
/// sink is in sink->stopped. O(1) and the cost of `take`, as the functions below.
TESELA_API void tesela_put_object(tesela_sink *sink);
/// Begin a list.
TESELA_API void tesela_put_list(tesela_sink *sink);
/// End the innermost object or list.
TESELA_API void tesela_put_end(tesela_sink *sink);
/// The name of the next value; NULL is "".
TESELA_API void tesela_put_key(tesela_sink *sink, const char *name);
/// A null.
TESELA_API void tesela_put_null(tesela_sink *sink);
/// A flag.
TESELA_API void tesela_put_bool(tesela_sink *sink, bool value);
/// An integer.
TESELA_API void tesela_put_int(tesela_sink *sink, int64_t value);
/// A real number; null if it is not finite.
TESELA_API void tesela_put_real(tesela_sink *sink, double value);
/// A text that ends with NUL; NULL gives null.
TESELA_API void tesela_put_text(tesela_sink *sink, const char *text);
/// A text of `length` bytes; NULL gives null.
TESELA_API void tesela_put_text_n(tesela_sink *sink, const char *text, size_t length);
/// A list of n integers; NULL gives []. O(n).
TESELA_API void tesela_put_ints(tesela_sink *sink, int32_t n, const int64_t *values);
/// A whole value; NULL gives null. O(value); recurses once for each level of nesting.
TESELA_API void tesela_put_value(tesela_sink *sink, const tesela_value *value);

/// A key and its value, as tesela_put_key and the function for the value.
TESELA_API void tesela_put_key_int(tesela_sink *sink, const char *name, int64_t value);
/// The same for a flag.
TESELA_API void tesela_put_key_bool(tesela_sink *sink, const char *name, bool value);
/// The same for a real number.
TESELA_API void tesela_put_key_real(tesela_sink *sink, const char *name, double value);
/// The same for a text.
TESELA_API void tesela_put_key_text(tesela_sink *sink, const char *name, const char *text);
/// The same for a list of integers.
TESELA_API void tesela_put_key_ints(tesela_sink *sink, const char *name, int32_t n, const int64_t *values);
/// A key, and begin an object.
TESELA_API void tesela_put_key_object(tesela_sink *sink, const char *name);
/// A key, and begin a list.
TESELA_API void tesela_put_key_list(tesela_sink *sink, const char *name);

/// Begin a text that the library prints, piece by piece.
///
/// Example: `tesela_writer to = tesela_put_key_begin(sink, "text"); tesela_xla_print(&shape, &to, NULL); tesela_put_text_end(sink);`
///
/// @return a writer that makes PARTs of what is written; it points to `sink`, and stops when the sink has stopped
TESELA_API tesela_writer tesela_put_text_begin(tesela_sink *sink);
/// The same after a key.
TESELA_API tesela_writer tesela_put_key_begin(tesela_sink *sink, const char *name);
/// End the text.
TESELA_API void tesela_put_text_end(tesela_sink *sink);

// ==== Operations

typedef enum tesela_field_type {
  TESELA_FIELD_ANY,     ///< a text, a layout of any kind
  TESELA_FIELD_LAYOUT,  ///< a text, one XLA shape
  TESELA_FIELD_TARGET,  ///< a text, one XLA shape, or a layout in braces for the shape of another field
  TESELA_FIELD_TEXT,    ///< any text
  TESELA_FIELD_INDICES, ///< a list of lists of integers
  TESELA_FIELD_PLACE,   ///< an integer or, on several axes, a list: [thread, local]
  TESELA_FIELD_PLACES,  ///< a list of integers or, on several axes, of lists: [[thread, local], ...]
  TESELA_FIELD_FLAG,    ///< true or false
  TESELA_FIELD_NUMBER,  ///< an integer
  TESELA_FIELD_TEXTS,   ///< a list of texts
  TESELA_FIELD_NUMBERS, ///< a list of integers
  TESELA_FIELD_OBJECT,  ///< an object; the operation checks its members
  TESELA_FIELD_OBJECTS, ///< a list of objects; the operation checks them
  TESELA_FIELD_DEVICE,  ///< a device layout: a text, or an object
  TESELA_FIELD_VALUE,   ///< any value; the operation checks it
} tesela_field_type;

/// A field of an operation.
typedef struct tesela_field {
  const char *name;
  tesela_field_type type;
  bool optional;
  const char *words; ///< TESELA_FIELD_TEXT: the texts expected, "tpu|..."; NULL: any
} tesela_field;

struct tesela_request;

/// An operation: a row of a table.
typedef struct tesela_op_entry {
  const char *name;
  /// Called only if all required fields are present and all fields are of the right type. Writes members of the object that is
  /// open in request->out and returns TESELA_OK, or fails with tesela_request_fail; then the caller drops the members.
  tesela_status (*answer)(struct tesela_request *request);
  const char *summary;       ///< one line
  const tesela_field *field; ///< ends with a row of zeros
} tesela_op_entry;

/// The built-in table, which the library owns. *n receives its number of rows; NULL: not needed. Any thread; O(1).
TESELA_API const tesela_op_entry *tesela_ops(int32_t *n);

/// The name of a type, "layout", which the library owns; NULL for a number that is not a type. Any thread; O(1).
TESELA_API const char *tesela_field_type_name(tesela_field_type type);
/// The same for its description, "string (an XLA shape)".
TESELA_API const char *tesela_field_type_words(tesela_field_type type);

/// A request. Clear it, set the members above `deadline`; the others are the library's.
typedef struct tesela_request {
  const tesela_value *value;  ///< an object: op, the fields, and members of the caller's own, such as id
  tesela_sink *out;           ///< an object is open in it; NULL: the answer is dropped
  tesela_error *err;          ///< filled on failure; may be NULL
  const tesela_op_entry *ops; ///< the table of operations; NULL: the built-in one
  int32_t n_ops;              ///< its rows
  bool lenient;               ///< as with "lenient": true
  const tesela_target
      *target;         ///< of device layouts that name none; a request may name it. NULL: the built-in ones
  const char *files;   ///< the folder beneath which operations may use files; NULL: they may not
  bool files_anywhere; ///< paths are those of the process: for requests that the caller wrote itself
  char *unfinished;    ///< as in tesela_file_write_options, of the file that is written; NULL: not needed
  const char *dash;    ///< before the names of fields in messages: "--" of options. NULL: nothing
  void (*note)(void *user, const char *text); ///< receives warnings, a line each. NULL: not needed
  void *note_user;
  tesela_progress *progress; ///< called regularly by operations that run long; other than 0 stops them with
                             ///< TESELA_E_STOPPED. May be NULL
  void *progress_user;
  const volatile int
      *stop; ///< set to other than 0, by any thread or a signal handler: the request fails soon. May be NULL
  /// What the texts of layouts lack: array, dtype, as, definitions; the other members are unused. A request may give them. May be NULL
  const struct tesela_layout_read_options *reading;
  tesela_plan_cache *
      plans; ///< keeps plans of relayout from request to request; any threads may share it. NULL: each is made anew
  int64_t reserved[1]; ///< 0: room to grow (base.h)

  /// Of a failure: an object that shows the cause, or NULL. Set by the library, freed by tesela_request_free
  tesela_value *counter_example;
  int64_t deadline;   ///< set by the library: on the clock of tesela_request_progress; INT64_MAX without one
  int32_t flags;      ///< how XLA texts are read: TESELA_XLA_STRICT, or _LENIENT with "lenient": true
  const char *field;  ///< of a failure: the field at fault; NULL: not a single one
  const char *text;   ///< of a failure in a layout: its text, in the request; NULL: another one
  bool usage;         ///< of a failure: the request is at fault, whatever the files hold
  char error_at[256]; ///< of a failure: the operator of a graph, or the tensor, that is at fault; or ""
  char *
      message; ///< of a failure: all of a text too long for err; NULL: err has it. Freed by tesela_request_free
} tesela_request;

/// Find the operation that request->value names, check its fields, and answer.
///
/// Example: {"op":"where","layout":"f32[3,5]{1,0:T(2,2)}","indices":[[2,3]]} puts the member "places":[17].
///
/// The members go into the object that is open in request->out; request->out->stopped, not the status, shows whether the sink
/// refused events. An unknown field is an error if it looks like a missing one; else it belongs to the caller.
///
/// The field deadline_ms, of any request, is the time from this call on after which it fails with TESELA_E_STOPPED, as with
/// *request->stop set. Searches, copies and readers of long texts check both every few ms; other work runs to its end, and the
/// limits on its input bound it. {"deadline_ms": 0} always fails this way.
///
/// @return TESELA_OK; TESELA_E_INVALID for a value that is not an object, a field that is missing or of a wrong type, an unknown
///         target, `reserved` other than 0, or `request` NULL; TESELA_E_UNSUPPORTED for an unknown operation or a text that is not one of
///         the words of a field; TESELA_E_RANGE for a deadline_ms below 0; TESELA_E_STOPPED; the status of the operation.
///         err->at is a byte of the text of request->field, or -1
/// Any thread, one at a time for a request and its sink. The caller frees the request with tesela_request_free. Costs what the
/// operation costs.
TESELA_API tesela_status tesela_request_answer(tesela_request *request);
/// Free request->message; NULL does nothing.
TESELA_API void tesela_request_free(tesela_request *request);

/// For operations: the value of a field, which the request owns; NULL if an optional one is missing. Sets request->field, which
/// an error names. O(members).
TESELA_API const tesela_value *tesela_request_get(tesela_request *request, const char *field);
/// The same for a flag: false if it is missing.
TESELA_API bool tesela_request_flag(tesela_request *request, const char *field);
/// For operations: is it time to stop? Other than 0 if *request->stop is set, the deadline is past or request->progress returns
/// other than 0. It is a tesela_progress, for the options of the functions that the operation calls; done and total only go to
/// request->progress. request: a tesela_request; NULL is time to stop. About 30 ns; any thread.
TESELA_API int tesela_request_progress(void *request, int64_t done, int64_t total);
/// For operations: fill request->err. `at` is a byte of the text of request->field, or -1; `format` as of printf. Returns status.
TESELA_API tesela_status tesela_request_fail(tesela_request *request, tesela_status status, int64_t at,
                                             const char *format, ...) TESELA_PRINTF(4, 5);

/// For operations: open the file that a field of type text names, for reading.
///
/// Example: {"file": "a/x.npy"} with request->files "/data" opens /data/a/x.npy.
///
/// @param fd  the descriptor, for the caller to close; -1 on failure
/// @return TESELA_OK; TESELA_E_UNSUPPORTED for an absolute path, `..`, a symbolic link, a file that is not a regular one, and every
///         path if request->files is NULL (with files_anywhere all of them are allowed); TESELA_E_IO with the message of the system;
///         TESELA_E_INVALID for a NULL argument
/// Any thread; O(length of the path) system calls.
TESELA_API tesela_status tesela_request_open(tesela_request *request, const char *field, int *fd);
/// The same for the folder of that file, for openat and renameat with O_NOFOLLOW: *name receives the rest of the path, in the text
/// of the field. The file need not exist.
TESELA_API tesela_status tesela_request_folder(tesela_request *request, const char *field, int *fd,
                                               const char **name);

// ==== JSON: requests and answers as text

/// A text in JSON as a tree.
typedef struct tesela_json_in {
  const tesela_value *value; ///< in `memory`
  void *memory;
} tesela_json_in;

/// Read a text: one list or object, with blanks around it.
///
/// Example: {"rank":2} is an object with the INT 2 named rank.
///
/// @param text  `length` bytes, no NUL needed
/// @param in    for the caller to free with tesela_json_free; zeros on failure
/// @return TESELA_OK; TESELA_E_SYNTAX; TESELA_E_INVALID for a key twice in an object, or a NULL argument; TESELA_E_RANGE for a number
///         that does not fit; TESELA_E_LIMIT for a nesting beyond 2048; TESELA_E_MEMORY. err->at is the byte
/// One thread at a time in a process. O(length). All memory is reserved first, about 500 bytes for each value; if that fails
/// nothing is read.
TESELA_API tesela_status tesela_json_read(tesela_json_in *in, const char *text, size_t length,
                                          tesela_error *err);
/// Free the tree; NULL does nothing.
TESELA_API void tesela_json_free(tesela_json_in *in);

#define TESELA_JSON_DEPTH 2112 ///< objects and lists inside each other

/// A sink that writes JSON into memory: compact, on one line, control characters escaped; of text that is not UTF-8 each bad
/// byte becomes U+FFFD. When memory runs out sink.stopped is set. j.length = 0 drops the text so far.
///
///   tesela_json_out j = TESELA_JSON_OUT;
///   tesela_put_object(&j.sink);
///   tesela_put_key_int(&j.sink, "rank", 2);
///   tesela_put_end(&j.sink);
///   fwrite(j.text, 1, j.length, stdout);      {"rank":2}
///   tesela_json_out_free(&j);
typedef struct tesela_json_out {
  tesela_sink sink;        ///< first: the callback finds the rest through it
  char *text;              ///< `length` bytes, without a NUL
  size_t length, capacity; ///< bytes in use, bytes allocated
  bool comma;              ///< the next value needs one before it
  bool part;               ///< a text has begun
  int32_t depth;
  uint64_t lists[TESELA_JSON_DEPTH / 64]; ///< a bit for each level: is it a list?
} tesela_json_out;

/// The `take` of a tesela_json_out: 0, or other than 0 when memory ran out or the nesting is beyond TESELA_JSON_DEPTH.
TESELA_API int tesela_json_take(tesela_sink *sink, const tesela_event *event);
#define TESELA_JSON_OUT                       \
  {                                           \
    .sink = { tesela_json_take, NULL, false } \
  }
/// Free the text; NULL does nothing.
TESELA_API void tesela_json_out_free(tesela_json_out *out);

/// Answer one line of `tesela query` with one response.
///
/// Example: {"op":"version","id":1} appends {"id":1,"ok":true,"version":"0.1.0"}; a failure {"id":1,"ok":false,"error":{...}}.
///
/// @param line  `length` bytes without the newline
/// @param how   the members that the caller of tesela_request_answer sets, but value, out and err; NULL: zeros
/// @param out   the response is appended, without a newline; out->sink.stopped is set if memory ran out. NULL: nothing is done
/// One thread at a time in a process (tesela_json_read).
TESELA_API void tesela_json_answer(const char *line, size_t length, const tesela_request *how,
                                   tesela_json_out *out);
/// The response to a line that cannot be passed to tesela_json_answer, such as one that is too long. message NULL: the code of status.
TESELA_API void tesela_json_refuse(tesela_status status, const char *message, tesela_json_out *out);

// ==== Graphs (graph.h) as values and in JSON
//
//   {"inputs": {"a": {"size": [2, 3], "dtype": "f32"}}, "ops": [{"op": "permute", "out": "t", "in": ["a"], "dims": [1, 0]}],
//    "outputs": ["t", "t"]}
//
// docs/graph.md is the reference of the form.

/// Make a graph of a value.
///
/// Example: the value above is a graph of 2 nodes with 2 outputs.
///
/// @param graph   for the caller to destroy; keeps no pointer into the value. NULL on failure
/// @param target  receives the target that the value names, or one of plain sticks with every type as on the host. May be NULL
/// @return TESELA_OK; TESELA_E_INVALID for a member that is missing, unknown or of a wrong type, an undefined name, or a NULL argument;
///         TESELA_E_LIMIT for more than 65536 operands or a rank above TESELA_GRAPH_RANK; the errors of tesela_graph_add, _add_output
///         and _hint; TESELA_E_MEMORY. The message names the operator: ops[3] (y)
/// Any thread; O(value).
TESELA_API tesela_status tesela_graph_read_value(tesela_graph **graph, tesela_target *target,
                                                 const tesela_value *program, tesela_error *err);

/// The same for a text in JSON; also fails as tesela_json_read, with err->at the byte. One thread at a time in a process.
TESELA_API tesela_status tesela_graph_read_json(tesela_graph **graph, tesela_target *target, const char *text,
                                                size_t length, tesela_error *err);

/// Put a graph as a value of that form, with the layouts that are set: {"inputs":{"a":{"size":[2,3],"dtype":"f32"}},...}. It reads
/// back as an equal graph, with the sticks of its layouts as required. NULL puts nothing, as a NULL sink. O(graph).
TESELA_API void tesela_put_graph(tesela_sink *sink, const tesela_graph *graph);

#ifdef __cplusplus
}
#endif

#endif
