-- contended locks by class and by where threads waited for them
SELECT class, site, count(*) AS waits, round(sum(weight_ns) / 1e6, 3) AS ms, round(max(duration_ns) / 1e6, 3) AS longest_ms,
	count(DISTINCT thread_id) AS threads
FROM lock
GROUP BY class, site
ORDER BY ms DESC, class, site
LIMIT 30
