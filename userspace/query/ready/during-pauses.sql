-- what ran while collectors had stopped the Java threads
SELECT s.function, sum(s.weight) AS samples
FROM gc_pause AS g
JOIN sample_frames AS s ON s.time_ns >= g.time_ns AND s.time_ns < g.time_ns + g.duration_ns
WHERE s.depth = 0 AND g.duration_ns > 0
GROUP BY s.function
ORDER BY samples DESC, s.function
LIMIT 30
