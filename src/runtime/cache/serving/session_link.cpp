#include "runtime/cache/serving/session_link.hpp"

#include "runtime/cache/values/hash.hpp"
#include "runtime/cache/values/memory.hpp"

namespace strata::runtime::cache {

const request_batch::request* request_batch::add(std::size_t first, std::size_t begin,
                                                 std::size_t end) {
  const auto count = words.size() - first;
  if (count == 0) return nullptr;
  // A pipeline often repeats one command.
  const bool is_repeated =
      !requests.empty() && same_bytes(words[first], words[requests.back().first]);
  const auto* const what = is_repeated ? requests.back().what : find_command(words[first]);
  request made{first, count, what, 0, begin, end};
  if (made.what != nullptr && made.what->first_key != 0 && made.what->first_key < count) {
    made.hash = hash_of(words[first + made.what->first_key]);
  }
  return &requests.emplace_back(made);
}

}  // namespace strata::runtime::cache
