// The simulated world's disk.
#include <algorithm>

#include "loop/backends/sim_operation.hpp"
#include "loop/backends/sim_world.hpp"

namespace strata::loop {

namespace {

class kept_view final : public file_view {
 public:
  explicit kept_view(std::string bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::string_view bytes() const override { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace

void sim_world::write_file(endpoint& endpoint, sim_operation& operation) {
  if (faults.disk_full) {
    finish(operation, -ENOSPC);
    return;
  }
  std::size_t size = operation.bytes.size();
  if (chance(faults.short_write)) size = 1 + draw(size);
  files_[endpoint.path].bytes.append(operation.bytes, 0, size);
  finish(operation, static_cast<int>(size));
}

// Bytes appended during the sync are not part of it.
void sim_world::sync_file(endpoint& endpoint, sim_operation& operation) {
  endpoint.writers.push_back(&operation);  // completed when the descriptor closes
  schedule(random_delay(), [this, file = endpoint.id, id = operation.id,
                            size = files_[endpoint.path].bytes.size()] {
    const auto asked = operations_.find(id);
    if (asked == operations_.end()) return;
    const bool fails = chance(faults.sync_failure);
    if (auto* const still = by_id(file)) {
      auto& synced = files_[still->path];
      synced.is_torn = synced.is_torn || fails;
      if (!synced.is_torn) synced.safe = std::max(synced.safe, size);
      std::erase(still->writers, asked->second);
    }
    finish(*asked->second, fails ? -EIO : 0);
  });
}

sim_world::disk sim_world::disk_after_crash() {
  disk left = files_;
  for (const auto& [path, file] : replaced_) {
    if (chance(0.5)) left[path] = file;
  }
  for (auto& [path, file] : left) {
    file.bytes.resize(file.safe + draw(file.bytes.size() - file.safe + 1));
    file.safe = file.bytes.size();
    file.is_torn = false;
  }
  return left;
}

result<std::unique_ptr<file_view>> sim_world::open(const std::string& path) {
  const auto found = files_.find(path);
  if (found == files_.end()) return system_failure(ENOENT, "open '" + path + "'");
  return std::make_unique<kept_view>(found->second.bytes);
}

result<void> sim_world::truncate(const std::string& path, std::uint64_t size) {
  auto& file = files_[path];
  file.bytes.resize(size);
  file.safe = size;
  return {};
}

// A descriptor stays with its file: after a rename, a descriptor of the replaced file belongs to a
// nameless file.
result<void> sim_world::rename(const std::string& text, const std::string& destination) {
  const auto found = files_.find(text);
  if (found == files_.end()) return system_failure(ENOENT, "rename '" + text + "'");
  for (const auto& each : endpoints_) {
    if (each == nullptr || each->is != endpoint::role::file) continue;
    if (each->path == destination) {
      each->path = "nameless " + std::to_string(each->id);
    } else if (each->path == text) {
      each->path = destination;
    }
  }
  if (const auto before = files_.find(destination); before != files_.end()) {
    replaced_.try_emplace(destination, before->second);
  }
  files_[destination] = std::move(found->second);
  files_.erase(found);
  return {};
}

result<void> sim_world::sync_folder_of(const std::string& path) {
  if (chance(faults.folder_sync_failure)) {
    return system_failure(EIO, "sync the folder of '" + path + "'");
  }
  replaced_.clear();
  return {};
}

result<void> sim_world::remove(const std::string& path) {
  files_.erase(path);
  return {};
}

}  // namespace strata::loop
