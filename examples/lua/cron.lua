-- Does things again and again: every so many seconds, or at a time of the day (UTC).
local jobs = JOBS or {
  { name = "time", every = 60, run = function() self.broadcast(os.date "!it is %H:%M") end },
  { name = "good morning", at = "06:30", run = function() self.broadcast "good morning" end },
}

local function seconds_until(job)
  if job.every then return job.every end
  local hour, minute = job.at:match "^(%d%d):(%d%d)$"
  local left = (hour * 3600 + minute * 60) - strata.now() % 86400
  return left > 0 and left or left + 86400
end

-- A job that takes long, or fails, holds no other up, and itself only until it has ended.
local function arm(job)
  strata.set_timeout(seconds_until(job) * 1000, function()
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
