import { Client } from 'pg'
import { RecordsError } from '../../errors/service-error.ts'

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
 * it. Throws RecordsError for a URL that is none, without showing it.
 */
export function parseStoreUrl(url: string): StoreLocation {
  if (!/^postgres(ql)?:\/\//.test(url)) throw notUsable('it must begin with postgres://')
  const [server = '', ...query] = url.split('?')
  const params = new URLSearchParams(query.join('?'))
  const schema = params.get('schema') ?? DEFAULT_SCHEMA
  const options = params.get('options') ?? ''
  params.delete('schema')
  params.delete('options')
  const connectionString = params.size === 0 ? server : `${server}?${params.toString()}`
  checkSchema(schema)
  try {
    new Client({ connectionString })
  } catch {
    throw notUsable(
      'it cannot be read; characters such as @, / and % in a password are written as %40, %2F and %25',
    )
  }
  return { connectionString, options, schema }
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
