import { Client } from 'pg'
import { RecordsError } from '../../../errors/service-error.ts'

/** Where a sheet's store is. */
export interface StoreLocation {
  /** The URL as node-postgres takes it, password included: never to be shown. */
  readonly connectionString: string
  /** Settings for connections that the URL asks for; empty for none. */
  readonly options: string
  /** The schema that holds the sheet. */
  readonly schema: string
}

/** The schema of a sheet whose URL names none. */
const DEFAULT_SCHEMA = 'colophon'

/**
 * Reads `postgres://user:password@host:port/database?schema=name`. All but `schema` is as other programs of PostgreSQL take
 * it; but a server that has to have TLS always has to prove who it is too, unless `sslmode=no-verify` says otherwise. Throws
 * RecordsError for a URL that is none, without showing it.
 */
export function parseStoreUrl(url: string): StoreLocation {
  if (!/^postgres(ql)?:\/\//.test(url)) throw notUsable('it must begin with postgres://')
  // Else a part of the password would count as the host, and be told as that.
  if (/^[^/]*\/\/[^/?#]*[/?#].*@/.test(url)) throw notUsable(UNREADABLE)
  const [server = '', ...query] = url.split('?')
  const params = new URLSearchParams(query.join('?'))
  const schema = params.get('schema') ?? DEFAULT_SCHEMA
  const options = params.get('options') ?? ''
  params.delete('schema')
  params.delete('options')
  checkSchema(schema)
  setTls(params)
  const connectionString = params.size === 0 ? server : `${server}?${params.toString()}`
  try {
    new Client({ connectionString })
  } catch (error) {
    throw notUsable(whyUnreadable(error, params))
  }
  return { connectionString, options, schema }
}

const UNREADABLE =
  'it cannot be read; characters such as @, /, ? and % in a password are written as %40, %2F, %3F and %25'

/** Modes in which a connection has TLS; node-postgres takes them for the last, and warns that it will not always. */
const VERIFIED = ['prefer', 'require', 'verify-ca', 'verify-full']

function setTls(params: URLSearchParams): void {
  const mode = params.get('sslmode')
  if (mode === null || params.has('uselibpqcompat')) return
  if (VERIFIED.includes(mode)) params.set('sslmode', 'verify-full')
  else if (mode !== 'disable' && mode !== 'no-verify') {
    throw notUsable(
      `sslmode=${JSON.stringify(mode)} is none; take verify-full, disable, or no-verify for a server whose certificate cannot be checked`,
    )
  }
}

function whyUnreadable(error: unknown, params: URLSearchParams): string {
  const path = error instanceof Error && 'path' in error ? error.path : undefined
  const name = ['sslrootcert', 'sslcert', 'sslkey'].find((each) => params.get(each) === path)
  const { code } = error as NodeJS.ErrnoException
  return name === undefined ? UNREADABLE : `the file that ${name} names cannot be read (${code ?? 'no code'})`
}

/** A name that can be a schema's without being quoted in some places and not in others. */
function checkSchema(schema: string): void {
  if (/^[A-Za-z_][A-Za-z0-9_-]{0,62}$/.test(schema) && !/^pg_/i.test(schema)) return
  throw notUsable(
    `schema ${JSON.stringify(schema)} is no name for one: at most 63 letters, digits, _ and -, not beginning with a digit or pg_`,
  )
}

function notUsable(why: string): RecordsError {
  return new RecordsError(`the URL of the store is not usable: ${why}`)
}
