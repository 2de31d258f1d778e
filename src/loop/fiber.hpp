// A stack of its own for functions that may be interrupted: the loop goes on meanwhile, and
// continues them later where they were.
//
// One function at a time; the stack is used again for the next one. For one thread. A coroutine
// (task.hpp) is the usual way to wait; a fiber is for code that cannot be one, since others call it
// from C. Stacks are switched without a system call.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <functional>

namespace strata::loop {

class fiber {
 public:
  fiber();
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;
  /// No function must be interrupted.
  ~fiber();

  /// Runs `body` until it ends or is interrupted; returns whether it has ended. None must be
  /// interrupted. It must not throw.
  [[nodiscard]] bool run(std::function<void()> body);
  /// Continues the interrupted function; returns as `run`.
  [[nodiscard]] bool resume();
  /// Called by the function: interrupts it, and returns when it is continued.
  void interrupt();

  /// Reports whether the code that asks runs on this stack.
  [[nodiscard]] bool is_inside() const { return is_inside_; }
  [[nodiscard]] bool is_interrupted() const { return body_ && !is_inside_; }

 private:
  // What a sanitizer is told of a stack; nothing in other builds.
  struct stack_notes {
    void* fake = nullptr;    // AddressSanitizer's own frames of the stack that is left
    void* thread = nullptr;  // ThreadSanitizer's name of the stack
    const void* bottom = nullptr;
    std::size_t size = 0;
  };

  void serve(boost::context::fiber&& outside);
  void enter();
  static void note_leaving(stack_notes& left, const stack_notes& entered, bool ends);
  static void note_arrival(stack_notes& entered, stack_notes* left);

  boost::context::fiber inside_;   // while it does not run
  boost::context::fiber outside_;  // while this stack is used
  stack_notes here_;
  stack_notes there_;  // of the stack that has entered this one
  std::function<void()> body_;
  bool is_inside_ = false;
  bool is_over_ = false;
};

}  // namespace strata::loop
