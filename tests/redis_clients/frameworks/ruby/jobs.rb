# The jobs of sidekiq.rb, which its client and Sidekiq's own processes load.
require "sidekiq"

Redis.silence_deprecations = true # Debian's Sidekiq uses what its redis gem deprecates

Sidekiq.configure_server do |config|
  config.options[:poll_interval_average] = 1
end

class Double
  include Sidekiq::Job

  def perform(number)
    Sidekiq.redis { |redis| redis.hset("results", jid, 2 * number) }
  end
end

class Low < Double
  sidekiq_options queue: "low"
end

class Aside < Double
  sidekiq_options queue: "aside"
end

# Fails once. Sidekiq tries it again an hour later, or on request.
class Flaky
  include Sidekiq::Job
  sidekiq_retry_in { 3600 }

  def perform
    tries = Sidekiq.redis { |redis| redis.hincrby("tries", jid, 1) }
    raise "not yet" if tries == 1

    Sidekiq.redis { |redis| redis.hset("results", jid, tries) }
  end
end

class Fruitless
  include Sidekiq::Job
  sidekiq_options retry: 0

  def perform(text)
    raise ArgumentError, text
  end
end

class Endless
  include Sidekiq::Job

  def perform
    sleep
  end
end
