/**
 * Texts that PostgreSQL would run, possibly after some change, and that must be refused with a QueryError for any sheet with the fields
 * `id` and `n` (an integer). The corpus of {@link ./hostile-sql.ts} is written for SQLite.
 */

/** Calls of functions that read files, sleep, lock, write, run SQL from texts, or reveal the server. */
const CALLS = [
  // Settings and roles.
  "set_config('role', 'colophon', false)", "set_config('statement_timeout', '0', false)", "current_setting('data_directory')",
  "current_setting('role')", 'pg_catalog.set_config(id, id, true)', '"set_config"(id, id, true)', 'SET_CONFIG(id, id, false)',
  'set_config/**/(id, id, false)', "set_config -- (\n('a.b', 'c', true)", 'setseed(0.5)', 'pg_reload_conf()', 'pg_rotate_logfile()',
  "has_table_privilege('$data', 'SELECT')", "pg_has_role('colophon', 'MEMBER')", 'row_security_active(1)',
  // SQL in texts.
  `query_to_xml('SELECT * FROM "$data"', true, true, '')`, `query_to_xml_and_xmlschema('TABLE "$sheet"', true, true, '')`,
  "table_to_xml('\"$data\"', true, true, '')", "schema_to_xml('public', true, true, '')", "database_to_xml(true, true, '')",
  "cursor_to_xml('c', 1, true, true, '')", `ts_stat('SELECT line FROM "$provenance"')`, "ts_rewrite('a', 'SELECT 1, 2')",
  "dblink('dbname=postgres', 'SELECT 1')", "dblink_exec('DROP TABLE x')", "xpath_table('a', 'b', 'c', 'd', 'e')",
  // Files and programs.
  "pg_read_file('/etc/passwd')", "pg_read_binary_file('postgresql.conf')", "pg_ls_dir('.')", "pg_stat_file('postgresql.conf')",
  'pg_ls_logdir()', 'pg_ls_waldir()', 'pg_ls_tmpdir()', 'pg_current_logfile()', "pg_file_write('x', 'y', false)",
  "lo_import('/etc/passwd')", "lo_export(1, '/tmp/x')", 'lo_create(0)', 'lo_creat(-1)', "lo_from_bytea(0, '\\x00')", 'lo_get(1)',
  "lo_put(1, 0, '\\x00')", 'lo_unlink(1)', 'lo_open(1, 131072)', 'loread(0, 10)', "lowrite(0, '\\x00')",
  // Time and other sessions.
  'pg_sleep(10)', "pg_sleep_for('10 s')", "pg_sleep_until(now() + interval '10 s')", 'pg_cancel_backend(1)',
  'pg_terminate_backend(1)', 'pg_backend_pid()', 'pg_blocking_pids(1)', 'pg_advisory_lock(1)', 'pg_try_advisory_lock(1)',
  'pg_advisory_xact_lock(1)', 'pg_advisory_lock_shared(1)', 'pg_advisory_unlock_all()', "pg_notify('a', 'b')",
  'pg_listening_channels()', 'pg_notification_queue_usage()', 'pg_export_snapshot()', 'pg_stat_get_activity(NULL)',
  'pg_log_backend_memory_contexts(1)', 'pg_stat_reset()', 'pg_stat_get_backend_idset()', 'pg_get_backend_memory_contexts()',
  // Writing.
  "nextval('x')", "setval('x', 1)", "currval('x')", 'lastval()', 'pg_current_wal_lsn()', 'pg_switch_wal()', 'txid_current()',
  'pg_current_xact_id()', 'pg_create_restore_point(id)', "pg_logical_emit_message(true, 'a', 'b')", 'pg_promote()',
  "pg_create_physical_replication_slot('x')", "pg_logical_slot_get_changes('x', NULL, NULL)", 'pg_replication_origin_create(id)',
  'brin_summarize_new_values(1)', "gin_clean_pending_list('x')", "pg_import_system_collations('pg_catalog')",
  'pg_extension_config_dump(1, id)', "binary_upgrade_set_next_pg_type_oid(1)", 'pg_restore_relation_stats()',
  // The catalog and the server.
  'version()', 'current_database()', 'current_schemas(true)', 'current_query()', 'inet_server_addr()', 'inet_client_addr()',
  'pg_postmaster_start_time()', 'pg_conf_load_time()', 'pg_is_in_recovery()', "to_regclass('pg_authid')", "to_regrole('colophon')",
  "to_regproc('pg_sleep')", "to_regnamespace('public')", "pg_relation_size('\"$data\"')", "pg_total_relation_size('records')",
  'pg_database_size(1)', "pg_tablespace_size('pg_default')", "pg_get_viewdef('records')", 'pg_get_viewdef(1)', 'pg_get_functiondef(1)',
  "pg_get_userbyid(10)", 'pg_get_keywords()', 'pg_show_all_settings()', 'pg_show_all_file_settings()', 'pg_hba_file_rules()',
  'pg_lock_status()', 'pg_prepared_statement()', 'pg_cursor()', 'pg_config()', 'pg_timezone_names()', 'pg_control_system()',
  'pg_available_extensions()', 'pg_describe_object(1, 1, 0)', 'obj_description(1)', 'col_description(1, 1)', 'shobj_description(1, id)',
  'pg_typeof(id)', 'pg_column_size(id)', 'pg_relation_filepath(1)', 'pg_table_is_visible(1)', 'pg_input_is_valid(id, id)',
  "pg_input_error_info(id, 'regclass')", 'pg_sequence_last_value(1)', 'format_type(1, 2)', 'pg_options_to_table(NULL)', 'aclexplode(NULL)',
  'acldefault(id::"char", 1)', 'makeaclitem(1, 1, id, true)', 'row_to_xml(1)', 'pg_collation_for(id)', 'pg_snapshot_xmin(NULL)',
  'txid_snapshot_xmin(NULL)', 'pg_mcv_list_items(NULL)', 'pg_get_catalog_foreign_keys()', 'pg_event_trigger_ddl_commands()',
  // Casts by which texts become what they name.
  "regclass('pg_authid')", "regrole('colophon')", 'oidvectorin(id)', 'regclassin(id)', "textin('x')", 'record_in(id, 1, 1)',
  'array_in(id, 1, 1)', 'domain_in(id, 1, 1)', 'int4in(id)', 'fmgr_sql_validator(1)', 'plpgsql_call_handler()', 'array_fill(1, array[9])',
] // prettier-ignore

