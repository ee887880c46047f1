# SPDX-License-Identifier: Apache-2.0
"""Writes a C program that calls every public function with NULL for each of its pointers in turn.

    null_arguments.py null_arguments.c HEADER...

Functions that take a va_list or a callback are left out.

The functions are those that the headers declare, so a new one cannot be forgotten. One with a status must refuse with
TESELA_E_INVALID and name the argument; what is documented to take NULL stands in OPTIONAL. One without a status answers what an
empty thing would (0, false, -1 or NULL); that it comes back is what is checked. All other pointers lead to bytes of 1: every count is above 0, and
whoever looks further before it refuses falls over.
"""

import re
import sys
from pathlib import Path

# Whatever the function: these may be NULL.
ALWAYS = {"err", "options", "facts", "repairs", "lost", "allocator", "machine", "host_strides", "base_strides"}
OPTIONAL = {
    "tesela_cute_complement": "counter",
    "tesela_cute_compose": "counter",
    "tesela_cute_compose_tiler": "counter",
    "tesela_cute_divide": "counter",
    "tesela_cute_left_inverse": "counter",
    "tesela_cute_product": "counter",
    "tesela_cute_tile_to_shape": "order counter",
    "tesela_device_from_layout": "target",
    "tesela_device_from_order": "padding target",
    "tesela_device_sizes_of": "target",
    "tesela_draw_arena": "marks",
    "tesela_file_index_write": "bytes",
    "tesela_file_write": "written bytes",
    "tesela_fragment_find": "entry layout text",
    "tesela_graph_add": "node",
    "tesela_graph_divide": "forced",
    "tesela_graph_materialise": "inserted",
    "tesela_graph_print_hlo": "name",
    "tesela_graph_read_hlo": "target",
    "tesela_graph_read_json": "target",
    "tesela_graph_read_value": "target",
    "tesela_graph_run": "target",
    "tesela_graph_run_needs_of": "target",
    "tesela_index_from_number": "minor_to_major",
    "tesela_index_to_number": "minor_to_major",
    "tesela_layout_elements": "padding",
    "tesela_linear_divide_left": "example",
    "tesela_linear_invert": "example",
    "tesela_linear_invert_and_compose": "example",
    "tesela_linear_pseudoinvert": "example",
    "tesela_linear_quotient": "example",
    "tesela_layout_place_row_major": "next",
    "tesela_layout_strided": "strides",
    "tesela_notation_find": "used",
    "tesela_padding_suggest": "fine",
    "tesela_plan_cache_count": "hits misses",
    "tesela_plan_run_in_place": "scratch",
    "tesela_register_local": "ranks",
    "tesela_register_spatial": "ranks",
    "tesela_report_diff_create": "filter",
    "tesela_report_top": "filter",
    "tesela_report_total": "filter",
    "tesela_rule_of": "target",
    "tesela_rule_of_node": "target",
    "tesela_target_type_of": "lanes",
    "tesela_tile_memory_make": "swizzle",
    "tesela_units_parse": "used",
    "tesela_xla_layout_make": "minor_to_major",
    "tesela_xla_shape_make": "layout",
}
# What the inline functions of layout.h call for a walk or scan that has begun; and what prints or
# fills an error, so has none to refuse with.
SPARED = {"tesela_walk_carry", "tesela_scan_carry", "tesela_error_print", "tesela_error_caret", "tesela_request_fail"}
# What is needed only where there are elements: asked with real layouts in tests/unit/test_values.c, test_program.c,
# test_transfer_refused.c, test_graph_run_edges.c and test_linear.c.
LATER = {
    "tesela_graph_run": "inputs outputs",
    "tesela_linear_make": "bases",
    "tesela_program_run": "dst src fill",
    "tesela_transfer_verify": "host",
    "tesela_values_compare": "data_a data_b",
    "tesela_value_of_ints": "name",
    "tesela_values_digest": "data",
}


# The target of a pointer of a type for which bytes of 1 are not a value: a request has a pointer of its own to its error.
ROOM = {"tesela_request *": "&(tesela_request){.err = &err}", "const tesela_value *": "&(tesela_value){.n = 0}"}


def parameters(text):
    """[(type, name, is a pointer)] of a parameter list."""
    found = []
    for part in re.split(r",(?![^(]*\))", text.replace(", ...", "")):
        kind, name, array = re.fullmatch(r"\s*(.*?)(\w+)\s*(\[.*\])?\s*", part).groups()
        if part.strip() != "void":
            found.append((kind.strip(), name, "*" in kind or array is not None))
    return found


