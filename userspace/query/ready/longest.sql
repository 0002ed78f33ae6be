-- the longest events of all kinds
SELECT kind, round(time_ns / 1e9, 3) AS at_s, round(duration_ns / 1e6, 3) AS ms, coalesce(thread, '') AS thread, name, site
FROM intervals
ORDER BY duration_ns DESC, time_ns
LIMIT 30
