-- exceptions by class and by where they were thrown
SELECT class, site, coalesce(caught_in, '[not caught]') AS caught_in, sum(weight) AS exceptions
FROM exception
GROUP BY class, site, caught_in
ORDER BY exceptions DESC, class, site
LIMIT 30
