-- what was lost, and what a person should know
SELECT 'loss' AS what, hop || ': ' || kind AS text, count AS times FROM losses
UNION ALL
SELECT 'notice', text, count(*) FROM notices GROUP BY text
ORDER BY 1, 3 DESC, 2
