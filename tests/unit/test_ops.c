/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ops.c - the public interface of libtesela_ops: values, sinks, a table of operations that is not the library's own (docs/design.md
 * shows how one is added), files beneath a folder, own targets, and JSON at the edge.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#ifdef TESELA_TEST_JANSSON

#include <tesela/notation.h>
#include <tesela/ops.h>

/* ---- a table of one's own --------------------------------------------------------------------------------- */

/* twice: each number of a list, doubled; refuses negative ones. */
static tesela_status answer_twice(tesela_request *r) {
  const tesela_value *numbers = tesela_request_get(r, "numbers");
  tesela_put_key(r->out, "doubled");
  tesela_put_list(r->out);
  for (size_t i = 0; i < tesela_value_size(numbers); i++) {
    int64_t number = tesela_value_int(tesela_value_at(numbers, i));
    if (number < 0) return tesela_request_fail(r, TESELA_E_RANGE, -1, "numbers[%zu] is negative", i);
    tesela_put_int(r->out, 2 * number);
  }
  tesela_put_end(r->out);
  return TESELA_OK;
}

/* count: how often it went on before it was to stop; sets the flag of the request itself once it went on `most` times. */
static volatile int stop;
static tesela_status answer_count(tesela_request *r) {
  int64_t most = tesela_value_int(tesela_request_get(r, "most"));
  for (int64_t n = 0; n <= most; n++) {
    stop = n == most;
    if (tesela_request_progress(r, n, most)) return TESELA_E_STOPPED;
  }
  tesela_put_key_int(r->out, "counted", most);
  return TESELA_OK;
}

/* size: the bytes of a file. */
static tesela_status answer_size(tesela_request *r) {
  int fd;
  struct stat info;
  tesela_status status = tesela_request_open(r, "file", &fd);
  if (status != TESELA_OK) return status;
  assert_int_equal(fstat(fd, &info), 0);
  close(fd);
  tesela_put_key_int(r->out, "bytes", info.st_size);
  return TESELA_OK;
}

#define FIELD(name, type)            \
  (const tesela_field[]) {           \
    {name, type, false, NULL}, { 0 } \
  }

static const tesela_op_entry table[] = {
    {"twice", answer_twice, "numbers doubled", FIELD("numbers", TESELA_FIELD_NUMBERS)},
    {"count", answer_count, "counts", FIELD("most", TESELA_FIELD_NUMBER)},
    {"size", answer_size, "the bytes of a file", FIELD("file", TESELA_FIELD_TEXT)},
};
static const tesela_request ours = {.ops = table, .n_ops = 3};

/* What a line gets, in a buffer that stays until the next call. */
static const char *ask(const tesela_request *how, const char *line) {
  static char text[4096];
  tesela_json_out out = TESELA_JSON_OUT;
  tesela_json_answer(line, strlen(line), how, &out);
  assert_false(out.sink.stopped);
  assert_true(out.length < sizeof text);
  memcpy(text, out.text, out.length);
  text[out.length] = '\0';
  tesela_json_out_free(&out);
  return text;
}

static void test_a_toy(void **state) {
  (void)state;
  assert_string_equal(ask(&ours, "{\"op\":\"twice\",\"numbers\":[1,20]}"),
                      "{\"id\":null,\"ok\":true,\"doubled\":[2,40]}");
  assert_string_equal(
      ask(&ours, "{\"op\":\"twice\",\"numbers\":[1,-20]}"),
      "{\"id\":null,\"ok\":false,\"error\":{\"code\":\"RANGE\",\"message\":\"numbers[1] is negative\","
      "\"field\":\"numbers\"}}");
  assert_non_null(strstr(ask(&ours, "{\"op\":\"twice\"}"), "missing field numbers: list of integers"));
  assert_non_null(strstr(ask(&ours, "{\"op\":\"twise\"}"), "did you mean twice?"));
  assert_non_null(strstr(ask(&ours, "{\"op\":\"where\"}"), "unknown op 'where'"));
  assert_non_null(strstr(ask(NULL, "{\"op\":\"twice\"}"), "unknown op 'twice'"));
  tesela_value members[] = {tesela_value_of_text("op", "info"),
                            tesela_value_of_text("layout", "(f32[2],f32[3])"),
                            tesela_value_of_bool("details", true)};
  const tesela_value value = tesela_value_of_object(NULL, 3, members);
  tesela_request nowhere = {.value = &value}; /* the answer is dropped */
  assert_int_equal(tesela_request_answer(&nowhere), TESELA_OK);
  tesela_request_free(&nowhere);
  for (size_t i = 0; i < sizeof ours.reserved / sizeof ours.reserved[0]; i++) { /* room to grow must be 0 */
    tesela_request how = ours;
    how.reserved[i] = 1;
    assert_non_null(strstr(ask(&how, "{\"op\":\"twice\",\"numbers\":[1]}"),
                           "\"INVALID\",\"message\":\"request.reserved is not 0: clear the struct first\""));
  }
}

