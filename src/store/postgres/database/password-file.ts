import { readFile, stat } from 'node:fs/promises'
import { homedir, platform } from 'node:os'
import { join } from 'node:path'
import { RecordsError } from '../../../errors/service-error.ts'

/** The connection that a password is for. */
export interface PasswordPlace {
  readonly host: string
  readonly port: number
  readonly database?: string | undefined
  readonly user?: string | undefined
}

/**
 * Returns the password for a connection from PostgreSQL's password file (`PGPASSFILE`, `~/.pgpass`); undefined for none.
 * Throws RecordsError for a file that others can read, which PostgreSQL's own programs ignore.
 */
export async function passwordFromFile(place: PasswordPlace): Promise<string | undefined> {
  const path = process.env['PGPASSFILE'] ?? defaultPath()
  const text = await readSecret(path)
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue
    const [host, port, database, user, password] = fieldsOf(line)
    const isFor =
      fits(host, place.host.startsWith('/') ? 'localhost' : place.host) &&
      fits(port, String(place.port)) &&
      fits(database, place.database) &&
      fits(user, place.user)
    if (isFor && password !== undefined) return password
  }
  return undefined
}

function defaultPath(): string {
  return platform() === 'win32'
    ? join(process.env['APPDATA'] ?? homedir(), 'postgresql', 'pgpass.conf')
    : join(homedir(), '.pgpass')
}

async function readSecret(path: string): Promise<string> {
  const found = await stat(path).catch(() => null)
  if (found === null || !found.isFile()) return ''
  if (platform() !== 'win32' && (found.mode & 0o077) !== 0) {
    throw new RecordsError(
      `the store cannot be used: its password is looked for in ${path}, which others on this machine can read; run: chmod 600 ${path}`,
    )
  }
  return readFile(path, 'utf8')
}

/** Returns the parts between colons; a backslash escapes the next character. */
function fieldsOf(line: string): readonly string[] {
  const fields = ['']
  for (const [part = ''] of line.matchAll(/\\.|[^\\]|\\$/g)) {
    if (part === ':' && fields.length < 5) fields.push('')
    else fields[fields.length - 1] += part.length === 2 && part.startsWith('\\') ? part.slice(1) : part
  }
  return fields
}

function fits(field: string | undefined, value: string | undefined): boolean {
  return field === '*' || (field !== undefined && field === value)
}
