#include "runtime/cache/serving/session_link.hpp"

#include "runtime/cache/values/hash.hpp"

namespace strata::runtime::cache {

const request_batch::request* request_batch::add(std::size_t first, std::size_t begin,
                                                 std::size_t end) {
  const auto count = words.size() - first;
  if (count == 0) return nullptr;
  request made{first, count, find_command(words[first]), 0, begin, end};
  if (made.what != nullptr && made.what->first_key != 0 && made.what->first_key < count) {
    made.hash = hash_of(words[first + made.what->first_key]);
  }
  return &requests.emplace_back(made);
}

}  // namespace strata::runtime::cache
