/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo.c - one line of HLO text.
 *
 *   HloModule jit_step, entry_computation_layout={(f32[8,3]{1,0:T(8,128)})->f32[]}     a module starts
 *   ENTRY %main.5 (x: f32[8,3]) -> f32[] {                                             a computation starts
 *     %copy.1 = f32[8,3]{0,1:T(4,128)} copy(%x), metadata={op_name="..."}              an instruction
 *   }                                                                                  the computation ends
 *
 * Most lines of a dump are plain instructions and are known by tesela__hlo_plain alone; anything
 * else, and instructions after the prefix of a log, take the slower tesela__hlo_line.
 */
#include "report/report_state.h"

/* ---- module and computations --------------------------------------------------------------------------- */

/* entry_computation_layout={(arguments)->results}: the bytes of both. */
static bool entry_layout(tesela_report *report, tesela__span header) {
  static const char key[] = "entry_computation_layout={";
  const char *p = tesela__find(header, key), *end = header.text + header.n;
  if (!p) return true;
  int32_t number = report->module.section;
  tesela_report_section *section = &report->section[number];
  int64_t *n = &section->n_arguments, *bytes = &section->argument_bytes,
          *data = &section->argument_data_bytes;
  section->n_arguments = section->n_results = 0;
  for (p += sizeof key - 1; p < end && *p != '}';) {
    if (tesela__looking_at(p, end, "->")) {
      n = &section->n_results;
      bytes = &section->result_bytes;
      data = &section->result_data_bytes;
    }
    const char *array = p;
    if (!(p = tesela__skip_array(p, end))) {
      p = tesela__skip_name(array, end);
      if (p == array) p++;
      continue;
    }
    const tesela__shape *shape;
    int32_t index;
    if (!tesela__report_shape(report, tesela__between(array, p), &shape, &index)) return false;
    if (!shape || shape->state != TESELA__SHAPE_SIZED) continue;
    bool result = n == &section->n_results;
    ++*n;
    tesela__report_add(report, bytes, shape->stored);
    tesela__report_add(report, data, shape->data);
    if (index >= 0 && !tesela__module_layout(report, index, result)) return false;
  }
  if (p == end)
    tesela__report_note(report, TESELA_REPORT_BROKEN, report->line,
                        "the line ends inside entry_computation_layout: arguments and results are missing");
  return true;
}

/* The name in a computation's header, n = 0 for any other line. *entry: it has the word ENTRY. After the
 * prefix of a log the name must have a `%` or come after ENTRY. */
static tesela__span computation_name(tesela__span line, bool *entry) {
  static const tesela__span none = {"", 0};
  const char *end = line.text + line.n, *p = tesela__find(line, "ENTRY ");
  *entry = p && (p == line.text || !tesela__is_name(p[-1]));
  bool marked = true;
  if (*entry)
    p += 6;
  else if (!(p = memchr(line.text, '%', line.n))) {
    p = line.text;
    marked = false;
  }
  if (p < end && *p == '%') p++;
  const char *name = p;
  p = tesela__skip_name(p, end);
  if (p == name || !(tesela__looking_at(p, end, " (") || tesela__looking_at(p, end, " {"))) return none;
  if (!marked && p[1] == '(' && !tesela__find(line, "->")) return none;
  return tesela__between(name, p);
}

/* A `}` that ends a computation: alone, with attributes, or after a prefix. */
static bool ends_computation(const tesela_report *report, tesela__span line) {
  if (report->module.where == TESELA__OUTSIDE || line.n == 0) return false;
  if (line.text[0] == '}') return line.n == 1 || line.text[1] == ',' || line.text[1] == ' ';
  return line.text[line.n - 1] == '}' && line.text[line.n - 2] == ' ' && !memchr(line.text, '{', line.n);
}

/* A line that starts as HLO text but is not: it was cut, or contains other text. */
static void note_broken(tesela_report *report, tesela__span line) {
  const char *end = line.text + line.n, *p = tesela__skip_blanks(line.text, end);
  if (!report->module.open && !memchr(line.text, '=', line.n)) return;
  bool instruction = tesela__hlo_instruction_starts(p, end);
  bool header = report->module.open && tesela__hlo_starts(line) && !instruction;
  if ((instruction || header) && report->module.schedule)
    tesela__schedule_break(report->module.schedule, report->line, "a line cannot be read");
  if ((!instruction || report->module.where == TESELA__FUSED) && !header) return;
  tesela__report_note(report, TESELA_REPORT_BROKEN, report->line,
                      "a line starts like %s but is malformed; it is not counted: %.*s",
                      instruction ? "an instruction" : "a computation",
                      (int)tesela__min((int64_t)line.n, 120), line.text);
}

bool tesela__hlo_line(tesela_report *report, tesela__span line, bool *is_one) {
  line = tesela__trim(line);
  *is_one = false;
  if (report->module.open &&
      !tesela__frames_line(&report->module.frames, &report->module.text, &report->allocator, line, is_one))
    return tesela__report_no_memory(report);
  if (*is_one || line.n == 0) return true;
  *is_one = true;
  const char *module = tesela__find_by_start(line, "HloModule ");
  if (module && (module == line.text || !tesela__is_name(module[-1]))) {
    tesela__span rest = tesela__from(line, module + 10);
    tesela__span name = tesela__between(rest.text, tesela__skip_name(rest.text, rest.text + rest.n));
    if (name.n > 0) {
      if (!tesela__module_begin(report, name)) return false;
      report->module.scheduled = tesela__find(rest, "is_scheduled=true");
      return entry_layout(report, rest) && tesela__peak_begin(report, rest);
    }
  }
  if (tesela__looking_at(line.text, line.text + line.n, "BufferAssignment:")) {
    if (!tesela__module_end(report)) return false;
    report->module.assignment = true;
  }
  if (report->module.assignment) {
    *is_one = false;
    return true;
  }
  if (ends_computation(report, line)) {
    tesela__computation_end(report);
    return true;
  }
  bool entry;
  if (line.text[line.n - 1] == '{') {
    tesela__span name = computation_name(line, &entry);
    if (name.n > 0) return tesela__computation_begin(report, name, entry);
  }
  tesela__instruction instruction;
  if (tesela__hlo_prefixed(line, &instruction)) return tesela__hlo_count(report, &instruction);
  note_broken(report, line);
  *is_one = false;
  return true;
}
