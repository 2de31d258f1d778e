#include "runtime/scripting/shared_store.hpp"

#include <utility>

#include "loop/timer.hpp"

namespace strata::runtime::scripting {

namespace {

std::optional<shared_store::clock::time_point> end_of(std::optional<double> lives) {
  if (!lives) return std::nullopt;
  return shared_store::clock::now() + loop::from_seconds(*lives);
}

}  // namespace

std::size_t memory_of(const nlohmann::json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().size() + 64;
  if (!value.is_structured()) return 64;
  std::size_t sum = 64;
  for (const auto& [key, each] : value.items()) sum += key.size() + memory_of(each);
  return sum;
}

shared_store::kept* shared_store::find(const std::string& name) {
  const auto found = all_.find(name);
  if (found == all_.end()) return nullptr;
  if (!found->second.until || *found->second.until > clock::now()) return &found->second;
  bytes_ -= found->second.bytes;
  all_.erase(found);
  return nullptr;
}

void shared_store::forget_old() {
  const auto now = clock::now();
  for (auto each = all_.begin(); each != all_.end();) {
    if (each->second.until && *each->second.until <= now) {
      bytes_ -= each->second.bytes;
      each = all_.erase(each);
    } else {
      ++each;
    }
  }
}

bool shared_store::put(const std::string& name, nlohmann::json value,
                       std::optional<clock::time_point> until) {
  const auto bytes = name.size() + memory_of(value);
  const auto* const before = find(name);
  const auto freed = before == nullptr ? 0 : before->bytes;
  if (bytes_ - freed + bytes > most_bytes) {
    forget_old();
    if (bytes_ - freed + bytes > most_bytes) return false;
  }
  bytes_ += bytes - freed;
  all_[name] = {std::move(value), until, bytes};
  return true;
}

std::optional<nlohmann::json> shared_store::get(const std::string& name) {
  const std::lock_guard held(lock_);
  const auto* const found = find(name);
  if (found == nullptr) return std::nullopt;
  return found->value;
}

bool shared_store::set(const std::string& name, nlohmann::json value, std::optional<double> lives) {
  const std::lock_guard held(lock_);
  return put(name, std::move(value), end_of(lives));
}

std::optional<double> shared_store::add(const std::string& name, double difference,
                                        std::optional<double> lives) {
  const std::lock_guard held(lock_);
  const auto* const found = find(name);
  const double before =
      found != nullptr && found->value.is_number() ? found->value.get<double>() : 0;
  const auto until = found != nullptr && !lives ? found->until : end_of(lives);
  if (!put(name, before + difference, until)) return std::nullopt;
  return before + difference;
}

bool shared_store::remove(const std::string& name) {
  const std::lock_guard held(lock_);
  const auto* const found = find(name);
  if (found == nullptr) return false;
  bytes_ -= found->bytes;
  all_.erase(name);
  return true;
}

}  // namespace strata::runtime::scripting
