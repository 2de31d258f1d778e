// The card of a daemon, as a stranger may have written it: it is written and read again as
// the same.
#include <cstdint>
#include <cstdlib>

#include "cluster/card.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = strata::cluster::read_card(text);
  if (!read) return 0;
  const auto again = strata::cluster::read_card(strata::cluster::write_card(*read));
  if (!again || *again != *read) std::abort();
  return 0;
}
