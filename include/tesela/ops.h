/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tesela/ops.h - the table of operations: everything tesela answers, by name, for any host. Needs libtesela_ops.
 *
 * An operation reads its fields from a tree of plain values and writes its answer, event by event, into a sink. Neither side depends
 * on JSON: a host may use Python's dicts, a browser's JSON.parse, an array in C or a line of text:
 *
 *   const int64_t index[] = {2, 3};
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
 * Every function here may be called from several threads at once, each with its own request and sink.
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

/* ---- Values: what a request is made of --------------------------------------------------------------------
 *
 * A tree that the caller owns and does not change while a request is answered. Of two members with the same name the first counts.
 */

typedef enum tesela_value_kind {
  TESELA_VALUE_NULL,
  TESELA_VALUE_BOOL,
  TESELA_VALUE_INT,
  TESELA_VALUE_REAL,
  TESELA_VALUE_TEXT,
  TESELA_VALUE_LIST,
  TESELA_VALUE_OBJECT,
} tesela_value_kind;

typedef struct tesela_value {
  const char *name; /* of a member of an object, UTF-8, ends with NUL; else it may be NULL */
  tesela_value_kind kind;
  size_t n; /* TEXT: bytes; LIST, OBJECT: items */
  union {
    bool flag;                       /* BOOL */
    int64_t integer;                 /* INT */
    double real;                     /* REAL */
    const char *text;                /* TEXT: n bytes and a NUL */
    const struct tesela_value *item; /* LIST, OBJECT */
  } as;
} tesela_value;

/* Values made from C's; `name` as above. They point to their arguments: text, items and numbers must live as long as the value.
 * tesela_value_of_text of NULL is null. tesela_value_of_ints makes the n items in `room`. */
TESELA_API tesela_value tesela_value_of_text(const char *name, const char *text);
TESELA_API tesela_value tesela_value_of_int(const char *name, int64_t number);
TESELA_API tesela_value tesela_value_of_bool(const char *name, bool flag);
TESELA_API tesela_value tesela_value_of_list(const char *name, size_t n, const tesela_value *items);
TESELA_API tesela_value tesela_value_of_object(const char *name, size_t n, const tesela_value *members);
TESELA_API tesela_value tesela_value_of_ints(const char *name, size_t n, tesela_value *room,
                                             const int64_t *numbers);

/* Reading them. NULL is allowed for `value`: a value of no kind. */
TESELA_API bool tesela_value_is(const tesela_value *value, tesela_value_kind kind);
/* The member of an object with that name; NULL if it lacks it, or is not an object. O(members). */
TESELA_API const tesela_value *tesela_value_get(const tesela_value *object, const char *name);
/* Items of a list or an object; 0 of others. */
TESELA_API size_t tesela_value_size(const tesela_value *value);
/* Item i of a list or an object; NULL if i is not below its size. */
TESELA_API const tesela_value *tesela_value_at(const tesela_value *value, size_t i);
TESELA_API int64_t tesela_value_int(const tesela_value *value);      /* 0 of other kinds */
TESELA_API bool tesela_value_bool(const tesela_value *value);        /* false of other kinds */
TESELA_API double tesela_value_number(const tesela_value *value);    /* INT or REAL; 0 of other kinds */
TESELA_API const char *tesela_value_text(const tesela_value *value); /* NULL of other kinds */
TESELA_API size_t tesela_value_length(const tesela_value *value);    /* bytes of a text; 0 of other kinds */

/* ---- Sinks: where an answer goes ---------------------------------------------------------------------------
 */

typedef enum tesela_event_kind {
  TESELA_EVENT_OBJECT, /* an object begins: keys and values follow, then END */
  TESELA_EVENT_LIST,   /* a list begins: values follow, then END */
  TESELA_EVENT_END,    /* the innermost object or list ends */
  TESELA_EVENT_KEY,    /* text: the name of the next value */
  TESELA_EVENT_PART,   /* text: a piece of the next TEXT, which may cut a character */
  TESELA_EVENT_TEXT,   /* text: a whole text, or the end of one whose PARTs came before */
  TESELA_EVENT_INT,    /* integer */
  TESELA_EVENT_REAL,   /* real, finite */
  TESELA_EVENT_BOOL,   /* integer: 0 or 1 */
  TESELA_EVENT_NULL,
} tesela_event_kind;

typedef struct tesela_event {
  tesela_event_kind kind;
  const char *text; /* `length` bytes, good until the callback returns; not NUL-terminated; maybe not UTF-8 */
  size_t length;
  int64_t integer;
  double real;
} tesela_event;

