/* sqlite FILE: runs a script of SQL, statement by statement, on a database in a
 * file, and prints every row, or the error where one is meant to happen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sqlite3.h"

static const char *const script[] = {
    "PRAGMA journal_mode = DELETE",
    "CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, born TEXT)",
    "CREATE TABLE item (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL REFERENCES owner (id), price REAL"
    " CHECK (price >= 0), kind TEXT COLLATE NOCASE, note BLOB)",
    "CREATE TABLE history (at INTEGER PRIMARY KEY AUTOINCREMENT, item INTEGER, was REAL, became REAL)",
    "PRAGMA foreign_keys = ON",
    /* Transactions, and rows from a recursive query. */
    "BEGIN",
    "INSERT INTO owner WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)"
    " SELECT i, printf('owner %03d', i * 37 % 101), date('1970-01-01', (i * 331) || ' days') FROM n",
    "INSERT INTO item WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)"
    " SELECT i, i * 7919 % 40 + 1, (i * 104729 % 10007) / 8.0, substr('RodLineLeadKeel', 1 + i % 4 * 4, 4),"
    " zeroblob(i % 17) FROM n",
    "COMMIT",
    "CREATE INDEX item_owner ON item (owner, price DESC)",
    "CREATE INDEX item_dear ON item (kind) WHERE price > 1000",
    "CREATE TRIGGER item_price AFTER UPDATE OF price ON item BEGIN"
    " INSERT INTO history (item, was, became) VALUES (old.id, old.price, new.price); END",
    "CREATE VIEW dear AS SELECT o.name, i.* FROM item i JOIN owner o ON o.id = i.owner WHERE i.price > 1000",
    "ANALYZE",
    /* Joins, groups, windows, sets. */
    "SELECT o.name, count(*), round(avg(i.price), 3), max(i.kind) FROM owner o JOIN item i ON i.owner = o.id"
    " GROUP BY o.id HAVING count(*) > 2 ORDER BY 3 DESC LIMIT 5",
    "SELECT o.name, i.id FROM owner o LEFT JOIN item i ON i.owner = o.id AND i.price > 1245 ORDER BY 1 LIMIT 8",
    "SELECT count(*), sum(a.price > b.price) FROM item a JOIN item b USING (owner) WHERE a.id % 50 = 0 AND b.id % 77 = 0",
    "SELECT id, price, rank() OVER w, round(sum(price) OVER (w ROWS 2 PRECEDING), 3), lag(id) OVER w FROM item"
    " WHERE owner = 7 WINDOW w AS (ORDER BY price DESC, id) LIMIT 6",
    "SELECT kind, count(*), total(price) FROM dear GROUP BY kind ORDER BY kind",
    "SELECT kind FROM item WHERE id < 20 EXCEPT SELECT 'lead' UNION SELECT 'buoy' ORDER BY 1",
    "SELECT group_concat(name, ';') FROM (SELECT name FROM owner WHERE born BETWEEN '1980-01-01' AND '1985-12-31' ORDER BY born)",
    "EXPLAIN QUERY PLAN SELECT price FROM item WHERE owner = 3 ORDER BY price DESC",
    /* Changes inside savepoints, some of them undone. */
    "SAVEPOINT outside",
    "UPDATE item SET price = price * 2 WHERE owner = 3 AND id < 400",
    "SAVEPOINT inside",
    "DELETE FROM item WHERE kind = 'LEAD'",
    "SELECT count(*), total(price) FROM item",
    "ROLLBACK TO inside",
    "SELECT count(*), total(price) FROM item",
    "RELEASE outside",
    "SELECT count(*), round(sum(became - was), 4) FROM history",
    "INSERT INTO owner (id, name) VALUES (1, 'taken') ON CONFLICT (id) DO UPDATE SET name = 'renamed' RETURNING id, name",
    /* What must be refused. */
    "INSERT INTO owner (name) VALUES ('renamed')",
    "INSERT INTO item (owner, price) VALUES (1, -1)",
    "INSERT INTO item (owner, price) VALUES (999, 1)",
    "INSERT INTO item (owner) VALUES (NULL)",
    "SELECT nothing FROM nowhere",
    "SELEKT 1",
    "SELECT abs(-9223372036854775808)",
    /* Functions, JSON, full text, geometry. */
    "SELECT round(exp(1), 12), round(pow(2, 0.5), 12), round(ln(10), 12), 7 % -3, 1 << 40, ~5, 9e99, 0.1 + 0.2, 1e300 * 1e10",
    "SELECT upper('keel'), trim('  x '), replace('a-b-c', '-', '+'), instr('fathom', 'tho'), hex('lead'), quote(x'00ff'),"
    " unicode('é'), char(8364), substr('sounding', -4, 3), like('f%m', 'Fathom'), 'abc' GLOB 'a[bc]*'",
    "SELECT strftime('%Y-%m-%d %H:%M:%S', 1700000000, 'unixepoch', '+1 month', 'start of day'), julianday('2024-02-29')",
    "SELECT json_extract('{\"a\":[1,2,{\"b\":null}],\"c\":\"x\\u00e9\"}', '$.a[2]', '$.c', '$.a[1]'),"
    " json_group_array(value) FROM json_each('[3,1,[2],\"s\"]')",
    "CREATE VIRTUAL TABLE log USING fts5 (text)",
    "INSERT INTO log SELECT printf('mark %d: %s and %s under the keel', id, kind, kind) FROM item WHERE id <= 500",
    "SELECT count(*), min(rowid) FROM log WHERE log MATCH 'lead NEAR keel NOT 12'",
    "SELECT snippet(log, 0, '<', '>', '..', 4) FROM log WHERE log MATCH '\"mark 44*\" OR 77' ORDER BY rank, rowid LIMIT 3",
    "CREATE VIRTUAL TABLE place USING rtree (id, west, east, south, north)",
    "INSERT INTO place SELECT id, id % 90, id % 90 + 3, id % 70, id % 70 + 2 FROM item WHERE id <= 900",
    "SELECT count(*), sum(id) FROM place WHERE west >= 10 AND east <= 30 AND south > 5 AND north < 40",
    /* The whole of it once more, written anew. */
    "VACUUM",
    "REINDEX",
    "PRAGMA integrity_check",
    "PRAGMA foreign_key_check",
    "PRAGMA page_count",
    "SELECT count(*), sum(length(note)), total(price), sum(id * owner) FROM item",
};

