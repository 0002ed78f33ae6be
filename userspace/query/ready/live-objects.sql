-- objects that were still there at the end, by class and site (estimates from samples)
SELECT class, site, count(*) AS samples, sum(weight_bytes) AS bytes, max(collections) AS survived
FROM live
GROUP BY class, site
ORDER BY bytes DESC, class, site
LIMIT 30
