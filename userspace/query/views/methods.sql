-- samples by function or method, each stack once
-- event: what took the samples
-- function: the function or method
-- domain: whose code it is: java, native, kernel, stub
-- self: samples in which it was the innermost frame
-- total: samples of stacks that contain it
SELECT event, function, domain, sum(weight * is_innermost) AS self, sum(weight) AS total
FROM (
	SELECT p.event, f.function, f.domain, p.weight, min(f.depth) = 0 AS is_innermost
	FROM (SELECT event, stack_id, sum(weight) AS weight FROM profile GROUP BY event, stack_id) AS p
	JOIN frames AS f ON f.stack_id = p.stack_id
	GROUP BY p.event, p.stack_id, f.function, f.domain
)
GROUP BY event, function, domain
