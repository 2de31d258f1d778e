// A listpack from anywhere: what is taken can be walked through both ways, changed, and dumped.
#include <cassert>
#include <cstdint>
#include <string_view>

#include "runtime/cache/values/int_set.hpp"
#include "runtime/cache/values/pack.hpp"

using strata::runtime::cache::int_set;
using strata::runtime::cache::pack;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto numbers = int_set::load(bytes)) {
    assert(numbers->dump() == bytes);
    for (std::size_t i = 0; i < numbers->size(); ++i) assert(numbers->contains((*numbers)[i]));
  }
  auto loaded = pack::load(bytes);
  if (!loaded) return 0;
  std::size_t count = 0;
  for (auto at = loaded->first(); at != pack::none; at = loaded->next(at)) {
    assert(loaded->equals(at, loaded->at(at).text()));
    ++count;
  }
  assert(count == loaded->size());
  for (auto at = loaded->last(); at != pack::none; at = loaded->previous(at)) --count;
  assert(count == 0);
  assert(pack::load(loaded->dump()));
  loaded->push_front("front");
  loaded->push_back("12345");
  loaded->erase(loaded->seek(static_cast<std::int64_t>(loaded->size() / 2)));
  return 0;
}
