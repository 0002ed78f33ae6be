-- samples by the file that the innermost code is from
SELECT coalesce(f.module, '[Java]') AS module, sum(p.weight) AS samples
FROM profile AS p
JOIN frames AS f ON f.stack_id = p.stack_id AND f.depth = 0
GROUP BY 1
ORDER BY samples DESC, module
LIMIT 30
