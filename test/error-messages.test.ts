import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..')

/** Matches code that searches the message of an error, or cuts parts out of it. */
const READS_MESSAGE = new RegExp(
  [
    String.raw`\bmessage\b\)?\.(?:match|matchAll|search|replace|replaceAll|startsWith|endsWith|includes|indexOf|split)\(`,
    String.raw`\.(?:exec|test)\([^()]*\bmessage\b`,
  ].join('|'),
  'i',
)

test('the skins and the viewer read codes, violations and files of errors, and no message', () => {
  const files = globSync(['src/{http,mcp,cli,client,wire}/**/*.ts', 'web/src/**/*.{ts,tsx}'], { cwd: ROOT })
  assert.ok(files.length > 300, `${files.length} files`)
  const reading = files
    .filter((file) => !/\.test\.tsx?$/.test(file))
    .filter((file) => READS_MESSAGE.test(readFileSync(join(ROOT, file), 'utf8')))
  assert.deepEqual(reading, [])
})

test('code that reads a message is found', () => {
  for (const code of [
    'error.message.startsWith("no")',
    '/x/.exec(error.message)',
    'messageOf(e).message.split(";")',
  ])
    assert.match(code, READS_MESSAGE)
})
