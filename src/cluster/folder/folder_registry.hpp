// A registry in a folder, for daemons on one machine or with a network disk in common.
//
// Each card is written again several times in its time to live, so that it is a sign of life: a
// card that has not changed for that time, by the reader's own clock, counts as gone. A name is
// held by the process that has locked it. Where the disk's locks reach only one machine, a name is
// taken once its card has not changed for longer than its time to live, and a holder whose card was
// replaced knows that it has lost its name: two may then want it at once, but not both keep it.
//
// While the folder takes no writes of this process, since the disk is full or read-only, the others
// may be as unable to renew their cards: then no card counts as gone because it has not changed.
//
// For one loop's thread. Files are accessed on a thread of its own.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/folder/card_files.hpp"
#include "cluster/registry.hpp"
#include "loop/work_thread.hpp"

namespace strata::cluster {

class folder_registry final : public registry {
 public:
  /// Opens the folder. Errors: those of `card_files::open`.
  [[nodiscard]] static result<std::unique_ptr<folder_registry>> open(loop::loop& loop,
                                                                     const std::string& folder,
                                                                     loop::duration ttl);

  loop::task<result<void>> claim(std::string daemon, std::string text) override;
  loop::task<result<void>> renew() override;
  loop::task<result<void>> write(std::string text) override;
  loop::task<result<void>> release() override;
  [[nodiscard]] std::string claim_key() const override { return holder_; }
  void adopt(const std::string& key) override;
  void leave() override { lock_.reset(); }
  loop::task<result<card_texts>> read() override;
  loop::task<result<std::vector<card_change>>> next(loop::time_point limit) override;
  [[nodiscard]] bool confirms_cards() const override { return takes_writes_; }

 private:
  /// A card, as it was found.
  struct sighting {
    file_version version;
    loop::time_point changed;  ///< when this version was first seen
    std::string text;
    bool is_gone = false;  ///< it has not changed for its time to live
  };
  using sightings = std::map<std::string, sighting>;
  /// Another process' card under the wanted name.
  struct rival {
    std::string text;
    loop::time_point changed;  ///< when this text was first seen
  };

  folder_registry(loop::loop& loop, card_files files, std::unique_ptr<loop::work_thread> thread,
                  loop::duration ttl);
  [[nodiscard]] std::string signed_text();
  loop::task<result<void>> take_lock();
  loop::task<result<void>> outlast_rival();
  loop::task<result<void>> replace();
  loop::task<result<std::vector<card_change>>> look();
  std::vector<card_change> compare(sightings present);
  void note_write(const result<void>& written);

  loop::loop& loop_;
  card_files files_;
  loop::duration ttl_;
  std::string holder_;  // this process, in its card
  std::string daemon_;
  std::string text_;        // the card
  std::uint64_t beat_ = 0;  // changes the card with every renewal
  unique_fd lock_;          // of its name; none: another process has it
  std::optional<rival> rival_;
  bool takes_writes_ = true;  // as the last attempt has shown
  sightings seen_;
  std::unique_ptr<loop::work_thread> thread_;  // destroyed first: it works on the files
};

}  // namespace strata::cluster