/** Expressions that name more than records without calling anything. */
const EXPRESSIONS = [
  "'pg_authid'::regclass", "CAST('pg_authid' AS regclass)", "regclass 'pg_authid'", "'{pg_authid}'::regclass[]", "'pg_sleep'::regproc",
  "'{pg_authid}'::_regclass", "'pg_sleep(float8)'::regprocedure", "'colophon'::regrole", "'public'::regnamespace", "'int4'::regtype",
  "'+'::regoper", "'+(int4,int4)'::regoperator", "'english'::regconfig", "'simple'::regdictionary", "'\"C\"'::regcollation",
  "'colophon=r/colophon'::aclitem", '1::pg_catalog.regclass', `'x'::"regclass"`, `"regclass" 'x'`, "n::regclass::text",
  'json_populate_record(NULL::"$data", \'{}\')', 'to_jsonb(json_populate_record((NULL::"_$cell")[1], \'{}\'))', 'NULL::_pg_class',
  'NULL::"__$data"', "'{}'::_pg_authid", 'to_jsonb(json_populate_record((NULL::_pg_shadow)[1], \'{}\'))', 'NULL::pg_authid', 'NULL::pg_catalog.pg_authid', 'NULL::information_schema.tables',
  "'<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>'::xml", "xmlparse(content '<a/>')", "xmlelement(name a)", "xpath('/a', id::xml)",
  'current_user', 'session_user', 'user', 'current_role', 'system_user', 'current_catalog', 'current_schema', 'CURRENT_SCHEMA()',
  'Current_User', '(current_user)::text', 'OPERATOR(pg_catalog.+) n', 'n OPERATOR(pg_catalog.+) 1', 'id COLLATE pg_catalog."C"',
  'pg_catalog.abs(n)', 'public.abs(n)', 'records.pg_sleep', '(records).pg_typeof', 'records.pg_column_size', 'records.tableoid',
  'records.ctid', 'ctid', 'xmin', 'tableoid', 'records.$seq', '"$seq"', 'records."$seq"', '"$row"."$seq"', '"$row"', '"$data"."$version"',
  `U&"\\0070g_sleep"(1)`, `U&"pg!005fsleep" UESCAPE '!' (1)`, `u&'\\0061'`, '$$x$$', '$a$x$a$', '$1', ':name', '@@version',
  '"pg_sleep"(1)', 'PG_SLEEP(1)', 'pg_sleep /* a /* b */ */ (1)', '"pg_catalog"."pg_sleep"(1)', 'pg_temp.f(1)', '"pg_temp".f(1)',
] // prettier-ignore

