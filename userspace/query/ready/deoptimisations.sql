-- methods whose compiled code was left, by reason
SELECT method, reason, action, count(*) AS times
FROM deopt
GROUP BY method, reason, action
ORDER BY times DESC, method, reason
LIMIT 30
