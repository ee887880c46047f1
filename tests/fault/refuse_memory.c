/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refuse_memory.c - preloaded into a command: runs it again and again, and each time refuses one allocation, or all
 * from one on.
 *
 * Before main the process becomes a server that forks a child for each run, so that starting and linking are paid
 * once. What a child allocates is counted: malloc, calloc, realloc, aligned_alloc, posix_memalign (and with them all
 * in the C library that calls these: strdup, fopen, open_memstream, realpath, setlocale), mmap, and pthread_create.
 * Run 0 refuses nothing. Then for each n the n-th is refused once, and again the n-th and all after it.
 *
 *   REFUSE_FOLDER   records and texts go here; unset: nothing is done, the command runs as always
 *   REFUSE_WORK     an empty folder, the working folder of each run; emptied after each
 *   REFUSE_INPUT    the file that is standard input
 *   REFUSE_MOST     at most so many n, drawn by REFUSE_SEED except for the first REFUSE_FIRST; 0: all
 *   REFUSE_TERMINAL standard output says that it is a terminal
 *
 * records: a line per run, "<n> <o|a> <wait status> <allocations> <stdout> <stderr> <files>"; the last three are
 * names of files beside it that hold what was printed and, for each file left in the working folder, its name and
 * bytes. Equal contents have equal names.
 */
#define _GNU_SOURCE

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what is refused ------------------------------------------------------------------------------------- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static bool armed;       /* this is a child */
static long refuse_at;   /* 0: nothing is refused */
static bool refuse_more; /* all after it too */
static atomic_long *count;

static bool refused(void) {
  if (!armed) return false;
  long n = atomic_fetch_add(count, 1) + 1;
  return refuse_at > 0 && (refuse_more ? n >= refuse_at : n == refuse_at);
}

static void *no_memory(void) {
  errno = ENOMEM;
  return NULL;
}

void *malloc(size_t size) { return refused() ? no_memory() : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return refused() ? no_memory() : __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return refused() ? no_memory() : __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) {
  return refused() ? no_memory() : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  void *got = refused() ? NULL : __libc_memalign(alignment, size);
  if (got) *memory = got;
  return got ? 0 : ENOMEM;
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
  if (!refused()) return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
  no_memory();
  return MAP_FAILED;
}

static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *user) {
  return refused() ? EAGAIN : create(thread, attributes, run, user);
}

/* Standard output as people see it: lines are wrapped, pictures have colours. */
int isatty(int fd) {
  if (armed && fd == 1 && getenv("REFUSE_TERMINAL")) return 1;
  errno = ENOTTY;
  return 0;
}

/* ---- what came of it --------------------------------------------------------------------------------------- */

static _Noreturn void give_up(const char *what) {
  dprintf(2, "refuse_memory: %s: %s\n", what, strerror(errno));
  _exit(125);
}

typedef struct text {
  char *bytes;
  size_t length, room;
} text;

static void add(text *t, const void *bytes, size_t length) {
  if (t->length + length > t->room) {
    t->room = 2 * (t->length + length) + 4096;
    t->bytes = realloc(t->bytes, t->room);
    if (!t->bytes) give_up("realloc");
  }
  memcpy(t->bytes + t->length, bytes, length);
  t->length += length;
}

static void add_file(text *t, int fd) {
  char block[1 << 16];
  off_t at = 0;
  for (ssize_t n; (n = pread(fd, block, sizeof block, at)) > 0; at += n) add(t, block, (size_t)n);
}

/* Keep a text under a name made from its bytes; forget it. */
static uint64_t keep(const char *folder, text *t) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < t->length; i++) hash = (hash ^ (uint8_t)t->bytes[i]) * 0x100000001b3;
  char path[4096];
  snprintf(path, sizeof path, "%s/%016llx", folder, (unsigned long long)hash);
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
  if (fd >= 0) {
    if (write(fd, t->bytes, t->length) != (ssize_t)t->length) give_up(path);
    close(fd);
  } else if (errno != EEXIST) {
    give_up(path);
  }
  t->length = 0;
  return hash;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

