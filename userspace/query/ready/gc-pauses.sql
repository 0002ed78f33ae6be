-- the longest pauses of collectors
SELECT p.pid, round(g.time_ns / 1e9, 3) AS at_s, round(g.duration_ns / 1e6, 3) AS ms, g.collector, g.cause, g.what,
	g.before_bytes, g.after_bytes
FROM gc_pause AS g
JOIN processes AS p ON p.process_id = g.process_id
ORDER BY g.duration_ns DESC, g.time_ns
LIMIT 30
