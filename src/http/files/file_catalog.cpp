#include "http/files/file_catalog.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>

#include "http/files/page_script.hpp"
#include "proto/deflate_gzip.hpp"

namespace strata::http {

using namespace std::chrono_literals;

namespace {

// How long a kept file is sent without another check, if its changes are not reported.
constexpr auto trusted_for = 1s;
// The same if its changes are reported: not every change is (change_watch.hpp).
constexpr auto trusted_when_watched = 60s;
// A smaller file gains nothing by compression; a larger one takes the loop too much time.
constexpr std::uint64_t smallest_compressed = 1U << 10U;
constexpr std::uint64_t largest_compressed = 8U << 20U;
// Bytes compressed in one go, in a millisecond or two.
constexpr std::uint64_t largest_at_once = 64U << 10U;
constexpr std::uint64_t largest_page = 8U << 20U;
// Memory of an entry beside its body and its key: fields, and allocation overhead.
constexpr std::size_t entry_cost = 1024;

}  // namespace

struct file_catalog::candidate {
  opened_file file;  // the file whose bytes are sent
  file_version original;
  std::string_view type;
  coding by = coding::identity;
  bool gets_script = false;
  std::unique_ptr<change_watch::followed_file> follows = nullptr;

  [[nodiscard]] bool is_of(const representation& known) const {
    return known.original == original && known.sent == file.version;
  }
};

result<std::unique_ptr<file_catalog>> file_catalog::open(loop::loop& loop,
                                                         const catalog_settings& settings) {
  auto root = file_root::open(settings.folder, "serve the files of '" + settings.folder + "'",
                              "--http takes an existing folder");
  if (!root) return std::unexpected(root.error());
  return std::unique_ptr<file_catalog>(new file_catalog(loop, std::move(*root), settings));
}

file_catalog::file_catalog(loop::loop& loop, file_root root, const catalog_settings& settings)
    : loop_(loop),
      root_(std::move(root)),
      settings_(settings),
      types_(media_types::of_system()),
      watch_(settings.keeps_files ? change_watch::open(loop, root_) : nullptr) {}

file_catalog::~file_catalog() { by_use_.clear(); }

void file_catalog::write_key(const request_path& path, coding_preference preference) {
  key_.assign(1, preference.letter());
  key_ += path.wants_folder ? '/' : '.';
  key_ += path.relative;
}

finding file_catalog::find(const request_path& path, coding_preference preference) {
  write_key(path, preference);
  auto* const known = find_entry(key_);
  if (known != nullptr && is_trusted(*known)) {
    return {.what = known->what};
  }
  std::string name(path.relative);
  if (path.wants_folder) name += name.empty() ? "index.html" : "/index.html";
  auto opened = root_.open_below(name);
  if (!opened && path.wants_folder) return find_folder(path.relative, opened.error());
  if (!opened) return {.status = status_of_open(opened.error())};
  if (opened->is_folder) return {.status = path.wants_folder ? 404 : 301};
  candidate one{.file = std::move(*opened)};
  one.original = one.file.version;
  one.type = types_.of(name);
  one.gets_script = settings_.injects_script && one.type.starts_with("text/html") &&
                    one.original.size <= largest_page;
  follow(one, name);
  if (!one.gets_script) take_variant(one, name, preference);
  // Two changes within one tick of the clock yield one version, so a file reported as changed is
  // read again.
  if (known != nullptr && !known->has_changed() && one.is_of(*known->what)) {
    known->checked = loop_.now();
    known->follows = std::move(one.follows);
    return {.what = known->what};
  }
  if (known != nullptr) drop(*known);
  auto made = make(one, preference);
  if (!made) return {.status = 503};
  if (gets_kept(*made)) {
    made->key = key_;
    keep(made, std::move(one.follows));
  } else if (made->where == representation::storage::to_be_made) {
    made->key = key_;
  }
  return {.what = std::move(made)};
}

finding file_catalog::find_folder(std::string_view relative, int failed_with) const {
  if (failed_with != ENOENT) return {.status = status_of_open(failed_with)};
  const auto folder = root_.open_below(relative);
  if (!folder) return {.status = status_of_open(folder.error())};
  return {.status = 404, .is_folder = folder->is_folder};
}

// Follows the file before confirming its version, so that no change falls between the version that
// is read and the first event.
void file_catalog::follow(candidate& one, std::string_view name) const {
  const bool may_be_kept = one.original.size <= largest_kept || is_compressible(one.type);
  if (!watch_ || !may_be_kept) return;
  one.follows = watch_->follow(name);
  if (one.follows && !root_.is_itself(name, one.original)) one.follows.reset();
}

void file_catalog::take_variant(candidate& one, std::string_view name,
                                coding_preference preference) const {
  if (!is_compressible(one.type) || (!preference.takes_gzip && !preference.takes_brotli)) return;
  const auto open_variant = [&](std::string_view ending) {
    auto opened = root_.open_below(fmt::format("{}{}", name, ending));
    const bool is_right =
        opened && !opened->is_folder && opened->version.modified_s() >= one.original.modified_s();
    return is_right ? std::move(*opened) : opened_file{};
  };
  auto by_brotli = preference.takes_brotli ? open_variant(".br") : opened_file{};
  auto by_gzip = preference.takes_gzip ? open_variant(".gz") : opened_file{};
  one.by = preference.choose(static_cast<bool>(by_gzip.fd), static_cast<bool>(by_brotli.fd));
  if (one.by == coding::brotli) one.file = std::move(by_brotli);
  if (one.by == coding::gzip) one.file = std::move(by_gzip);
  if (one.by == coding::identity || !one.follows) return;
  const auto* const ending = one.by == coding::brotli ? ".br" : ".gz";
  if (!root_.is_itself(fmt::format("{}{}", name, ending), one.file.version)) one.follows.reset();
}

std::shared_ptr<representation> file_catalog::make(candidate& one,
                                                   coding_preference preference) const {
  using enum representation::storage;
  const auto size = one.file.version.size;
  const bool may_compress = one.by == coding::identity && preference.takes_gzip &&
                            is_compressible(one.type) && size > smallest_compressed &&
                            size < largest_compressed;
  const bool is_short = size <= largest_at_once;
  const bool gets_compressed = may_compress && (is_short || !one.gets_script);
  auto made =
      std::make_shared<representation>(describe_file({.type = one.type,
                                                      .original = one.original,
                                                      .sent = one.file.version,
                                                      .by = gets_compressed ? coding::gzip : one.by,
                                                      .is_varied = is_compressible(one.type),
                                                      .has_script = one.gets_script}));
  made->size = size;
  if (gets_compressed && !is_short) made->where = to_be_made;
  const bool is_small = settings_.keeps_files && size <= largest_kept;
  const bool is_read =
      one.gets_script || (gets_compressed && is_short) || (is_small && made->where == open_file);
  if (!is_read || (size == 0 && !one.gets_script)) {
    made->file = std::move(one.file.fd);
    return made;
  }
  made->where = in_memory;
  made->body = read_whole(one.file);
  if (made->body.size() != size) return nullptr;
  if (one.gets_script) {
    made->body = loop::slice::copy_of(as_bytes(with_script(as_text(made->body.bytes()))));
  }
  if (gets_compressed) {
    made->body = loop::slice::copy_of(as_bytes(proto::gzip(made->body.bytes())));
  }
  made->size = made->body.size();
  return made;
}

bool file_catalog::gets_kept(const representation& representation) const {
  const bool is_compressed_here =
      representation.sent == representation.original && !representation.has_ranges;
  return representation.where == representation::storage::in_memory &&
         representation.size <= largest_kept && (settings_.keeps_files || is_compressed_here);
}

void file_catalog::keep_made(const representation& of, std::string_view bytes) {
  auto made = std::make_shared<representation>();
  made->fields = of.fields;
  made->etag = of.etag;
  made->modified_s = of.modified_s;
  made->original = of.original;
  made->sent = of.sent;
  made->key = of.key;
  made->where = representation::storage::in_memory;
  made->body = loop::slice::copy_of(as_bytes(bytes));
  made->size = made->body.size();
  if (auto* const known = find_entry(made->key)) drop(*known);
  keep(std::move(made), nullptr);
}

bool file_catalog::is_trusted(const entry& known) const {
  if (!settings_.keeps_files || known.has_changed()) return false;
  return loop_.now() - known.checked < (known.follows ? trusted_when_watched : trusted_for);
}

file_catalog::entry* file_catalog::find_entry(std::string_view key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  auto& known = *found->second;
  by_use_.splice(by_use_.begin(), by_use_, by_use_.iterator_to(known));
  return &known;
}

void file_catalog::keep(std::shared_ptr<const representation> what,
                        std::unique_ptr<change_watch::followed_file> follows) {
  auto made = std::make_unique<entry>();
  made->what = std::move(what);
  made->checked = loop_.now();
  made->follows = std::move(follows);
  made->cost = made->what->body.pinned() + made->what->key.size() + entry_cost;
  if (made->cost > settings_.most_kept) return;
  while (kept_ + made->cost > settings_.most_kept) drop(by_use_.back());
  kept_ += made->cost;
  by_use_.push_front(*made);
  const std::string_view key = made->what->key;
  entries_.emplace(key, std::move(made));
}

void file_catalog::drop(entry& entry) {
  kept_ -= entry.cost;
  by_use_.erase(by_use_.iterator_to(entry));
  entries_.erase(entries_.find(entry.what->key));
}

}  // namespace strata::http
