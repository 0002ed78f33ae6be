-- samples by CPU
SELECT cpu, sum(weight) AS samples, count(DISTINCT thread_id) AS threads
FROM samples
GROUP BY cpu
ORDER BY cpu
