-- safepoints by operation, with the time that threads took to stop
SELECT operation, count(*) AS safepoints, round(sum(duration_ns) / 1e6, 3) AS ms, round(sum(to_safepoint_ns) / 1e6, 3) AS to_safepoint_ms,
	round(max(to_safepoint_ns) / 1e6, 3) AS longest_to_safepoint_ms
FROM safepoint
GROUP BY operation
ORDER BY ms DESC, operation
