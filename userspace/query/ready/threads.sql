-- threads by their samples, with the time they ran and waited
SELECT pr.pid, t.tid, t.name, coalesce(s.samples, 0) AS samples, tt.running_ns, tt.runnable_ns
FROM threads AS t
JOIN processes AS pr ON pr.process_id = t.process_id
LEFT JOIN (SELECT thread_id, sum(weight) AS samples FROM profile GROUP BY thread_id) AS s ON s.thread_id = t.thread_id
LEFT JOIN (SELECT thread_id, sum(running_ns) AS running_ns, sum(runnable_ns) AS runnable_ns FROM thread_time GROUP BY thread_id) AS tt
	ON tt.thread_id = t.thread_id
WHERE s.samples IS NOT NULL OR tt.running_ns IS NOT NULL
ORDER BY samples DESC, tt.running_ns DESC, t.tid
LIMIT 50
