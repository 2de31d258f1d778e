// The payloads of DUMP and RESTORE, and those of FUNCTION DUMP and FUNCTION RESTORE.
#include <utility>

#include "runtime/cache/disk/rdb.hpp"
#include "runtime/cache/values/hash_value.hpp"

namespace strata::runtime::cache::rdb {

namespace {

constexpr std::size_t footer_size = 10;  // the version and the checksum

// The contents of a payload; nullopt if its end does not fit it.
std::optional<std::string_view> checked_payload(std::string_view payload, int newest) {
  if (payload.size() < footer_size) return std::nullopt;
  reader footer(payload.substr(payload.size() - footer_size));
  const auto made_by = footer.fixed(2);
  const auto sum = footer.fixed(8);
  const auto summed = payload.substr(0, payload.size() - 8);
  if (made_by > static_cast<std::uint64_t>(newest) || sum != checksum(summed)) return std::nullopt;
  return payload.substr(0, payload.size() - footer_size);
}

}  // namespace

std::string dump(const entry& entry) {
  writer made;
  made.kind(entry);
  made.value(entry);
  const bool has_times =
      entry.type() == value_kind::hash && entry.as<hash_value>().times() != nullptr;
  made.fixed(has_times ? field_times_version : version, 2);
  made.fixed(checksum(made.text()), 8);
  return std::move(made.text());
}

std::string dump_functions(const function_texts::map& texts) {
  writer made;
  for (const auto& [name, text] : texts) {
    made.put(mark::function);
    made.string(text);
  }
  made.fixed(version, 2);
  made.fixed(checksum(made.text()), 8);
  return std::move(made.text());
}

std::vector<std::string> restore_functions(std::string_view payload, refusal& why) {
  const auto contents = checked_payload(payload, version);
  why = contents ? refusal::none : refusal::wrong_checksum;
  std::vector<std::string> texts;
  if (!contents) return texts;
  reader body(*contents);
  while (body.left() != 0 && !body.failed()) {
    if (body.byte() != static_cast<unsigned>(mark::function)) {
      why = refusal::bad_data;
      return {};
    }
    texts.push_back(body.string());
  }
  if (!body.failed()) return texts;
  why = refusal::bad_data;
  return {};
}

entry* restore(std::string_view payload, std::string_view key, std::int64_t expires_at_ms,
               const parameters& settings, refusal& why) {
  why = refusal::wrong_checksum;
  // Redis 7.2 writes version 11.
  const int newest = settings.knows(version_7_4) ? field_times_version
                                                 : version + (settings.knows(version_7_2) ? 1 : 0);
  const auto contents = checked_payload(payload, newest);
  if (!contents) return nullptr;
  why = refusal::bad_data;
  reader body(*contents);
  const auto kind = body.byte();
  entry* const made = body.value(kind, key, expires_at_ms, settings);
  if (made != nullptr && body.left() != 0) {
    entry::destroy(made);
    return nullptr;
  }
  if (made != nullptr) why = refusal::none;
  return made;
}

}  // namespace strata::runtime::cache::rdb
