-- how busy the machine and each JVM were, second by second, in percent of all CPUs
SELECT round(l.time_ns / 1e9, 3) AS at_s, round(l.duration_ns / 1e9, 3) AS seconds, coalesce(p.pid, 'machine') AS pid,
	round(100.0 * l.user_ns / l.capacity_ns, 1) AS user_percent, round(100.0 * l.system_ns / l.capacity_ns, 1) AS system_percent
FROM cpu_load AS l
LEFT JOIN processes AS p ON p.process_id = l.process_id
ORDER BY l.time_ns, p.pid
