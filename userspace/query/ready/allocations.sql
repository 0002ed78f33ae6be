-- allocated bytes by class and site (estimates from samples)
SELECT class, site, count(*) AS samples, sum(weight_bytes) AS bytes
FROM alloc
GROUP BY class, site
ORDER BY bytes DESC, class, site
LIMIT 30