/* Prints a statement's rows, columns separated by bars, or its error. */
static void run(sqlite3 *db, const char *text) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, text, -1, &statement, NULL) != SQLITE_OK) {
        printf("error: %s\n", sqlite3_errmsg(db));
        return;
    }
    int status;
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
        int columns = sqlite3_column_count(statement);
        for (int column = 0; column < columns; column++) {
            const char *value = (const char *)sqlite3_column_text(statement, column);
            printf("%s%s", value == NULL ? "NULL" : value, column + 1 < columns ? "|" : "\n");
        }
    }
    if (status != SQLITE_DONE) printf("error: %s\n", sqlite3_errmsg(db));
    sqlite3_finalize(statement);
}

int main(int argc, char **argv) {
    sqlite3 *db;
    if (argc != 2) {
        fprintf(stderr, "usage: sqlite FILE\n");
        return 2;
    }
    printf("SQLite %s\n", sqlite3_libversion());
    /* Twice: the second time the file that the first one left is read. */
    for (int round = 0; round < 2; round++) {
        if (sqlite3_open(argv[1], &db) != SQLITE_OK) {
            fprintf(stderr, "%s: %s\n", argv[1], sqlite3_errmsg(db));
            return 1;
        }
        if (round == 1) {
            run(db, "SELECT count(*), total(price) FROM item");
            run(db, "SELECT name, type FROM sqlite_schema WHERE name NOT LIKE 'log%' AND name NOT LIKE 'place%' ORDER BY 1");
        } else {
            for (size_t i = 0; i < sizeof script / sizeof *script; i++) run(db, script[i]);
        }
        if (sqlite3_close(db) != SQLITE_OK) return 1;
    }
    return 0;
}
