// The daemons of a stack, each with a deployment, and which runtimes belong to which of them.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/line/invocation.hpp"
#include "cli/line/outcome.hpp"
#include "cli/stack/deployment.hpp"
#include "stack/document.hpp"

namespace strata::cli {

class fleet {
 public:
  /// A runtime of the stack, on one of its daemons.
  struct placed_runtime {
    stack::described_runtime described;
    cli::deployment* deployment;

    [[nodiscard]] std::string shown_name() const {
      return deployment->shown_name(described.desired.name);
    }
  };
  /// A runtime that belongs to the stack, whether described or not.
  struct placed_name {
    std::string name;
    cli::deployment* deployment;
  };

  /// `call` outlives it.
  fleet(const invocation& call, deployment::settings settings)
      : call_(call), settings_(std::move(settings)) {}
  fleet(const fleet&) = delete;
  fleet& operator=(const fleet&) = delete;

  /// Finds the daemons of the document's runtimes: those of `on`, or those that the command speaks
  /// to. Errors: those of the cluster; not_found, with file, line and column.
  [[nodiscard]] outcome<> find_daemons(const stack::document& document);
  /// Places `selected`, of that document, on its daemons, in its order; in a dry run, by daemons.
  /// Errors: a daemon that does not answer, with file, line and column.
  [[nodiscard]] outcome<std::vector<placed_runtime>> place(
      std::span<const stack::described_runtime> selected);
  /// The runtimes that belong to the stack of that document. If it has `on`, those on other daemons
  /// of the cluster are among them. Errors: those of the daemons.
  [[nodiscard]] outcome<std::vector<placed_name>> members();
  /// Those that the document no longer describes, or not on this daemon.
  [[nodiscard]] outcome<std::vector<placed_name>> stale_members();

  /// Whether runtimes are shown with their daemons.
  [[nodiscard]] bool is_wide() const { return is_wide_; }
  [[nodiscard]] bool is_dry() const { return settings_.is_dry; }
  [[nodiscard]] const std::vector<deed>& deeds() const { return deeds_; }
  /// The deployments on the daemons that the command speaks to.
  [[nodiscard]] std::span<deployment* const> home() const { return home_; }

 private:
  using deployments = std::vector<deployment*>;

  [[nodiscard]] outcome<> find_home();
  [[nodiscard]] outcome<deployments> find_daemons_of(const stack::described_runtime& described);
  [[nodiscard]] outcome<> check_owner(const stack::described_runtime& described) const;
  /// The deployment on the daemon; made if there is none.
  deployment* at(const std::string& daemon);
  void add_holders();
  [[nodiscard]] deployments daemons_of(const std::string& runtime) const;
  [[nodiscard]] refusal refusal_at(const stack::described_runtime& described,
                                   const refusal& reason) const;

  const invocation& call_;
  deployment::settings settings_;
  bool is_wide_ = false;
  nlohmann::json cluster_;  // null unless it is wide
  std::vector<deed> deeds_;
  std::vector<std::unique_ptr<deployment>> deployments_;
  deployments home_;
  stack::document document_;
  std::vector<deployments> daemons_;  // of each runtime of the document
};

}  // namespace strata::cli
