-- the longest compilations
SELECT method, level, is_osr, is_failed, round(duration_ns / 1e6, 3) AS ms, size_bytes, round(time_ns / 1e9, 3) AS at_s
FROM compile
ORDER BY duration_ns DESC, time_ns
LIMIT 30