static void add_folder(text *t, const char *folder) {
  struct dirent **entry;
  int n = scandir(folder, &entry, NULL, by_name);
  if (n < 0) give_up(folder);
  for (int i = 0; i < n; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
    int fd = entry[i]->d_name[0] == '.' && strspn(entry[i]->d_name, ".") == strlen(entry[i]->d_name)
                 ? -1
                 : open(path, O_RDONLY);
    if (fd >= 0) {
      add(t, entry[i]->d_name, strlen(entry[i]->d_name) + 1);
      add_file(t, fd);
      close(fd);
      unlink(path);
    }
    free(entry[i]);
  }
  free(entry);
}

/* ---- the server -------------------------------------------------------------------------------------------- */

static const char *need(const char *name) {
  const char *value = getenv(name);
  if (!value) give_up(name);
  return value;
}

/* One run. Returns true in the child, which goes on to main. */
static bool run(FILE *records, int out, int err, long n, bool more) {
  const char *folder = need("REFUSE_FOLDER"), *work = need("REFUSE_WORK");
  atomic_store(count, 0);
  if (ftruncate(out, 0) || ftruncate(err, 0) || lseek(out, 0, SEEK_SET) || lseek(err, 0, SEEK_SET))
    give_up("output");
  fflush(records);
  pid_t child = fork();
  if (child < 0) give_up("fork");
  if (child == 0) {
    int in = open(need("REFUSE_INPUT"), O_RDONLY);
    if (in < 0 || dup2(in, 0) != 0 || dup2(out, 1) != 1 || dup2(err, 2) != 2 || chdir(work)) _exit(125);
    if (in > 2) close(in);
    close(out);
    close(err);
    close(fileno(records));
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_CPU, &(struct rlimit){60, 60}); /* of the processor: a run that hangs */
    refuse_at = n;
    refuse_more = more;
    armed = true;
    return true;
  }
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) give_up("waitpid");
  static text t;
  add_file(&t, out);
  unsigned long long printed = keep(folder, &t);
  add_file(&t, err);
  unsigned long long said = keep(folder, &t);
  add_folder(&t, work);
  unsigned long long left = keep(folder, &t);
  fprintf(records, "%ld %c %d %ld %016llx %016llx %016llx\n", n, more ? 'a' : 'o', status, atomic_load(count),
          printed, said, left);
  return false;
}

/* Is n among the `most` of `total` that are looked at? Each has the same chance, decided by the seed and n alone. */
static bool is_drawn(long n, long total, long first, long most, uint64_t seed) {
  if (most == 0 || total <= most || n <= first) return true;
  uint64_t x = seed + (uint64_t)n * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return (long)((x ^ (x >> 31)) % (uint64_t)total) < most;
}

__attribute__((constructor)) static void serve(void) {
  *(void **)&create = dlsym(RTLD_NEXT, "pthread_create"); /* as POSIX has it */
  const char *folder = getenv("REFUSE_FOLDER");
  if (!folder) return;
  char path[4096];
  snprintf(path, sizeof path, "%s/records", folder);
  FILE *records = fopen(path, "we");
  int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
  count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (!records || out < 0 || err < 0 || count == MAP_FAILED) give_up("cannot begin");
  if (run(records, out, err, 0, false)) return;
  long total = atomic_load(count), most = atol(need("REFUSE_MOST")), first = atol(need("REFUSE_FIRST"));
  uint64_t seed = strtoull(need("REFUSE_SEED"), NULL, 0);
  for (int more = 0; more < 2; more++)
    for (long n = 1; n <= total; n++)
      if (is_drawn(n, total, first, most, seed + (uint64_t)more) && run(records, out, err, n, more)) return;
  fclose(records);
  _exit(0);
}