/* `take` receives every event in order. After it returns other than 0 it is not called again, and `stopped` is set. */
typedef struct tesela_sink {
  int (*take)(struct tesela_sink *sink, const tesela_event *event);
  void *user; /* the caller's */
  bool stopped;
} tesela_sink;

TESELA_API void tesela_put_object(tesela_sink *sink);
TESELA_API void tesela_put_list(tesela_sink *sink);
TESELA_API void tesela_put_end(tesela_sink *sink);
TESELA_API void tesela_put_key(tesela_sink *sink, const char *name);
TESELA_API void tesela_put_null(tesela_sink *sink);
TESELA_API void tesela_put_bool(tesela_sink *sink, bool value);
TESELA_API void tesela_put_int(tesela_sink *sink, int64_t value);
TESELA_API void tesela_put_real(tesela_sink *sink, double value);     /* null if it is not finite */
TESELA_API void tesela_put_text(tesela_sink *sink, const char *text); /* NULL gives null */
TESELA_API void tesela_put_text_n(tesela_sink *sink, const char *text, size_t length);
TESELA_API void tesela_put_ints(tesela_sink *sink, int32_t n, const int64_t *values); /* a list */
TESELA_API void tesela_put_value(tesela_sink *sink, const tesela_value *value);
/* A key and its value. */
TESELA_API void tesela_put_key_int(tesela_sink *sink, const char *name, int64_t value);
TESELA_API void tesela_put_key_bool(tesela_sink *sink, const char *name, bool value);
TESELA_API void tesela_put_key_real(tesela_sink *sink, const char *name, double value);
TESELA_API void tesela_put_key_text(tesela_sink *sink, const char *name, const char *text);
TESELA_API void tesela_put_key_ints(tesela_sink *sink, const char *name, int32_t n, const int64_t *values);
TESELA_API void tesela_put_key_object(tesela_sink *sink, const char *name);
TESELA_API void tesela_put_key_list(tesela_sink *sink, const char *name);
/* A text that the library prints: begin, hand the writer to a tesela_..._print, end. */
TESELA_API tesela_writer tesela_put_text_begin(tesela_sink *sink);
TESELA_API tesela_writer tesela_put_key_begin(tesela_sink *sink, const char *name); /* a key, then as that */
TESELA_API void tesela_put_text_end(tesela_sink *sink);

/* ---- Operations --------------------------------------------------------------------------------------------
 */

typedef enum tesela_field_type {
  TESELA_FIELD_ANY,     /* a text, a layout of any kind */
  TESELA_FIELD_LAYOUT,  /* a text, one XLA shape */
  TESELA_FIELD_TARGET,  /* a text, one XLA shape, or a layout in braces for the shape of another field */
  TESELA_FIELD_TEXT,    /* any text */
  TESELA_FIELD_INDICES, /* a list of lists of integers */
  TESELA_FIELD_PLACE,   /* an integer or, of register layouts, a list [thread, local] */
  TESELA_FIELD_PLACES,  /* a list of integers or, of register layouts, of lists [thread, local] */
  TESELA_FIELD_FLAG,    /* true or false */
  TESELA_FIELD_NUMBER,  /* an integer */
  TESELA_FIELD_TEXTS,   /* a list of texts */
  TESELA_FIELD_NUMBERS, /* a list of integers */
  TESELA_FIELD_OBJECT,  /* an object; the operation checks its members */
  TESELA_FIELD_OBJECTS, /* a list of objects */
  TESELA_FIELD_DEVICE,  /* a device layout: a text, or an object */
} tesela_field_type;

typedef struct tesela_field {
  const char *name;
  tesela_field_type type;
  bool optional;
  const char *words; /* TESELA_FIELD_TEXT: the texts allowed, "tpu|..."; NULL: any */
} tesela_field;

#define TESELA_OP_FIELDS 16

struct tesela_request;

/* One operation. `answer` is called only if all required fields are present and all fields are of the right type. It writes members
 * of the object that is open in the sink, or fails; then the caller drops the members written so far. */
typedef struct tesela_op_entry {
  const char *name;
  tesela_status (*answer)(struct tesela_request *request);
  const char *summary;
  tesela_field field[TESELA_OP_FIELDS]; /* ends with a row of zeros, or is full */
} tesela_op_entry;

/* The built-in table. *n receives its number of rows. */
TESELA_API const tesela_op_entry *tesela_ops(int32_t *n);

/* "layout", and "string, an XLA shape": what a field takes. */
TESELA_API const char *tesela_field_type_name(tesela_field_type type);
TESELA_API const char *tesela_field_type_words(tesela_field_type type);

