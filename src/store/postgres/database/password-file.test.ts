import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../../../../test/support/temporary-file.ts'
import { passwordFromFile } from './password-file.ts'

const LINES = [
  '# host:port:database:user:password',
  'db.example:5432:sheets:ann:one',
  'db.example:*:sheets:bob:t\\:wo\\\\',
  'fd00\\:\\:1:5432:*:ann:three',
  'localhost:5432:*:ann:four:with:colons',
  'broken',
  '*:*:*:eve:five',
]

test('the password is that of the first matching line of the password file', async (t) => {
  const path = join(await temporaryDirectory(t), 'pgpass')
  await writeFile(path, `${LINES.join('\n')}\n`, { mode: 0o600 })
  const before = process.env['PGPASSFILE']
  process.env['PGPASSFILE'] = path
  t.after(() => {
    if (before === undefined) delete process.env['PGPASSFILE']
    else process.env['PGPASSFILE'] = before
  })
  const of = (host: string, port: number, database: string, user: string): Promise<string | undefined> =>
    passwordFromFile({ host, port, database, user })
  assert.equal(await of('db.example', 5432, 'sheets', 'ann'), 'one')
  assert.equal(await of('db.example', 5433, 'sheets', 'ann'), undefined)
  assert.equal(await of('db.example', 5433, 'sheets', 'bob'), 't:wo\\')
  assert.equal(await of('fd00::1', 5432, 'any', 'ann'), 'three')
  assert.equal(await of('/var/run/postgresql', 5432, 'any', 'ann'), 'four:with:colons')
  assert.equal(await of('elsewhere', 1, 'any', 'eve'), 'five')
})