static void test_types_of_fields(void **state) {
  (void)state;
  assert_string_equal(tesela_field_type_name(TESELA_FIELD_DEVICE), "device");
  assert_null(tesela_field_type_name((tesela_field_type)(TESELA_FIELD_VALUE + 1)));
  assert_null(tesela_field_type_words((tesela_field_type)(TESELA_FIELD_VALUE + 1)));
}

static void test_stop(void **state) {
  (void)state;
  static const char counted[] = "{\"id\":null,\"ok\":true,\"counted\":3}",
                    stopped[] = "{\"id\":null,\"ok\":false,\"error\":{\"code\":\"STOPPED\",\"message\":"
                                "\"the caller asked to stop\"}}",
                    late[] = "{\"id\":null,\"ok\":false,\"error\":{\"code\":\"STOPPED\",\"message\":"
                             "\"the deadline of 0 ms is past\"}}";
  tesela_request how = ours;
  stop = 0;
  assert_string_equal(ask(&how, "{\"op\":\"count\",\"most\":3}"), counted); /* the flag is not polled */
  how.stop = &stop;
  stop = 1; /* already */
  assert_string_equal(ask(&how, "{\"op\":\"count\",\"most\":3}"), stopped);
  stop = 0; /* on the way */
  assert_string_equal(ask(&how, "{\"op\":\"count\",\"most\":3}"), stopped);
  stop = 0;
  assert_string_equal(ask(&how, "{\"op\":\"count\",\"most\":3,\"deadline_ms\":0}"), late);
  assert_string_equal(ask(&ours, "{\"op\":\"count\",\"most\":3,\"deadline_ms\":9223372036854775807}"),
                      counted);
}

/* How often the progress is asked, and when it says stop; 0: never. */
static int64_t asked, last;
static int count_progress(void *user, int64_t done, int64_t total) {
  (void)user;
  (void)total;
  assert_true(done >= 0);
  return ++asked == last;
}

/* Operations that take long ask it, and stop at once; none of the answer is left. */
static void test_long_operations_stop(void **state) {
  (void)state;
  static const char *const lines[] = {
      "{\"op\":\"check\",\"problem\":\"u8[400,400] -> {0,1}\",\"isa\":\"c\",\"solver\":\"any\"}",
      "{\"op\":\"bench\",\"problem\":\"u8[4,4] -> {0,1}\",\"isa\":\"c\",\"rounds\":3}",
      "{\"op\":\"cmp\",\"file_a\":\"a\",\"file_b\":\"a\",\"layout\":\"u8[3145728]\"}",
      "{\"op\":\"digest\",\"file\":\"a\",\"layout\":\"u8[3145728]\"}",
      "{\"op\":\"verify\",\"layout\":\"f16[24576,64] stick(dim_order=[0,1])\",\"dump\":\"a\",\"file\":\"a\"}",
      "{\"op\":\"relayout\",\"file\":\"a\",\"output\":\"b\",\"from\":\"u8[3145728]\",\"to\":\"{0}\"}",
  };
  char folder[] = "/tmp/tesela_ops_XXXXXX", path[64], other[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/a", folder);
  snprintf(other, sizeof other, "%s/b", folder);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fseek(file, 3145728 - 1, SEEK_SET), 0);
  assert_int_equal(fputc(0, file), 0);
  assert_int_equal(fclose(file), 0);
  const tesela_request how = {.files = folder, .progress = count_progress};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) { /* a copy asks after each tensor at least */
    asked = last = 0;
    assert_non_null(strstr(ask(&how, lines[i]), "\"ok\":true"));
    assert_true(asked > 0);
    unlink(other);
    asked = 0;
    last = 1;
    assert_non_null(strstr(ask(&how, lines[i]), "{\"id\":null,\"ok\":false,\"error\":{\"code\":\"STOPPED\""));
    assert_in_range(asked, 1, 4); /* parts that ran already ask once more where they end */
    assert_int_not_equal(access(other, F_OK), 0);
  }
  unlink(path);
  rmdir(folder);
}