typedef struct tesela_request {
  const tesela_value *value;  /* an object: op, the fields, what else the caller likes (id) */
  tesela_sink *out;           /* an object is open in it */
  tesela_error *err;          /* filled on failure */
  const tesela_op_entry *ops; /* the table of operations; NULL: the built-in one */
  int32_t n_ops;
  bool lenient; /* as with "lenient": true */
  const tesela_target
      *target;         /* of device layouts that name none; a request may name it. NULL: the built-in ones */
  const char *files;   /* the folder beneath which operations may use files; NULL: they may not */
  bool files_anywhere; /* paths are those of the process: for requests that the caller wrote itself */
  char *unfinished;    /* as in tesela_file_write_options, of the file that is written; NULL: not needed */
  const char *dash;    /* stands before the names of fields in messages: "--" of options. NULL: nothing */
  void (*note)(void *user,
               const char *text); /* gets a line about what is done all the same. NULL: not needed */
  void *note_user;
  tesela_progress *progress; /* called now and then by operations that take long; anything but 0 stops them:
                                TESELA_E_STOPPED. NULL: none */
  void *progress_user;
  const volatile int
      *stop; /* set to other than 0, by any thread or a signal handler: the request fails soon. NULL: never */
  /* Set while it is answered: */
  int64_t deadline;  /* on the clock of tesela_request_progress; INT64_MAX: none */
  int32_t flags;     /* how XLA texts are read: TESELA_XLA_STRICT, or _LENIENT with "lenient": true */
  const char *field; /* of a failure: the field at fault; NULL: none in particular */
  const char *text;  /* of a failure in a layout: its text, in the request; NULL: another one */
  bool usage;        /* of a failure: what is asked for is at fault, whatever the files hold */
  char
      error_at[256]; /* of a failure: the operator of a graph, or the tensor, that is at fault; "" for none */
  char *
      message; /* of a failure: all of a text too long for err; NULL: err has it. Freed by tesela_request_free */
} tesela_request;

/* Find the operation that request->value names, check its fields, answer. The members of the answer go into the object that is
 * open in request->out. An unknown field is an error if it looks like a missing one; else it belongs to the caller. Fails with
 * TESELA_E_INVALID (the value is not an object, a field is missing or of a wrong type), TESELA_E_UNSUPPORTED (an unknown operation,
 * a text that is not allowed) or the status of the operation; err->at is a byte in the text of request->field.
 * request->out->stopped, not the status, says whether the sink refused events.
 *
 * The field deadline_ms, of any request, is the time that it may take from this call on. After it, or with *request->stop set, the
 * request fails with TESELA_E_STOPPED. Searches, copies and readers of long texts check both every few ms; other work runs to its
 * end, and the limits on its input bound it. {"deadline_ms": 0} always fails this way. */
TESELA_API tesela_status tesela_request_answer(tesela_request *request);
TESELA_API void tesela_request_free(tesela_request *request);

/* For operations: the value of a field, NULL if an optional one is missing; remembers the name for the error. */
TESELA_API const tesela_value *tesela_request_get(tesela_request *request, const char *field);
TESELA_API bool tesela_request_flag(tesela_request *request, const char *field); /* false if it is missing */
/* For operations: is it time to stop? Other than 0 if *request->stop is set or the deadline is past. It is a tesela_progress, for the
 * options of the functions that the operation calls; done and total are not used. request: a tesela_request. About 30 ns; any thread. */
TESELA_API int tesela_request_progress(void *request, int64_t done, int64_t total);
/* Fill request->err; `at` is a byte of the text of request->field, or -1. Returns status. */
TESELA_API tesela_status tesela_request_fail(tesela_request *request, tesela_status status, int64_t at,
                                             const char *format, ...) TESELA_PRINTF(4, 5);

/* For operations: the file that a field of type text names. Its path lies beneath request->files: an absolute path, `..` and
 * symbolic links are refused (TESELA_E_UNSUPPORTED), and so is every path if files are not allowed. Other failures are
 * TESELA_E_IO with the message of the system. The operation closes the descriptors.
 *
 * tesela_request_open opens the file for reading, which must be a regular one; tesela_request_folder the folder that it is in, with *name the rest of the path in
 * the text of the field: for openat and renameat, with O_NOFOLLOW. */
TESELA_API tesela_status tesela_request_open(tesela_request *request, const char *field, int *fd);
TESELA_API tesela_status tesela_request_folder(tesela_request *request, const char *field, int *fd,
                                               const char **name);

/* ---- JSON: the edge where text comes in and goes out -------------------------------------------------------
 */

