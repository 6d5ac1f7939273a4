import type { ClientConfig } from 'pg'
import { quoted } from './schema.ts'
import type { StoreLocation } from './store-url.ts'

/** How long it may take to get a connection. */
const CONNECT_MS = 10_000

/**
 * How connections of the store are made. A server that cannot hear of its client any more frees what it held within a
 * minute, and a client that is halted in the middle of a transaction does not keep the others waiting for long.
 */
export function clientConfig({ connectionString, options: asked, schema }: StoreLocation): ClientConfig {
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
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)
  return {
    connectionString,
    fallback_application_name: 'colophon',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 20_000,
    options: [asked, ...options].join(' ').trim(),
  }
}