/* The calls of a progress: done and total of each. */
typedef struct calls {
  int n;
  int64_t done[512], total[512];
} calls;

static int note_call(void *user, int64_t done, int64_t total) {
  calls *c = user;
  assert_in_range(c->n, 0, 511);
  c->done[c->n] = done;
  c->total[c->n++] = total;
  return 0;
}

/* A run begins with layouts and a memory plan: it asks as often, and with the same numbers, as the plan alone does. */
static void test_a_run_may_be_stopped_while_memory_is_planned(void **state) {
  (void)state;
  static const char *const ops[] = {"graph_assign", "graph_plan", "graph_run"};
  static calls heard[3];
  char line[512];
  for (int i = 0; i < 3; i++) {
    const tesela_request how = {.progress = note_call, .progress_user = &heard[i]};
    snprintf(line, sizeof line,
             "{\"op\":\"%s\",\"graph\":{\"target\":\"spyre\",\"inputs\":{\"x\":{\"size\":[2,64],\"dtype\":"
             "\"f16\"}},"
             "\"ops\":[{\"op\":\"pointwise\",\"fn\":\"neg\",\"out\":\"y\",\"in\":[\"x\"]},"
             "{\"op\":\"pointwise\",\"fn\":\"neg\",\"out\":\"z\",\"in\":[\"y\"]},"
             "{\"op\":\"pointwise\",\"fn\":\"neg\",\"out\":\"w\",\"in\":[\"z\"]}],\"outputs\":[\"w\"]}}",
             ops[i]);
    assert_non_null(strstr(ask(&how, line), "\"ok\":true"));
  }
  assert_true(heard[0].n < heard[1].n && heard[1].n < heard[2].n);
  for (int k = 0; k < heard[1].n; k++) {
    assert_int_equal(heard[1].done[k], heard[2].done[k]);
    assert_int_equal(heard[1].total[k], heard[2].total[k]);
  }
}

/* ---- values and events, without a text -------------------------------------------------------------------- */

/* Writes each event as one letter and what it has. */
typedef struct heard {
  tesela_sink sink;
  int most; /* events that are taken */
  char text[512];
} heard;

static int hear(tesela_sink *sink, const tesela_event *event) {
  heard *h = (heard *)sink;
  size_t used = strlen(h->text);
  char *at = h->text + used;
  size_t room = sizeof h->text - used;
  if (h->most-- == 0) return 1;
  switch (event->kind) {
  case TESELA_EVENT_KEY:
  case TESELA_EVENT_PART:
  case TESELA_EVENT_TEXT:
    snprintf(at, room, "%c%.*s ", "{[}kptirbn"[event->kind], (int)event -> length, event -> text);
    break;
  case TESELA_EVENT_INT:
  case TESELA_EVENT_BOOL:
    snprintf(at, room, "%c%lld ", "{[}kptirbn"[event->kind], (long long)event -> integer);
    break;
  case TESELA_EVENT_REAL:
    snprintf(at, room, "r%g ", event->real);
    break;
  default:
    snprintf(at, room, "%c ", "{[}kptirbn"[event->kind]);
  }
  return 0;
}

static void test_events(void **state) {
  (void)state;
  const int64_t index[] = {2, 3};
  tesela_value numbers[2];
  const tesela_value fields[] = {tesela_value_of_text("op", "where"),
                                 tesela_value_of_text("layout", "F32[3,5]{1,0:T(2,2)}"),
                                 tesela_value_of_ints("index", 2, numbers, index)};
  const tesela_value request = tesela_value_of_object(NULL, 3, fields);
  tesela_error err;
  heard h = {.sink = {hear, NULL, false}, .most = 100};
  tesela_request r = {.value = &request, .out = &h.sink, .err = &err, .lenient = true};
  assert_int_equal(tesela_request_answer(&r), TESELA_OK);
  /* tiles of 2x2, three in a row: (2,3) is in tile (1,1), there at (0,1): place (3 + 1) * 4 + 1 */
  assert_string_equal(h.text, "kindex [ i2 i3 } kplace i17 kbyte i68 kbit i0 ");
  r.lenient = false;
  assert_int_equal(tesela_request_answer(&r), TESELA_E_SYNTAX); /* F32 is f32 for a lenient reader alone */
  assert_string_equal(r.field, "layout");
  assert_int_equal(err.at, 0);
  h = (heard){.sink = {hear, NULL, false}, .most = 3};
  r.lenient = true;
  assert_int_equal(tesela_request_answer(&r), TESELA_OK);
  assert_true(h.sink.stopped);
  assert_string_equal(h.text, "kindex [ i2 ");
  tesela_request_free(&r);
}

