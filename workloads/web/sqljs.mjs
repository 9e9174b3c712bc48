// sql.js: SQLite fills a table, indexes it and answers.
import { check, numbers } from './fixed.mjs';
import initSqlJs from 'sql.js';

const ROWS = 8000;
const { Database } = await initSqlJs();
const db = new Database();
const next = numbers();
db.run('CREATE TABLE part (id INTEGER PRIMARY KEY, kind INTEGER, price REAL, name TEXT)');
db.run('BEGIN');
const insert = db.prepare('INSERT INTO part (kind, price, name) VALUES (?, ?, ?)');
for (let row = 0; row < ROWS; row += 1) insert.run([next() % 97, (next() % 100000) / 100, `part ${next() % 5000}`]);
insert.free();
db.run('COMMIT; CREATE INDEX by_name ON part (name)');
const one = (sql) => db.exec(sql)[0].values;
check(one('SELECT count(*) FROM part')[0][0] === ROWS, 'rows');
check(one('SELECT kind, sum(price), avg(length(name)) FROM part GROUP BY kind ORDER BY 2 DESC').length === 97, 'groups');
const pairs = one('SELECT count(*), sum(a.price * b.price) FROM part a JOIN part b ON a.name = b.name AND a.id < b.id')[0];
check(pairs[0] > ROWS / 2, 'pairs');
one("SELECT name, count(*) FROM part WHERE name LIKE '%42%' GROUP BY name ORDER BY 2, 1");
one('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT sum(i * i % 7) FROM n');
check(one('PRAGMA integrity_check')[0][0] === 'ok', 'integrity');
console.log(pairs.join(' '));
