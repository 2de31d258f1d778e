// Any bytes are a header, the begin of one or an error; a shorter part of a header is its begin;
// and what it says, written again in either version, is read as the same.
#include <cstdlib>

#include "proto/proxy_protocol.hpp"
#include "strata/base/bytes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto seen = strata::as_text(std::as_bytes(std::span(data, size)));
  const auto read = strata::proto::read_proxy_header(seen);
  if (!read || !*read) return 0;
  if ((*read)->size > size) std::abort();
  const auto less = strata::proto::read_proxy_header(seen.substr(0, (*read)->size - 1));
  if (!less || *less) std::abort();
  for (const int version : {1, 2}) {
    const auto text = strata::proto::write_proxy_header(version, (*read)->of);
    const auto again = strata::proto::read_proxy_header(text);
    if (!again || !*again || (*again)->size != text.size()) std::abort();
    if ((*again)->of.has_value() != (*read)->of.has_value()) std::abort();
  }
  return 0;
}