/** Items of FROM other than `records`. */
const TABLES = [
  'pg_class', 'pg_catalog.pg_class', 'PG_CLASS', '"pg_class"', 'pg_authid', 'pg_shadow', 'pg_roles', 'pg_user', 'pg_settings',
  'pg_stat_activity', 'pg_stat_statements', 'pg_tables', 'pg_views', 'pg_proc', 'pg_attribute', 'pg_largeobject', 'pg_locks',
  'pg_database', 'pg_hba_file_rules', 'pg_file_settings', 'pg_config', 'pg_cursors', 'pg_prepared_statements', 'pg_stats',
  'pg_timezone_names', 'pg_shmem_allocations', 'pg_backend_memory_contexts', 'pg_user_mappings', 'pg_foreign_server', 'pg_toast.pg_toast_1',
  'information_schema.tables', 'information_schema.columns', '"information_schema".views', 'information_schema.sql_features',
  '"$data"', '"$sheet"', '"$provenance"', '"$cache"', '"$run"', '"$Data"', 'ONLY "$data"', 'pg_class AS records', 'pg_class records',
  '(SELECT relname AS id FROM pg_class) AS records', '(TABLE pg_class) AS x', 'LATERAL (TABLE pg_class) AS x', 'public.records',
  'postgres.public.records', 'other.records', 'pg_temp.records', 'pg_ls_dir(\'.\')', 'ROWS FROM (pg_ls_dir(\'.\'))',
  "ROWS FROM (abs(1), pg_read_file('x'))", "query_to_xml('SELECT 1', true, true, '') AS x", "ts_stat('SELECT 1') AS x",
  "dblink('', 'SELECT 1') AS t(a int)", "XMLTABLE('/a' PASSING '<a/>' COLUMNS b text)", 'pg_class TABLESAMPLE SYSTEM (10)',
  "json_to_record('{}') AS t(a regclass)", "jsonb_to_recordset('[]') AS t(a pg_authid)", 'records JOIN pg_class ON true',
  'records, pg_class', 'records NATURAL JOIN pg_class', 'records CROSS JOIN LATERAL pg_ls_dir(id)', 'records TABLESAMPLE SYSTEM (10)',
] // prettier-ignore