/* Also in a locale whose numbers have a comma, where the machine has one. */
static void test_reals(void **state) {
  (void)state;
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
  static const double numbers[] = {1.5, -0.1, 3, 1e300, 2.5e-7};
  static const char expected[] = "[1.5,-0.1,3.0,1e+300,2.5e-07]";
  for (size_t i = 0; i < sizeof names / sizeof names[0] && !setlocale(LC_NUMERIC, names[i]); i++) continue;
  tesela_json_out j = TESELA_JSON_OUT;
  tesela_put_list(&j.sink);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) tesela_put_real(&j.sink, numbers[i]);
  tesela_put_end(&j.sink);
  setlocale(LC_NUMERIC, "C");
  assert_int_equal(j.length, sizeof expected - 1);
  assert_memory_equal(j.text, expected, j.length);
  tesela_json_out_free(&j);
}

static void test_values(void **state) {
  (void)state;
  const tesela_value members[] = {tesela_value_of_bool("yes", true), tesela_value_of_int("n", -7),
                                  tesela_value_of_text("t", "a\"b"), tesela_value_of_text("none", NULL)};
  const tesela_value object = tesela_value_of_object(NULL, 4, members);
  tesela_json_out out = TESELA_JSON_OUT;
  tesela_json_in in;
  tesela_error err;
  tesela_put_value(&out.sink, &object);
  assert_int_equal(out.length, strlen("{\"yes\":true,\"n\":-7,\"t\":\"a\\\"b\",\"none\":null}"));
  assert_int_equal(tesela_json_read(&in, out.text, out.length, &err), TESELA_OK); /* and back */
  assert_true(tesela_value_bool(tesela_value_get(in.value, "yes")));
  assert_int_equal(tesela_value_int(tesela_value_get(in.value, "n")), -7);
  assert_string_equal(tesela_value_text(tesela_value_get(in.value, "t")), "a\"b");
  assert_true(tesela_value_is(tesela_value_get(in.value, "none"), TESELA_VALUE_NULL));
  assert_null(tesela_value_get(in.value, "no"));
  assert_null(tesela_value_at(in.value, 4));
  assert_int_equal(tesela_value_size(NULL), 0);
  tesela_json_free(&in);
  tesela_json_out_free(&out);
  assert_int_equal(tesela_json_read(&in, "{\"a\":1,\"a\":2}", 13, &err), TESELA_E_INVALID);
  assert_int_equal(tesela_json_read(&in, "[1,", 3, &err), TESELA_E_SYNTAX);
}

/* ---- files ------------------------------------------------------------------------------------------------ */

