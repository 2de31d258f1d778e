// The plain C contender of `strata bench paths`: raw Ethernet by bare system calls, with nothing
// between them and the program, and with the same wishes to the kernel as the library has. It shows
// what the library's abstraction costs. src/measure/node/plain_part.cpp starts it:
//
//   strata-plain-packet ROLE KIND HOW IFACE PEER_MAC PAYLOAD SECONDS BUFFER RUN
//
// ROLE  send | receive | ping | echo
// KIND  socket: send, recvmsg        ring: sendmmsg into a V3 ring; ping and echo: sendto, V2 ring
// HOW   wait | busy: how ping and echo receive
//
// It says "ready" once its socket is open, runs for SECONDS (send, ping) or until its standard
// input ends, and then says what it saw as one line of JSON.
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/perf_event.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ethertype = 0x88B5, header_size = 14, batch = 64, patience_ms = 20, largest = 9216 };
enum { fine_bits = 6, fine = 1 << fine_bits, bucket_count = (65 - fine_bits) * fine };
enum { block_size = 1 << 18, slot_size = 16384, slot_count = 1024 };

struct stamp {
  uint64_t sequence;
  uint64_t time_ns;
  uint64_t run;
};

struct job {
  const char* role;
  bool ring;
  bool busy;
  size_t payload;
  double seconds;
  size_t buffer;
  uint64_t run;
  int fd;
  unsigned char* memory;  // of the ring
  size_t blocks;
  size_t next;  // block or slot
  unsigned char frame[largest];
  size_t frame_size;
};

struct seen {
  uint64_t sent, delivered, duplicates, strays, dropped;
  uint64_t next, last;
  uint64_t first_ns, last_ns, first_count;
  double seconds;
  uint64_t cpu_ns;
  int64_t cycles; /* -1 where the processor counts none */
  int64_t instructions;
  uint64_t times[bucket_count];
};

static uint64_t clock_ns(clockid_t which) {
  struct timespec time;
  clock_gettime(which, &time);
  return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static uint64_t now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

// Says why on standard output, where the bench listens.
static void give_up(const char* what) {
  printf("cannot %s: %s\n", what, strerror(errno));
  exit(1);
}

static bool is_over(void) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  return poll(&input, 1, 0) > 0;
}

static void take(struct seen* seen, const struct job* job, const unsigned char* frame,
                 size_t size) {
  struct stamp found;
  if (size < header_size + sizeof found) {
    ++seen->strays;
    return;
  }
  memcpy(&found, frame + header_size, sizeof found);
  if (found.run != job->run) {
    ++seen->strays;
  } else if (found.sequence < seen->next) {
    ++seen->duplicates;
  } else {
    seen->next = found.sequence + 1;
    seen->last = found.sequence;
    ++seen->delivered;
  }
}

static void begin(struct seen* seen) {
  seen->last_ns = now_ns();
  if (seen->first_ns == 0) {
    seen->first_ns = seen->last_ns;
  } else if (seen->first_count == 0) {
    seen->first_count = seen->delivered;
  }
}

static size_t bucket_of(uint64_t value) {
  if (value < fine) return value;
  const unsigned shift = 63U - (unsigned)__builtin_clzll(value) - fine_bits;
  return (size_t)(shift + 1) * fine + ((value >> shift) & (fine - 1));
}

static void stamp_frame(unsigned char* frame, const struct job* job, uint64_t sequence) {
  const struct stamp made = {.sequence = sequence, .time_ns = 0, .run = job->run};
  memcpy(frame + header_size, &made, sizeof made);
}

