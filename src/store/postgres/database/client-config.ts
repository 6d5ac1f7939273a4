import type { ClientConfig } from 'pg'
import { quoted } from './schema.ts'
import type { StoreLocation } from './store-url.ts'

/** How long it may take to get a connection. */
const CONNECT_MS = 10_000

/** How a connection of the store is made. */
export interface StoreClientConfig extends ClientConfig {
  /** A statement that a new connection begins with. */
  readonly begin: string
}

/**
 * How connections of the store are made. A server that cannot hear of its client any more frees what it held within a
 * minute, and a client that is halted in the middle of a transaction does not keep the others waiting for long. Settings are
 * made by a statement and not as options of the connection, which poolers refuse.
 */
export function clientConfig({ connectionString, options, schema }: StoreLocation): StoreClientConfig {
  const settings = {
    search_path: `${quoted(schema)},pg_temp`,
    TimeZone: 'UTC',
    DateStyle: 'ISO',
    bytea_output: 'hex',
    idle_in_transaction_session_timeout: '60s',
    tcp_keepalives_idle: '20',
    tcp_keepalives_interval: '10',
    tcp_keepalives_count: '3',
  }
  const made = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', false)`)
  return {
    connectionString,
    fallback_application_name: 'colophon',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 20_000,
    ...(options === '' ? {} : { options }),
    begin: `SELECT ${made.join(', ')}`,
  }
}