static void put_file(const char *folder, const char *name, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void test_files(void **state) {
  (void)state;
  static const char *const refused[] = {"../secret", "a/../../secret", "/etc/passwd", "",
                                        "..",        "a/..",           "out",         "up/secret",
                                        "nosuch",    "a/nosuch",       "b/five"};
  char top[] = "/tmp/tesela_opsXXXXXX", folder[100], path[200], line[400];
  assert_non_null(mkdtemp(top));
  snprintf(folder, sizeof folder, "%s/files", top);
  assert_int_equal(mkdir(folder, 0700), 0);
  snprintf(path, sizeof path, "%s/a", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  put_file(top, "secret", "secret");
  put_file(folder, "three", "abc");
  put_file(path, "five", "abcde");
  snprintf(path, sizeof path, "%s/out", folder);
  assert_int_equal(symlink("../secret", path), 0);
  snprintf(path, sizeof path, "%s/up", folder);
  assert_int_equal(symlink("..", path), 0);
  tesela_request how = ours;
  assert_non_null(strstr(ask(&how, "{\"op\":\"size\",\"file\":\"three\"}"), "\"code\":\"UNSUPPORTED\""));
  how.files = folder;
  assert_non_null(strstr(ask(&how, "{\"op\":\"size\",\"file\":\"three\"}"), "\"bytes\":3"));
  assert_non_null(strstr(ask(&how, "{\"op\":\"size\",\"file\":\"a/five\"}"), "\"bytes\":5"));
  assert_non_null(strstr(ask(&how, "{\"op\":\"size\",\"file\":\"./a//five\"}"), "\"bytes\":5"));
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    snprintf(line, sizeof line, "{\"op\":\"size\",\"file\":\"%s\"}", refused[i]);
    const char *answer = ask(&how, line);
    assert_non_null(strstr(answer, "\"ok\":false"));
    assert_non_null(strstr(answer, "\"field\":\"file\""));
  }
  assert_non_null(strstr(ask(&how, "{\"op\":\"size\",\"file\":\"three\\u0000x\"}"), "NUL"));
  how = ours;
  how.files_anywhere = true;
  snprintf(line, sizeof line, "{\"op\":\"size\",\"file\":\"%s/secret\"}", top);
  assert_non_null(strstr(ask(&how, line), "\"bytes\":6"));
  snprintf(line, sizeof line, "rm -r %s", top);
  assert_int_equal(system(line), 0);
}

/* ---- programs --------------------------------------------------------------------------------------------- */

static const char program[] =
    "{\"inputs\": {\"a\": {\"size\": [2, 3], \"dtype\": \"f32\"}, \"b\": {\"size\": [3, 2], \"dtype\": "
    "\"f32\"}},"
    " \"ops\": [{\"op\": \"permute\", \"out\": \"t\", \"in\": [\"a\"], \"dims\": [1, 0]},"
    " {\"op\": \"pointwise\", \"fn\": \"sub\", \"out\": \"y\", \"in\": [\"t\", \"b\"]}],"
    " \"outputs\": [\"y\", \"t\", \"y\"]}";

/* Inputs in the order of nodes, results in the order of `outputs`, one that stands twice included. */
static void run_program(const tesela_graph *graph, const tesela_target *target) {
  const float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {10, 20, 30, 40, 50, 60};
  const float y[6] = {-9, -16, -28, -35, -47, -54}, t[6] = {1, 4, 2, 5, 3, 6};
  float got[3][6];
  const void *const inputs[] = {a, b};
  void *const outputs[] = {got[0], got[1], got[2]};
  const tesela_graph_run_options options = {.plain = true};
  assert_int_equal(tesela_graph_n_outputs(graph), 3);
  assert_int_equal(tesela_graph_run(graph, target, inputs, outputs, &options, NULL, NULL), TESELA_OK);
  assert_memory_equal(got[0], y, sizeof y);
  assert_memory_equal(got[1], t, sizeof t);
  assert_memory_equal(got[2], y, sizeof y);
}

static void test_programs(void **state) {
  (void)state;
  tesela_graph *graph;
  tesela_target target;
  tesela_error err;
  for (int pass = 0; pass < 2; pass++) { /* as it is, and as printed */
    tesela_json_out out = TESELA_JSON_OUT;
    assert_int_equal(tesela_graph_read_json(&graph, &target, program, strlen(program), &err), TESELA_OK);
    tesela_put_graph(&out.sink, graph);
    tesela_graph_destroy(graph);
    assert_int_equal(pass == 0 ? tesela_graph_read_json(&graph, &target, program, strlen(program), &err)
                               : tesela_graph_read_json(&graph, NULL, out.text, out.length, NULL),
                     TESELA_OK);
    run_program(graph, &target);
    tesela_graph_destroy(graph);
    tesela_json_out_free(&out);
  }
}

static void test_programs_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tesela_status status;
    int64_t at;
    const char *says;
  } rows[] = {
      {"{\"ops\": ", TESELA_E_SYNTAX, 8, "JSON"},
      {"[]", TESELA_E_INVALID, -1, "expected an object"},
      {"{\"opps\": []}", TESELA_E_INVALID, -1, "ops"},
      {"{\"ops\": [{\"op\": \"clone\", \"in\": [\"x\"]}]}", TESELA_E_INVALID, -1,
       "'x', which is not defined before it"},
      {"{\"outputs\": [\"y\"]}", TESELA_E_INVALID, -1, "'y', which is not defined before it"},
  };
  tesela_error err;
  tesela_target target;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_graph *graph = (tesela_graph *)state;
    err = (tesela_error){.at = -1};
    assert_int_equal(tesela_graph_read_json(&graph, &target, rows[i].text, strlen(rows[i].text), &err),
                     rows[i].status);
    assert_null(graph);
    assert_non_null(strstr(err.message, rows[i].says));
    if (rows[i].at >= 0) assert_true(err.at >= rows[i].at);
    assert_int_equal(tesela_graph_read_json(&graph, NULL, rows[i].text, strlen(rows[i].text), NULL),
                     rows[i].status);
  }
  const tesela_value none = tesela_value_of_object(NULL, 0, NULL), text = tesela_value_of_text(NULL, "x");
  tesela_graph *graph;
  assert_int_equal(tesela_graph_read_value(&graph, &target, &none, &err), TESELA_OK);
  assert_int_equal(tesela_graph_count(graph), 0);
  tesela_graph_destroy(graph);
  assert_int_equal(tesela_graph_read_value(&graph, &target, &text, &err), TESELA_E_INVALID);
  assert_int_equal(tesela_graph_read_value(&graph, &target, NULL, &err), TESELA_E_INVALID);
  assert_int_equal(tesela_graph_read_value(NULL, &target, &none, &err), TESELA_E_INVALID);
  assert_int_equal(tesela_graph_read_json(&graph, &target, NULL, 0, &err), TESELA_E_INVALID);
}

