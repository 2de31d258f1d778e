// A command being executed, as the command sees it: its words, its client, its reply, and the few
// operations that nearly every command needs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "runtime/cache/engine/execution.hpp"

namespace strata::runtime::cache {

// Errors of many commands, in Redis's words.
inline constexpr std::string_view wrong_type_error =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr std::string_view not_integer_error = "ERR value is not an integer or out of range";
inline constexpr std::string_view not_float_error = "ERR value is not a valid float";
inline constexpr std::string_view syntax_error = "ERR syntax error";
inline constexpr std::string_view no_key_error = "ERR no such key";
inline constexpr std::string_view overflow_error = "ERR increment or decrement would overflow";
inline constexpr std::string_view stale_data_error =
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
inline constexpr std::string_view out_of_memory_error =
    "OOM command not allowed when used memory > 'maxmemory'.";

class call final : public execution {
 public:
  call(engine& engine, client& client, const command& command,
       std::span<const std::string_view> texts, std::uint64_t first_key_hash)
      : execution(engine, client, command, texts, first_key_hash), reply(client.reply()) {}

  proto::reply_writer& reply;

  /// Returns the data, in all databases.
  [[nodiscard]] keyspace& keys() const { return engine_.keys(); }
  /// Returns the state that all clients share.
  [[nodiscard]] front& home() const { return engine_.home(); }
  /// Evicts keys while memory is short.
  void make_room() { engine_.make_room(); }

  [[nodiscard]] std::size_t size() const { return words.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t index) const { return words[index]; }
  /// Reports whether the word is `option`, which must be in capitals.
  [[nodiscard]] bool is(std::size_t index, std::string_view option) const;
  [[nodiscard]] database& data() { return keys()[who.database]; }
  [[nodiscard]] std::int64_t now_ms() const { return keys().now_ms(); }
  /// Reports whether options that Redis has since version `since` are known: see version.hpp. What
  /// was executed elsewhere before is known here.
  [[nodiscard]] bool knows(unsigned since) const {
    return who.is_replay || home().settings().knows(since);
  }

  // --- keys: `index` is the word that is the key
  [[nodiscard]] std::uint64_t hash(std::size_t index) const {
    return index == what.first_key ? hash_ : hash_of(words[index]);
  }
  /// As `read`, but does not count as an access of the key.
  [[nodiscard]] entry* look(std::size_t index) { return look_key(words[index], hash(index)); }
  [[nodiscard]] entry* look_key(std::string_view key, std::uint64_t hash) {
    entry* const found = keys().find(who.database, key, hash);
    if (found == nullptr) {
      miss(key);
    } else {
      ++keys().counted().hits;
    }
    return found;
  }
  /// For commands that only read: counts a hit or a miss.
  [[nodiscard]] entry* read(std::size_t index) { return read_key(words[index], hash(index)); }
  [[nodiscard]] entry* read_key(std::string_view key, std::uint64_t hash) {
    entry* const found = look_key(key, hash);
    if (found != nullptr) use(*found);
    return found;
  }
  [[nodiscard]] entry* read_key(std::string_view key) { return read_key(key, hash_of(key)); }
  /// For commands that change the key.
  [[nodiscard]] entry* find(std::size_t index) { return find_key(words[index], hash(index)); }
  [[nodiscard]] entry* find_key(std::string_view key, std::uint64_t hash) {
    entry* const found = keys().find(who.database, key, hash);
    if (found != nullptr) use(*found);
    return found;
  }
  [[nodiscard]] entry* find_key(std::string_view key) { return find_key(key, hash_of(key)); }

  /// Returns the value of type `Value` in `entry`, which may be null. Replies with an error and
  /// returns nullopt if it is of another type.
  template <class Value>
  [[nodiscard]] std::optional<Value*> open(entry* entry) {
    if (entry == nullptr) return nullptr;
    if (entry->type() != Value::kind) {
      fail(wrong_type_error);
      return {};
    }
    return &entry->as<Value>();
  }
  template <class Value>
  [[nodiscard]] std::optional<Value*> read_as(std::size_t index) {
    return open<Value>(read(index));
  }
  template <class Value>
  [[nodiscard]] std::optional<Value*> find_as(std::size_t index) {
    return open<Value>(find(index));
  }
  /// As `find_as`, but creates an empty value if there is none.
  template <class Value>
  [[nodiscard]] Value* make_as(std::size_t index) {
    const auto found = find_as<Value>(index);
    if (!found) return nullptr;
    if (*found != nullptr) return *found;
    auto made = std::make_unique<Value>();
    auto* const value = made.get();
    add(entry::make(words[index], std::move(made)), hash(index));
    return value;
  }
  /// Returns a string, or null if there is none. Replies with an error and returns nullopt for
  /// another type.
  [[nodiscard]] std::optional<entry*> open_string(entry* entry) {
    if (entry == nullptr || entry->is_string()) return entry;
    fail(wrong_type_error);
    return {};
  }

