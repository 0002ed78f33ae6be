-- source lines by the samples in which they were innermost
SELECT f.function, f.file, f.line, sum(p.weight) AS samples
FROM profile AS p
JOIN frames AS f ON f.stack_id = p.stack_id AND f.depth = 0
WHERE f.line IS NOT NULL
GROUP BY f.function, f.file, f.line
ORDER BY samples DESC, f.function, f.line
LIMIT 30
