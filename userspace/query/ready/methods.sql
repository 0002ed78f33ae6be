-- functions and methods by the samples in which they were innermost
SELECT function, domain, self, round(100.0 * self / sum(self) OVER (), 2) AS self_percent, total
FROM methods
WHERE event = (SELECT value FROM facts WHERE key = 'record.event')
ORDER BY self DESC, total DESC, function
LIMIT 30