/* A text in JSON as a tree. */
typedef struct tesela_json_in {
  const tesela_value *value; /* lies in `memory` */
  void *memory;
} tesela_json_in;

/* Read a text: one value, with blanks around it. On failure *in is zeros and err has the message and the byte: TESELA_E_SYNTAX,
 * TESELA_E_INVALID for a key twice in an object, TESELA_E_RANGE for a number that does not fit, TESELA_E_LIMIT for a nesting beyond
 * 2048, TESELA_E_MEMORY. All memory is reserved first, about 500 bytes for each value; if that fails nothing is read. One thread
 * at a time. */
TESELA_API tesela_status tesela_json_read(tesela_json_in *in, const char *text, size_t length,
                                          tesela_error *err);
TESELA_API void tesela_json_free(tesela_json_in *in);

#define TESELA_JSON_DEPTH 2112 /* objects and lists inside each other */

/* A sink that writes JSON into memory: compact, on one line, control characters escaped; of text that is not UTF-8 each bad
 * byte becomes U+FFFD. When memory runs out sink.stopped is set.
 *
 *   tesela_json_out j = TESELA_JSON_OUT;
 *   tesela_put_object(&j.sink);
 *   tesela_put_key_int(&j.sink, "rank", 2);
 *   tesela_put_end(&j.sink);
 *   fwrite(j.text, 1, j.length, stdout);      {"rank":2}
 *   tesela_json_out_free(&j);
 *
 * j.length = 0 drops the text so far. */
typedef struct tesela_json_out {
  tesela_sink sink; /* first: the callback finds the rest through it */
  char *text;       /* not NUL-terminated */
  size_t length, capacity;
  bool comma; /* the next value needs one before it */
  bool part;  /* a text has begun */
  int32_t depth;
  uint64_t lists[TESELA_JSON_DEPTH / 64]; /* a bit for each level: is it a list? */
} tesela_json_out;

TESELA_API int tesela_json_take(tesela_sink *sink, const tesela_event *event);
#define TESELA_JSON_OUT                       \
  {                                           \
    .sink = { tesela_json_take, NULL, false } \
  }
TESELA_API void tesela_json_out_free(tesela_json_out *out);

/* Answer one line of `tesela query`, without its newline, with one response {"id":...,"ok":true,...} or {"id":...,"ok":false,
 * "error":{...}}, without a newline, appended to `out`. `how` has the table, target and files; NULL: zeros. Errors are in the
 * response; out->sink.stopped says that memory ran out. */
TESELA_API void tesela_json_answer(const char *line, size_t length, const tesela_request *how,
                                   tesela_json_out *out);
/* The answer to a line that cannot be passed to tesela_json_answer, as one that is too long. */
TESELA_API void tesela_json_refuse(tesela_status status, const char *message, tesela_json_out *out);

/* ---- Graphs (graph.h) as values and in JSON ----------------------------------------------------------------
 *
 *   {"inputs": {"a": {"size": [2, 3], "dtype": "f32"}}, "ops": [{"op": "permute", "out": "t", "in": ["a"], "dims": [1, 0]}],
 *    "outputs": ["t", "t"]}
 *
 * docs/graph.md is the reference of the form.
 */

/* Make a graph of a value. *target receives the target that it names, or one of plain sticks with every type as on the host.
 * Fails with TESELA_E_INVALID (a member missing, unknown or of a wrong type, an undefined name), TESELA_E_LIMIT (more than
 * 65536 operands, a rank above TESELA_GRAPH_RANK), the errors of tesela_graph_add, _add_output and _hint, TESELA_E_MEMORY; the
 * message names the operator: ops[3] (y). Then *graph is NULL. The graph keeps no pointer into the value; the caller destroys it.
 * O(value). */
TESELA_API tesela_status tesela_graph_read_value(tesela_graph **graph, tesela_target *target,
                                                 const tesela_value *program, tesela_error *err);

/* The same for a text in JSON; also fails as tesela_json_read, with err->at the byte. One thread at a time. */
TESELA_API tesela_status tesela_graph_read_json(tesela_graph **graph, tesela_target *target, const char *text,
                                                size_t length, tesela_error *err);

/* Put a graph as a value of that form, with the layouts that are set: {"inputs":{"a":{"size":[2,3],"dtype":"f32"}},...}. With a
 * tesela_json_out it is a text. It reads back as an equal graph, with the sticks of its layouts as required. */
TESELA_API void tesela_put_graph(tesela_sink *sink, const tesela_graph *graph);

#ifdef __cplusplus
}
#endif

#endif
