-- pauses by collector and cause
SELECT collector, cause, count(*) AS pauses, round(sum(duration_ns) / 1e6, 3) AS ms, round(max(duration_ns) / 1e6, 3) AS longest_ms,
	sum(before_bytes - after_bytes) AS freed_bytes
FROM gc_pause
GROUP BY collector, cause
ORDER BY ms DESC, cause
