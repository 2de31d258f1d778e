# Sidekiq against a cache: two of its processes, and a client that uses its programming interface.
ENV["REDIS_URL"] = "redis://#{ARGV[0]}:#{ARGV[1]}/0"
require_relative "jobs"
require "sidekiq/api"

PATIENCE = 30

def want(what, got, wanted)
  abort "#{what}: got #{got.inspect}, wanted #{wanted.inspect}" if got != wanted
end

def eventually(what, wanted)
  limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE
  got = yield
  while got != wanted && Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit
    sleep 0.05
    got = yield
  end
  want(what, got, wanted)
end

def results(identifiers)
  Sidekiq.redis { |redis| redis.hmget("results", *identifiers) }
end

# Starts Sidekiq as its users do. When it stops, it waits 4 seconds for the jobs at work: longer
# than the 2 seconds for which an idle thread waits in BRPOP, where it would take a job put back.
def start_sidekiq
  Process.spawn("sidekiq", "--require", File.join(__dir__, "jobs.rb"), "--concurrency", "5",
                "--queue", "default,2", "--queue", "low", "--timeout", "4",
                %i[out err] => "/dev/null")
end

def run_jobs
  jobs = (0...20).map { |number| Double.perform_async(number) }
  jobs += Low.perform_bulk((20...300).map { |number| [number] })
  eventually("Sidekiq's jobs", (0...300).map { |number| (2 * number).to_s }) { results(jobs) }
  eventually("Sidekiq's number of jobs done", 300) { Sidekiq::Stats.new.processed }
  want("Sidekiq's jobs that wait", Sidekiq::Stats.new.enqueued, 0)
  want("Sidekiq's queues", Sidekiq::Queue.all.map(&:name).sort, %w[default low])
end

def run_scheduled
  soon = Double.perform_in(1, 21)
  late = Double.perform_in(3600, 4)
  scheduled = Sidekiq::ScheduledSet.new
  want("Sidekiq's job of a later time", scheduled.find_job(late).args, [4])
  eventually("Sidekiq's scheduled job", ["42"]) { results([soon]) }
  want("Sidekiq's scheduled jobs", scheduled.map(&:jid), [late])
  want("Sidekiq's scan for a job", scheduled.scan("Double").map(&:jid), [late])
  scheduled.find_job(late).add_to_queue
  eventually("Sidekiq's job that is run early", ["8"]) { results([late]) }
  want("Sidekiq's scheduled jobs after that", scheduled.size, 0)
end

def run_failures
  flaky = Flaky.perform_async
  retries = Sidekiq::RetrySet.new
  eventually("Sidekiq's job to be tried again", [flaky]) { retries.map(&:jid) }
  want("Sidekiq's error of a job", retries.first["error_message"], "not yet")
  retries.retry_all
  eventually("Sidekiq's job that is tried again", ["2"]) { results([flaky]) }
  fruitless = Fruitless.perform_async("no number")
  dead = Sidekiq::DeadSet.new
  eventually("Sidekiq's dead job", [fruitless]) { dead.map(&:jid) }
  want("Sidekiq's error of a dead job", dead.first["error_class"], "ArgumentError")
  want("Sidekiq's deletion of a dead job", dead.first.delete, true)
  want("Sidekiq's dead jobs", dead.size, 0)
end

# No process serves this queue.
def run_queue
  jobs = (0...60).map { |number| Aside.perform_async(number) }
  queue = Sidekiq::Queue.new("aside")
  want("Sidekiq's queue", queue.map(&:jid), jobs.reverse)
  want("Sidekiq's age of a queue", queue.latency >= 0, true)
  want("Sidekiq's deletion of a job", queue.find_job(jobs[30]).delete, true)
  want("Sidekiq's size of a queue", queue.size, 59)
  queue.clear
  want("Sidekiq's queue after clear", [queue.size, Sidekiq::Queue.all.map(&:name).sort],
       [0, %w[default low]])
end

def wait_for_end(process)
  eventually("the end of process #{process}", process) { Process.wait(process, Process::WNOHANG) }
end

def process_numbers
  Sidekiq::ProcessSet.new.map { |process| process["pid"] }.sort
end

# A process that stops puts its job back; the other one takes the job over.
def run_processes(numbers)
  eventually("Sidekiq's processes", numbers.sort) { process_numbers }
  Endless.perform_async
  eventually("Sidekiq's job at work", 1) { Sidekiq::WorkSet.new.size }
  holder = Sidekiq::WorkSet.new.first[0]
  process = Sidekiq::ProcessSet.new.find { |each| each["identity"] == holder }
  process.stop!
  wait_for_end(process["pid"])
  numbers.delete(process["pid"])
  other = numbers.first
  eventually("Sidekiq's processes after a stop", [other]) { process_numbers }
  eventually("Sidekiq's job at work in the other process", [other]) do
    Sidekiq::WorkSet.new.map { |identity, _thread, _work| identity.split(":")[1].to_i }
  end
  Process.kill("TERM", other)
  wait_for_end(other)
  numbers.clear
  want("Sidekiq's job after the end", Sidekiq::Queue.new.map(&:klass), ["Endless"])
end

processes = [start_sidekiq, start_sidekiq]
begin
  %i[run_jobs run_scheduled run_failures run_queue].each do |run|
    send(run)
    puts "#{run} done"
  end
  run_processes(processes)
  puts "run_processes done"
ensure
  processes.each { |process| Process.kill("KILL", process) }
end
