-- Something to look at: a table of 20,000 orders, two questions about it and one change. README, "First steps".
DROP DATABASE IF EXISTS shop;
CREATE DATABASE shop;
USE shop;
SET SESSION cte_max_recursion_depth = 20000;
CREATE TABLE orders (id INT AUTO_INCREMENT PRIMARY KEY, customer INT NOT NULL, cents INT NOT NULL,
                     KEY customer (customer));
INSERT INTO orders (customer, cents)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
    SELECT i % 500, i * 37 % 9973 FROM n;
SELECT COUNT(*), SUM(cents) FROM orders WHERE customer = 42;
SELECT customer, SUM(cents) AS total FROM orders GROUP BY customer ORDER BY total DESC LIMIT 5;
UPDATE orders SET cents = cents + 1 WHERE cents < 100;