/* ---- targets ---------------------------------------------------------------------------------------------- */

static void test_targets(void **state) {
  (void)state;
  static const char text[] = "target mine\nlike spyre\nstick 64\n";
  tesela_target mine;
  assert_int_equal(tesela_target_read(&mine, text, strlen(text), NULL), TESELA_OK);
  const tesela_request how = {.target = &mine};
  static const char *const ask_bytes[] = {
      "{\"op\":\"where\",\"layout\":\"f16[4,64] stick(dim_order=[0,1])\",\"index\":[1,0]}",
      "{\"op\":\"where\",\"layout\":\"f16[4,64] stick(dim_order=[0,1], target=mine)\",\"index\":[1,0]}",
      "{\"op\":\"where\",\"layout\":\"f16[4,64] "
      "stick(dim_order=[0,1])\",\"index\":[1,0],\"target\":\"spyre\"}",
      "{\"op\":\"where\",\"layout\":\"f16[4,64] stick(dim_order=[0,1])\",\"index\":[0,32],"
      "\"target\":\"target own\\nlike spyre\\nstick 64\\n\"}",
  };
  /* sticks of 64 bytes are 32 lanes: row 1 is after one stick of row 0; of 128 bytes, 64 lanes */
  assert_non_null(strstr(ask(&how, ask_bytes[0]), "\"place\":32,"));
  assert_non_null(strstr(ask(&how, ask_bytes[1]), "\"place\":32,"));
  assert_non_null(strstr(ask(&how, ask_bytes[2]), "\"place\":64,"));
  assert_non_null(strstr(ask(NULL, ask_bytes[0]), "\"place\":64,"));
  /* column 32 is in the second column of sticks, after 4 rows of the first */
  assert_non_null(strstr(ask(NULL, ask_bytes[3]), "\"place\":128,"));
  assert_non_null(strstr(ask(NULL, ask_bytes[1]), "\"ok\":false"));
  assert_non_null(strstr(ask(&how, "{\"op\":\"version\",\"target\":\"spire\"}"), "did you mean spyre?"));
  static const char *const unknown[] = {
      "{\"op\":\"version\",\"target\":\"%s\"}",
      "{\"op\":\"where\",\"layout\":\"f16[4,64] stick(dim_order=[0,1], target=%s)\",\"index\":[1,0]}",
      "{\"op\":\"dma\",\"host\":{\"size\":[4,64]},\"layout\":{\"dim_order\":[0,1]},\"target\":\"%s\"}",
      "{\"op\":\"graph_assign\",\"graph\":{\"target\":\"%s\",\"inputs\":{},\"ops\":[],\"outputs\":[]}}",
  };
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
    char line[256];
    snprintf(line, sizeof line, unknown[i], "mime");
    assert_non_null(strstr(ask(&how, line), "unknown target 'mime'; did you mean mine?"));
    snprintf(line, sizeof line, unknown[i], "other");
    assert_non_null(strstr(ask(&how, line), "unknown target 'other'; expected mine, spyre, tiles"));
    assert_non_null(strstr(ask(NULL, line), "unknown target 'other'; expected spyre, tiles"));
  }
}

#endif

int main(void) {
#ifdef TESELA_TEST_JANSSON
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_toy),
      cmocka_unit_test(test_types_of_fields),
      cmocka_unit_test(test_events),
      cmocka_unit_test(test_reals),
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_files),
      cmocka_unit_test(test_targets),
      cmocka_unit_test(test_programs),
      cmocka_unit_test(test_programs_refused),
      cmocka_unit_test(test_stop),
      cmocka_unit_test(test_long_operations_stop),
      cmocka_unit_test(test_a_run_may_be_stopped_while_memory_is_planned),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
#else
  puts("built without jansson, nothing is tested");
  return 0;
#endif
}
