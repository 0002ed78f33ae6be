-- events that take time, with their ends and threads
-- kind: lock, offcpu, gc_pause, ...
-- time_ns: when it began, since the recording's start
-- end_ns: when it ended
-- duration_ns: how long it took
-- process_id: the process
-- thread_id: the thread
-- thread: its name
-- name: what it is about, by kind
-- site: where in the program it happened
SELECT e.kind, e.time_ns, e.time_ns + e.duration_ns AS end_ns, e.duration_ns, e.process_id, e.thread_id, t.name AS thread, e.name, e.site
FROM events AS e
LEFT JOIN threads AS t ON t.thread_id = e.thread_id
WHERE e.duration_ns > 0 AND e.kind NOT IN ('thread_time', 'cpu_load', 'live', 'died', 'uncollected', 'unfreed', 'jni_ref', 'jni_refs')
