import type { ClientConfig } from 'pg'
import { quoted } from './schema.ts'
import type { StoreLocation } from './store-url.ts'

/** The longest time to connect, in milliseconds. */
const CONNECT_MS = 10_000

/** The configuration of a connection of the store. */
export interface StoreClientConfig extends ClientConfig {
  /** A statement that a new connection begins with. */
  readonly begin: string
}

/**
 * Returns the configuration of the store's connections. A server that can no longer reach its client frees its locks within
 * a minute, and so it does for a client that is halted in the middle of a transaction. A statement makes the settings, since
 * poolers refuse them as options of the connection.
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
