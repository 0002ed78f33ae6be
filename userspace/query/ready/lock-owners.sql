-- who held locks that others waited for, and where they let go
SELECT l.class, coalesce(o.name, '[not known]') AS owner, s.site AS owner_site, w.name AS waiter, count(*) AS waits,
	round(sum(l.weight_ns) / 1e6, 3) AS ms
FROM lock AS l
LEFT JOIN threads AS o ON o.thread_id = l.owner_thread_id
LEFT JOIN threads AS w ON w.thread_id = l.thread_id
LEFT JOIN stacks AS s ON s.stack_id = l.owner_stack_id
GROUP BY l.class, o.name, s.site, w.name
ORDER BY ms DESC, l.class, waiter
LIMIT 30
