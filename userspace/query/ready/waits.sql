-- what threads were off the CPU for, without idle ones
SELECT reason, class, coalesce(object, '') AS object, count(*) AS times, round(sum(weight_ns) / 1e6, 3) AS ms,
	round(max(duration_ns) / 1e6, 3) AS longest_ms
FROM offcpu
WHERE NOT is_idle
GROUP BY reason, class, object
ORDER BY ms DESC, reason, object
LIMIT 30
