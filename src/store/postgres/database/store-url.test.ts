import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordsError } from '../../../errors/service-error.ts'
import { parseStoreUrl } from './store-url.ts'

test('the schema is removed from the URL, and the rest is unchanged', () => {
  assert.deepEqual(
    parseStoreUrl('postgres://u:p%40@db.example:5433/sheets?schema=my-sheet&sslmode=verify-full'),
    {
      connectionString: 'postgres://u:p%40@db.example:5433/sheets?sslmode=verify-full',
      options: '',
      schema: 'my-sheet',
    },
  )
  assert.equal(parseStoreUrl('postgresql://h/d').schema, 'colophon')
  const { connectionString, options } = parseStoreUrl('postgres://h/d?options=-c%20statement_timeout%3D5s')
  assert.deepEqual([connectionString, options], ['postgres://h/d', '-c statement_timeout=5s'])
})

test("every TLS mode verifies the server's certificate, except no-verify and disable", () => {
  const modeOf = (mode: string): string | null =>
    new URL(parseStoreUrl(`postgres://h/d?sslmode=${mode}`).connectionString).searchParams.get('sslmode')
  const modes = ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full']
  assert.deepEqual(modes.map(modeOf), ['disable', 'no-verify', ...Array<string>(4).fill('verify-full')])
})

test('an invalid URL is refused, without its password in the message', () => {
  const urls = [
    'mysql://u:secret@h/d',
    'postgres://u:se%cret@h:99999999/d',
    'postgres://u:secret@h/d?schema=pg_catalog',
    'postgres://u:secret@h/d?schema=a%22b',
    'postgres://u:secret@h/d?schema=',
    `postgres://u:secret@h/d?schema=${'x'.repeat(64)}`,
  ]
  for (const url of urls) {
    assert.throws(
      () => parseStoreUrl(url),
      (error) => {
        assert.ok(error instanceof RecordsError)
        assert.match(error.message, /^the URL of the store is not usable: /)
        assert.doesNotMatch(error.message, /cret/)
        return true
      },
      url,
    )
  }
})