static void set_up_ring(struct job* job, bool v3) {
  const int version = v3 ? TPACKET_V3 : TPACKET_V2;
  struct tpacket_req3 shape = {0};
  if (v3) {
    job->blocks = job->buffer / block_size < 2 ? 2 : job->buffer / block_size;
    shape.tp_block_size = block_size;
    shape.tp_block_nr = (unsigned)job->blocks;
    shape.tp_frame_size = 2048;
    shape.tp_frame_nr = block_size / 2048 * shape.tp_block_nr;
    shape.tp_retire_blk_tov = 1;
  } else {
    shape.tp_block_size = slot_size;
    shape.tp_block_nr = slot_count;
    shape.tp_frame_size = slot_size;
    shape.tp_frame_nr = slot_count;
  }
  const socklen_t size = v3 ? sizeof(struct tpacket_req3) : sizeof(struct tpacket_req);
  if (setsockopt(job->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version) != 0 ||
      setsockopt(job->fd, SOL_PACKET, PACKET_RX_RING, &shape, size) != 0) {
    give_up("make a receive ring");
  }
  job->memory = mmap(NULL, (size_t)shape.tp_block_size * shape.tp_block_nr, PROT_READ | PROT_WRITE,
                     MAP_SHARED, job->fd, 0);
  if (job->memory == MAP_FAILED) give_up("map the ring");
}

// What the library asks of the kernel too: frames of one type only, none of our own, and what was
// taken out of them.
static void set_up_receiving(int fd) {
  struct sock_filter program[] = {BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
                                  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ethertype, 0, 1),
                                  BPF_STMT(BPF_RET | BPF_K, 0x40000), BPF_STMT(BPF_RET | BPF_K, 0)};
  const struct sock_fprog filter = {.len = 4, .filter = program};
  const int yes = 1;
  if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) != 0 ||
      setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &yes, sizeof yes) != 0 ||
      setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof yes) != 0) {
    give_up("set up a raw socket");
  }
}