const STATEMENTS = [
  // Other statements, and several in place of a SELECT.
  'TABLE records', 'VALUES (1)', '(SELECT 1)', 'EXPLAIN SELECT 1', 'EXPLAIN ANALYZE SELECT 1', 'SHOW ALL', 'SET ROLE colophon',
  'RESET ROLE', 'SET SESSION AUTHORIZATION DEFAULT', 'SET LOCAL statement_timeout = 0', 'DISCARD ALL', 'BEGIN', 'COMMIT', 'ROLLBACK',
  'ABORT', 'END', 'START TRANSACTION READ WRITE', 'SET TRANSACTION READ WRITE', 'SAVEPOINT a', 'PREPARE TRANSACTION \'a\'', 'LISTEN a',
  "NOTIFY a, 'b'", 'UNLISTEN *', 'LOCK TABLE records', 'VACUUM', 'ANALYZE', 'REINDEX DATABASE postgres', 'CHECKPOINT', 'CLUSTER',
  'PREPARE a AS SELECT 1', 'EXECUTE a', 'DEALLOCATE ALL', 'DECLARE c CURSOR FOR SELECT 1', 'FETCH ALL FROM c', 'CLOSE ALL', 'MOVE c',
  "COPY records TO '/tmp/x'", "COPY records TO PROGRAM 'id'", "COPY (SELECT 1) TO STDOUT", 'COPY "$data" FROM STDIN',
  "DO $$ BEGIN PERFORM pg_sleep(1); END $$", "DO 'BEGIN NULL; END'", 'CALL f()', 'LOAD \'x\'', 'CREATE TEMP TABLE x (a int)',
  'CREATE FUNCTION f() RETURNS int LANGUAGE sql AS \'SELECT 1\'', 'CREATE EXTENSION dblink', 'ALTER SYSTEM SET work_mem = 1',
  'ALTER ROLE CURRENT_USER SUPERUSER', 'GRANT ALL ON "$data" TO PUBLIC', 'COMMENT ON VIEW records IS \'x\'', 'SECURITY LABEL ON VIEW records IS \'x\'',
  'IMPORT FOREIGN SCHEMA a FROM SERVER b INTO c', 'REFRESH MATERIALIZED VIEW x', 'MERGE INTO records USING records AS b ON true WHEN MATCHED THEN DELETE',
  'SELECT * INTO x FROM records', 'SELECT * INTO TEMP x FROM records', 'SELECT id INTO STRICT x FROM records', 'SELECT 1; COMMIT',
  'SELECT * FROM records FOR UPDATE', 'SELECT * FROM records FOR SHARE', 'SELECT * FROM records FOR KEY SHARE SKIP LOCKED',
  'SELECT * FROM records FOR NO KEY UPDATE NOWAIT', 'SELECT * FROM (SELECT * FROM records FOR UPDATE) AS x',
  'WITH x AS (DELETE FROM records RETURNING *) SELECT * FROM x', "WITH x AS (INSERT INTO records (id) VALUES ('x') RETURNING *) SELECT * FROM x",
  'WITH x AS (UPDATE records SET n = 1 RETURNING *) SELECT * FROM x', 'WITH x AS (DELETE FROM "$data" RETURNING *) SELECT * FROM x',
  'WITH x AS (MERGE INTO records AS a USING records AS b ON false WHEN NOT MATCHED THEN INSERT (id) VALUES (\'x\') RETURNING 1) SELECT * FROM x',
  'WITH x AS (SELECT 1) DELETE FROM records', 'WITH x AS (SELECT 1) TABLE x', 'WITH x AS (SELECT 1) VALUES (1)', 'WITH x AS (TABLE pg_class) SELECT * FROM x',
  'WITH x AS (SELECT * FROM pg_class) SELECT * FROM x', 'WITH pg_class AS (SELECT 1) SELECT * FROM pg_catalog.pg_class',
  'WITH records AS (SELECT rolname FROM pg_authid) SELECT * FROM records', 'WITH x AS MATERIALIZED (SELECT pg_sleep(1)) SELECT 1',
  'SELECT 1 WHERE EXISTS (SELECT FROM pg_class)', 'SELECT (SELECT relname FROM pg_class LIMIT 1)', 'SELECT ARRAY(SELECT relname FROM pg_class)',
  'SELECT id FROM records WHERE id IN (TABLE pg_class)', 'SELECT id FROM records ORDER BY pg_sleep(1)', 'SELECT id FROM records LIMIT pg_backend_pid()',
  'SELECT count(*) FILTER (WHERE pg_sleep(1) IS NULL) FROM records', 'SELECT sum(n) OVER (ORDER BY pg_sleep(1)) FROM records',
  'SELECT id FROM records GROUP BY ROLLUP (pg_sleep(1)), id', 'SELECT DISTINCT ON (pg_sleep(1)) id FROM records', 'SELECT VARIADIC pg_sleep(1)',
  'SELECT abs(n => pg_backend_pid()) FROM records', "SELECT string_agg(id, pg_read_file('x')) FROM records", 'SELECT (ROW(1, pg_sleep(1))).f2',
  "SELECT JSON_VALUE('1', '$' RETURNING regclass)", "SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a regclass PATH '$')) AS t",
  "SELECT JSON_QUERY('1', '$' DEFAULT pg_sleep(1)::text ON EMPTY)", 'SELECT XMLSERIALIZE(CONTENT id AS text) FROM records',
  // Quotes, comments and line ends that differ from their appearance.
  "SELECT 'a\\'; DELETE FROM records; --'", "SELECT E'a\\''; DELETE FROM records; --'", "SELECT E'\\\\'; DELETE FROM records; --'",
  "SELECT E'a'\n'\\''; DELETE FROM records; --'", "SELECT e'' -- x\n '\\''; DELETE FROM records; --'", "SELECT xe'\\'; DELETE FROM records; --'",
  'SELECT 1 -- x\r; DELETE FROM records', 'SELECT 1 /* /* */ ; DELETE FROM records', "SELECT '/*' ; DELETE FROM records; SELECT '*/'",
  "SELECT $$'$$; DELETE FROM records; SELECT $$'$$", "SELECT $a$'$a$ || pg_read_file('x') || $a$'$a$", "SELECT $é$'$é$",
  'SELECT "a""; DELETE FROM records; --"; DELETE FROM records', "SELECT 1 --\n; SET ROLE colophon", "SELECT B'1'; DELETE FROM records",
  "SELECT U&'\\0027; DELETE FROM records; --'", "SELECT u&\"a\\0022; DELETE FROM records; --\"", 'SELECT 1;;', ';SELECT 1', 'SELECT 1\\; SELECT 2',
  'SELECT ? AS a', 'SELECT $1 AS a', 'SELECT id FROM records WHERE id = $1', "SELECT '[1]'::jsonb ? '1'", "SELECT 'a' ?| array['a']",
  'SELECT pg_sleep?', 'SELECT 1 AS "a', 'SELECT 1e', 'SELECT 1_', 'SELECT 12a', 'SELECT 0x', 'SELECT 0b2', 'SELECT 1..2a', 'SELECT {1}',
  // Bombs that are stopped in time.
  `SELECT count(*) FROM ${'records, '.repeat(100)}records AS last`, `SELECT ${'('.repeat(20_000)}1${')'.repeat(20_000)}`,
  `SELECT ${'- '.repeat(100_000)}1`, `SELECT ${'(SELECT '.repeat(5000)}1${')'.repeat(5000)}`, `SELECT * FROM ${'(SELECT * FROM '.repeat(200)}records${') AS a'.repeat(200)}`,
  `SELECT ${Array.from({ length: 2000 }, (_, index) => `${index} AS a${index}`).join(', ')}`, `SELECT ${'NOT '.repeat(50_000)}true`,
  `SELECT '${'['.repeat(100_000)}'::jsonb`, `SELECT 1 AS ${'x'.repeat(64)}`, `SELECT "${'é'.repeat(32)}" FROM records`,
] // prettier-ignore

