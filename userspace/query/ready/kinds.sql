-- how the code that ran was compiled: samples by the kind of the innermost frame
SELECT f.kind, sum(p.weight) AS samples, round(100.0 * sum(p.weight) / sum(sum(p.weight)) OVER (), 2) AS percent
FROM profile AS p
JOIN frames AS f ON f.stack_id = p.stack_id AND f.depth = 0
GROUP BY f.kind
ORDER BY samples DESC, f.kind
