// Scripts of EVAL from anywhere, and what they unpack: each gives one reply, and the next script is
// not affected. The first byte chooses what the others are.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "asking_client.hpp"
#include "loop/backends/sim_loop.hpp"
#include "loop/backends/sim_world.hpp"
#include "runtime/cache/scripting/script_evaluator.hpp"

using namespace strata::runtime;
using namespace strata::runtime::cache;

namespace {

class asked_cache {
 public:
  asked_cache()
      : loop_(world_.add_loop()),
        data_(clock_),
        log_(0),
        scripts_(loop_, data_, {.begin_work = [] {}, .end_work = [] {}}, log_) {
    data_.keys().set_time(1'700'000'000'000);
    data_.home().set_evaluator(&scripts_);
  }

  void ask(std::initializer_list<std::string_view> words) {
    client_.ask(std::span(words.begin(), words.size()));
  }

 private:
  strata::loop::sim_world world_{1};
  strata::loop::sim_loop& loop_;
  machine_clock clock_;
  engine data_;
  journal log_;
  script_evaluator scripts_;
  asking_client client_{data_};
};

constexpr std::string_view unpacking = R"(
local bytes = ARGV[1]
pcall(function() return cmsgpack.pack(cmsgpack.unpack(bytes)) end)
pcall(function() return cmsgpack.unpack_limit(bytes, 3, 1) end)
pcall(function() return cjson.encode(cjson.decode(bytes)) end)
for _, layout in ipairs{'>I2hlB', '<i4I8fdxs', 'Bc0s', '!8bli3', 'c5'} do
  pcall(function() return struct.pack(layout, struct.unpack(layout, bytes)) end)
end
local format, rest = bytes:match('^([^,]*),(.*)')
if format then
  pcall(struct.size, format)
  pcall(struct.unpack, format, rest)
  pcall(struct.pack, format, rest, 1, 2.5, -3)
end
return 'done'
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 4096) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  asked_cache on;
  switch (data[0] % 4) {
    case 0: on.ask({"EVAL", text, "1", "key", "argument"}); break;
    case 1: on.ask({"EVAL", unpacking, "0", text}); break;
    case 2: on.ask({"FUNCTION", "LOAD", text}); break;
    default: on.ask({"FUNCTION", "RESTORE", text}); break;
  }
  on.ask({"EVAL", "return {type(string.format), type(redis.call), #KEYS}", "1", "key"});
  on.ask({"FUNCTION", "LIST", "WITHCODE"});
  return 0;
}
