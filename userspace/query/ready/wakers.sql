-- which thread ended the waits of which
SELECT coalesce(w.name, '[not a recorded thread]') AS waker, t.name AS thread, o.reason, count(*) AS times,
	round(sum(o.weight_ns) / 1e6, 3) AS ms
FROM offcpu AS o
JOIN threads AS t ON t.thread_id = o.thread_id
LEFT JOIN threads AS w ON w.thread_id = o.waker_thread_id
WHERE NOT o.is_idle
GROUP BY w.name, t.name, o.reason
ORDER BY ms DESC, waker, thread
LIMIT 30