def functions(header):
    """[(result, name, parameters)] that a header declares."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*|TESELA_PRINTF\([^)]*\)", "", header, flags=re.S)
    found = re.findall(r"^TESELA_API\b([^;{()]*?)\b(tesela_\w+)\s*\(([^;{]*)\);", code, re.M)
    return [(result.strip(), name, parameters(" ".join(text.split()))) for result, name, text in found if not re.search(r"va_list|\(\*", text)]


def growing(headers):
    """The structs of options, which callers fill in: all end in `reserved`, which must be 0."""
    return set(re.findall(r"int64_t reserved\[4\];[^}]*\} (tesela_\w+);", headers))


def call(name, all_parameters, given, argument):
    """(declarations, call): of a function, one parameter given."""
    arguments, values = [], []
    for kind, other, is_pointer in all_parameters:
        if other == given:
            arguments.append(argument)
        elif other == "err":
            arguments.append("&err")
        elif is_pointer:
            arguments.append("NULL" if other in ALWAYS else ROOM.get(kind, "room"))
        else:
            arguments.append(other + "_")
            values.append(f"{kind} {other}_; memset(&{other}_, 1, sizeof {other}_);")
    return " ".join(values), f"{name}({', '.join(arguments)})"


def uncleared(name, all_parameters, structs):
    """The C of calls with options whose room to grow is filled."""
    for kind, given, _ in all_parameters:
        struct = re.fullmatch(r"const (tesela_\w+) \*", kind)
        if struct and struct[1] in structs:
            values, text = call(name, all_parameters, given, "&filled")
            yield (
                f'  {{ about("{name}: {given}.reserved"); static {struct[1]} filled; filled.reserved[sizeof filled.reserved / sizeof filled.reserved[0] - 1] = 1; {values}'
                f' uncleared({text}, "{given}"); }}'
            )


def without(result, name, all_parameters):
    """The C of calls without each pointer."""
    spared = ALWAYS | set(OPTIONAL.get(name, "").split()) | set(LATER.get(name, "").split())
    for _, missing, is_pointer in all_parameters:
        if is_pointer and missing not in spared:
            values, text = call(name, all_parameters, missing, "NULL")
            says = f'"{missing}"' if any(name == "err" for _, name, _ in all_parameters) else "NULL"
            refused = f"refused({text}, {says})" if result == "tesela_status" else f"(void){text}"
            yield f'  {{ about("{name}: {missing}"); {values} {refused}; }}'


PROGRAM = """/* Made by null_arguments.py. */
#include <signal.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

%s

static alignas(64) unsigned char bytes[1 << 16];
static void *const room = bytes;
static const char *volatile now = "";
static tesela_error err;
static int wrong;

static void crashed(int number) {
  const char *name = now;
  (void)!write(2, name, strlen(name));
  (void)!write(2, " crashes\\n", 9);
  signal(number, SIG_DFL);
  raise(number);
}

static void about(const char *call) {
  now = call;
  memset(bytes, 1, sizeof bytes);
  bytes[sizeof bytes - 1] = 0; /* of texts */
}

/* missing: NULL for a function that has no err to say it. */
static void refused(tesela_status status, const char *missing) {
  char expected[100];
  snprintf(expected, sizeof expected, "argument %%s is NULL", missing ? missing : "");
  if (status == TESELA_E_INVALID && (!missing || strcmp(err.message, expected) == 0)) return;
  fprintf(stderr, "%%s: %%s, %%s\\n", now, tesela_status_code(status), err.message);
  wrong++;
}

static void uncleared(tesela_status status, const char *options) {
  char expected[100];
  snprintf(expected, sizeof expected, "%%s.reserved is not 0: clear the struct first", options);
  if (status == TESELA_E_INVALID && strcmp(err.message, expected) == 0) return;
  fprintf(stderr, "%%s: %%s, %%s\\n", now, tesela_status_code(status), err.message);
  wrong++;
}

int main(void) {
  signal(SIGSEGV, crashed);
  (void)uncleared; /* not every header has options */
%s
  printf("%d calls, %%d wrong\\n", wrong);
  return wrong != 0;
}
"""


def main():
    out, *headers = sys.argv[1:]
    lines = []
    texts = [Path(header).read_text() for header in headers]
    includes = [f"#include <tesela/{Path(header).name}>" for header in headers]
    structs = growing("".join(texts))
    assert set(re.findall(r"\} (tesela_\w+_(?:options|facts|info|needs|sizes));", "".join(texts))) <= structs
    for text in texts:
        for result, name, all_parameters in functions(text):
            if result == "tesela_status":
                lines += uncleared(name, all_parameters, structs)
            if name not in SPARED:
                lines += without(result, name, all_parameters)
    assert len(lines) > 20 * len(headers)
    Path(out).write_text(PROGRAM % ("\n".join(includes), "\n".join(lines), len(lines)))


if __name__ == "__main__":
    main()
