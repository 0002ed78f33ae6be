-- samples of each second, and how many CPUs had them
SELECT time_ns / 1000000000 AS second, sum(weight) AS samples, count(DISTINCT cpu) AS cpus, count(DISTINCT thread_id) AS threads
FROM samples
GROUP BY second
ORDER BY second