/** Statements for `POST /api/query`, sent without params (D18). */
export const HOSTILE_POSTGRES_STATEMENTS: readonly string[] = [
  ...CALLS.map((call) => `SELECT ${call} AS x FROM records`),
  ...EXPRESSIONS.map((expression) => `SELECT ${expression} AS x FROM records`),
  ...TABLES.map((table, index) => `SELECT ${index % 2 === 0 ? '*' : 'count(*)'} FROM ${table}`),
  ...STATEMENTS,
]

/** Filters that are not an expression, not boolean, or more than one. */
const EXPRESSIONS_OF_FILTERS = [
  'n', '1', '0', "'x'", 'id', 'ARRAY[true]', '(true, true)', 'ROW(true)', 'true, true', 'true true', 'SELECT true', 'VALUES (true)', 'TABLE records',
  'WITH x AS (SELECT true) SELECT * FROM x', '(SELECT true) UNION (SELECT true)', '(SELECT true) LIMIT 1', '(SELECT true) ORDER BY 1',
  '(VALUES (true)) OFFSET 0', '(SELECT true) INTERSECT (SELECT true)', '(SELECT true) FETCH FIRST ROW ONLY', '(SELECT true) FOR UPDATE',
  'true) OR (true', 'true) OR true OR (true', 'true\n) OR (\ntrue', 'true) --', 'true) /*', 'true)\n--', 'true) UNION SELECT 1 WHERE (true',
  'true) LIMIT (1', 'true) GROUP BY (id', 'true) AS x, (SELECT 1', 'true] OR [true', '(true]', '[true)', 'true)', '(true', ')(', '(',
  'true --', 'true -- x', 'true /*', 'true /* /* */', "true OR id = 'x", 'true OR "x', "true OR id = E'\\'", 'true;', 'true; SELECT 1',
  'true LIMIT 1', 'true ORDER BY id', 'true GROUP BY id', 'true WINDOW w AS ()', 'true UNION SELECT 1', 'true FOR UPDATE', 'true INTO x',
  'n = ?', 'n = $1', "id = $$x$$", "id = U&'x'", 'count(*) > 1', 'sum(n) OVER () > 1', 'generate_series(1, 2) = 1', 'true IS', 'n IN ()',
  "records::text LIKE '%' AND pg_sleep(1) IS NULL", '"$found" IS NULL', '"$row" IS NULL', '"$field0" IS NULL', '"$0" = 1', '"$seq" > 0',
  'n = (SELECT "$seq" FROM records LIMIT 1)', 'current_user = \'x\'', "user = 'x'", "set_config('role', 'colophon', true) = ''",
  "(SELECT set_config('transaction_read_only', 'off', true)) = 'off'", "n / 0 = 1", "id::int = 1",
] // prettier-ignore

/** Filters for `GET /api/records` (D16). */
export const HOSTILE_POSTGRES_FILTERS: readonly string[] = [
  ...CALLS.map((call) => `${call} IS NULL`),
  ...EXPRESSIONS.map((expression) => `(${expression}) IS NOT NULL`),
  ...TABLES.map((table) => `EXISTS (SELECT 1 FROM ${table})`),
  // Some texts that are not statements are expressions.
  ...STATEMENTS.filter((sql) => !/^\(?(?:TABLE|VALUES|SELECT|WITH x AS \(SELECT 1\) (?:TABLE|VALUES)) .{1,9}$/.test(sql)).map((sql) => `EXISTS (${sql})`),
  ...EXPRESSIONS_OF_FILTERS,
] // prettier-ignore
