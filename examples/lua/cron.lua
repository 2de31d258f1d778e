-- Does things again and again: every so many seconds, or at a time of the day (UTC).
local jobs = JOBS or {
  { name = "time", every = 60, run = function() self.broadcast(os.date "!it is %H:%M") end },
  { name = "good morning", at = "06:30", run = function() self.broadcast "good morning" end },
}

local day = 86400

-- When a job is due next. A timer and the time of day are two clocks: a job may run a moment before
-- its time, so a day is counted from when it was due, not from now.
local function next_time(job)
  if job.every then return strata.now() + job.every end
  local hour, minute = job.at:match "^(%d%d):(%d%d)$"
  local after = math.max(math.floor(strata.now()), job.due or 0)
  return after + day - (after - hour * 3600 - minute * 60) % day
end

-- A job that takes long, or fails, delays no other, and itself only until it has ended.
local function arm(job)
  job.due = next_time(job)
  strata.set_timeout(math.max(job.due - strata.now(), 0) * 1000, function()
    local done, why = pcall(job.run)
    if not done then
      strata.log { level = "error", message = "a job failed", job = job.name, why = why }
    end
    arm(job)
  end)
end

function on_start()
  for _, job in ipairs(jobs) do arm(job) end
end

function on_message() end
