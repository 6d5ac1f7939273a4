import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ERROR_CODES, type ErrorCode } from '../../src/errors/codes.ts'
import { statusOf } from '../../src/http/response/render-error.ts'
import { code, readPage, section, tableOf } from '../support/markdown.ts'

const SOURCE = join(import.meta.dirname, '..', '..', 'src')

/** Files that list codes, and throw none. */
const LISTS = [
  'errors/codes.ts',
  'http/response/render-error.ts',
  'http/middleware/error-handler.ts',
  'mcp/tools/tool-error.ts',
]

function sourcesOf(...folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(SOURCE, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !LISTS.includes(name))
      .map((name) => readFileSync(join(SOURCE, name), 'utf8')),
  )
}

test('the error reference lists exactly the codes, with type, status and meaning', () => {
  const { rows } = tableOf(section(readPage('docs/reference/errors.md'), 'Codes'), 'Code')
  const documented = rows.map(([name, type, status, meaning]) => [
    code(name),
    code(type),
    Number(status),
    meaning,
  ])
  const known = Object.entries(ERROR_CODES).map(([name, { type, meaning }]) => {
    return [name, type, statusOf(name as ErrorCode), meaning]
  })
  assert.deepEqual(documented, known)
})

test('every code is used by an error of the program', () => {
  // Tables that choose by a code do not count.
  const text = sourcesOf('.')
    .join('\n')
    .replaceAll(/^const (?:CONFLICTS|CLASS_OF_CODE)\b[^]*?^\]/gm, '')
  for (const name of Object.keys(ERROR_CODES)) assert.ok(text.includes(`'${name}'`), `nothing throws ${name}`)
})

test('messages below the routes, commands and tools name none of them', () => {
  for (const text of sourcesOf('sheet', 'store', 'derivation', 'contract', 'files', 'provenance', 'errors')) {
    const uncommented = text.replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '')
    assert.doesNotMatch(uncommented, /['"`][^'"`\n]*\/api\//)
  }
})