  /// Adds a new key's entry, and takes ownership of it.
  entry* add(entry* fresh, std::uint64_t hash);
  /// Sets the key of `fresh` to it, replacing an existing value.
  void store(entry* fresh, std::uint64_t hash);
  /// Removes an existing key, with the event "del".
  void remove(entry* which, std::uint64_t hash);
  /// Removes the key at word `index`, whose value is `value`, if that is empty.
  void drop_if_empty(std::size_t index, const collection& value) {
    if (value.size() == 0) drop_empty(words[index], hash(index));
  }
  void drop_empty(std::string_view key, std::uint64_t hash);
  /// Reports that a key's value was changed to clients that watch it or wait for it, and as an
  /// event. `count` is the number of changes.
  void changed(std::string_view key, event_class kind, std::string_view event,
               std::uint64_t count = 1);

  // --- words as numbers

  /// Parse a number; reply with the error and return nullopt if the word is none.
  [[nodiscard]] std::optional<std::int64_t> integer(std::size_t index,
                                                    std::string_view error = not_integer_error);
  [[nodiscard]] std::optional<double> real(std::size_t index,
                                           std::string_view error = not_float_error);

  // --- replies
  void fail(std::string_view text);
  /// As `fail`, with an error that a command inside this one has had already: it is counted once.
  void fail_again(std::string_view text);
  void fail_syntax() { fail(syntax_error); }
  void fail_arity();
  /// Replies with "ERR unknown subcommand …".
  void fail_subcommand();
  /// Replies for HELP: each line as a simple string.
  void reply_lines(std::span<const std::string_view> lines);

  // --- what is propagated
  /// Propagates these words to listeners instead of the command's own.
  template <class... Words>
  void propagate_as(const Words&... other) {
    const std::array<std::string_view, sizeof...(Words)> list = {std::string_view(other)...};
    propagate_list(list);
  }
  void propagate_list(std::span<const std::string_view> other);

  /// Executes another command inside this one, as part of its reply.
  void execute_inside(const command& other, std::span<const std::string_view> texts) {
    engine_.execute_inside(*this, other, texts);
  }

  // --- keys that are not there
  /// Reports whether the key must first be fetched from the source of keys: the command must then
  /// return at once, and will be executed again. False if there is no source.
  [[nodiscard]] bool has_to_fetch(std::size_t index) {
    return home().source() != nullptr && await_source(words.subspan(index, 1));
  }
  /// As `has_to_fetch`, for all missing keys among the words.
  [[nodiscard]] bool has_to_fetch_some(std::span<const std::string_view> texts);

  // --- blocking
  /// Has the command executed again when one of the keys has changed, until `deadline_ms`; then
  /// `give_up` replies. Not for a client that may not block.
  void wait_for(std::span<const std::string_view> keys, std::optional<std::int64_t> deadline_ms,
                give_up_reply give_up);
  /// Has a command that waits executed again at that time too.
  void retry_at(std::int64_t at_ms) { home().blocked().retry_at(who, at_ms); }
  /// Parses a timeout, such as "0.5" seconds, to a deadline; 0 means forever.
  [[nodiscard]] bool parse_timeout(std::size_t index, std::optional<std::int64_t>& deadline_ms);
  /// Reports whether the command may be served from the key at word `index`: for a waiting client,
  /// only from the key that has changed.
  [[nodiscard]] bool may_serve(std::size_t index) const {
    return !who.waiting || who.waiting->ready == words[index];
  }

 private:
  [[nodiscard]] bool await_source(std::span<const std::string_view> missing);
  void use(entry& entry) {
    if (who.no_touch) return;
    if (is_lfu(keys().limits().policy)) {
      count_use(entry);
    } else {
      entry.set_access(keys().access_clock());
    }
  }
  void count_use(entry& entry) const;
  void miss(std::string_view key);
};

}  // namespace strata::runtime::cache
