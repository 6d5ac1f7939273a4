import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { inOwnWords } from './cli-message.ts'

const SOURCE = join(import.meta.dirname, '..', '..')

/** Every text in quotes of the rooms below the skins that says what to do in the words of HTTP. */
function httpTexts(): string[] {
  const files = ['sheet', 'store', 'derivation', 'contract', 'files'].flatMap((room) =>
    readdirSync(join(SOURCE, room), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.includes('suite'))
      .map((name) => join(SOURCE, room, name)),
  )
  return files.flatMap((file) => {
    const code = readFileSync(file, 'utf8').replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '')
    const joined = code.replaceAll(/' \+\s+'/g, '')
    return joined.match(/(['`])(?:(?!\1)[^\\]|\\.)*\/api\/(?:(?!\1)[^\\]|\\.)*\1/g) ?? []
  })
}

test('what the service says in the words of HTTP, the command line says in its own', () => {
  const texts = httpTexts()
  assert.ok(texts.length >= 5, `only ${texts.length} found`)
  for (const text of texts) {
    const message = text.replaceAll(/\$\{[^}]*\}/g, '12')
    assert.doesNotMatch(inOwnWords(message), /\/api\//)
  }
})

test('other messages stay as they are', () => {
  assert.equal(inOwnWords('no record "GET"'), 'no record "GET"')
})
