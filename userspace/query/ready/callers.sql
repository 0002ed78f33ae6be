-- who called the five hottest functions and methods
WITH hot AS (
	SELECT function FROM methods ORDER BY self DESC, function LIMIT 5
), by_stack AS (
	SELECT stack_id, sum(weight) AS weight FROM profile GROUP BY stack_id
)
SELECT leaf.function, coalesce(caller.function, '[none]') AS caller, sum(s.weight) AS samples
FROM by_stack AS s
JOIN frames AS leaf ON leaf.stack_id = s.stack_id AND leaf.depth = 0
LEFT JOIN frames AS caller ON caller.stack_id = s.stack_id AND caller.depth = 1
WHERE leaf.function IN hot
GROUP BY leaf.function, caller.function
ORDER BY samples DESC, leaf.function, caller.function
LIMIT 30
