/* sqlite [DATABASE [ROWS]]: builds, queries and changes a table with SQLite.
 *
 * Our program around the amalgamation that `setup.py --large` fetches: a
 * large real library, for compile times and as a whole-program workload.
 * Prints rows and checksums that do not depend on engine or machine. */
#include <stdio.h>
#include <stdlib.h>

#include "sqlite3.h"

static _Noreturn void fail(sqlite3 *db, const char *what) {
    fprintf(stderr, "sqlite: %s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

static void execute(sqlite3 *db, const char *statement) {
    if (sqlite3_exec(db, statement, NULL, NULL, NULL) != SQLITE_OK) fail(db, statement);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *text) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, text, -1, &statement, NULL) != SQLITE_OK) fail(db, text);
    return statement;
}

static void fill(sqlite3 *db, int rows) {
    unsigned random = 12345;
    char name[32];
    execute(db, "CREATE TABLE item (id INTEGER PRIMARY KEY, owner INTEGER, price REAL, name TEXT)");
    execute(db, "BEGIN");
    sqlite3_stmt *insert = prepare(db, "INSERT INTO item (owner, price, name) VALUES (?, ?, ?)");
    for (int i = 0; i < rows; i++) {
        random = random * 1103515245u + 12345u;
        snprintf(name, sizeof name, "item %u", (random >> 8) % 100003);
        sqlite3_bind_int(insert, 1, (int)((random >> 16) % 97));
        sqlite3_bind_double(insert, 2, (double)((random >> 12) % 10000) / 4);
        sqlite3_bind_text(insert, 3, name, -1, SQLITE_TRANSIENT);
        if (sqlite3_step(insert) != SQLITE_DONE) fail(db, "insert");
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    execute(db, "COMMIT");
}

/* Prints every row of a query, columns separated by a bar. */
static void show(sqlite3 *db, const char *query) {
    sqlite3_stmt *select = prepare(db, query);
    int status;
    while ((status = sqlite3_step(select)) == SQLITE_ROW)
        for (int column = 0; column < sqlite3_column_count(select); column++)
            printf("%s%s", (const char *)sqlite3_column_text(select, column),
                   column + 1 < sqlite3_column_count(select) ? "|" : "\n");
    if (status != SQLITE_DONE) fail(db, query);
    sqlite3_finalize(select);
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : ":memory:";
    int rows = argc > 2 ? atoi(argv[2]) : 20000;
    sqlite3 *db;
    if (rows < 1 || rows > 10000000) {
        fprintf(stderr, "usage: sqlite [DATABASE [ROWS]], 1 to 10000000 rows\n");
        return 2;
    }
    if (sqlite3_open(path, &db) != SQLITE_OK) fail(db, path);
    execute(db, "DROP TABLE IF EXISTS item");
    fill(db, rows);
    execute(db, "CREATE INDEX item_owner ON item (owner, price)");
    show(db, "SELECT count(*), sum(price), min(name), max(name) FROM item");
    show(db, "SELECT owner, count(*), round(avg(price), 3) FROM item GROUP BY owner ORDER BY 3 DESC LIMIT 3");
    show(db, "SELECT count(*) FROM item a JOIN item b ON a.owner = b.owner AND b.price > a.price + 2490");
    execute(db, "UPDATE item SET price = price * 2 WHERE owner % 3 = 0");
    execute(db, "DELETE FROM item WHERE name LIKE '%7%'");
    show(db, "SELECT count(*), sum(price), sum(length(name)) FROM item");
    show(db, "SELECT count(DISTINCT substr(name, 6, 2)) FROM item WHERE name >= 'item 5'");
    show(db, "PRAGMA integrity_check");
    if (sqlite3_close(db) != SQLITE_OK) fail(db, "close");
    return 0;
}
