-- why stacks of samples are not whole
SELECT s.cause, sum(p.weight) AS samples, round(100.0 * sum(p.weight) / sum(sum(p.weight)) OVER (), 2) AS percent
FROM profile AS p
JOIN stacks AS s ON s.stack_id = p.stack_id
GROUP BY s.cause
ORDER BY samples DESC, s.cause
