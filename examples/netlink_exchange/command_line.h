/*
 * What the two clients in C share, and what has nothing to do with netlink: the command line, how
 * they end, and their clock. A client includes it once.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_NO_FAMILY = 3 };
enum { TIMES_MAX = 1000000 };

enum verb { DEMO, ONCE, TIME };

struct wanted {
  enum verb verb;
  const char* family;
  bool controller; /* measure "nlctrl" itself, which is there without the module */
  size_t times;
};

struct times {
  size_t count;
  uint64_t* whole_ns;
  uint64_t* exchange_ns;
};

/* Says on stderr what is wrong and what to do, and ends the program: the kernel closes sockets. */
__attribute__((format(printf, 2, 3), noreturn)) static inline void fail(int code,
                                                                        const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fflush(stdout);
  fputs("client: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(code);
}

__attribute__((noreturn)) static inline void fail_without_family(const char* family) {
  fail(EXIT_NO_FAMILY,
       "no generic-netlink family '%s'; load its module (insmod kernel/strata_echo.ko) or name "
       "another with --family",
       family);
}

static inline void* allocate(size_t count, size_t size) {
  void* memory = calloc(count, size);
  if (!memory) fail(EXIT_WRONG, "no memory for %zu times %zu bytes; free some", count, size);
  return memory;
}

static inline size_t parse_times(const char* text) {
  char* end = NULL;
  unsigned long times = strtoul(text, &end, 10);
  if (*end || *text < '0' || *text > '9' || times < 1 || times > TIMES_MAX)
    fail(EXIT_USAGE, "cannot measure '%s' times; give a number from 1 to %d", text, TIMES_MAX);
  return times;
}

static inline struct wanted parse_command_line(int count, char** words) {
  static const char usage[] = "client [--family NAME | --controller] demo | once | time N";
  struct wanted wanted = {.family = "strata_echo"};
  int at = 1;
  if (at + 1 < count && !strcmp(words[at], "--family")) {
    wanted.family = words[at + 1];
    at += 2;
  } else if (at < count && !strcmp(words[at], "--controller")) {
    wanted.family = "nlctrl";
    wanted.controller = true;
    at++;
  }
  const char* verb = at < count ? words[at++] : "";
  if (!strcmp(verb, "demo") && !wanted.controller)
    wanted.verb = DEMO;
  else if (!strcmp(verb, "once"))
    wanted.verb = ONCE;
  else if (!strcmp(verb, "time") && at < count) {
    wanted.verb = TIME;
    wanted.times = parse_times(words[at++]);
  } else
    fail(EXIT_USAGE, "cannot do '%s'; usage: %s", verb, usage);
  if (at < count) fail(EXIT_USAGE, "'%s' is too much; usage: %s", words[at], usage);
  return wanted;
}

static inline uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline struct times make_times(size_t count) {
  return (struct times){.count = count,
                        .whole_ns = allocate(count, sizeof(uint64_t)),
                        .exchange_ns = allocate(count, sizeof(uint64_t))};
}

static inline int compare_ns(const void* left, const void* right) {
  uint64_t a = *(const uint64_t*)left;
  uint64_t b = *(const uint64_t*)right;
  return (a > b) - (a < b);
}

/* Of the sorted values, the one that this many percent are not above. */
static inline unsigned long long percentile(const uint64_t* sorted, size_t count, size_t percent) {
  return sorted[(count * percent + 99) / 100 - 1];
}

static inline void print_times(struct times times) {
  qsort(times.whole_ns, times.count, sizeof(uint64_t), compare_ns);
  qsort(times.exchange_ns, times.count, sizeof(uint64_t), compare_ns);
  printf(
      "{\"whole_ns\":{\"median\":%llu,\"p99\":%llu},"
      "\"exchange_ns\":{\"median\":%llu,\"p99\":%llu}}\n",
      percentile(times.whole_ns, times.count, 50), percentile(times.whole_ns, times.count, 99),
      percentile(times.exchange_ns, times.count, 50),
      percentile(times.exchange_ns, times.count, 99));
  free(times.whole_ns);
  free(times.exchange_ns);
}
