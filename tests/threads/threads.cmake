# What crosses threads, for ThreadSanitizer: a daemon without CLI, the tests of `--threads`, and the
# unit tests that start threads or run a runtime.
add_executable(strata_threads ${CMAKE_CURRENT_SOURCE_DIR}/threads/daemon.cpp)
target_link_libraries(strata_threads PRIVATE strata_core)

foreach(source ${unit_sources})
  file(STRINGS ${source} found REGEX "std::(jthread|thread|async)|sim_stage" LIMIT_COUNT 1)
  if(found)
    list(APPEND thread_sources ${source})
  endif()
endforeach()
strata_unit_tests(strata_thread_tests ${thread_sources})

# A simulation has one thread: few seeds are enough here.
add_unit_test(threads_unit 300 strata_thread_tests * STRATA_SEEDS=20)
foreach(backend io_uring epoll)
  foreach(what threads proxy_threads cache_threads)
    add_suite(${what}_${backend} 300 integration/test_${what}.py
      ENVIRONMENT STRATA_BIN=$<TARGET_FILE:strata_threads> STRATA_LOOP=${backend})
  endforeach()
endforeach()
