// Values of RESTORE and snapshot files from anywhere. What is taken must be whole: dumped and taken
// again it is the same value, and all commands may be tried on it.
//
// The first byte chooses; checksums are put right, for no input would find them.
#include <cassert>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/cache/disk/rdb.hpp"
#include "runtime/cache/disk/rdb_file.hpp"
#include "runtime/cache/disk/replay.hpp"
#include "runtime/cache/engine/digest.hpp"
#include "runtime/cache/engine/engine.hpp"

using namespace strata::runtime::cache;

namespace {

void put_fixed(std::string& to, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) to += static_cast<char>(value >> (8 * i));
}

void try_commands(engine& on, std::string_view key) {
  replay client(on);
  const auto run = [&](std::initializer_list<std::string_view> words) {
    (void)client.execute(std::span(words.begin(), words.size()));
  };
  run({"GETRANGE", key, "0", "-1"});
  run({"APPEND", key, "x"});
  run({"LINSERT", key, "BEFORE", "a", "b"});
  run({"LPUSH", key, "front"});
  run({"LREM", key, "0", "a"});
  run({"SADD", key, "member", "17"});
  run({"SPOP", key, "2"});
  run({"HSET", key, "field", "value"});
  run({"HDEL", key, "a", "b"});
  run({"ZADD", key, "1.5", "member"});
  run({"ZRANGEBYSCORE", key, "-inf", "+inf"});
  run({"ZPOPMIN", key, "2"});
  run({"XADD", key, "*", "field", "value"});
  run({"XDEL", key, "1-1", "2-1"});
  run({"XREADGROUP", "GROUP", "g1", "alice", "STREAMS", key, ">"});
  run({"XREADGROUP", "GROUP", "g1", "alice", "STREAMS", key, "0"});
  run({"XAUTOCLAIM", key, "g1", "bob", "0", "0"});
  run({"XGROUP", "DELCONSUMER", key, "g1", "alice"});
  run({"XTRIM", key, "MAXLEN", "2"});
  run({"OBJECT", "ENCODING", key});
}

void restore(std::string_view body) {
  std::string payload(body);
  put_fixed(payload, rdb::version, 2);
  put_fixed(payload, rdb::checksum(payload), 8);
  const machine_clock clock;
  engine home(clock);
  home.keys().set_time(1'700'000'000'000);
  auto why = rdb::refusal::none;
  entry* const made = rdb::restore(payload, "key", entry::never, home.home().settings(), why);
  if (made == nullptr) return;
  const auto before = digest::of_value(*made).text();
  entry* const again =
      rdb::restore(rdb::dump(*made), "key", entry::never, home.home().settings(), why);
  assert(again != nullptr);
  assert(digest::of_value(*again).text() == before);
  entry::destroy(again);
  home.keys()[0].add(made, hash_of("key"));
  try_commands(home, "key");
}

void load_file(std::string_view body) {
  std::string text = "REDIS0010";
  text += body;
  const machine_clock clock;
  engine home(clock);
  home.keys().set_time(1'700'000'000'000);
  rdb::file_reader reader(text, home.keys(), home.home().settings());
  while (reader.step(7) == rdb::file_reader::outcome::more) {
  }
}

void read_log(std::string_view body) {
  const machine_clock clock;
  engine home(clock);
  home.keys().set_time(1'700'000'000'000);
  log_reader reader(body, 0, home);
  while (reader.step(7) == log_reader::outcome::more) {
  }
  assert(reader.whole() <= body.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0: restore(body); break;
    case 1: load_file(body); break;
    default: read_log(body); break;
  }
  return 0;
}