static void open_socket(struct job* job, const char* interface, const char* peer) {
  const bool sends_only = strcmp(job->role, "send") == 0;
  job->fd = socket(AF_PACKET, SOCK_RAW, 0);
  if (job->fd < 0) give_up("open a raw socket");
  const int buffer = (int)job->buffer;
  setsockopt(job->fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
  if (!sends_only) set_up_receiving(job->fd);
  if (job->ring && !sends_only) set_up_ring(job, strcmp(job->role, "receive") == 0);
  struct sockaddr_ll address = {0};
  address.sll_family = AF_PACKET;
  address.sll_protocol = sends_only ? 0 : htons(ETH_P_ALL);
  address.sll_ifindex = (int)if_nametoindex(interface);
  if (bind(job->fd, (const struct sockaddr*)&address, sizeof address) != 0) {
    give_up("bind a raw socket");
  }
  struct ifreq request = {0};
  snprintf(request.ifr_name, sizeof request.ifr_name, "%s", interface);
  if (ioctl(job->fd, SIOCGIFHWADDR, &request) != 0) give_up("find the interface's address");
  sscanf(peer, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &job->frame[0], &job->frame[1], &job->frame[2],
         &job->frame[3], &job->frame[4], &job->frame[5]);
  memcpy(job->frame + 6, request.ifr_hwaddr.sa_data, 6);
  job->frame[12] = ethertype >> 8;
  job->frame[13] = ethertype & 0xFF;
  job->frame_size = header_size + job->payload < 60 ? 60 : header_size + job->payload;
}

static void send_one(struct job* job, uint64_t sequence) {
  stamp_frame(job->frame, job, sequence);
  while (send(job->fd, job->frame, job->frame_size, 0) < 0) {
    if (errno != EINTR && errno != ENOBUFS) give_up("send a frame");
  }
}

static void run_send(struct job* job, struct seen* seen) {
  static unsigned char frames[batch][largest];
  struct mmsghdr headers[batch] = {0};
  struct iovec vectors[batch];
  for (size_t i = 0; i < batch; ++i) {
    memcpy(frames[i], job->frame, job->frame_size);
    vectors[i] = (struct iovec){frames[i], job->frame_size};
    headers[i].msg_hdr.msg_iov = &vectors[i];
    headers[i].msg_hdr.msg_iovlen = 1;
  }
  const uint64_t end = now_ns() + (uint64_t)(job->seconds * 1e9);
  while (now_ns() < end) {
    if (!job->ring) {
      send_one(job, seen->sent++);
      continue;
    }
    for (size_t i = 0; i < batch; ++i) stamp_frame(frames[i], job, seen->sent + i);
    const int taken = sendmmsg(job->fd, headers, batch, 0);
    if (taken < 0 && errno != EINTR && errno != ENOBUFS) give_up("send frames");
    if (taken > 0) seen->sent += (uint64_t)taken;
  }
}

static void await(struct job* job) {
  struct pollfd asked = {.fd = job->fd, .events = POLLIN};
  poll(&asked, 1, patience_ms);
}

// Whether there was a frame. It waits as the library does: a blocking recvmsg would be another way
// to receive, and not the same in plain C.
static bool receive_from_socket(struct job* job, struct seen* seen, bool busy) {
  unsigned char memory[largest];
  struct iovec vector = {memory, sizeof memory};
  struct sockaddr_ll from;
  _Alignas(struct cmsghdr) unsigned char control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
  for (bool waited = busy;; waited = true) {
    struct msghdr header = {.msg_name = &from,
                            .msg_namelen = sizeof from,
                            .msg_iov = &vector,
                            .msg_iovlen = 1,
                            .msg_control = control,
                            .msg_controllen = sizeof control};
    const ssize_t got = recvmsg(job->fd, &header, MSG_TRUNC | MSG_DONTWAIT);
    if (got >= 0) {
      begin(seen);
      take(seen, job, memory, (size_t)got);
      return true;
    }
    if (waited) return false;
    await(job);
  }
}

static bool receive_block(struct job* job, struct seen* seen) {
  struct tpacket_block_desc* const block = (void*)(job->memory + job->next * block_size);
  if ((__atomic_load_n(&block->hdr.bh1.block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) == 0) {
    await(job);
    if ((__atomic_load_n(&block->hdr.bh1.block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) == 0) {
      return false;
    }
  }
  begin(seen);
  unsigned char* at = (unsigned char*)block + block->hdr.bh1.offset_to_first_pkt;
  for (uint32_t left = block->hdr.bh1.num_pkts; left != 0; --left) {
    const struct tpacket3_hdr* const header = (const void*)at;
    take(seen, job, at + header->tp_mac, header->tp_snaplen);
    at += header->tp_next_offset;
  }
  __atomic_store_n(&block->hdr.bh1.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
  job->next = (job->next + 1) % job->blocks;
  return true;
}

static bool receive_slot(struct job* job, struct seen* seen) {
  struct tpacket2_hdr* const header = (void*)(job->memory + job->next * slot_size);
  if ((__atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) == 0) {
    if (!job->busy) await(job);
    if ((__atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) == 0) {
      return false;
    }
  }
  begin(seen);
  take(seen, job, (const unsigned char*)header + header->tp_mac, header->tp_snaplen);
  __atomic_store_n(&header->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
  job->next = (job->next + 1) % slot_count;
  return true;
}

static void run_receive(struct job* job, struct seen* seen) {
  // Looking whether it is over is a system call, so it is done when nothing comes, and now and
  // then.
  for (uint64_t looked_ns = 0, over_ns = 0;;) {
    const bool got = job->ring ? receive_block(job, seen) : receive_from_socket(job, seen, false);
    const uint64_t now = got ? seen->last_ns : now_ns();
    if (over_ns != 0 && (!got || now - over_ns > 1000000000U)) return;
    if (over_ns == 0 && now - looked_ns > patience_ms * 1000000U) {
      looked_ns = now;
      if (is_over()) over_ns = now;
    }
  }
}

static bool receive_one(struct job* job, struct seen* seen) {
  return job->ring ? receive_slot(job, seen) : receive_from_socket(job, seen, job->busy);
}

static void run_ping(struct job* job, struct seen* seen) {
  const uint64_t end = now_ns() + (uint64_t)(job->seconds * 1e9);
  for (uint64_t sent_ns = 0; sent_ns < end;) {
    const uint64_t before = seen->delivered;
    sent_ns = now_ns();
    send_one(job, seen->sent++);
    for (;;) {
      receive_one(job, seen);
      const uint64_t now = now_ns();
      if (seen->delivered != before && seen->last + 1 == seen->sent) {
        ++seen->times[bucket_of(now - sent_ns)];
        break;
      }
      if (now - sent_ns > 100000000U) break;
    }
  }
}

static void run_echo(struct job* job, struct seen* seen) {
  for (uint64_t looked_ns = now_ns();;) {
    const uint64_t before = seen->delivered;
    const bool got = receive_one(job, seen);
    if (seen->delivered != before) {
      send_one(job, seen->last);
      ++seen->sent;
    }
    const uint64_t now = got ? seen->last_ns : now_ns();
    if (now - looked_ns > patience_ms * 1000000U) {
      looked_ns = now;
      if (is_over()) return;
    }
  }
}

static void say(const struct job* job, struct seen* seen) {
  struct tpacket_stats_v3 counted = {0};
  const bool v3 = job->ring && strcmp(job->role, "receive") == 0;
  socklen_t size = v3 ? sizeof(struct tpacket_stats_v3) : sizeof(struct tpacket_stats);
  getsockopt(job->fd, SOL_PACKET, PACKET_STATISTICS, &counted, &size);
  const double span = (double)(seen->last_ns - seen->first_ns);
  const double rate = seen->first_count == 0 || span <= 0
                          ? 0
                          : (double)(seen->delivered - seen->first_count) * 1e9 / span;
  printf(
      "{\"sent\":%llu,\"delivered\":%llu,\"duplicates\":%llu,\"strays\":%llu,\"dropped\":%u,"
      "\"cpu_ns\":%llu,\"cycles\":%lld,\"instructions\":%lld,\"seconds\":%.9f,\"rate\":%.1f,"
      "\"times\":[",
      (unsigned long long)seen->sent, (unsigned long long)seen->delivered,
      (unsigned long long)seen->duplicates, (unsigned long long)seen->strays, counted.tp_drops,
      (unsigned long long)seen->cpu_ns, (long long)seen->cycles, (long long)seen->instructions,
      seen->seconds, rate);
  const char* before = "";
  for (size_t bucket = 0; bucket < bucket_count; ++bucket) {
    if (seen->times[bucket] == 0) continue;
    printf("%s[%zu,%llu]", before, bucket, (unsigned long long)seen->times[bucket]);
    before = ",";
  }
  printf("]}\n");
}

static int open_event(uint64_t which, int group) {
  struct perf_event_attr wanted = {.type = PERF_TYPE_HARDWARE, .size = sizeof wanted};
  wanted.config = which;
  wanted.read_format =
      PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return (int)syscall(SYS_perf_event_open, &wanted, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

static void read_events(int fd, struct seen* seen) {
  struct {
    uint64_t count, enabled_ns, running_ns, values[2];
  } counted;
  seen->cycles = seen->instructions = -1;
  if (read(fd, &counted, sizeof counted) != sizeof counted || counted.count != 2) return;
  if (counted.running_ns < counted.enabled_ns) return;
  seen->cycles = (int64_t)counted.values[0];
  seen->instructions = (int64_t)counted.values[1];
}

int main(int argc, char** argv) {
  static struct job job;
  static struct seen seen;
  if (argc != 10) {
    fprintf(stderr,
            "usage: strata-plain-packet ROLE KIND HOW IFACE PEER_MAC PAYLOAD SECONDS "
            "BUFFER RUN\n'strata bench paths' runs it.\n");
    return 2;
  }
  job.role = argv[1];
  job.ring = strcmp(argv[2], "ring") == 0;
  job.busy = strcmp(argv[3], "busy") == 0;
  job.payload = strtoul(argv[6], NULL, 10);
  job.seconds = strtod(argv[7], NULL);
  job.buffer = strtoul(argv[8], NULL, 10);
  job.run = strtoull(argv[9], NULL, 10);
  if (job.payload < sizeof(struct stamp) || job.payload > largest - header_size) return 2;
  open_socket(&job, argv[4], argv[5]);
  printf("ready\n");
  fflush(stdout);
  const int events = open_event(PERF_COUNT_HW_CPU_CYCLES, -1);
  if (events >= 0) (void)open_event(PERF_COUNT_HW_INSTRUCTIONS, events);
  const uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  const uint64_t start = now_ns();
  if (strcmp(job.role, "send") == 0) run_send(&job, &seen);
  if (strcmp(job.role, "receive") == 0) run_receive(&job, &seen);
  if (strcmp(job.role, "ping") == 0) run_ping(&job, &seen);
  if (strcmp(job.role, "echo") == 0) run_echo(&job, &seen);
  seen.seconds = (double)(now_ns() - start) / 1e9;
  seen.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
  read_events(events, &seen);
  say(&job, &seen);
  return 0;
}
