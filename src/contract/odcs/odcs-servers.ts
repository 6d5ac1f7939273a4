/**
 * The keys of each type of server besides the common ones; `!` marks required keys. `port` is an integer, all others
 * are texts. The service connects to none of these and only validates them.
 */
export const SERVER_KEYS: Readonly<Record<string, string>> = {
  api: 'location!',
  athena: 'stagingDir! schema! catalog regionName',
  azure: 'location! format! delimiter',
  bigquery: 'project! dataset!',
  clickhouse: 'host! port! database!',
  databricks: 'host catalog! schema!',
  denodo: 'host! port! database',
  dremio: 'host! port! schema',
  duckdb: 'database! schema',
  glue: 'account! database! location format',
  cloudsql: 'host! port! database! schema!',
  db2: 'host! port! database! schema',
  hive: 'host! port database!',
  impala: 'host! port database!',
  informix: 'host! port database!',
  kafka: 'host! format',
  kinesis: 'region format',
  local: 'path! format!',
  mysql: 'host! port! database!',
  oracle: 'host! port! serviceName!',
  postgresql: 'host! port! database! schema!',
  postgres: 'host! port! database! schema!',
  presto: 'host! catalog schema',
  pubsub: 'project!',
  redshift: 'host database! schema! region account',
  s3: 'location! endpointUrl format delimiter',
  sftp: 'location! format delimiter',
  snowflake: 'host port account! database! schema! warehouse',
  sqlserver: 'host! port database! schema!',
  synapse: 'host! port! database!',
  trino: 'host! port! catalog! schema!',
  vertica: 'host! port! database! schema!',
  zen: 'host! port database!',
  custom:
    'account catalog database dataset delimiter endpointUrl format host location path port project region ' +
    'regionName schema serviceName stagingDir warehouse stream',
}
