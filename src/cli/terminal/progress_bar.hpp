// The progress of a long operation.
#pragma once

#include <string>

namespace strata::cli {

/// On standard error, if that is a terminal; otherwise invisible. The destructor removes it.
class progress_bar {
 public:
  progress_bar();
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;
  ~progress_bar() { clear(); }

  /// `part` is from 0 to 1.
  void show(double part, const std::string& next);
  /// For an operation of unknown duration.
  void show(const std::string& next);
  void clear();

 private:
  void write(const std::string& line);

  bool has_terminal_;
  bool is_shown_ = false;
};

}  // namespace strata::cli
