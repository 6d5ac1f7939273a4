import { Client } from 'pg'
import { RecordsError } from '../../../errors/service-error.ts'

/** The location of a sheet's store. */
export interface StoreLocation {
  /** The URL for node-postgres, with its password: never show it. */
  readonly connectionString: string
  /** Settings for connections from the URL; empty for none. */
  readonly options: string
  /** The schema that holds the sheet. */
  readonly schema: string
}

const DEFAULT_SCHEMA = 'colophon'

/**
 * Parses `postgres://user:password@host:port/database?schema=name`. All but `schema` has the meaning that it has for other
 * programs of PostgreSQL; but with TLS required, the certificate is always verified as well, unless `sslmode=no-verify`.
 * Throws RecordsError for an invalid URL, without showing it.
 */
export function parseStoreUrl(url: string): StoreLocation {
  if (!/^postgres(ql)?:\/\//.test(url)) throw notUsable('it must begin with postgres://')
  // Otherwise a part of the password would count as the host, and be shown as that.
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

/** Modes with TLS and verification; node-postgres treats them all as the last, and warns that this will change. */
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

/** Throws RecordsError for a name that would have to be quoted in some places. */
function checkSchema(schema: string): void {
  if (/^[A-Za-z_][A-Za-z0-9_-]{0,62}$/.test(schema) && !/^pg_/i.test(schema)) return
  throw notUsable(
    `schema ${JSON.stringify(schema)} is no name for one: at most 63 letters, digits, _ and -, not beginning with a digit or pg_`,
  )
}

function notUsable(why: string): RecordsError {
  return new RecordsError(`the URL of the store is not usable: ${why}`)
}
