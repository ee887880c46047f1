/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safetensors_write.c - write the header of a .safetensors file: print it to measure it, then into memory of that size.
 */
#include <stdlib.h>

#include "file/file.h"

enum { ST_FRAME = 8 };

typedef struct st_printing {
  int64_t n;
  const tesela__safetensors_item *item;
  const tesela_file *texts;
  const char **names; /* sorted */
} st_printing;

static int st_by_plain_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Is this the key of a layout of one of the tensors? */
static bool st_is_layout_key(const st_printing *p, const char *key) {
  size_t begin = sizeof TESELA_FILE_LAYOUT_KEY - 1;
  if (strncmp(key, TESELA_FILE_LAYOUT_KEY, begin) != 0) return false;
  key += begin;
  return p->n > 0 && bsearch(&key, p->names, (size_t)p->n, sizeof *p->names, st_by_plain_name);
}

/* `before` and `text` as one string in quotes. */
static void st_put_string(tesela__sink *out, const char *before, const char *text) {
  tesela__putc(out, '"');
  for (const char *part = before;; part = text) {
    for (const char *c = part; *c; c++) {
      if (*c == '"' || *c == '\\') tesela__putc(out, '\\');
      if ((unsigned char)*c < 0x20)
        tesela__putf(out, "\\u%04x", (unsigned)(unsigned char)*c);
      else
        tesela__putc(out, *c);
    }
    if (part == text) break;
  }
  tesela__putc(out, '"');
}

static void st_put_list(tesela__sink *out, int32_t n, const int64_t *value) {
  for (int32_t i = 0; i < n; i++) tesela__putf(out, "%c%" PRId64, i > 0 ? ',' : '[', value[i]);
  tesela__puts(out, n > 0 ? "]" : "[]");
}

static void st_put_text(tesela__sink *out, bool *first, const char *before, const char *key,
                        const char *value) {
  tesela__puts(out, *first ? "\"" TESELA__FILE_METADATA "\":{" : ",");
  *first = false;
  st_put_string(out, before, key);
  tesela__putc(out, ':');
  st_put_string(out, "", value);
}

static bool st_put_metadata(const st_printing *p, tesela__sink *out) {
  bool first = true;
  for (int64_t i = 0; p->texts && i < p->texts->info.n_texts; i++)
    if (!st_is_layout_key(p, p->texts->text[i].key))
      st_put_text(out, &first, "", p->texts->text[i].key, p->texts->text[i].value);
  for (int64_t i = 0; i < p->n; i++)
    if (p->item[i].layout)
      st_put_text(out, &first, TESELA_FILE_LAYOUT_KEY, p->item[i].name, p->item[i].layout);
  if (!first) tesela__putc(out, '}');
  return !first;
}

static void st_print(const st_printing *p, const tesela_writer *to) {
  tesela__sink out;
  tesela__sink_init(&out, to);
  tesela__putc(&out, '{');
  bool any = st_put_metadata(p, &out);
  for (int64_t i = 0; i < p->n; i++) {
    const tesela__safetensors_item *item = &p->item[i];
    if (any) tesela__putc(&out, ',');
    any = true;
    st_put_string(&out, "", item->name);
    tesela__puts(&out, ":{\"dtype\":");
    st_put_string(&out, "", item->type);
    tesela__puts(&out, ",\"shape\":");
    st_put_list(&out, item->rank, item->shape);
    tesela__puts(&out, ",\"data_offsets\":");
    st_put_list(&out, 2, (int64_t[]){item->begin, item->end});
    tesela__putc(&out, '}');
  }
  tesela__putc(&out, '}');
  (void)tesela__sink_finish(&out, NULL); /* a buffer never refuses */
}

tesela_status tesela__safetensors_header(int64_t n, const tesela__safetensors_item *items,
                                         const tesela_file *texts, const tesela_allocator *allocator,
                                         char **header, int64_t *bytes, tesela_error *err) {
  tesela_buffer buffer = {NULL, 0, 0};
  st_printing p = {n, items, texts, tesela__alloc(allocator, (uint64_t)n * sizeof(char *), alignof(char *))};
  tesela_writer to = tesela_buffer_writer(&buffer);
  char *text = NULL;
  if (p.names) {
    for (int64_t i = 0; i < n; i++) p.names[i] = items[i].name;
    qsort(p.names, (size_t)n, sizeof *p.names, st_by_plain_name);
    st_print(&p, &to);
    *bytes = (int64_t)((buffer.length + ST_FRAME - 1) / ST_FRAME * ST_FRAME + ST_FRAME);
    text = tesela__alloc(allocator, (uint64_t)*bytes + 1, 1);
  }
  if (text) {
    uint64_t length = (uint64_t)*bytes - ST_FRAME;
    buffer = (tesela_buffer){text + ST_FRAME, (size_t)length + 1, 0};
    memset(text, ' ', (size_t)*bytes);
    st_print(&p, &to);
    memset(text + ST_FRAME + buffer.length, ' ', (size_t)length - buffer.length);
    for (int i = 0; i < ST_FRAME; i++) text[i] = (char)(length >> (8 * i) & 255);
  }
  tesela__release(allocator, p.names);
  *header = text;
  return text ? TESELA_OK : tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the header");
}
